/* gpu_early.c: a program whose constructor initializes CUDA, as objects of C++
 * do. DRIVER is a libcuda. */
#include <dlfcn.h>
#include <stdlib.h>

#include <testlog/test_log.h>

typedef int call();

static void *library;

static call *find(const char *name)
{
    return (call *)(library ? dlsym(library, name) : NULL);
}

__attribute__((constructor)) static void initialize(void)
{
    const char *driver = getenv("DRIVER");
    void *context;

    library = driver ? dlopen(driver, RTLD_NOW) : NULL;
    if (!library)
        return;
    find("cuInit")(0);
    find("cuDevicePrimaryCtxRetain")(&context, 0);
    find("cuCtxPushCurrent_v2")(context);
}

TEST_LOG(gpu_early, launches)
{
    cr_assert(library);
    cr_expect_eq(find("cuLaunchKernel")(NULL), 0);
}
