/* inject.c: starts CUPTI in a program. The driver loads this library in cuInit
 * if CUDA_INJECTION64_PATH names it, and calls InitializeInjection. */
#include <stdlib.h>

#include "standalone.h"
#include "trace/devices/cupti/cupti.h"

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Flushes at exit as well, for programs without tests. */
static void at_exit(void)
{
    cupti_flush(true);
}

/* Called within cuInit: it must not call CUDA, and it always reports success so
 * that cuInit never fails. */
int InitializeInjection(void)
{
    const struct trace_device_host *host = trace_device_record_here();

    if (host && cupti_begin(host))
        atexit(at_exit);
    return 1;
}
