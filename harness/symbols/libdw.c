/* libdw.c: opens elfutils' libdw. */
#include "libdw.h"

#include <dlfcn.h>

struct test_log_libdw test_log_dw;

bool test_log_libdw_open(void)
{
    static bool tried, found;
    void *library;

    if (tried)
        return found;
    tried = true;
    library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    found = library;
#define X(result, name, arguments)                                             \
    if (found)                                                                 \
        found = (*(void **)&test_log_dw.name = dlsym(library, #name));
    TEST_LOG_LIBDW(X)
#undef X
    return found;
}
