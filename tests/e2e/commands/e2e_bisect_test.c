/* e2e_bisect_test.c: testlog bisect, in a repository of twelve commits. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

#define TESTLOG BUILD_DIR "/testlog "

E2E_FOLDER

/* The file "settings" of each commit says what the program does there: the
 * tests fail from commit 7 on, log a line from 9 on, and take longer from 6 on;
 * 4 cannot be built. */
static void begin(void)
{
    e2e_begin();
    if (e2e_run("git --version")->code)
        cr_skip_test("not installed: git");
    e2e_run("mkdir repository runs; cd repository && git init -q && "
            "git config user.email a@b && git config user.name n && "
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do { "
            "[ $i -ge 7 ] && echo 'export FAILS=1'; "
            "[ $i -ge 9 ] && echo 'export LOGS=1'; "
            "[ $i -ge 6 ] && echo 'export SLOW=8'; "
            "[ $i = 4 ] && echo 'return 1'; echo \": $i\"; } >settings; "
            "git add settings && git commit -qm \"commit $i\" && "
            "git tag c$i; done");
}

TestSuite(e2e_bisect, .init = begin, .timeout = 300);

static const struct e2e *bisect(const char *arguments, const char *command)
{
    return e2e_run("cd repository && TMPDIR=../runs " TESTLOG
                   "bisect %s -- '. ./settings && %s'",
                   arguments, command);
}

static const char *program(void)
{
    return e2e_program("bisected", E2E_TRACED);
}

/* The branch is checked out again, and git does not bisect. */
static void expect_reset(void)
{
    e2e_expect_is(e2e_run("cd repository && git symbolic-ref --short HEAD && "
                          "git status --porcelain && git bisect log")
                      ->err,
                  "error: We are not bisecting.\n");
    e2e_expect_is(e2e_run("cd repository && git rev-parse HEAD c12 | uniq | "
                          "wc -l")
                      ->out,
                  "1\n");
}

static void expect_found(const struct e2e *result, int number)
{
    char text[64];

    snprintf(text, sizeof(text), ": commit %d\nruns: ", number);
    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "\nfirst bad commit: ", text);
    expect_reset();
}

Test(e2e_bisect, finds_the_commit_since_which_tests_fail)
{
    const struct e2e *result = bisect("c1 HEAD", program());

    expect_found(result, 7);
    e2e_expect_has(result->out, "\nnewly failing:\n");
    e2e_expect_has(result->err, " is good\n", " is bad\n");
    e2e_expect_has(result->out, "bisected/works: failed");
    e2e_expect_is(e2e_run("ls -A repository")->out, ".git\nsettings\n");
}

Test(e2e_bisect, finds_the_commit_since_which_a_line_is_logged)
{
    expect_found(bisect("c1 c12 --when=\"logs:buffer is\"", program()), 9);
}

Test(e2e_bisect, finds_the_commit_since_which_a_span_is_slower)
{
    expect_found(bisect("c5 c12 --when=slower:work", program()), 6);
}

Test(e2e_bisect, judges_any_command_by_its_exit_code)
{
    expect_found(bisect("c5 c12 --when=fails", "test -z \"$SLOW\""), 6);
}

Test(e2e_bisect, ends_if_only_skipped_commits_are_left)
{
    const struct e2e *result =
        bisect("c3 c5", "test \"$(tail -n 1 settings)\" != \": 5\"");

    e2e_expect_code(result, 1);
    e2e_expect_has(result->err, "testlog: bisect: no commit was found; the "
                                "runs are in ");
    expect_reset();
}

Test(e2e_bisect, refuses_commits_that_do_not_differ)
{
    const struct e2e *result = bisect("c1 c2", program());

    e2e_expect_code(result, 2);
    e2e_expect_has(result->err,
                   " should be bad, but is good; its runs are in ");
    expect_reset();
    result = bisect("c12 c1", program());
    e2e_expect_code(result, 2);
    e2e_expect_has(result->err,
                   " should be good, but is bad; its runs are in ");
    expect_reset();
    result = bisect("c1 c12", "/missing/program");
    e2e_expect_code(result, 2);
    e2e_expect_has(result->err, " should be good, but is skipped");
    expect_reset();
}

