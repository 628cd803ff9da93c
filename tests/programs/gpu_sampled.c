/* gpu_sampled.c: tests that use a GPU for a while. */
#include <dlfcn.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "gpu_init.h"

/* Loads the driver of the tests, too. */
static void work(void)
{
    const char *driver = getenv("DRIVER");

    cr_assert(driver && dlopen(driver, RTLD_NOW));
    gpu_init();
    cr_assert(gpu_launch(1));
    usleep(300000);
}

TEST_LOG(sampled, passes)
{
    work();
}

TEST_LOG(sampled, fails)
{
    work();
    cr_assert_fail("so that it is shown");
}
