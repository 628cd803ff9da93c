/* harness_durations_test.c: reads, compares and writes durations of tests. */
#include "harness/run/past/durations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/support.h"

static struct test_log_durations durations;

static void begin(void)
{
    test_folder();
    cr_redirect_stderr();
}

static void end(void)
{
    test_log_durations_free(&durations);
}

TestSuite(harness_durations, .init = begin, .fini = end);

/* Reads a file of these lines; returns its digest. */
static uint64_t read_text(const char *text)
{
    test_save(test_path("durations.tsv"), text, strlen(text));
    test_log_durations_free(&durations);
    cr_assert_eq(test_log_durations_read(&durations, test_path("durations.tsv"),
                                         "--history"),
                 0);
    return test_log_durations_digest(&durations);
}

static void expect_time(const char *program, const char *name, uint64_t time)
{
    uint64_t found = test_log_durations_of(&durations, program, name);

    cr_expect_eq(found, time, "%s: %" PRIu64, name, found);
}

Test(harness_durations, reads_the_lines_of_results_tsv)
{
    read_text("passed\t70\tb_test\tsuite/one\n"
              "failed\t5\ta_test\tsuite/two\n"
              "skipped\t9\ta_test\tsuite/three\n"
              "crashed\t0\ta_test\tsuite/four\n"
              "crashed\t8\ta_test\ta_test\n");
    cr_expect_eq(durations.count, 3);
    expect_time("b_test", "suite/one", 70);
    expect_time("a_test", "suite/two", 5);
    expect_time("a_test", "suite/three", 0);
    expect_time("a_test", "suite/four", 1);
    expect_time("b_test", "suite/two", 0);
    read_text("");
    cr_expect_eq(durations.count, 0);
    expect_time("a_test", "suite/two", 0);
}

/* The last column has the time of the test's worker. */
Test(harness_durations, prefers_the_time_of_the_worker)
{
    read_text("passed\t70\tp\ts/one\t900\n"
              "passed\t70\tp\ts/two\t0\n"
              "passed\t70\tp\ts/three\n");
    expect_time("p", "s/one", 900);
    expect_time("p", "s/two", 70);
    expect_time("p", "s/three", 70);
}

Test(harness_durations, takes_the_longest_of_several)
{
    read_text("passed\t10\ta_test\tsuite/one#1\n"
              "passed\t30\ta_test\tsuite/one#2\n"
              "passed\t20\ta_test\tsuite/one\n");
    cr_expect_eq(durations.count, 1);
    expect_time("a_test", "suite/one", 30);
}

static const char *const alike[] = {
    "passed\t1\ta_test\ts/one\npassed\t2\tb_test\ts/two\n",
    "failed\t2\tb_test\ts/two\npassed\t1\ta_test\ts/one\n",
    "passed\t1\ta_test\ts/one\npassed\t2\tb_test\ts/two\n"
    "passed\t1\tb_test\ts/two\n",
};

static const char *const others[] = {
    "",
    "passed\t1\ta_test\ts/one\n",
    "passed\t2\ta_test\ts/one\npassed\t2\tb_test\ts/two\n",
    "passed\t1\tb_test\ts/one\npassed\t2\tb_test\ts/two\n",
    "passed\t1\ta_test\ts/two\npassed\t2\tb_test\ts/two\n",
    "passed\t1\ta_tests\t/one\npassed\t2\tb_test\ts/two\n",
    "passed\t257\ta_test\ts/one\npassed\t2\tb_test\ts/two\n",
};

Test(harness_durations, has_a_digest_of_the_tests_and_their_times)
{
    uint64_t digest = read_text(alike[0]);

    for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); i++)
        cr_expect_eq(read_text(alike[i]), digest, "row %zu", i);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        cr_expect_neq(read_text(others[i]), digest, "row %zu", i);
}

static const struct {
    const char *text;
    unsigned line;
} bad[] = {
    {"passed\t1\ta_test\n", 1},
    {"passed\t1\ta_test\ts/one\nrubbish\n", 2},
    {"passed\t1\ta_test\ts/one", 1},
    {"passed\t-1\ta_test\ts/one\n", 1},
    {"passed\t1e9\ta_test\ts/one\n", 1},
    {"passed\t\ta_test\ts/one\n", 1},
    {"well\t1\ta_test\ts/one\n", 1},
    {"passed\t1\ta_test\ts/one\tmore\n", 1},
    {"\n", 1},
    {"{\"schema\":1}\n", 1},
};

Test(harness_durations, names_a_bad_line)
{
    struct trace_text printed = {0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const char *path = test_path("bad.tsv");

        test_save(path, bad[i].text, strlen(bad[i].text));
        cr_expect_eq(test_log_durations_read(&durations, path, "TEST_HISTORY"),
                     -1);
        trace_text_printf(&printed,
                          "testlog: TEST_HISTORY: %s:%u is not a line of "
                          "results.tsv: outcome, nanoseconds, program and "
                          "test, separated by tabs\n",
                          path, bad[i].line);
    }
    fflush(stderr);
    cr_expect_stderr_eq_str(printed.data);
    trace_text_free(&printed);
}

Test(harness_durations, names_an_unreadable_file)
{
    cr_expect_eq(test_log_durations_read(&durations, "absent", "--history"),
                 -1);
    cr_expect_eq(test_log_durations_read(&durations, "/", "--history"), -1);
    cr_expect_eq(test_log_durations_read(&durations, "/dev/zero", "--history"),
                 -1);
    fflush(stderr);
    cr_expect_stderr_eq_str(
        "testlog: --history: cannot read absent: No such file or directory; "
        "give all shards the same file, which may be empty\n"
        "testlog: --history: cannot read /: Is a directory; give all shards "
        "the same file, which may be empty\n"
        "testlog: --history: /dev/zero:1 is not a line of results.tsv: "
        "outcome, nanoseconds, program and test, separated by tabs\n");
}

static bool is_of(const struct test_log_duration *test, const void *program)
{
    return !strcmp(test->program, program);
}

Test(harness_durations, writes_what_it_reads_again)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    read_text("failed\t7\tc_test\ts/three\n"
              "passed\t2\tb_test\ts/two\n"
              "passed\t1\tb_test\ts/one\n");
    test_log_durations_keep(&durations, is_of, "b_test");
    test_log_durations_put(&durations, file);
    cr_assert_eq(fclose(file), 0);
    cr_expect_str_eq(text, "passed\t1\tb_test\ts/one\n"
                           "passed\t2\tb_test\ts/two\n");
    free(text);
}

Test(harness_durations, recalls_the_median_of_the_last_passes)
{
    static const char lines[] = "failed\t9\t\ts/never\n"
                                "failed\t9\t1,900,30,2,50\ts/often\n"
                                "passed\t9\t4\ts/once\n";
    struct test_log_history history = {.path = (char *)test_path(".")};

    test_save(test_path("a_test.tsv"), lines, strlen(lines));
    history.path = strdup(history.path);
    cr_assert_eq(test_log_history_load(&history, "a_test", 0), 0);
    cr_assert_eq(test_log_durations_recall(&durations, &history), 0);
    cr_expect_eq(durations.count, 2);
    expect_time("a_test", "s/never", 0);
    expect_time("a_test", "s/once", 4);
    expect_time("a_test", "s/often", 30);
    test_log_history_free(&history);
}
