/* inject.c: the driver loads this object in cuInit, if CUDA_INJECTION64_PATH
 * names it, and calls InitializeInjection. */
#include <stdlib.h>

#include "standalone.h"
#include "trace/devices/cupti/cupti.h"

__attribute__((visibility("default"))) int InitializeInjection(void);

/* A second chance, where no test's end has asked for all. */
static void at_exit(void)
{
    cupti_flush(true);
}

/* It runs within cuInit: nothing of CUDA may be called. Whatever came of it, it
 * is no fault of the program's, and cuInit may not fail. */
int InitializeInjection(void)
{
    const struct trace_device_host *host = trace_device_record_here();

    if (host && cupti_begin(host))
        atexit(at_exit);
    return 1;
}
