/* audit.c: libtestlog-audit.so, a library that LD_AUDIT has the dynamic linker
 * load before the program and apart from it.
 *
 * A program that finds its compilers with dlopen and dlsym bypasses wrappers
 * that have the real functions' names. This library redirects dlsym, and calls
 * from libraries that were loaded late, to the wrappers, once the program has
 * registered them. There is no libc here: call no function.
 */
#include <link.h>
#include <stdbool.h>

#include "trace/base/strings.h"
#include "wrappers.h"

static const struct trace_wrapper_list *wrappers; /* NULL: none yet */

/* The last list registered wins: a test's program registers after the library
 * that was preloaded into it. */
static void register_wrappers(const struct trace_wrapper_list *list)
{
    if (list->version == TRACE_WRAPPER_LIST)
        __atomic_store_n(&wrappers, list, __ATOMIC_RELEASE);
}

/* ---- Text ---- */

static bool begins(const char *text, const char *with)
{
    while (*with)
        if (*text++ != *with++)
            return false;
    return true;
}

static bool same(const char *a, const char *b)
{
    for (; *a == *b; a++, b++)
        if (!*a)
            return true;
    return false;
}

/* ---- Objects ---- */

enum { OTHER, LINKER, COMPILER };

static unsigned kind_of(const char *path)
{
    const char *base = trace_base_name(path);

    if (begins(base, "libnvrtc") || begins(base, "libnvJitLink") ||
        begins(base, "libnvvm"))
        return COMPILER;
    return begins(base, "ld-") || begins(base, "ld64") ? LINKER : OTHER;
}

/* ---- Callbacks of the dynamic linker ---- */

#pragma GCC visibility push(default)

unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map *object, Lmid_t space, uintptr_t *cookie)
{
    *cookie = OTHER;
    if (space != LM_ID_BASE)
        return 0;
    *cookie = kind_of(object->l_name);
    return LA_FLG_BINDFROM | (*cookie == OTHER ? 0 : LA_FLG_BINDTO);
}

#pragma GCC visibility pop

/* Returns the wrapper for a real function, or the function itself if no slot is
 * free. */
static uintptr_t entry_for(struct trace_wrapper *wrapper, uintptr_t address)
{
    trace_routine *real = (trace_routine *)address, *known;

    for (unsigned slot = 1; slot < TRACE_WRAPPER_SLOTS; slot++) {
        known = NULL;
        if (__atomic_compare_exchange_n(&wrapper->real[slot], &known, real,
                                        false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            known == real)
            return (uintptr_t)wrapper->entries[slot];
    }
    return address;
}

static uintptr_t divert(const struct trace_wrapper_list *list, const char *name,
                        uintptr_t address)
{
    for (uint32_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->wrappers[i]->count; k++)
            if (same(name, list->wrappers[i]->all[k].name))
                return entry_for(&list->wrappers[i]->all[k], address);
    return address;
}

__attribute__((visibility("default"))) uintptr_t la_symbind64(
    Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
    unsigned *flags, const char *name)
{
    const struct trace_wrapper_list *list =
        __atomic_load_n(&wrappers, __ATOMIC_ACQUIRE);

    (void)index;
    (void)from;
    if (*to == LINKER && *flags & LA_SYMB_DLSYM &&
        same(name, TRACE_REGISTER_SYMBOL))
        return (uintptr_t)register_wrappers;
    if (*to == COMPILER && list)
        return divert(list, name, symbol->st_value);
    return symbol->st_value;
}
