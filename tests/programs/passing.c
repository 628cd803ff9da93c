/* passing.c: tests that Criterion alone passes or hangs on, and tests that only
 * look like them. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>

/* ---- Early exits ---- */

Test(early, exits)
{
    exit(0);
}

Test(early, exits_at_once)
{
    _exit(0);
}

Test(early, becomes_another)
{
    execlp("true", "true", NULL);
}

static void leave(void)
{
    exit(0);
}

static void *leave_too(void *unused)
{
    (void)unused;
    leave();
    return NULL;
}

Test(early, exits_in_a_thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, leave_too, NULL);
    pthread_join(thread, NULL);
}

/* ---- Teardown ---- */

static void fail(void)
{
    cr_assert(0, "in a teardown");
}

static void expect(void)
{
    cr_expect(0, "expected in a teardown");
}

Test(fini, asserts, .fini = fail)
{
}

Test(fini, expects, .fini = expect)
{
}

Test(fini, exits, .fini = leave)
{
}

TestSuite(fini_of_suite, .fini = fail);

Test(fini_of_suite, asserts)
{
}

/* ---- Tests that must pass ---- */

Test(right, exits_as_expected, .exit_code = 3)
{
    exit(3);
}

Test(right, raises_as_expected, .signal = SIGUSR2)
{
    raise(SIGUSR2);
}

Test(right, skips)
{
    cr_skip_test("not %s", "today");
}

Test(right, skips_silently)
{
    cr_skip_test();
}

Test(right, may_open_few_files)
{
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect_leq(limit.rlim_cur, 65536);
}

Test(right, may_write_nothing)
{
    struct rlimit none = {0, 0};
    FILE *file = tmpfile();

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    cr_expect_lt(file ? write(fileno(file), "x", 1) : -1, 0);
}

/* ---- Forked children ---- */

/* Waits for a child; returns its wait status. */
static int status_of(pid_t child)
{
    int status = -1;

    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

Test(children, come_to_the_end)
{
    pid_t child = fork();

    if (child)
        cr_expect_eq(status_of(child), 0);
}

Test(children, pass_an_assertion)
{
    pid_t child = fork();

    cr_assert(1);
    if (child)
        cr_expect_eq(status_of(child), 0);
}

Test(children, skip)
{
    pid_t child = fork();

    if (!child)
        cr_skip_test("only the child");
    cr_expect_eq(status_of(child), 0);
}

Test(children, log)
{
    pid_t child = fork();

    if (!child) {
        cr_log_error("only the %s", "child");
        _exit(0);
    }
    cr_expect_eq(status_of(child), 0);
}

Test(children, fail)
{
    pid_t child = fork();

    if (!child)
        cr_assert_eq(1, 2, "only the child");
    cr_expect_eq(WEXITSTATUS(status_of(child)), 1);
}

Test(children, fail_and_go_on)
{
    pid_t child = fork();

    if (!child) {
        cr_expect(0, "only the child, too");
        _exit(0);
    }
    cr_expect_eq(status_of(child), 0);
}

/* ---- Tests that ignore SIGPROF ---- */

static void hang(void)
{
    for (;;)
        pause();
}

static void swallow(int number)
{
    (void)number;
}

Test(deaf, swallows, .timeout = 0.3)
{
    signal(SIGPROF, swallow);
    hang();
}

Test(deaf, ignores, .timeout = 0.3)
{
    signal(SIGPROF, SIG_IGN);
    hang();
}

Test(deaf, blocks, .timeout = 0.3)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    hang();
}

Test(deaf, ends_late, .timeout = 0.3)
{
    signal(SIGPROF, SIG_IGN);
    usleep(400000); /* shortly before it would be killed */
}

Test(deaf, hangs_at_its_exit, .timeout = 0.3)
{
    atexit(hang);
}

Test(deaf, has_no_limit)
{
    hang();
}
