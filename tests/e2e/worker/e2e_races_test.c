/* e2e_races_test.c: data races, found by valgrind's helgrind and DRD. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_races, .init = e2e_begin, .timeout = 600);

static void need_valgrind(void)
{
    if (e2e_sanitized())
        cr_skip_test("valgrind cannot run a sanitized program");
    e2e_need("valgrind");
}

/* Expects that only the planted race is found. */
static void expect_planted(const char *tool)
{
    const struct e2e *run;

    need_valgrind();
    run = e2e_exits(1,
                    "valgrind -q --tool=%s --trace-children=yes "
                    "--suppressions='%s/harness/valgrind.supp' "
                    "--log-file=valgrind.log.%%p %s -j1 races/",
                    tool, SOURCE_DIR, e2e_program("races", E2E_TRACED));
    e2e_expect_closing(run, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, "races/planted: failed: valgrind found 1 error\n");
    run = e2e_run("cat valgrind.log.* >all; cat all; "
                  "test $(grep -c 'Possible data race\\|Conflicting' all) = 1");
    e2e_expect_code(run, 0); /* neither the runner nor another test has one */
    e2e_expect_has(run->out, ": write_last (races.c:");
}

Test(e2e_races, helgrind_finds_only_the_planted_race)
{
    expect_planted("helgrind");
}

Test(e2e_races, drd_finds_only_the_planted_race)
{
    expect_planted("drd");
}

#define PLANTED                                                                \
    "/races.c:100: data race on planted: written in write_last, and in "       \
    "another thread written in write_first ("

/* ---- --races ---- */

/* Both places are named, the whole report is in the output, and no file of
 * valgrind's is left. */
static void expect_found(const struct e2e *run)
{
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, PLANTED, "/races.c:87)\n",
                   "Possible data race during write of size 4");
    e2e_expect_has(e2e_read("testlog-runs/latest/run.json"), "-helgrind\"");
    e2e_exits(0, "rmdir tmp");
}

Test(e2e_races, names_both_places)
{
    need_valgrind();
    expect_found(e2e_run("mkdir tmp && TMPDIR=$PWD/tmp %s --races races/",
                         e2e_program("races", E2E_TRACED)));
}

Test(e2e_races, finds_races_of_several_programs)
{
    const char *program;

    need_valgrind();
    program = e2e_program("races", E2E_TRACED);
    expect_found(e2e_run("mkdir tmp && TMPDIR=$PWD/tmp '" BUILD_DIR
                         "/testlog' run --races %s -- races/",
                         program));
    expect_found(e2e_run("mkdir tmp && TMPDIR=$PWD/tmp '" BUILD_DIR
                         "/testlog' run --races=helgrind %s -- -j2 races/",
                         program));
}

Test(e2e_races, names_one_place_with_drd)
{
    const struct e2e *run;

    need_valgrind();
    run =
        e2e_exits(1, "%s --races=drd races/", e2e_program("races", E2E_TRACED));
    e2e_expect_closing(run, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err,
                   "/races.c:100: data race on memory: written in write_last, "
                   "and in another thread used; --races=helgrind finds where");
}

#define STACKS "TESTLOG_STACKS='" BUILD_DIR "/testlog-stacks'"

/* Valgrind reads the stacks; it leaves no pipe of vgdb's. */
Test(e2e_races, shows_stacks_of_a_deadlock)
{
    const struct e2e *run;

    need_valgrind();
    run = e2e_exits(1,
                    "mkdir tmp && TMPDIR=$PWD/tmp " STACKS
                    " %s --races --timeout=0.2 "
                    "--filter hanging/deadlock --filter hanging/child",
                    e2e_program("hanging", E2E_TRACED));
    e2e_expect_closing(run, "0 passed, 2 failed, 0 skipped");
    e2e_expect_has(e2e_block(run, "hanging/deadlock"), ": lock_one_and_two\n",
                   ": lock_two_and_one\n", ": hanging_deadlock_impl\n");
    e2e_expect_has(e2e_block(run, "hanging/child"), "  child process ",
                   ": wait_forever\n", ": hanging_child_impl\n");
    e2e_exits(0, "rmdir tmp");
}

