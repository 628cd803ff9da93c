/* gpu_held.c: tests that die soon after they have launched kernels. */
#include <signal.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "gpu_init.h"

enum { COUNT = 100 };

static void launch(void)
{
    gpu_init();
    cr_assert(gpu_launch(COUNT));
}

TEST_LOG(held, crashes)
{
    launch();
    raise(SIGSEGV);
}

TEST_LOG(held, hangs, .timeout = 1)
{
    launch();
    pause();
}

TEST_LOG(held, is_interrupted)
{
    launch();
    kill(getppid(), SIGINT);
    pause();
}

TEST_LOG(held, pauses)
{
    launch();
    pause();
}

TEST_LOG(held, is_killed)
{
    launch();
    raise(SIGKILL);
}

TEST_LOG(held, is_expected)
{
    launch();
    log_expect_count(COUNT, "Executing kernel");
}
