/* harness_flaky_tests_test.c: which tests are flaky. */
#include "harness/run/past/flaky_tests.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_outcomes outcomes;
static struct test_log_flaky_tests found;

static void end(void)
{
    free(found.all);
    test_log_outcomes_free(&outcomes);
}

TestSuite(harness_flaky_tests, .init = test_folder, .fini = end);

/* Writes a run for each letter: p passes, f fails, r passes at the second try.
 * `commits` has a letter for each, - for none; a capital is a dirty tree. */
static void judge(const char *results, const char *commits)
{
    FILE *out = fopen(test_path("p.outcomes"), "we");

    cr_assert_not_null(out);
    fputs("test\t0\ts/a\n", out);
    for (size_t i = 0; results[i]; i++) {
        char commit[3] = {commits[i] == '-' ? '-' : (char)(commits[i] | 32),
                          commits[i] >= 'A' && commits[i] <= 'Z' ? '+' : '\0'};

        fprintf(out, "run\t%zu\tgcc\t%s\thost\n", i, commit);
        if (results[i] != 'p')
            fputs("failed\t0\t1\t5\tx.c:1: bad\n", out);
        if (results[i] != 'f')
            fprintf(out, "passed\t0\t%d\t5\n", results[i] == 'r' ? 2 : 1);
    }
    fclose(out);
    free(found.all);
    found = (struct test_log_flaky_tests){0};
    test_log_outcomes_free(&outcomes);
    cr_assert_eq(test_log_outcomes_read(&outcomes, "p", test_path("."), 0), 0);
    cr_assert_eq(test_log_flaky_find(&found, &outcomes, 0), 0);
}

static const char *first(void)
{
    return found.count ? found.all[0].first->name : "none";
}

Test(harness_flaky_tests, finds_tests_that_pass_when_tried_again)
{
    judge("pprp", "abcd");
    cr_expect_str_eq(first(), "2");
    cr_expect_eq(found.all[0].rescues, 1);
    cr_expect_eq(found.all[0].failures, 1);
    cr_expect_eq(found.all[0].flips, 2);
    cr_expect_eq(found.all[0].runs, 4);
    cr_expect_str_eq(found.all[0].reasons[0].text, "x.c:1: bad");
    cr_expect_eq(found.all[0].reasons[0].count, 1);
}

/* Tests that were broken, then mended, are left out. */
Test(harness_flaky_tests, finds_tests_that_change_at_one_commit)
{
    static const struct {
        const char *results, *commits, *first;
    } rows[] = {
        {"pf", "aa", "1"},
        {"fp", "aa", "0"},
        {"pfffp", "abbbc", "none"},
        {"ffff", "aaaa", "none"},
        {"pppp", "----", "none"},
        /* Unknown commits need two changes. */
        {"pf", "--", "none"},
        {"pfp", "---", "1"},
        {"pf", "AA", "none"},
        {"ppfp", "AAAA", "2"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        judge(rows[i].results, rows[i].commits);
        cr_expect_str_eq(first(), rows[i].first, "%s at %s", rows[i].results,
                         rows[i].commits);
    }
}

Test(harness_flaky_tests, judges_from_a_run_on)
{
    judge("pfpppp", "------");
    free(found.all);
    found = (struct test_log_flaky_tests){0};
    cr_assert_eq(test_log_flaky_find(&found, &outcomes, 2), 0);
    cr_expect_eq(found.count, 0);
}

/* Each flavour by itself: one build fails, the other passes. */
Test(harness_flaky_tests, keeps_flavours_apart)
{
    static const char text[] = "test\t0\ts/a\nrun\t0\tgcc\ta\th\n"
                               "failed\t0\t1\t1\nrun\t0\tclang\ta\th\n"
                               "passed\t0\t1\t1\nrun\t1\tgcc\ta\th\n"
                               "failed\t0\t1\t1\n";

    test_save(test_path("p.outcomes"), text, sizeof(text) - 1);
    cr_assert_eq(test_log_outcomes_read(&outcomes, "p", test_path("."), 0), 0);
    cr_assert_eq(test_log_flaky_find(&found, &outcomes, 0), 0);
    cr_expect_eq(found.count, 0);
}

static void expect_reason(size_t number, size_t count, const char *expected)
{
    const struct test_log_flaky_reason *reason = &found.all[0].reasons[number];
    struct trace_text text = {0};

    test_log_flaky_reason_text(&text, reason);
    cr_expect_str_eq(text.data ? text.data : "", expected);
    cr_expect_eq(reason->count, count, "%s", expected);
    trace_text_free(&text);
}

Test(harness_flaky_tests, counts_reasons_that_differ_in_numbers_as_one)
{
    static const char *const reasons[] = {"timed out: after 1.01 s, of 1 s",
                                          "timed out: after 1.5 s, of 1 s",
                                          "timed out: after 12 s, of 1 s",
                                          "SIGSEGV at 0x8, in a (l.c:9)",
                                          "SIGSEGV at 0xfe4, in a (l.c:9)",
                                          "SIGSEGV at 0x8, in a (l.c:8)",
                                          "step_2 failed",
                                          "step_3 failed"};
    FILE *out = fopen(test_path("p.outcomes"), "we");

    cr_assert_not_null(out);
    fputs("test\t0\ts/a\nrun\t0\tgcc\ta\th\npassed\t0\t1\t5\n", out);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        fprintf(out, "run\t%zu\tgcc\ta\th\nfailed\t0\t1\t5\t%s\n", i + 1,
                reasons[i]);
    fclose(out);
    cr_assert_eq(test_log_outcomes_read(&outcomes, "p", test_path("."), 0), 0);
    cr_assert_eq(test_log_flaky_find(&found, &outcomes, 0), 0);
    cr_assert_eq(found.count, 1);
    expect_reason(0, 3, "timed out: after N s, of 1 s");
    expect_reason(1, 2, "SIGSEGV at N, in a (l.c:9)");
    expect_reason(2, 1, "SIGSEGV at 0x8, in a (l.c:8)");
    expect_reason(3, 1, "step_2 failed");
    expect_reason(4, 1, "step_3 failed");
}
