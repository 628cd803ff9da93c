/* runners_children_test.c: starts programs, waits for them, and forwards
 * signals to them. */
#include "runners/run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

TestSuite(runners_children, .init = runners_take_signals, .timeout = 60);

static char **shell(const char *script)
{
    static char *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};

    argv[2] = (char *)script;
    return argv;
}

static void start(struct child *child, const char *script)
{
    cr_assert_eq(runners_start(child, (char *)"/bin/sh", shell(script)), 0);
}

static void wait_for(struct child *child)
{
    while (!child->ended)
        runners_wait(0, -1);
}

Test(runners_children, spawns_a_program_and_returns_its_status)
{
    int status = runners_spawn((char *)"/bin/sh", shell("exit 7"), NULL);

    cr_expect(WIFEXITED(status));
    cr_expect_eq(WEXITSTATUS(status), 7);
    status = runners_spawn((char *)"/bin/sh", shell("kill -KILL $$"), NULL);
    cr_expect(WIFSIGNALED(status));
    cr_expect_eq(WTERMSIG(status), SIGKILL);
}

Test(runners_children, returns_why_a_program_cannot_run)
{
    static char *argv[] = {(char *)"nothing", NULL};

    cr_expect_eq(runners_spawn((char *)"./nothing", argv, NULL), -ENOENT);
    cr_expect_eq(runners_spawn((char *)"/", argv, NULL), -EACCES);
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "no process is left");
    cr_expect_eq(errno, ECHILD);
}

Test(runners_children, waits_for_several_programs)
{
    struct child one = {0}, two = {0};

    start(&one, "exit 1");
    start(&two, "exit 2");
    wait_for(&one);
    wait_for(&two);
    cr_expect_eq(WEXITSTATUS(one.status), 1);
    cr_expect_eq(WEXITSTATUS(two.status), 2);
}

Test(runners_children, stops_waiting_at_the_timeout)
{
    struct child child = {0};

    start(&child, "read x");
    runners_wait(0, 1);
    cr_expect_not(child.ended);
    kill(child.pid, SIGKILL);
    wait_for(&child);
}

Test(runners_children, captures_output_of_a_program)
{
    struct child child = {0};

    cr_assert_eq(runners_output_begin(&child.output, false), 0);
    start(&child, "echo hello; cat");
    wait_for(&child);
    cr_expect_eq(WEXITSTATUS(child.status), 0, "cat reads nothing");
    cr_assert_not_null(child.output.streams[0].text.data);
    cr_expect_str_eq(child.output.streams[0].text.data, "hello\n");
    trace_text_free(&child.output.streams[0].text);
}

Test(runners_children, forwards_an_interrupt_to_all_programs)
{
    struct child one = {0}, two = {0};

    start(&one, "exec sleep 60");
    start(&two, "exec sleep 60");
    cr_expect_eq(runners_interrupted(), 0);
    raise(SIGTERM);
    wait_for(&one);
    wait_for(&two);
    cr_expect_eq(runners_interrupted(), SIGTERM);
    cr_expect_eq(WTERMSIG(one.status), SIGTERM);
    cr_expect_eq(WTERMSIG(two.status), SIGTERM);
}

Test(runners_children, dies_of_the_second_interrupt, .signal = SIGTERM)
{
    struct child child = {0};

    start(&child, "trap '' TERM; kill $PPID; while kill $PPID; do :; done");
    wait_for(&child);
}

Test(runners_children, reports_each_sigusr1_once)
{
    struct child child = {0};

    cr_expect_not(runners_asked());
    start(&child, "exec sleep 60");
    raise(SIGUSR1);
    wait_for(&child); /* the signal kills it */
    cr_expect(runners_asked());
    cr_expect_not(runners_asked());
    cr_expect_eq(runners_interrupted(), 0);
}

/* It is pending when nothing waits; if it counted twice, we would die. */
Test(runners_children, counts_a_pending_interrupt_once)
{
    struct child child = {0};

    start(&child, "exec sleep 60");
    raise(SIGTERM);
    cr_expect_eq(runners_interrupted(), SIGTERM);
    wait_for(&child);
    cr_expect_eq(WTERMSIG(child.status), SIGTERM);
}
