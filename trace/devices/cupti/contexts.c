/* contexts.c: waits for the devices that the program uses, because only then
 * CUPTI has all records.
 *
 * The runtime uses a device's primary context, on any thread. A context that
 * another thread made itself cannot be found.
 */
#include <unistd.h>

#include "cupti.h"

/* X(our name, its name, parameters) */
#define DRIVER_CALLS(X)                                                        \
    X(count, "cuDeviceGetCount", (int *))                                      \
    X(get, "cuDeviceGet", (int *, int))                                        \
    X(state, "cuDevicePrimaryCtxGetState", (int, unsigned *, int *))           \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                      \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int))                          \
    X(current, "cuCtxGetCurrent", (void **))                                   \
    X(push, "cuCtxPushCurrent_v2", (void *))                                   \
    X(pop, "cuCtxPopCurrent_v2", (void **))                                    \
    X(synchronize, "cuCtxSynchronize", (void))

struct driver {
#define TRACE_X(name, symbol, parameters) int(*name) parameters;
    DRIVER_CALLS(TRACE_X)
#undef TRACE_X
};

/* Returns false if the process has no driver with these functions. */
static bool look_up(struct driver *driver)
{
    bool found = true;

#define TRACE_X(name, symbol, parameters)                                      \
    driver->name =                                                             \
        (int(*) parameters)(uintptr_t)cupti_symbol("libcuda.so", symbol);      \
    found &= driver->name != NULL;
    DRIVER_CALLS(TRACE_X)
#undef TRACE_X
    return found;
}

/* Waits in a device's primary context, unless that does not exist or is
 * `current`. Retaining it would create it. */
static bool wait_for_one(const struct driver *driver, int ordinal,
                         const void *current)
{
    int device, active = 0;
    unsigned flags;
    void *context, *popped;
    bool waited = false;

    if (driver->get(&device, ordinal) ||
        driver->state(device, &flags, &active) || !active ||
        driver->retain(&context, device))
        return false;
    if (context != current && !driver->push(context)) {
        waited = !driver->synchronize();
        driver->pop(&popped);
    }
    driver->release(device);
    return waited;
}

bool cupti_wait_for_devices(void)
{
    struct driver driver;
    void *current = NULL;
    bool waited = false;
    int count = 0;

    if (!look_up(&driver))
        return false;
    cupti.decoder.own.thread = (uint32_t)gettid();
    cupti.decoder.own.begin = cupti_clock_now();
    if (!driver.current(&current) && current)
        waited = !driver.synchronize();
    if (driver.count(&count))
        count = 0;
    for (int i = 0; i < count; i++)
        waited |= wait_for_one(&driver, i, current);
    cupti.decoder.own.end = cupti_clock_now();
    return waited;
}
