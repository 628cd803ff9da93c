/* standin.c: replaces launches.cu on machines without a GPU. It loads the
 * injected library as the driver does in cuInit, and claims the launches that
 * the playback library will report: STANDIN_WORK has the numbers of kernels,
 * copies, sets and captured launches. With STANDIN_WORK=launch, it lets the
 * playback library make up a kernel for each.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launches.h"

int launches_init(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;

    if (library)
        initialize = (int (*)(void))dlsym(library, "InitializeInjection");
    if (path && !initialize)
        fprintf(stderr, "standin: %s: %s\n", path, dlerror());
    if (initialize)
        initialize();
    return 0;
}

static int make_up(const char *work, long count, struct launches *result)
{
    const char *path = getenv("TRACE_CUPTI");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void (*launch)(unsigned) = (void (*)(unsigned))(
        library ? dlsym(library, "trace_playback_launch") : NULL);

    if (launch)
        launch((unsigned)count);
    if (!strcmp(work, "phases"))
        usleep(100000);
    result->kernels = result->calls = count;
    result->wall = (double)count;
    return launch ? 0 : -1;
}

/* The first call is the benchmark's warm-up. */
int launches_run(const char *work, long count, struct launches *result)
{
    static int times;
    const char *text = getenv("STANDIN_WORK");

    memset(result, 0, sizeof(*result));
    if (text && !strcmp(text, "launch"))
        return make_up(work, count, result);
    if (!times++ || !strcmp(work, "none") || !text)
        return 0;
    if (sscanf(text, "%ld %ld %ld %ld", &result->kernels, &result->copies,
               &result->sets, &result->captured) != 4)
        return -1;
    result->calls = count;
    result->mean = result->p50 = result->p99 = 1;
    result->wall = (double)count;
    return 0;
}
