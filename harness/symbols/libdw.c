/* libdw.c: opens elfutils' libdw. */
#include "libdw.h"

#include "trace/base/shared_library.h"

struct test_log_libdw test_log_dw;

bool test_log_libdw_open(void)
{
    static struct trace_library library = {.name = "libdw.so.1"};
    static const char *const names[] = {TEST_LOG_LIBDW(TRACE_LIBRARY_NAME)};

    return trace_library_open(&library, names, sizeof(names) / sizeof(*names),
                              &test_log_dw);
}
