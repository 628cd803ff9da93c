/* module.c: what happens when an annotated program or shared object is loaded,
 * or one that calls the hooks of functions.
 */
#include "trace/capture/server.h"
#include "trace/device.h"
#include "trace/record/recorder.h"

void trace_module_register(struct trace_module *module,
                           struct trace_site **begin, struct trace_site **end,
                           unsigned static_max)
{
    if (static_max > module->static_max)
        module->static_max = static_max;
    if (!module->known) {
        module->begin = begin;
        module->end = end;
    }
    if (trace_sites_add(module))
        trace_process_begin();
}

void trace_process_begin(void)
{
    if (trace_join_invited() && !trace_process_record())
        trace_device_offer();
    trace_server_listen_asked();
}
