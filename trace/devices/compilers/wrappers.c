/* wrappers.c: finds the real functions that our wrappers call. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers.h"
#include "trace/base/strings.h"

trace_routine *trace_wrapper_look_up(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    trace_routine *function;

    if (!found)
        dlerror();
    memcpy(&function, &found,
           sizeof(found)); /* POSIX guarantees the same representation */
    return function;
}

/* Looks up in a library, if it is loaded, and in its dependencies. */
static trace_routine *look_up_in(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    trace_routine *found;

    if (!library) {
        dlerror();
        return NULL;
    }
    found = trace_wrapper_look_up(library, name);
    dlclose(library);
    return found;
}

bool trace_wrapper_is_in(trace_routine *function, const char *name)
{
    Dl_info info;
    void *address;

    memcpy(&address, &function, sizeof(address));
    return dladdr(address, &info) && info.dli_fname &&
           !strncmp(trace_base_name(info.dli_fname), name, strlen(name));
}

/* ---- Finding ---- */

/* The audit library may have returned a wrapper. */
static trace_routine *behind(const struct trace_wrapper *wrapper,
                             trace_routine *function)
{
    for (unsigned slot = 0; slot < TRACE_WRAPPER_SLOTS; slot++)
        if (function == wrapper->entries[slot])
            return __atomic_load_n(&wrapper->real[slot], __ATOMIC_ACQUIRE);
    return function;
}

/* Finds the next definition in the order of the program's libraries. An
 * injected library records the same call, so it doesn't call ours. */
static trace_routine *find_next(const struct trace_wrapper *wrapper)
{
    trace_routine *found =
        behind(wrapper, trace_wrapper_look_up(RTLD_NEXT, wrapper->name));

    return found && trace_wrapper_is_in(found, "libtestlog-gpu") ? NULL : found;
}

/* A caller that was loaded late has dependencies of its own. */
static trace_routine *find_of_caller(const struct trace_wrapper *wrapper,
                                     const void *caller)
{
    Dl_info info;

    if (!dladdr(caller, &info) || !info.dli_fname)
        return NULL;
    return behind(wrapper, look_up_in(info.dli_fname, wrapper->name));
}

struct loaded {
    const char *library;
    size_t count;
    char paths[4][PATH_MAX];
};

static int note_loaded(struct dl_phdr_info *object, size_t size, void *context)
{
    struct loaded *loaded = context;
    const char *path = object->dlpi_name ? object->dlpi_name : "";
    const char *base = trace_base_name(path);
    size_t length = strlen(loaded->library);

    (void)size;
    if (!strncmp(base, "lib", 3) &&
        !strncmp(base + 3, loaded->library, length) &&
        strlen(path) < PATH_MAX && loaded->count < 4)
        strcpy(loaded->paths[loaded->count++], path);
    return 0;
}

static trace_routine *find_loaded(const struct trace_wrappers *wrappers,
                                  const struct trace_wrapper *wrapper)
{
    struct loaded *loaded = calloc(1, sizeof(*loaded));
    trace_routine *found = NULL;

    if (!loaded)
        return NULL;
    loaded->library = wrappers->library;
    dl_iterate_phdr(note_loaded, loaded);
    for (size_t i = 0; !found && i < loaded->count; i++)
        found = behind(wrapper, look_up_in(loaded->paths[i], wrapper->name));
    free(loaded);
    return found;
}

/* With --as-needed, a linker leaves out a library if our wrappers already
 * resolve all that the program uses of it. Then it is loaded here. An injected
 * library never causes that. */
static trace_routine *load(const struct trace_wrappers *wrappers,
                           const struct trace_wrapper *wrapper)
{
#ifndef TRACE_INJECTED
    static const char *const ends[] = {"", ".13", ".12", ".11.2", ".4"};
    trace_routine *found = NULL;
    char path[64];

    for (size_t i = 0; !found && i < sizeof(ends) / sizeof(*ends); i++) {
        snprintf(path, sizeof(path), "lib%s.so%s", wrappers->library, ends[i]);
        if (dlopen(path, RTLD_LAZY | RTLD_LOCAL)) /* never closed */
            found = behind(wrapper, look_up_in(path, wrapper->name));
        else
            dlerror();
    }
    return found;
#else
    (void)wrappers, (void)wrapper;
    return NULL;
#endif
}

/* In the dynamic linker's own order. The result is not cached: another caller
 * may get another, and libraries may be unloaded. */
static trace_routine *find(const struct trace_wrappers *wrappers,
                           const struct trace_wrapper *wrapper,
                           const void *caller)
{
    trace_routine *found = find_next(wrapper);

    if (!found)
        found = find_of_caller(wrapper, caller);
    if (!found)
        found = find_loaded(wrappers, wrapper);
    return found ? found : load(wrappers, wrapper);
}

struct trace_call trace_call_of(const struct trace_wrappers *wrappers,
                                unsigned row, unsigned slot, const void *caller)
{
    struct trace_wrapper *wrapper = &wrappers->all[row];
    int error = errno;
    struct trace_call call = {
        wrapper, slot ? __atomic_load_n(&wrapper->real[slot], __ATOMIC_ACQUIRE)
                      : find(wrappers, wrapper, caller)};

    if (!call.real)
        fprintf(stderr, "testlog: %s is called, but lib%s cannot be loaded\n",
                wrapper->name, wrappers->library);
    errno = error;
    return call;
}

trace_routine *trace_call_other(const struct trace_call *call, const char *verb)
{
    const char *name = call->wrapper->name,
               *at = strstr(name, call->wrapper->verb);
    char other[128];
    Dl_info info;
    void *address;

    memcpy(&address, &call->real, sizeof(address));
    if (!at || !dladdr(address, &info) || !info.dli_fname)
        return NULL;
    snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - name), name, verb,
             at + strlen(call->wrapper->verb));
    return look_up_in(info.dli_fname, other);
}
