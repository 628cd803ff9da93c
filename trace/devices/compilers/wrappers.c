/* wrappers.c: the real functions behind ours. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers.h"

/* dlsym, but a lookup of ours that fails is no error of the program's. */
static trace_routine *look_up(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    trace_routine *function;

    if (!found)
        dlerror();
    memcpy(&function, &found, sizeof(found)); /* POSIX has the bits be such */
    return function;
}

/* Looks up in a library, if it is loaded, and in what it needs. */
static trace_routine *look_up_in(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    trace_routine *found;

    if (!library) {
        dlerror();
        return NULL;
    }
    found = look_up(library, name);
    dlclose(library);
    return found;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Whether an address is in an object whose file is called so. */
static bool is_of(trace_routine *function, const char *name)
{
    Dl_info info;
    void *address;

    memcpy(&address, &function, sizeof(address));
    return dladdr(address, &info) && info.dli_fname &&
           !strncmp(base_of(info.dli_fname), name, strlen(name));
}

/* ---- Finding ---- */

/* The audit library may have answered with one of ours. */
static trace_routine *behind(const struct trace_hook *hook,
                             trace_routine *function)
{
    for (unsigned way = 0; way < TRACE_HOOK_WAYS; way++)
        if (function == hook->ours[way])
            return __atomic_load_n(&hook->real[way], __ATOMIC_ACQUIRE);
    return function;
}

/* What comes next in the order of the program's libraries; what is injected
 * into a program like this one would record it again. */
static trace_routine *find_next(const struct trace_hook *hook)
{
    trace_routine *found = behind(hook, look_up(RTLD_NEXT, hook->name));

    return found && is_of(found, "libtestlog-gpu") ? NULL : found;
}

/* The caller, if it was loaded late, has libraries of its own. */
static trace_routine *find_of_caller(const struct trace_hook *hook,
                                     const void *caller)
{
    Dl_info info;

    if (!dladdr(caller, &info) || !info.dli_fname)
        return NULL;
    return behind(hook, look_up_in(info.dli_fname, hook->name));
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
    const char *base = base_of(path);
    size_t length = strlen(loaded->library);

    (void)size;
    if (!strncmp(base, "lib", 3) &&
        !strncmp(base + 3, loaded->library, length) &&
        strlen(path) < PATH_MAX && loaded->count < 4)
        strcpy(loaded->paths[loaded->count++], path);
    return 0;
}

static trace_routine *find_loaded(const struct trace_hooks *hooks,
                                  const struct trace_hook *hook)
{
    struct loaded *loaded = calloc(1, sizeof(*loaded));
    trace_routine *found = NULL;

    if (!loaded)
        return NULL;
    loaded->library = hooks->library;
    dl_iterate_phdr(note_loaded, loaded);
    for (size_t i = 0; !found && i < loaded->count; i++)
        found = behind(hook, look_up_in(loaded->paths[i], hook->name));
    free(loaded);
    return found;
}

/* A linker leaves out a library of which it sees nothing used, as is usual with
 * --as-needed, and functions of ours stand before all that some programs use.
 * What is injected has no part in that. */
static trace_routine *load(const struct trace_hooks *hooks,
                           const struct trace_hook *hook)
{
#ifndef TRACE_INJECTED
    static const char *const ends[] = {"", ".13", ".12", ".11.2", ".4"};
    trace_routine *found = NULL;
    char path[64];

    for (size_t i = 0; !found && i < sizeof(ends) / sizeof(*ends); i++) {
        snprintf(path, sizeof(path), "lib%s.so%s", hooks->library, ends[i]);
        if (dlopen(path, RTLD_LAZY | RTLD_LOCAL)) /* it stays */
            found = behind(hook, look_up_in(path, hook->name));
        else
            dlerror();
    }
    return found;
#else
    (void)hooks, (void)hook;
    return NULL;
#endif
}

/* In the dynamic linker's own order. It is not kept, for another caller may
 * have another, and libraries may be unloaded. */
static trace_routine *find(const struct trace_hooks *hooks,
                           const struct trace_hook *hook, const void *caller)
{
    trace_routine *found = find_next(hook);

    if (!found)
        found = find_of_caller(hook, caller);
    if (!found)
        found = find_loaded(hooks, hook);
    return found ? found : load(hooks, hook);
}

struct trace_call trace_call_of(const struct trace_hooks *hooks, unsigned row,
                                unsigned way, const void *caller)
{
    struct trace_hook *hook = &hooks->all[row];
    int error = errno;
    struct trace_call call = {
        hook, way ? __atomic_load_n(&hook->real[way], __ATOMIC_ACQUIRE)
                  : find(hooks, hook, caller)};

    if (!call.real)
        fprintf(stderr, "testlog: %s is called, but lib%s is not there\n",
                hook->name, hooks->library);
    errno = error;
    return call;
}

trace_routine *trace_call_other(const struct trace_call *call, const char *verb)
{
    const char *name = call->hook->name, *at = strstr(name, call->hook->verb);
    char other[128];
    Dl_info info;
    void *address;

    memcpy(&address, &call->real, sizeof(address));
    if (!at || !dladdr(address, &info) || !info.dli_fname)
        return NULL;
    snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - name), name, verb,
             at + strlen(call->hook->verb));
    return look_up_in(info.dli_fname, other);
}

/* ---- Meeting the audit library ---- */

void trace_compilers_watch(void)
{
    static const struct trace_hooks *const all[] = {
        &trace_nvrtc_hooks, &trace_nvvm_hooks, &trace_nvjitlink_hooks};
    static const struct trace_hook_list list = {
        TRACE_HOOK_LIST, sizeof(all) / sizeof(*all), all};
    int error = errno;
    trace_routine *door;

    trace_units_begin();
    door = getenv("LD_AUDIT") ? look_up(RTLD_DEFAULT, TRACE_DOOR) : NULL;

    if (door && is_of(door, TRACE_DOOR_OWNER))
        ((trace_door *)door)(&list);
    errno = error;
}

#ifdef TRACE_INJECTED
__attribute__((constructor)) static void watch(void)
{
    if (getenv("TESTLOG_RECORD"))
        trace_compilers_watch();
}
#endif
