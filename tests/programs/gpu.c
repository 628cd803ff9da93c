/* gpu.c: tests, some of which seem to use a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>

#include "gpu_init.h"

TEST_LOG(gpu, uses_it)
{
    trace_span(INFO, "step");

    gpu_init();
}

TEST_LOG(gpu, uses_it_too)
{
    gpu_init();
}

/* The failed assertion jumps out of the spans. */
TEST_LOG(gpu, fails)
{
    trace_span(INFO, "outer");
    trace_span(INFO, "inner");

    gpu_init();
    cr_assert(getenv("GPU_PASSES"));
}

/* Logs which libraries a child would load. */
TEST_LOG(gpu, leaves_it_alone)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];

    cr_assert_not_null(maps);
    while (fgets(line, sizeof(line), maps))
        cr_expect(!strstr(line, "testlog-gpu") && !strstr(line, "cuda") &&
                      !strstr(line, "cupti") && !strstr(line, "testlog-audit"),
                  "%s", line);
    fclose(maps);
    log_info("injected: %s; audited: %s", getenv("CUDA_INJECTION64_PATH"),
             getenv("LD_AUDIT"));
}

TEST_LOG(gpu, child_uses_it)
{
    const char *program = getenv("GPU_CHILD");

    cr_assert(!program || !system(program));
}
