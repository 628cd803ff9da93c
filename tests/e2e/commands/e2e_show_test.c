/* e2e_show_test.c: testlog show prints what a run has printed. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER
TestSuite(e2e_show, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "

/* Returns what a run with failed tests has printed, to be freed. */
static char *a_run(const char *flags)
{
    const struct e2e *result =
        e2e_run("SMALL=passes,has_a_default,sizes %s -j1 %s",
                e2e_program("small", E2E_TRACED), flags);

    e2e_expect_code(result, 1);
    return strdup(result->err);
}

/* From the first block to the list of failed tests, without it. */
static const char *blocks(const char *text)
{
    static char found[2][1 << 16];
    static unsigned next;
    const char *from = strstr(text, "---- "), *to = strstr(text, "\nrun them");
    char *copy = found[next++ % 2];

    cr_assert(from && to, "%s", text);
    snprintf(copy, sizeof(found[0]), "%.*s", (int)(to - from), from);
    return copy;
}

/* Times are left out: their last digit may differ, because clocks are compared
 * once more at the end of a recording. */
#define NO_TIME "--log-time=none "

Test(e2e_show, prints_what_the_run_has_printed)
{
    static const struct {
        const char *run, *show;
    } flags[] = {
        {NO_TIME, NO_TIME},
        {NO_TIME "--log=trace", NO_TIME},
        {NO_TIME "--fail-log=0", NO_TIME "--fail-log=0"},
        {NO_TIME "--log-format=pretty", NO_TIME "--log-format=pretty"}};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        char *printed = a_run(flags[i].run);
        const struct e2e *shown = e2e_run(TESTLOG "show %s", flags[i].show);

        e2e_expect_code(shown, 1);
        e2e_expect_is(shown->err, "");
        e2e_expect_is(blocks(shown->out), blocks(printed));
        e2e_expect_is(e2e_last(shown->out), "13 passed, 3 failed, 0 skipped");
        free(printed);
    }
}

Test(e2e_show, shows_tests_that_words_select)
{
    const struct e2e *shown;

    free(a_run(""));
    shown = e2e_run(TESTLOG "show latest 'small/sizes[03]'");
    e2e_expect_code(shown, 1);
    e2e_expect_has(shown->out, "---- small/sizes[03]: failed");
    e2e_expect_is(e2e_last(shown->out), "0 passed, 1 failed, 0 skipped");
    shown = e2e_run(TESTLOG "show other --show-output");
    e2e_expect_code(shown, 0);
    e2e_expect_is(e2e_last(shown->out), "1 passed, 0 failed, 0 skipped");
    shown = e2e_run(TESTLOG "show nothing");
    e2e_expect_code(shown, 2);
    e2e_expect_is(shown->err,
                  "testlog: show: no test of the run matches nothing\n");
}

Test(e2e_show, shows_passed_tests_and_other_lines_if_asked)
{
    const struct e2e *shown;

    free(a_run("--log=off"));
    shown = e2e_run(TESTLOG "show --log=trace --log-time=none");
    e2e_expect_has(shown->out, "TRACE outer: programs::small: finest\n");
    e2e_expect_lacks(shown->out, "size 4");
    shown = e2e_run(TESTLOG "show --log=trace --show-output");
    e2e_expect_has(shown->out, "size 4\n");
}

Test(e2e_show, shows_the_tries_of_a_test)
{
    const char *shown;

    free(a_run("--retries=1"));
    shown = e2e_run(TESTLOG "show")->out;
    e2e_expect_has(shown, "(try 1 of 2), trace: ");
    e2e_expect_has(shown, "/small.passes/trace.json\n");
    e2e_expect_has(shown, "---- small/passes: failed (try 2 of 2) ----\n");
}

Test(e2e_show, shows_a_pack_and_names_no_file_that_will_be_gone)
{
    const struct e2e *shown;

    free(a_run(""));
    if (e2e_run(TESTLOG "pack -o run.tar.zst")->code)
        cr_skip_test("no libarchive");
    shown = e2e_exits(1, "rm -r testlog-runs; mkdir unpacked; "
                         "TMPDIR=$PWD/unpacked " TESTLOG "show run.tar.zst");
    e2e_expect_has(shown->out, "---- small/passes: failed",
                   "\nrun: run.tar.zst\n");
    e2e_expect_lacks(shown->out, "/unpacked", "trace: ");
}

Test(e2e_show, exits_as_the_run_did)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("%s", small);
    e2e_expect_code(e2e_run(TESTLOG "show"), 0);
    e2e_run("sed -i 's/\"interrupted\":null/\"interrupted\":\"SIGTERM\"/' "
            "testlog-runs/latest/run.json");
    e2e_expect_code(e2e_run(TESTLOG "show"), 143);
    e2e_run("rm testlog-runs/latest/run.json");
    e2e_expect_code(e2e_run(TESTLOG "show"), 1);
    e2e_expect_is(e2e_run(TESTLOG "show")->err,
                  "testlog: show: the run did not finish; these are the tests "
                  "that are known\n");
    e2e_expect_code(e2e_run("rm -r testlog-runs; " TESTLOG "show"), 2);
}

/* Runs may come from anywhere. */
Test(e2e_show, survives_runs_that_are_damaged)
{
    free(a_run(""));
    e2e_run("cp -r $(readlink -f testlog-runs/latest) whole");
    for (size_t size = 1; size < 6000; size = size * 2 + 3) {
        const struct e2e *shown = e2e_run(
            "rm -rf cut; cp -r whole cut; truncate -s %zu cut/run.json; "
            "for f in cut/tests/*/*/recording; do truncate -s %zu $f; done; "
            "ln -sf /etc/passwd cut/tests/small/small.passes/output.txt; "
            "timeout 20 " TESTLOG "show cut --log=trace --show-output",
            size, size * 7);

        cr_expect_lt(shown->code, 124, "%zu: %d", size, shown->code);
        e2e_expect_lacks(shown->out, "root:");
    }
}
