/* inject.c: starts CUPTI in a program, and receives what it annotates. The CUDA
 * driver loads this library in cuInit if CUDA_INJECTION64_PATH names it, and
 * calls InitializeInjection. NVTX loads it at a program's first call if
 * NVTX_INJECTION64_PATH names it, and calls InitializeInjectionNvtx2. OpenCL's
 * loaders have an interface of their own: opencl/layer.c. */
#include <stdlib.h>

#include "trace/devices/cupti/cupti.h"
#include "trace/devices/nvtx/nvtx_receiver.h"
#include "trace/devices/opencl/opencl.h"
#include "trace/devices/standalone.h"

#define EXPORT __attribute__((visibility("default")))

static bool early; /* atomic: there was no recording yet */

static bool begin(bool late)
{
    const struct trace_device_host *host = trace_device_record_here();

    if (host && cupti_begin(host, late))
        cupti_flush_at_exit();
    return host != NULL;
}

/* Called within cuInit: it must not call CUDA, and it always reports success so
 * that cuInit never fails. */
EXPORT int InitializeInjection(void);

int InitializeInjection(void)
{
    __atomic_store_n(&early, !begin(false), __ATOMIC_RELEASE);
    return 1;
}

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

/* Called when a recording begins: constructors of the program may have
 * initialized CUDA, NVTX or OpenCL before. */
EXPORT void trace_injection_retry(void);

void trace_injection_retry(void)
{
    find_host();
    if (__atomic_exchange_n(&early, false, __ATOMIC_ACQ_REL))
        begin(true);
    opencl_begin();
}

/* A recorded program without our layer records nothing but that. */
__attribute__((destructor)) static void check_opencl(void)
{
    if (getenv("TESTLOG_RECORD") && !trace_opencl_loaded() &&
        trace_opencl_is_missing() && trace_device_record_here()) {
        trace_opencl_check();
        trace_close();
    }
}
