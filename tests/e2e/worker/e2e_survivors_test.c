/* e2e_survivors_test.c: processes that outlive their test. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_survivors, .init = e2e_begin, .timeout = 300);

static const char *program(void)
{
    return e2e_program("survivors", E2E_TRACED);
}

static const char *log_of(const char *test)
{
    return e2e_read("testlog-runs/latest/tests/survivors_test/survivors.%s/"
                    "log.txt",
                    test);
}

Test(e2e_survivors, waits_for_children_that_end_soon)
{
    const struct e2e *run =
        e2e_run("%s --filter 'survivors/soon' --render=all", program());

    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    cr_expect_eq(e2e_count(log_of("soon"), " of the survivor"), 2000);
    cr_expect_eq(e2e_number(e2e_latest("survivors/soon"), "dropped"), 0);
    e2e_expect_lacks(run->err, "left processes behind");
}

/* The child would end after five minutes. */
Test(e2e_survivors, does_not_wait_for_children_of_a_test_that_timed_out)
{
    static const char *const flags[] = {"", "--nocapture"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        e2e_exits(1,
                  "rm -f child; %s %s --filter survivors/hangs_with_child >out "
                  "2>err; code=$?; kill -9 $(cat child) || code=99; exit $code",
                  program(), flags[i]);

        e2e_expect_is(
            e2e_text(e2e_latest("survivors/hangs_with_child"), "outcome"),
            "timeout");
    }
}

/* Runs until the child has recorded between the end of its test and that of the
 * run, for which it needs a processor. */
static const struct e2e *run_late(const cJSON **late)
{
    for (int tries = 10;; tries--) {
        const struct e2e *run = e2e_run(
            "%s --filter 'survivors/[lz]*' -j4 --render=all", program());

        e2e_expect_closing(run, "4 passed, 0 failed, 0 skipped");
        *late = e2e_latest("survivors/late");
        if (tries == 1 ||
            cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(*late, "lost"),
                                "end"))
            return run;
    }
}

Test(e2e_survivors, names_surviving_processes_and_their_lost_records)
{
    const cJSON *late;
    const struct e2e *run = run_late(&late);
    const char *line;

    e2e_expect_has(e2e_text(late, "survivors"), " (");
    cr_expect_gt(
        e2e_number(cJSON_GetObjectItemCaseSensitive(late, "lost"), "end"), 0);
    line = e2e_line(run->err, "survivors/late left processes behind: ");
    e2e_expect_has(line, e2e_text(late, "survivors"));
    line = e2e_line(run->err, " records were lost after the test had ended");
    e2e_expect_has(line,
                   "testlog: survivors/late: ", e2e_text(late, "survivors"));
    e2e_expect_has(log_of("late"), "begun");
    e2e_expect_lacks(run->err, "survivors/zombie");
}

Test(e2e_survivors, ignores_process_ids_of_another_namespace)
{
    const struct e2e *run = e2e_run("%s --filter survivors/sandbox", program());

    if (!strcmp(e2e_last(run->out), "0 passed, 0 failed, 1 skipped"))
        cr_skip_test("no permission to make a PID namespace");
    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(log_of("sandbox"), "of number 1");
    e2e_expect_lacks(run->err, "left processes");
}

Test(e2e_survivors, prints_nothing_without_survivors)
{
    const struct e2e *run =
        e2e_run("%s --filter 'survivors/[nz]o*'", program());

    e2e_expect_closing(run, "2 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(run->err, "left processes");
    e2e_expect_is(e2e_text(e2e_latest("survivors/none"), "survivors"), "");
}
