/* gpu_held.c: tests that die soon after they have launched kernels. */
#include <signal.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "gpu_init.h"

enum { COUNT = 100 };

/* Playback, once it is loaded, launches what CUDA would. */
static void launch(void)
{
    void *library, *found;
    void (*launch_some)(unsigned);

    gpu_init();
    library = dlopen(getenv("TRACE_CUPTI"), RTLD_NOW | RTLD_NOLOAD);
    cr_assert_not_null(library);
    found = dlsym(library, "trace_playback_launch");
    memcpy(&launch_some, &found, sizeof(found));
    launch_some(COUNT);
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
