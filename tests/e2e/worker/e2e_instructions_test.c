/* e2e_instructions_test.c: instructions that are counted, by callgrind or the
 * kernel.
 */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/recording.h"

#define TESTLOG BUILD_DIR "/testlog "

E2E_FOLDER

TestSuite(e2e_instructions, .init = e2e_begin, .timeout = 300);

static void need_valgrind(void)
{
    e2e_need("valgrind");
#ifdef __SANITIZE_ADDRESS__
    cr_skip_test("valgrind cannot run a program with a sanitizer");
#endif
}

static const cJSON *usage(void)
{
    const cJSON *tests = cJSON_GetObjectItem(e2e_run_json(), "tests");

    return cJSON_GetObjectItem(cJSON_GetArrayItem(tests, 0), "usage");
}

Test(e2e_instructions, callgrind_counts_nearly_the_same_twice)
{
    const char *counting = e2e_program("counting", E2E_TRACED);
    double counts[2];

    need_valgrind();
    for (int i = 0; i < 2; i++) {
        e2e_exits(0, "TMPDIR=$PWD %s --callgrind --filter counting/few",
                  counting);
        counts[i] = e2e_number(usage(), "instructions");
        e2e_expect_is(e2e_text(usage(), "counted_by"), "callgrind");
    }
    cr_expect_gt(counts[0], 500e3);
    cr_expect_lt(counts[1], counts[0] * 1.01);
    cr_expect_gt(counts[1], counts[0] * 0.99);
    e2e_expect_has(e2e_run(TESTLOG "stat")->out, "Instructions  Span\n");
    e2e_exits(2, "ls -d testlog-races-*");
}

/* valgrind splits what it gets in a variable at blanks. */
Test(e2e_instructions, runs_beside_a_folder_with_a_blank)
{
    need_valgrind();
    e2e_exits(
        0,
        "mkdir 'a b'; TMPDIR=\"$PWD/a b\" %s --callgrind --filter counting/few",
        e2e_program("counting", E2E_TRACED));
    cr_expect_gt(e2e_number(usage(), "instructions"), 500e3);
}

/* callgrind numbers the files of each process from 1 on. */
Test(e2e_instructions, counts_the_spans_of_a_forked_child)
{
    need_valgrind();
    e2e_run("%s --callgrind --filter counting/forks",
            e2e_program("counting", E2E_TRACED));
    e2e_expect_is(e2e_run(TESTLOG "stat --json | tr , '\n' | "
                                  "grep -c '\"instructions\":[0-9]'")
                      ->out,
                  "2\n");
}

Test(e2e_instructions, keeps_times_apart)
{
    const char *counting = e2e_program("counting", E2E_TRACED);

    need_valgrind();
    e2e_run("%s --filter counting/few; %s --callgrind --filter counting/few",
            counting, counting);
    e2e_expect_has(e2e_run(TESTLOG "diff")->err, "the builds differ: ");
}

Test(e2e_instructions, diff_finds_one_percent)
{
    const char *counting = e2e_program("counting", E2E_TRACED);
    const struct e2e *diff;

    need_valgrind();
    e2e_run("for steps in 100000 100000 101000; do "
            "STEPS=${steps}0 %s --callgrind --filter counting/few; done",
            counting);
    e2e_exits(0, TESTLOG
              "diff latest~2 latest~1 --by=instructions --fail-over=0.5%%");
    diff = e2e_exits(1, TESTLOG "diff --by=instructions --fail-over=0.5%%");
    e2e_expect_has(diff->out, "\nslower:\n    counting/few: ",
                   "\nslower spans:\n    compute: ", " times as many");
    e2e_expect_lacks(diff->out, "noise");
}

Test(e2e_instructions, expectations_are_judged_where_something_counts)
{
    const char *counting = e2e_program("counting", E2E_TRACED);
    const struct e2e *result;

    need_valgrind();
    result =
        e2e_exits(1, "%s --callgrind --filter 'counting/[fm]*[wy]'", counting);
    e2e_expect_is(e2e_last(result->out), "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err,
                   "log_expect_instructions_at_most(1000, \"compute\"): 1 of "
                   "the 1 spans that match: open or executed more",
                   " instructions)");
}

Test(e2e_instructions, expectations_are_not_judged_where_nothing_counts)
{
    const struct e2e *result =
        e2e_exits(0, "%s", e2e_program("counting", E2E_TRACED));

    e2e_expect_is(e2e_last(result->out), "3 passed, 0 failed, 0 skipped");
    e2e_expect_has(result->err, "nothing counts instructions; use --callgrind");
}

Test(e2e_instructions, says_why_the_kernel_does_not_count)
{
    int counter = trace_count_instructions(false);
    const struct e2e *result =
        e2e_exits(0, "%s --trace-options=instructions=1 --filter counting/few",
                  e2e_program("counting", E2E_TRACED));

    if (counter < 0) {
        e2e_expect_has(result->err, "testlog: instructions are not counted: ");
        return;
    }
    close(counter);
    e2e_expect_is(e2e_text(usage(), "counted_by"), "kernel");
    cr_expect_gt(e2e_number(usage(), "instructions"), 100e3);
}

Test(e2e_instructions, counts_of_two_kinds_are_not_compared)
{
    need_valgrind();
    e2e_run("%s --callgrind --filter counting/few && "
            "cp -r \"$(realpath testlog-runs/latest)\" other && "
            "sed -i 's/\"glibc\":\"[^\"]*\"/\"glibc\":\"9\"/' other/run.json",
            e2e_program("counting", E2E_TRACED));
    e2e_expect_has(
        e2e_exits(0, TESTLOG "diff latest other --by=instructions")->err,
        "testlog: diff: only results are compared, because instructions were "
        "counted in two ways: ",
        "; callgrind, glibc 9, ");
    e2e_exits(2, TESTLOG
              "diff latest,other latest --by=instructions --fail-over=1%%");
}

Test(e2e_instructions, a_check_that_measured_nothing_fails)
{
    const char *counting = e2e_program("counting", E2E_TRACED);
    const struct e2e *diff;

    e2e_run("%s --filter counting/few; %s --filter counting/few", counting,
            counting);
    diff = e2e_exits(2, TESTLOG "diff --by=instructions --fail-over=1%%");
    e2e_expect_is(diff->err, "testlog: diff: no test or span of both sides has "
                             "a count of instructions\n");
    e2e_exits(0, TESTLOG "diff --by=instructions");
}

Test(e2e_instructions, refuses_two_tools_of_valgrind)
{
    need_valgrind();
    e2e_expect_is(
        e2e_run("%s --callgrind --races", e2e_program("counting", E2E_TRACED))
            ->err,
        "testlog: --races and --callgrind are two tools of valgrind; "
        "leave out one\n");
}
