/* inject.c: starts CUPTI in a program. The driver loads this library in cuInit
 * if CUDA_INJECTION64_PATH names it, and calls InitializeInjection. */
#include "standalone.h"
#include "trace/devices/cupti/cupti.h"

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Called within cuInit: it must not call CUDA, and it always reports success so
 * that cuInit never fails. */
int InitializeInjection(void)
{
    const struct trace_device_host *host = trace_device_record_here();

    if (host && cupti_begin(host))
        cupti_flush_at_exit();
    return 1;
}
