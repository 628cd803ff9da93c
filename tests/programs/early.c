/* early.c: a program that is interrupted before its first test. */
#include <signal.h>
#include <unistd.h>

#include <criterion/hooks.h>
#include <testlog/test_log.h>

static bool is_pending(void)
{
    sigset_t pending;

    return !sigpending(&pending) && sigismember(&pending, SIGINT) == 1;
}

/* Runs before testlog's hook, because it is linked first. */
ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
    (void)set;
    kill(getpid(), SIGINT);
    do
        usleep(200000); /* until the signal is handled */
    while (is_pending());
}

TEST_LOG(early, one)
{
}

TEST_LOG(early, two)
{
}
