/* stub_loader.c: always finds that the stub was passed over. */
#include "trace/device.h"

bool trace_stub_is_missing(void)
{
    return true;
}

void trace_stub_check(void)
{
    trace_device_note("stub.state", "not-loaded");
    trace_device_note("stub.notice", "the stub is never loaded");
    trace_device_note("stub.clock.64", "none");
    trace_device_note("stub.launches", "3");
}
