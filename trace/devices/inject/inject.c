/* inject.c: starts CUPTI in a program. The driver loads this library in cuInit
 * if CUDA_INJECTION64_PATH names it, and calls InitializeInjection. */
#include "standalone.h"
#include "trace/devices/cupti/cupti.h"

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

/* Called when a recording begins: constructors of the program may have
 * initialized CUDA before. */
EXPORT void trace_injection_retry(void);

void trace_injection_retry(void)
{
    if (__atomic_exchange_n(&early, false, __ATOMIC_ACQ_REL))
        begin(true);
}
