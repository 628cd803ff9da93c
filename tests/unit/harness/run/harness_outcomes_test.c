/* harness_outcomes_test.c: the file of the last outcomes. */
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/outcomes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_outcomes outcomes;

static void begin(void)
{
    test_folder();
}

static void end(void)
{
    test_log_run_free(&run);
    test_log_outcomes_free(&outcomes);
}

TestSuite(harness_outcomes, .init = begin, .fini = end);

static struct test_log_result *add(const char *test,
                                   enum test_log_outcome outcome,
                                   uint64_t duration)
{
    struct test_log_result *result = test_log_run_add(&run);

    cr_assert_not_null(result);
    result->program = strdup("p");
    result->suite = strdup("s");
    result->test = strdup(test);
    result->flavour = strdup("gcc-O");
    result->outcome = outcome;
    result->duration = duration;
    return result;
}

static void append(const char *name)
{
    run.path = strdup(name);
    run.commit = strdup("1a2b");
    cr_assert_eq(test_log_outcomes_append(&run, "p", test_path("."), 0), 0);
    test_log_run_free(&run);
}

static void read_again(void)
{
    test_log_outcomes_free(&outcomes);
    cr_assert_eq(test_log_outcomes_read(&outcomes, "p", test_path("."), 0), 0);
}

Test(harness_outcomes, remembers_each_try)
{
    struct test_log_result *result;

    result = add("a", TEST_LOG_OUTCOME_PASSED, 5);
    result->earlier = calloc(1, sizeof(*result->earlier));
    result->earlier_count = 1;
    result->earlier->outcome = TEST_LOG_OUTCOME_CRASHED;
    result->earlier->duration = 7;
    result->earlier->reason = strdup("why\tnot\nmore");
    add("b#2", TEST_LOG_OUTCOME_PASSED, 6);
    add("skipped", TEST_LOG_OUTCOME_SKIPPED, 0);
    append("x/2026-11-26");
    read_again();
    cr_assert_eq(outcomes.run_count, 1);
    cr_expect_str_eq(outcomes.runs[0].name, "2026-11-26");
    cr_expect_str_eq(outcomes.runs[0].flavour, "gcc-O");
    cr_expect_str_eq(outcomes.runs[0].commit, "1a2b");
    cr_assert_eq(outcomes.test_count, 2);
    cr_expect_str_eq(outcomes.tests[1], "s/b");
    cr_assert_eq(outcomes.try_count, 3);
    cr_expect_eq(outcomes.tries[0].outcome, TEST_LOG_OUTCOME_CRASHED);
    cr_expect_eq(outcomes.tries[0].duration, 7);
    cr_expect_str_eq(outcomes.tries[0].reason, "why not");
    cr_expect_eq(outcomes.tries[1].number, 2);
    cr_expect_eq(outcomes.tries[2].test, 1);
}

static void write_file(const char *text)
{
    test_save(test_path("p.outcomes"), text, strlen(text));
}

/* A run that was killed, or a full disk, may leave half a line. */
Test(harness_outcomes, drops_a_cut_last_line)
{
    write_file("run\tr\tf\t-\th\ntest\t0\ts/a\npassed\t0\t1\t123\n"
               "passed\t0\t1\t45");
    read_again();
    cr_expect_eq(outcomes.try_count, 1);
    add("a", TEST_LOG_OUTCOME_FAILED, 9);
    append("later");
    read_again();
    cr_assert_eq(outcomes.try_count, 2);
    cr_expect_eq(outcomes.tries[1].duration, 9);
    cr_expect_eq(outcomes.test_count, 1);
}

Test(harness_outcomes, leaves_out_malformed_lines)
{
    write_file("passed\t0\t1\t1\n\nrun\tr\nrun\tr\tf\t-\th\ntest\t7\tx\n"
               "test\t0\ts/a\npassed\t1\t1\t1\nodd\t0\t1\t1\npassed\t0\t0\t1\n"
               "passed\t0\t1\n\t\t\t\npassed\t0\t1\t8\n");
    read_again();
    cr_expect_eq(outcomes.run_count, 1);
    cr_expect_eq(outcomes.test_count, 1);
    cr_assert_eq(outcomes.try_count, 1);
    cr_expect_eq(outcomes.tries[0].duration, 8);
}

Test(harness_outcomes, reads_any_bytes)
{
    static const char alphabet[] = "runtespad\t\t\t\n\n0123-\377";
    char text[512];

    srand(30);
    for (int i = 0; i < 2000; i++) {
        size_t size = (size_t)rand() % sizeof(text);

        for (size_t j = 0; j < size; j++)
            text[j] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
        test_save(test_path("p.outcomes"), text, size);
        read_again();
    }
}

/* The file is written anew when it is twice too long. */
Test(harness_outcomes, keeps_the_last_50_of_a_test_and_flavour)
{
    struct stat status;
    off_t largest = 0;

    for (uint64_t i = 1; i <= 300; i++) {
        char name[32];

        add("a", TEST_LOG_OUTCOME_PASSED, i);
        add("b", TEST_LOG_OUTCOME_PASSED, i)->flavour[0] = 'x';
        snprintf(name, sizeof(name), "run %03llu", (unsigned long long)i);
        append(name);
        cr_assert_eq(stat(test_path("p.outcomes"), &status), 0);
        largest = status.st_size > largest ? status.st_size : largest;
    }
    read_again();
    cr_expect_leq(outcomes.try_count, 2 * (100 + 50));
    cr_expect_geq(outcomes.try_count, 2 * 50);
    cr_expect_eq(outcomes.tries[outcomes.try_count - 1].duration, 300);
    cr_expect_lt(largest, 32000);
}

/* Later shards read the same durations. */
Test(harness_outcomes, leaves_out_durations_of_shards_by_time)
{
    run.shard = (struct test_log_shard){.total = 2, .way = TEST_LOG_SHARD_TIME};
    add("a", TEST_LOG_OUTCOME_PASSED, 5);
    append("r");
    read_again();
    cr_expect_eq(outcomes.tries[0].duration, 0);
}

Test(harness_outcomes, refuses_other_files)
{
    cr_assert_eq(symlink("elsewhere", test_path("p.outcomes")), 0);
    add("a", TEST_LOG_OUTCOME_PASSED, 5);
    run.path = strdup("r");
    cr_expect_eq(test_log_outcomes_append(&run, "p", test_path("."), 0), -1);
    cr_expect_eq(access(test_path("elsewhere"), F_OK), -1);
    cr_expect_eq(test_log_outcomes_read(&outcomes, "q", test_path("."), 0), -1);
}
