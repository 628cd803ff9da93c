/* harness_model_test.c: outcomes and their sums. */
#include "harness/run/model/model.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static const struct {
    enum test_log_outcome outcome;
    const char *word, *report;
    bool bad;
} outcomes[] = {
    {TEST_LOG_OUTCOME_NONE, "none", "did not run", false},
    {TEST_LOG_OUTCOME_PASSED, "passed", "passed", false},
    {TEST_LOG_OUTCOME_FAILED, "failed", "failed", true},
    {TEST_LOG_OUTCOME_CRASHED, "crashed", "crashed", true},
    {TEST_LOG_OUTCOME_TIMEOUT, "timeout", "timed out", true},
    {TEST_LOG_OUTCOME_SKIPPED, "skipped", "skipped", false},
};

enum { OUTCOMES = sizeof(outcomes) / sizeof(*outcomes) };

Test(harness_model, converts_outcomes_to_words_and_back)
{
    for (int i = 0; i < OUTCOMES; i++) {
        enum test_log_outcome outcome = outcomes[i].outcome;

        cr_expect_str_eq(test_log_outcome_word(outcome), outcomes[i].word);
        cr_expect_str_eq(test_log_outcome_text(outcome), outcomes[i].report);
        cr_expect_eq(test_log_outcome_of(outcomes[i].word), outcome);
        cr_expect_eq(test_log_outcome_bad(outcome), outcomes[i].bad, "%s",
                     outcomes[i].word);
    }
}

Test(harness_model, converts_no_unknown_word)
{
    cr_expect_eq(test_log_outcome_of(""), TEST_LOG_OUTCOME_NONE);
    cr_expect_eq(test_log_outcome_of("Passed"), TEST_LOG_OUTCOME_NONE);
    cr_expect_eq(test_log_outcome_of("passed "), TEST_LOG_OUTCOME_NONE);
}

Test(harness_model, counts_each_result_once)
{
    struct test_log_run run = {0};
    struct test_log_sums sums;

    for (int i = 0; i < 600; i++)
        test_log_run_add(&run)->outcome = outcomes[i % OUTCOMES].outcome;
    sums = test_log_run_sums(&run);
    cr_expect_eq(run.count, 600);
    cr_expect_eq(sums.passed, 100);
    cr_expect_eq(sums.failed, 300);
    cr_expect_eq(sums.skipped, 100);
    test_log_run_free(&run);
    cr_expect_eq(run.count, 0);
    cr_expect_null(run.results);
}

Test(harness_model, counts_nothing_in_an_empty_run)
{
    struct test_log_run run = {0};
    struct test_log_sums sums = test_log_run_sums(&run);

    cr_expect_eq(sums.passed + sums.failed + sums.skipped, 0);
    test_log_run_free(&run);
}

Test(harness_model, zeroes_an_added_result)
{
    struct test_log_run run = {0};

    test_log_run_add(&run)->outcome = TEST_LOG_OUTCOME_FAILED;
    run.count = 0;
    cr_expect_eq(test_log_run_add(&run)->outcome, TEST_LOG_OUTCOME_NONE);
    test_log_run_free(&run);
}

Test(harness_model, joins_suite_and_test_to_a_name)
{
    char suite[] = "suite", test[] = "test[07]", empty[] = "";
    struct test_log_result both = {.suite = suite, .test = test};
    struct test_log_result alone = {.test = test};
    struct test_log_result bare = {.suite = empty, .test = test};

    cr_expect_str_eq(test_log_name(&both), "suite/test[07]");
    cr_expect_str_eq(test_log_name(&alone), "test[07]");
    cr_expect_str_eq(test_log_name(&bare), "test[07]");
}

Test(harness_model, keeps_eight_names)
{
    char suite[] = "s", test[2] = "a";
    struct test_log_result result = {.suite = suite, .test = test};
    const char *names[8];

    for (int i = 0; i < 8; i++) {
        test[0] = (char)('a' + i);
        names[i] = test_log_name(&result);
    }
    cr_expect_str_eq(names[0], "s/a");
    cr_expect_str_eq(names[7], "s/h");
}

Test(harness_model, keeps_a_long_name)
{
    char name[2000];
    struct test_log_result result = {.suite = name, .test = name};

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cr_expect_eq(strlen(test_log_name(&result)), 2 * sizeof(name) - 1);
}

Test(harness_model, names_a_signal_or_prints_its_number)
{
    cr_expect_str_eq(test_log_signal(11), "SIGSEGV");
    cr_expect_str_eq(test_log_signal(36), "signal 36");
}

/* ---- Results of one test ---- */

static struct trace_table numbers;

/* Adds a try that began then, after others. */
static void settle(struct test_log_run *run, const char *test, uint64_t began,
                   uint64_t before)
{
    struct test_log_result *result = test_log_run_add(run);

    cr_assert_not_null(result);
    result->program = strdup("p");
    result->suite = strdup("s");
    result->test = strdup(test);
    result->began = began;
    if (before) {
        result->earlier = calloc(1, sizeof(*result->earlier));
        cr_assert_not_null(result->earlier);
        result->earlier[0].began = before;
        result->earlier_count = 1;
    }
    cr_expect_neq(test_log_run_settle(run, &numbers), SIZE_MAX);
}

/* Returns when the tries of the only test began. */
static const char *tries_of(struct test_log_run *run)
{
    static char text[64];
    const struct test_log_result *result = run->results;
    int size = 0;

    cr_assert_eq(run->count, 1);
    for (size_t i = 0; i < result->earlier_count; i++)
        size += snprintf(text + size, sizeof(text) - (size_t)size, "%d ",
                         (int)result->earlier[i].began);
    snprintf(text + size, sizeof(text) - (size_t)size, "%d",
             (int)result->began);
    test_log_run_free(run);
    trace_table_free(&numbers);
    return text;
}

Test(harness_model, a_later_result_of_a_test_counts)
{
    struct test_log_run run = {.count = 0};

    settle(&run, "a", 10, 0);
    settle(&run, "b", 15, 0);
    settle(&run, "a", 20, 0);
    cr_expect_eq(run.count, 2);
    cr_expect_eq(run.results[0].began, 20);
    cr_expect_eq(run.results[0].earlier_count, 1);
    cr_expect_eq(test_log_run_last_end(&run), 20);
    test_log_run_free(&run);
    trace_table_free(&numbers);
}

Test(harness_model, a_try_counts_once)
{
    struct test_log_run run = {.count = 0};

    settle(&run, "a", 10, 0);
    settle(&run, "a", 10, 0); /* the same, with a worse outcome */
    settle(&run, "a", 20, 10);
    settle(&run, "a", 30, 25); /* its process tried it twice, too */
    cr_expect_str_eq(tries_of(&run), "10 20 25 30");
}

Test(harness_model, a_test_that_did_not_run_is_no_try)
{
    struct test_log_run run = {.count = 0};

    settle(&run, "a", 0, 0);
    settle(&run, "a", 20, 0);
    cr_expect_str_eq(tries_of(&run), "20");
}
