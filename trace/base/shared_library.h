/* shared_library.h: opens shared libraries when they are needed, so that
 * programs do not depend on them. Private. */
#ifndef TRACE_SHARED_LIBRARY_H
#define TRACE_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct trace_library {
    const char *name; /* "libz.so.1" */
    bool tried, found;
};

/* X of a list of functions X(result, name, arguments), for a struct of pointers
 * to them and for the array of their names. */
#define TRACE_LIBRARY_POINTER(result, name, arguments) result(*name) arguments;
#define TRACE_LIBRARY_NAME(result, name, arguments)    #name,

/* trace_library_open opens a library, once, and stores its functions, `count`
 * of them, in an array of pointers. False if the library or one of them is
 * missing. */
bool trace_library_open(struct trace_library *, const char *const *names,
                        size_t count, void *functions);

#endif
