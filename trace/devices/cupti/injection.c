/* injection.c: starts CUPTI in a program. The CUDA driver loads this library in
 * cuInit if CUDA_INJECTION64_PATH names it, and calls InitializeInjection. */
#include "cupti.h"
#include "trace/devices/standalone.h"

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
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    __atomic_store_n(&early, !begin(false), __ATOMIC_RELEASE);
    return 1;
}

void cupti_retry(void)
{
    if (__atomic_exchange_n(&early, false, __ATOMIC_ACQ_REL))
        begin(true);
}
