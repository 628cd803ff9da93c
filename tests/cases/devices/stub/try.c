/* try.c: prints what a recording and a run contain about the stub. */
#include <stdio.h>

#include "harness/run/model/model.h"
#include "trace/base/text.h"

int main(void)
{
    const struct trace_options options = {0};
    struct test_log_run run = {.path = NULL};
    struct trace_reader *reader;
    struct trace_text text = {0};

    if (trace_open("recording", &options))
        return 1;
#define TRACE_X(folder, variable) trace_##folder##_check();
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
    trace_close();
    reader = trace_reader_open("recording");
    if (!reader)
        return 1;
    test_log_device_read(&run.devices[TRACE_BACKEND_stub], TRACE_BACKEND_stub,
                         reader);
    trace_reader_close(reader);
    trace_name_ordinal(&text, TRACE_DEVICES_stub + 1);
    test_log_devices_members(&text, &run);
    test_log_devices_print(&run);
    puts(text.data);
    trace_text_free(&text);
    test_log_devices_free(&run);
    return 0;
}
