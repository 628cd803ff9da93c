/* version.c: testlog --version [--verbose], for reports of bugs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <gnu/libc-version.h>

#include "harness/machine/notice.h"
#include "harness/options/gpu_setup.h"
#include "harness/options/options.h"
#include "harness/version.h"
#include "runners/runners.h"

static void print_helper(const char *name, bool (*find)(char *path))
{
    char path[PATH_MAX];

    printf("%s: %s\n", name, find(path) ? path : "not found");
}

static void print_details(void)
{
    struct utsname system;

    printf("compiler: %s\nC library: glibc %s\n", TEST_LOG_COMPILER,
           gnu_get_libc_version());
    if (!uname(&system))
        printf("system: %s %s %s\n", system.sysname, system.release,
               system.machine);
    printf("NVIDIA driver: %s\n", test_log_gpu_driver("") ? "found" : "none");
    print_helper("for GPUs", test_log_gpu_own);
    print_helper("for stacks", test_log_stacks_program);
    print_helper("for samples", test_log_sample_library);
    print_helper("for crashes", test_log_crash_library);
    print_helper("for --preload", test_log_own_library);
}

int runners_version(char **argv)
{
    bool verbose = argv[1] && !strcmp(argv[1], "--verbose");

    if (argv[1] && !verbose) {
        test_log_notice("--version: unknown flag %s; write --verbose", argv[1]);
        return TEST_LOG_EXIT_USAGE;
    }
    puts("testlog " TEST_LOG_VERSION);
    if (verbose)
        print_details();
    return 0;
}
