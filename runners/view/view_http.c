/* view_http.c: opens libmicrohttpd. */
#include "harness/machine/notice.h"
#include "runners/view/view.h"
#include "trace/base/shared_library.h"

struct view_http view_http;

bool view_http_open(void)
{
    static struct trace_library library = {.name = "libmicrohttpd.so.12"};
    static const char *const names[] = {
#define X(name) "MHD_" #name,
        VIEW_HTTP(X)
#undef X
    };

    if (trace_library_open(&library, names, sizeof(names) / sizeof(*names),
                           &view_http))
        return true;
    test_log_notice("view: libmicrohttpd.so.12 is missing; install the package "
                    "libmicrohttpd12");
    return false;
}
