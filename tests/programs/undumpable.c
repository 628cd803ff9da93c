/* undumpable.c: processes that only root may look into. */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

__attribute__((constructor)) static void hide(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

TEST_LOG(undumpable, passes)
{
    log_info("is recorded");
}

TEST_LOG(undumpable, hangs, .timeout = 1)
{
    for (;;)
        pause();
}

TEST_LOG(undumpable, exits_midway)
{
    exit(0);
}

TEST_LOG(undumpable, fails_in_a_child)
{
    pid_t child = fork();

    if (!child)
        cr_assert_fail("the child fails");
    waitpid(child, NULL, 0);
}
