/* harness_balance_test.c: divides random tests among shards. */
#include "harness/criterion/plan/balance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

enum { MOST = 400, ROUNDS = 2000 };

static struct test_log_balanced tests[MOST], shuffled[MOST];
static char names[MOST][16];
static size_t count, total;

static uint64_t state = UINT64_C(88172645463325252);

/* Xorshift, from 0 to limit - 1. */
static uint64_t next(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

/* Few values, so that many tests take equally long; all kinds of skew. */
static uint64_t any_time(unsigned kind)
{
    switch (kind) {
    case 0:
        return 7;
    case 1:
        return 1 + next(5);
    case 2:
        return 1 + next(UINT64_C(10000000000));
    default:
        return UINT64_C(1) << next(40);
    }
}

static void make_tests(void)
{
    unsigned kind = (unsigned)next(4);

    count = next(MOST + 1);
    total = 1 + next(40);
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "suite/test%zu", i);
        tests[i] =
            (struct test_log_balanced){i % 3 ? "some_test" : "other_test",
                                       names[i], any_time(kind), SIZE_MAX, i};
    }
}

struct load {
    uint64_t time, shortest;
    size_t tests;
};

static void measure(struct load *loads)
{
    memset(loads, 0, total * sizeof(*loads));
    for (size_t i = 0; i < count; i++) {
        struct load *load = &loads[tests[i].shard];

        cr_assert_lt(tests[i].shard, total);
        if (!load->tests++ || tests[i].time < load->shortest)
            load->shortest = tests[i].time;
        load->time += tests[i].time;
    }
}

static uint64_t sum_of_times(uint64_t *longest)
{
    uint64_t sum = 0;

    *longest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += tests[i].time;
        if (tests[i].time > *longest)
            *longest = tests[i].time;
    }
    return sum;
}

Test(harness_balance, bounds_the_longest_shard)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct load loads[40];
        uint64_t longest, sum;

        make_tests();
        cr_assert_eq(test_log_balance(tests, count, total), 0);
        measure(loads);
        sum = sum_of_times(&longest);
        for (size_t i = 0; i < total; i++) {
            cr_assert_leq((loads[i].time - loads[i].shortest) * total, sum,
                          "shard %zu of %zu, round %d", i, total, round);
            if (longest * total * 5 <= sum)
                cr_assert_leq(loads[i].time * total * 10, sum * 12,
                              "shard %zu of %zu, round %d", i, total, round);
        }
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const struct test_log_balanced *left = a, *right = b;

    return (left->number > right->number) - (left->number < right->number);
}

Test(harness_balance, ignores_the_order_of_tests)
{
    for (int round = 0; round < ROUNDS; round++) {
        make_tests();
        memcpy(shuffled, tests, sizeof(tests));
        for (size_t i = count; i > 1; i--) {
            size_t other = next(i);
            struct test_log_balanced test = shuffled[i - 1];

            shuffled[i - 1] = shuffled[other];
            shuffled[other] = test;
        }
        cr_assert_eq(test_log_balance(tests, count, total), 0);
        cr_assert_eq(test_log_balance(shuffled, count, total), 0);
        qsort(tests, count, sizeof(*tests), compare_numbers);
        qsort(shuffled, count, sizeof(*shuffled), compare_numbers);
        for (size_t i = 0; i < count; i++) {
            cr_assert_eq(tests[i].number, i);
            cr_assert_eq(tests[i].shard, shuffled[i].shard, "test %zu", i);
        }
    }
}

/* The rule must never change: machines of any version share the tests. */
Test(harness_balance, gives_the_longest_test_to_the_least_loaded_shard)
{
    struct test_log_balanced known[] = {
        {"b_test", "s/a", 3, 0, 0},    {"a_test", "s/b", 3, 0, 1},
        {"a_test", "s/a", 3, 0, 2},    {"a_test", "s/long", 9, 0, 3},
        {"a_test", "s/last", 1, 0, 4},
    };
    static const struct {
        const char *program, *name;
        size_t shard;
    } expected[] = {{"a_test", "s/long", 0},
                    {"a_test", "s/a", 1},
                    {"a_test", "s/b", 1},
                    {"b_test", "s/a", 1},
                    {"a_test", "s/last", 0}};

    cr_assert_eq(test_log_balance(known, 5, 2), 0);
    for (size_t i = 0; i < 5; i++) {
        cr_expect_str_eq(known[i].program, expected[i].program);
        cr_expect_str_eq(known[i].name, expected[i].name);
        cr_expect_eq(known[i].shard, expected[i].shard, "%zu", i);
    }
}

/* ---- Suites ---- */

/* Starting a worker takes a millisecond, too; the times vary by a tenth. */
static uint64_t time_of(size_t number, unsigned mix)
{
    uint64_t ms = mix == 0 || (mix == 2 && number % 2) ? 1 : 100;

    return (ms * 1000000 + 1000000) * (90 + next(21)) / 100;
}

Test(harness_balance, shares_out_suites_of_1000_tests)
{
    enum { TESTS = 1000, SHARDS = 5 };
    static struct test_log_balanced suite[TESTS];
    static char test_names[TESTS][16];

    for (unsigned mix = 0; mix < 3; mix++) {
        uint64_t loads[SHARDS] = {0}, sum = 0, most = 0;

        for (size_t i = 0; i < TESTS; i++) {
            snprintf(test_names[i], sizeof(test_names[i]), "s/t%zu", i);
            suite[i] = (struct test_log_balanced){"p", test_names[i],
                                                  time_of(i, mix), SIZE_MAX, i};
        }
        cr_assert_eq(test_log_balance(suite, TESTS, SHARDS), 0);
        for (size_t i = 0; i < TESTS; i++) {
            loads[suite[i].shard] += suite[i].time;
            sum += suite[i].time;
        }
        for (size_t i = 0; i < SHARDS; i++)
            most = loads[i] > most ? loads[i] : most;
        cr_expect_leq(most * SHARDS * 10, sum * 11, "mix %u", mix);
    }
}
