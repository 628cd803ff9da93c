/* shard_tests.c: runs a part of the tests; other processes run the other parts.
 *
 * Each test belongs to one of `total` shards. No process coordinates them: all
 * processes with the same tests and filters compute the same parts.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/criterion/plan/balance.h"
#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

/* How many tests of a program the plan in run.json names at most. */
enum { NAMES_MOST = 10000 };

struct place {
    char *name;
    const struct criterion_test *test;
    size_t shard;
};

static struct place *places;
static size_t place_count, place_room, own_shard;
static bool without_memory;

/* ---- Dividing the tests ---- */

static bool collect(const struct criterion_test *test)
{
    struct place place = {NULL, test, 0};

    if (place_count == place_room ||
        asprintf(&place.name, "%s/%s", test->category, test->name) < 0)
        without_memory = true;
    else
        places[place_count++] = place;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->name,
                  ((const struct place *)b)->name);
}

static int compare_shards(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->shard != right->shard)
        return left->shard < right->shard ? -1 : 1;
    return compare_names(left, right);
}

static int compare_tests(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct place *)a)->test;
    uintptr_t right = (uintptr_t)((const struct place *)b)->test;

    return (left > right) - (left < right);
}

/* Adds the tests of this program that have durations, and those of the other
 * programs of `testlog run`; returns how many. */
static size_t find_durations(struct test_log_balanced *tests,
                             const struct test_log_durations *durations,
                             const char *program)
{
    size_t count = 0;

    for (size_t i = 0; i < place_count; i++) {
        uint64_t time =
            test_log_durations_of(durations, program, places[i].name);

        if (time)
            tests[count++] =
                (struct test_log_balanced){program, places[i].name, time, 0, i};
    }
    for (size_t i = 0; i < durations->count; i++) {
        const struct test_log_duration *test = &durations->tests[i];

        if (strcmp(test->program, program) != 0)
            tests[count++] = (struct test_log_balanced){
                test->program, test->name, test->time, 0, place_count};
    }
    return count;
}

/* Tests without durations stay in the shards that their names choose. */
static bool divide_by_time(const struct test_log_options *options,
                           const char *program)
{
    size_t room = place_count + options->durations.count + 1, count;
    struct test_log_balanced *tests = calloc(room, sizeof(*tests));

    if (!tests)
        return false;
    count = find_durations(tests, &options->durations, program);
    if (test_log_balance(tests, count, options->shard.total)) {
        free(tests);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (tests[i].number < place_count)
            places[tests[i].number].shard = tests[i].shard;
    free(tests);
    return true;
}

/* Finds the shard of each test; false without memory. */
static bool divide(struct criterion_test_set *set,
                   const struct test_log_options *options, const char *program)
{
    place_count = 0;
    place_room = set->tests;
    places = calloc(place_room + 1, sizeof(*places));
    without_memory = !places;
    if (places)
        test_log_plan_keep(set, collect);
    if (without_memory)
        return false;
    qsort(places, place_count, sizeof(*places), compare_names);
    for (size_t i = 0; i < place_count; i++)
        places[i].shard = test_log_shard_of(&options->shard, i, places[i].name);
    return !test_log_shard_by_time(&options->shard) ||
           divide_by_time(options, program);
}

/* ---- The plan of all shards ---- */

static void put_counts(struct trace_text *plan, size_t total)
{
    size_t at = 0;

    for (size_t shard = 0; shard < total; shard++) {
        size_t from = at;

        while (at < place_count && places[at].shard == shard)
            at++;
        trace_text_printf(plan, "%s%zu", shard ? "," : "", at - from);
    }
}

static void put_names(struct trace_text *plan, size_t total)
{
    size_t at = 0;

    for (size_t shard = 0; shard < total; shard++) {
        trace_text_string(plan, shard ? ",[" : "[");
        for (size_t from = at; at < place_count && places[at].shard == shard;
             at++) {
            if (at > from)
                trace_text_char(plan, ',');
            trace_json_string(plan, places[at].name, strlen(places[at].name));
        }
        trace_text_char(plan, ']');
    }
}

static void put_plan(struct trace_text *plan, const char *program, size_t total)
{
    qsort(places, place_count, sizeof(*places), compare_shards);
    trace_text_string(plan, "{\"program\":");
    trace_json_string(plan, program, strlen(program));
    trace_text_string(plan, ",\"counts\":[");
    put_counts(plan, total);
    if (place_count <= NAMES_MOST) {
        trace_text_string(plan, "],\"tests\":[");
        put_names(plan, total);
    }
    trace_text_string(plan, "]}");
}

/* ---- Taking the tests of one shard ---- */

static bool is_ours(const struct criterion_test *test)
{
    const struct place key = {NULL, test, 0}, *place;

    place = bsearch(&key, places, place_count, sizeof(*places), compare_tests);
    return place && place->shard == own_shard;
}

void test_log_shard_take(struct criterion_test_set *set,
                         const struct test_log_options *options,
                         const char *program, struct trace_text *plan)
{
    const struct test_log_shard *shard = &options->shard;

    if (!shard->total)
        return;
    if (divide(set, options, program)) {
        if (plan && place_count)
            put_plan(plan, program, shard->total);
        own_shard = shard->index;
        qsort(places, place_count, sizeof(*places), compare_tests);
        test_log_plan_keep(set, is_ours);
    } else {
        test_log_notice("%s", test_log_shard_no_memory);
    }
    for (size_t i = 0; places && i < place_count; i++)
        free(places[i].name);
    free(places);
    places = NULL;
}

/* ---- Listing it ---- */

/* Prints the format of Criterion's list, which other programs parse. */
static void list_suite(const struct criterion_suite_set *suite)
{
    static const char *const signs[][2] = {
        {"|--", "`--"}, {"\u251c\u2500\u2500", "\u2514\u2500\u2500"}};
    size_t count = suite->tests ? suite->tests->size : 0;

    if (!count)
        return;
    printf("%s: %zu test%s\n", suite->suite.name, count, count == 1 ? "" : "s");
    for (const struct criterion_ordered_set_node *node = suite->tests->first;
         node; node = node->next)
        printf("%s %s\n",
               signs[criterion_options.use_ascii ? 0 : 1][!node->next],
               ((const struct criterion_test *)(node + 1))->name);
}

void test_log_shard_select(struct criterion_test_set *set,
                           const struct test_log_options *options,
                           const char *program)
{
    test_log_plan_expand(set);
    test_log_plan_select(set, options);
    test_log_shard_take(set, options, program, NULL);
}

void test_log_shard_list(struct criterion_test_set *set,
                         const struct test_log_options *options,
                         const char *program)
{
    test_log_shard_select(set, options, program);
    for (const struct criterion_ordered_set_node *node = set->suites->first;
         node; node = node->next)
        list_suite((const struct criterion_suite_set *)(node + 1));
    test_log_plan_free();
}
