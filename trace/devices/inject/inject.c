/* inject.c: starts the back ends of a program, and receives what it annotates.
 * NVTX loads this library at a program's first call if NVTX_INJECTION64_PATH
 * names it, and calls InitializeInjectionNvtx2. What loads it for a device is
 * in the folder of that. */
#include <stdlib.h>

#include "trace/backends.h"
#include "trace/devices/nvtx/nvtx_receiver.h"
#include "trace/devices/standalone.h"

#define EXPORT __attribute__((visibility("default")))

/* Finds the recording for annotations; a forked child continues its parent's.
 */
static void find_host(void)
{
    const struct trace_device_host *host = trace_device_record_here();

    nvtx_record_to(host ? host : trace_device_find_forked());
}

/* Called by the program and by each shared object that uses NVTX, at their
 * first calls. Annotations before the recording are left out. */
EXPORT int InitializeInjectionNvtx2(nvtx_get_table *);

int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
    if (!nvtx_receive(get_table))
        return 0;
    if (!nvtx_host())
        find_host();
    return 1;
}

/* Called by each of them for each extension of NVTX. */
EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *);

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
    if (!nvtx_receive_extension(extension))
        return 0;
    if (!nvtx_host())
        find_host();
    return 1;
}

/* Called when a recording begins: constructors of the program may have used
 * NVTX or a device before. */
EXPORT void trace_injection_retry(void);

void trace_injection_retry(void)
{
    find_host();
#define TRACE_X(folder, ...) folder##_retry();
    TRACE_BACKENDS(TRACE_X)
#undef TRACE_X
}

/* A recorded program that a loader has not passed to us records only that. */
__attribute__((destructor)) static void check_loaders(void)
{
    if (!getenv("TESTLOG_RECORD"))
        return;
#define TRACE_X(folder, ...)                                                   \
    if (!trace_##folder##_loaded() && trace_##folder##_is_missing() &&         \
        trace_device_record_here()) {                                          \
        trace_##folder##_check();                                              \
        trace_close();                                                         \
    }
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
}
