/* stub.c: a device back end that does nothing. */
#include "trace/device.h"

void stub_retry(void)
{
}

bool trace_stub_loaded(void)
{
    return false;
}
