/* register_wrappers.c: registers the wrappers with the audit library. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "compilers.h"

void trace_compilers_watch(void)
{
    static const struct trace_wrappers *const all[] = {
        &trace_nvrtc_wrappers, &trace_nvvm_wrappers, &trace_nvjitlink_wrappers};
    static const struct trace_wrapper_list list = {
        TRACE_WRAPPER_LIST, sizeof(all) / sizeof(*all), all};
    int error = errno;
    trace_routine *function = NULL;

    trace_handles_begin();
    if (getenv("LD_AUDIT"))
        function = trace_wrapper_look_up(RTLD_DEFAULT, TRACE_REGISTER_SYMBOL);
    if (function && trace_wrapper_is_in(function, TRACE_REGISTER_LIBRARY))
        ((trace_register *)function)(&list);
    errno = error;
}

#ifdef TRACE_INJECTED
__attribute__((constructor)) static void watch(void)
{
    if (getenv("TESTLOG_RECORD"))
        trace_compilers_watch();
}
#endif
