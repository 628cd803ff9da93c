/* e2e_losses_test.c: reports how many records a test lost, and why. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

E2E_FOLDER

TestSuite(e2e_losses, .init = e2e_begin, .timeout = 300);

static const char *program(void)
{
    return e2e_program("losses", E2E_TRACED);
}

static double lost(const char *test, const char *cause)
{
    return e2e_number(
        cJSON_GetObjectItemCaseSensitive(e2e_latest(test), "lost"), cause);
}

static int causes(const char *test)
{
    return cJSON_GetArraySize(
        cJSON_GetObjectItemCaseSensitive(e2e_latest(test), "lost"));
}

Test(e2e_losses, counts_lost_records_by_cause)
{
    const struct e2e *run = e2e_run("TRACE_LIMIT=256K %s", program());
    char line[256];

    e2e_expect_closing(run, "4 passed, 0 failed, 0 skipped");
    cr_expect_eq(causes("losses/none"), 0);
    cr_expect_eq(causes("losses/limit"), 1);
    cr_expect_gt(lost("losses/limit", "limit"), 1000);
    cr_expect_eq(causes("losses/handler"), 1);
    cr_expect_eq(lost("losses/handler", "nested"), 3);
    cr_expect_eq(causes("losses/handler_and_limit"), 2);
    cr_expect_eq(lost("losses/handler_and_limit", "nested"), 1);
    cr_expect_eq(e2e_number(e2e_latest("losses/handler_and_limit"), "dropped"),
                 lost("losses/handler_and_limit", "limit") + 1);
    e2e_expect_has(run->err,
                   "testlog: losses/handler: 3 records were lost in signal "
                   "handlers that interrupted recording\n");
    snprintf(line, sizeof(line),
             "testlog: losses/handler_and_limit: %.0f records were lost after "
             "TRACE_LIMIT was reached, 1 in signal handlers that "
             "interrupted recording; raise --trace-limit\n",
             lost("losses/handler_and_limit", "limit"));
    e2e_expect_has(run->err, line);
    e2e_expect_lacks(run->err, "losses/none");
}

Test(e2e_losses, keeps_the_causes_in_a_merged_run)
{
    e2e_run("TRACE_LIMIT=256K %s/testlog run %s", BUILD_DIR, program());
    cr_expect_eq(lost("losses/handler", "nested"), 3);
    cr_expect_gt(lost("losses/limit", "limit"), 1000);
}

/* The mapping of a recording counts as address space. */
Test(e2e_losses, names_the_error_that_prevented_a_recording)
{
    const struct e2e *run;

    if (e2e_sanitized())
        cr_skip_test("sanitizers need more address space");
    run = e2e_run("ulimit -v 250000; %s --filter losses/none", program());
    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(run->err, "losses/none has no recording",
                   "Cannot allocate memory");
    e2e_expect_lacks(run->err, "No such file");
}

Test(e2e_losses, names_the_file_size_limit)
{
    const struct e2e *run = e2e_run(
        "bash -c 'ulimit -f 1000; exec %s --filter losses/limit'", program());

    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    cr_expect_eq(causes("losses/limit"), 1);
    cr_expect_gt(lost("losses/limit", "file_size"), 1000);
    e2e_expect_has(run->err,
                   "lost after the file size limit (ulimit -f) was reached\n");
}

/* A chunk has 64 KiB; a short test needs 5 KiB or less. */
Test(e2e_losses, truncates_a_recording_to_its_used_size)
{
    struct stat status;

    e2e_run("%s --filter losses/none", program());
    cr_assert_eq(stat("testlog-runs/latest/tests/losses_test/losses.none/"
                      "recording",
                      &status),
                 0);
    if (status.st_size == 4096 + 65536)
        cr_skip_test("file leases don't work on this file system");
    cr_expect_lt(status.st_size, 8192, "%ld bytes", (long)status.st_size);
}
