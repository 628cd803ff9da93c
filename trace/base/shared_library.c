/* shared_library.c: opens shared libraries when they are needed. */
#include <dlfcn.h>

#include "trace/base/shared_library.h"

/* POSIX guarantees that a function's pointer has the form of dlsym's. */
bool trace_library_open(struct trace_library *library, const char *const *names,
                        size_t count, void *functions)
{
    void **all = functions, *handle;

    if (library->tried)
        return library->found;
    library->tried = true;
    handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    library->found = handle;
    for (size_t i = 0; library->found && i < count; i++)
        library->found = (all[i] = dlsym(handle, names[i]));
    return library->found;
}
