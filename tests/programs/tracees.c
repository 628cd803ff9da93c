/* tracees.c: tests that ask to be traced by the runner, which stops them at
 * each signal.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

TestSuite(tracees, .timeout = 1);

static void ask(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        cr_skip_test("no ptrace here: %m");
}

TEST_LOG(tracees, signal)
{
    ask();
    raise(SIGUSR1);
}

TEST_LOG(tracees, stop)
{
    ask();
    raise(SIGSTOP);
}

TEST_LOG(tracees, stop_for_long, .timeout = 60)
{
    ask();
    raise(SIGSTOP);
}

TEST_LOG(tracees, crash)
{
    ask();
    *(volatile int *)8 = 1;
}

TEST_LOG(tracees, without_a_signal)
{
    ask();
    log_info("done");
}

/* The test is the tracer of a child of its own. */
TEST_LOG(tracees, child, .timeout = 60)
{
    pid_t child = fork();
    int status;

    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(0);
        raise(SIGUSR1);
        _exit(7);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    if (WIFSTOPPED(status)) {
        ptrace(PTRACE_CONT, child, NULL, NULL);
        waitpid(child, &status, 0);
    }
    cr_expect(WIFEXITED(status));
}
