/* cupti_contexts_test.c: waits for all devices that the program uses, and
 * leaves no traces of it.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(cupti_contexts, .init = devices_init);

/* Returns the calls of CUDA and CUPTI during the last flush. */
static char *calls_of_flush(void)
{
    unlink(test_path("calls"));
    trace_device_flush(true);
    return devices_calls();
}

static void *use_second(void *unused)
{
    devices_use(1);
    devices_launch(1);
    return unused;
}

/* The first device belongs to this thread, the second to another one, and
 * nobody uses the third. */
static void use_two_of_three(void)
{
    setenv("DRIVER_DEVICES", "3", 1);
    devices_begin();
    devices_use(0);
    devices_launch(1);
    test_thread(use_second, NULL);
}

Test(cupti_contexts, waits_for_the_devices_of_all_threads)
{
    char *calls;

    use_two_of_three();
    calls = calls_of_flush();
    e2e_expect_has(calls, "cuCtxSynchronize 0\n", "cuCtxSynchronize 1\n");
    cr_expect_eq(e2e_count(calls, "cuCtxSynchronize"), 2);
    cr_expect_lt(strstr(calls, "cuCtxSynchronize 1"),
                 strstr(calls, "FlushAll 1"));
    trace_close();
}

Test(cupti_contexts, leaves_contexts_as_they_were)
{
    char *calls;

    use_two_of_three();
    calls = calls_of_flush();
    e2e_expect_lacks(calls, "created", "destroyed");
    cr_expect_eq(e2e_count(calls, "cuDevicePrimaryCtxRetain"),
                 e2e_count(calls, "cuDevicePrimaryCtxRelease_v2"));
    cr_expect_eq(e2e_count(calls, "cuCtxPushCurrent_v2"),
                 e2e_count(calls, "cuCtxPopCurrent_v2"));
    trace_close();
}

Test(cupti_contexts, waits_for_a_thread_if_its_caller_has_no_context)
{
    devices_begin();
    setenv("DRIVER_DEVICES", "2", 1);
    test_thread(use_second, NULL);
    cr_expect_eq(e2e_count(calls_of_flush(), "cuCtxSynchronize 1\n"), 1);
    trace_close();
}

/* The program's own calls are recorded: two contexts were made current. */
Test(cupti_contexts, hides_its_own_calls)
{
    struct trace_reader *reader;

    use_two_of_three();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "launched()"), 2);
    cr_expect_eq(
        test_count(reader, TRACE_ENTRY_DEVICE, "cuDevicePrimaryCtxRetain"), 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "cuCtxSynchronize"), 0);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "cuDeviceGetCount"), 0);
    cr_expect_eq(
        test_count(reader, TRACE_ENTRY_DEVICE, "cuDevicePrimaryCtxRelease"), 0);
}

/* The program initialized CUDA, and used no device. */
Test(cupti_contexts, creates_no_context)
{
    char *calls;

    cr_assert(dlopen(BUILD_DIR "/tests/driver/libcuda.so.1", RTLD_NOW));
    devices_begin();
    calls = calls_of_flush();
    e2e_expect_has(calls, "cuDevicePrimaryCtxGetState 0\n");
    e2e_expect_lacks(calls, "cuCtxSynchronize", "created");
    trace_close();
}

Test(cupti_contexts, waits_only_at_the_end)
{
    char *calls;

    devices_begin();
    devices_use(0);
    trace_device_flush(false);
    calls = devices_calls();
    e2e_expect_has(calls, "FlushAll 0\n");
    e2e_expect_lacks(calls, "cuCtxSynchronize");
    trace_close();
}

Test(cupti_contexts, continues_without_a_driver)
{
    char *calls;

    devices_begin();
    devices_launch(1);
    calls = calls_of_flush();
    e2e_expect_lacks(calls, "cu");
    e2e_expect_has(calls, "FlushAll 1\n");
    trace_close();
}