Test(e2e_bisect, resets_after_a_signal)
{
    static const char *const signals[] = {"INT", "TERM", "HUP"};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        const struct e2e *result = e2e_run(
            "cd repository && { setsid env TMPDIR=../runs " TESTLOG
            "bisect c1 c12 -- 'touch ../began; sleep 60' & } ; pid=$!; "
            "while [ ! -e ../began ]; do sleep 0.05; done; rm ../began; "
            "kill -%s $pid; wait $pid; echo $?",
            signals[i]);

        cr_expect_gt(atoi(e2e_last(result->out)), 128, "%s", result->out);
        e2e_expect_has(result->err, "testlog: bisect: interrupted\n");
        expect_reset();
    }
}

/* The command of a step must not go on in the tree that was put back. */
Test(e2e_bisect, ends_the_command_of_a_step)
{
    const struct e2e *result = e2e_run(
        "cd repository && { setsid env TMPDIR=../runs " TESTLOG
        "bisect c1 c12 -- '. ./settings; case $(tail -n 1 settings) in "
        "*1|*12) ;; *) touch ../began; sleep 2; touch ../survived;; esac; "
        "test -z \"$FAILS\"' & } ; pid=$!; "
        "while [ ! -e ../began ]; do sleep 0.05; done; "
        "kill -TERM $pid; sleep 0.01; kill -TERM $pid; wait $pid; "
        "echo $?; sleep 3; test ! -e ../survived || echo ALIVE");

    e2e_expect_has(result->out, "143\n");
    e2e_expect_lacks(result->out, "ALIVE");
    expect_reset();
}

Test(e2e_bisect, runs_on_a_terminal)
{
    e2e_need("script");
    e2e_expect_has(e2e_run("cd repository && TMPDIR=../runs script -qec "
                           "\"" TESTLOG "bisect c5 c12 -- '. ./settings && "
                           "test -z \\\"\\$FAILS\\\"'\" /dev/null </dev/null")
                       ->out,
                   ": commit 7\r\n");
    expect_reset();
}

Test(e2e_bisect, undoes_what_the_command_changes)
{
    expect_found(bisect("c5 c12", "{ test -z \"$FAILS\"; code=$?; "
                                  "echo x >>settings; exit $code; }"),
                 7);
    e2e_expect_is(e2e_run("cd repository && git status --porcelain")->out, "");
}

Test(e2e_bisect, takes_compound_commands)
{
    expect_found(e2e_run("cd repository && TMPDIR=../runs " TESTLOG
                         "bisect c5 c12 -- 'if . ./settings; then "
                         "test -z \"$FAILS\"; fi'"),
                 7);
    expect_found(bisect("c5 c12", "case \"$FAILS\" in 1) false;; *) true;; "
                                  "esac"),
                 7);
}

Test(e2e_bisect, a_hook_that_fails_does_not_keep_the_tree)
{
    e2e_run("cd repository && printf '#!/bin/sh\nexit 1\n' "
            ">.git/hooks/post-checkout && chmod +x .git/hooks/post-checkout");
    bisect("c5 c12", "test -z \"$FAILS\"");
    expect_reset();
}

Test(e2e_bisect, refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"", "bisect: write a good commit, a bad one and a command: "},
        {"c1 c12", "bisect: write a good commit, a bad one and a command: "},
        {"c1 nope -- x", "bisect: there is no commit nope"},
        {"c1 c12 --when=sloer -- x", "--when: unknown value \"sloer\"; write "
                                     "fails, slower or logs\n"},
        {"c1 c12 --when=logs: -- x",
         "--when: logs needs a text: --when=logs:TEXT\n"},
        {"c1 c12 --when=fails:x -- x", "--when: fails takes no text\n"},
        {"c1 c12 --whem=fails -- x",
         "bisect: unknown flag --whem=fails; did you mean --when?"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct e2e *result = e2e_exits(
            2, "cd repository && " TESTLOG "bisect %s", rows[i].arguments);

        e2e_expect_has(result->err, rows[i].error);
    }
    e2e_expect_is(e2e_run(TESTLOG "bisect c1 c2 -- x")->err,
                  "testlog: bisect: this is not a git work tree\n");
}

Test(e2e_bisect, refuses_a_tree_that_is_not_clean)
{
    e2e_run("cd repository && echo x >>settings");
    e2e_expect_is(bisect("c1 c12", "true")->err,
                  "testlog: bisect: the work tree has changes; commit or stash "
                  "them\n");
    e2e_run("cd repository && git checkout -q settings && git bisect start");
    e2e_expect_is(
        bisect("c1 c12", "true")->err,
        "testlog: bisect: a bisection is in progress; end it with git "
        "bisect reset\n");
}
