/* plugin.c (plugin.cpp in C++): a shared object that is loaded and unloaded
 * during a test. PLUGIN is its name. */
#include <testlog/log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_span_ref plugin_begin(void);
int plugin_work(int number);

struct trace_span_ref plugin_begin(void)
{
    return trace_span_new(INFO, PLUGIN "'s span", ("name", PLUGIN));
}

int plugin_work(int number)
{
    trace_function(INFO, (number));
    log_info(PLUGIN " works on %d", number);
    trace_event(INFO, PLUGIN "'s event", (number));
    return number + 1;
}

__attribute__((destructor)) static void leave(void)
{
    log_info(PLUGIN " is unloaded");
}

#ifdef __cplusplus
}
#endif