/* No race is green, however its test ends. */
Test(e2e_races, are_found_however_a_test_ends)
{
    static const char *const ways[] = {"in_a_child", "by_exit", "by_a_signal",
                                       "by_a_skip"};
    const char *program;
    const struct e2e *run;
    char line[128];

    need_valgrind();
    program = e2e_program("races", E2E_TRACED);
    run = e2e_exits(1,
                    "mkdir tmp && TMPDIR=$PWD/tmp " STACKS
                    " %s --races --timeout=60 ending/",
                    program);
    e2e_expect_closing(run, "1 passed, 5 failed, 0 skipped");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        snprintf(line, sizeof(line),
                 ": ending/%s: failed: data race on raced: ", ways[i]);
        e2e_expect_has(run->err, line);
    }
    e2e_expect_has(
        run->err, "ending/by_a_crash: crashed: SIGABRT, ",
        "; before, data race on raced: ", " --races --timeout=60 --filter ");
    e2e_exits(0, "rmdir tmp");
}

/* Where no handler can run, the verdict is the same without them. */
Test(e2e_races, shows_stacks_of_crashes)
{
    static const struct {
        const char *name, *reason, *frame;
    } crashes[] = {
        {"null_pointer", "SIGSEGV: null pointer, in value_of (", ": second\n"},
        {"stack_overflow", "SIGSEGV, below ", ""},
        {"aborts", "SIGABRT, in crashing_aborts_impl (", ": abort\n"},
        {"read_only", "SIGSEGV: read-only memory, in ",
         ": crashing_read_only_impl\n"},
        {"thread", "SIGSEGV: null pointer + 0x10, in crash (",
         ": crashing_thread_impl\n"},
        {"after_a_race", "SIGSEGV: null pointer + 0x10, in crash (",
         "Possible data race during write of size 4"},
    };
    const char *program;
    const struct e2e *run;
    char name[128];

    need_valgrind();
    program = e2e_program("crashing", E2E_TRACED);
    run = e2e_exits(1,
                    "mkdir tmp && TMPDIR=$PWD/tmp " STACKS " %s --races "
                    "--filter crashing/null_pointer --filter '*/stack_overflow'"
                    " --filter '*/aborts' --filter '*/read_only' --filter "
                    "crashing/thread --filter '*/after_a_race' --filter "
                    "'expected/*'",
                    program);
    e2e_expect_closing(run, "3 passed, 6 failed, 0 skipped");
    for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
        snprintf(name, sizeof(name), "crashing/%s", crashes[i].name);
        e2e_expect_has(e2e_block(run, name), crashes[i].reason,
                       crashes[i].frame);
    }
    e2e_exits(0, "rmdir tmp");
    run = e2e_exits(1,
                    STACKS " valgrind -q --tool=helgrind --trace-children=yes "
                           "%s --filter crashing/null_pointer",
                    program); /* the user's own */
    e2e_expect_lacks(e2e_block(run, "crashing/null_pointer"), "stacks:");
}

/* Without vgdb, the verdict is the same, and a line says what is missing. */
Test(e2e_races, says_that_valgrind_does_not_answer)
{
    const struct e2e *run;

    need_valgrind();
    run =
        e2e_exits(1,
                  "VALGRIND_OPTS=--vgdb=no " STACKS " %s --races --timeout=0.2 "
                  "--filter hanging/deadlock",
                  e2e_program("hanging", E2E_TRACED));
    e2e_expect_has(e2e_block(run, "hanging/deadlock"), "timed out",
                   "valgrind does not run it, or does not answer vgdb\n");
}

Test(e2e_races, refuses_what_cannot_work)
{
    const char *program = e2e_program("races", E2E_TRACED);
    const struct e2e *run = e2e_exits(2, "PATH=/nowhere %s --races", program);

    e2e_expect_is(run->err,
                  "testlog: --races: valgrind is not in PATH; install "
                  "the package valgrind\n");
    run = e2e_exits(2, "PATH=/nowhere '" BUILD_DIR "/testlog' run --races %s",
                    program);
    e2e_expect_has(run->err, "install the package valgrind\n");
    run = e2e_exits(2, "%s --races=tsan", program);
    e2e_expect_has(run->err, "helgrind");
    need_valgrind();
    run = e2e_exits(2, "TMPDIR=/nowhere %s --races", program);
    e2e_expect_has(run->err, "set TMPDIR");
    run = e2e_exits(2, "%s --races --debug-failed", program);
    run = e2e_exits(0, "%s --races --list", program);
}

/* A variable that another process left removes nothing. */
Test(e2e_races, keeps_folders_of_others)
{
    need_valgrind();
    e2e_exits(0,
              "mkdir kept && touch kept/1 && TESTLOG_RACES=1:$PWD/kept "
              "valgrind -q %s --races --filter 'races/none*' && ls kept/1",
              e2e_program("races", E2E_TRACED));
}
