/* early.c: it is interrupted before it has any test to run. */
#include <signal.h>
#include <unistd.h>

#include <criterion/hooks.h>
#include <testlog/test_log.h>

static bool is_pending(void)
{
    sigset_t pending;

    return !sigpending(&pending) && sigismember(&pending, SIGINT) == 1;
}

/* Before testlog's own hook, for it is linked before it. */
ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
    (void)set;
    kill(getpid(), SIGINT);
    do
        usleep(200000); /* what was taken is then seen to */
    while (is_pending());
}

TEST_LOG(early, one)
{
}

TEST_LOG(early, two)
{
}
