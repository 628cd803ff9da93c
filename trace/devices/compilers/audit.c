/* audit.c: libtestlog-audit.so, which the dynamic linker loads if LD_AUDIT says
 * so, before the program and apart from it.
 *
 * A program that finds its compilers by dlopen and dlsym goes past functions of
 * ours that have the real ones' names. Here dlsym, and calls of libraries that
 * were loaded late, are answered with ours, once the program has said where
 * these are. There is no libc here: nothing may be called.
 */
#include <link.h>
#include <stdbool.h>

#include "wrappers.h"

static const struct trace_hook_list *hooks; /* NULL: nobody said */

/* The last who comes counts: a test's program comes after what was preloaded
 * into it. */
static void door(const struct trace_hook_list *list)
{
    if (list->version == TRACE_HOOK_LIST)
        __atomic_store_n(&hooks, list, __ATOMIC_RELEASE);
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

static const char *base_of(const char *path)
{
    const char *base = path;

    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

/* ---- Objects ---- */

enum { OTHER, LINKER, COMPILER };

static unsigned kind_of(const char *path)
{
    const char *base = base_of(path);

    if (begins(base, "libnvrtc") || begins(base, "libnvJitLink") ||
        begins(base, "libnvvm"))
        return COMPILER;
    return begins(base, "ld-") || begins(base, "ld64") ? LINKER : OTHER;
}

/* ---- What the dynamic linker calls ---- */

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

/* Ours that stands before a real function; that itself if none is free. */
static uintptr_t ours_of(struct trace_hook *hook, uintptr_t address)
{
    trace_routine *real = (trace_routine *)address, *known;

    for (unsigned way = 1; way < TRACE_HOOK_WAYS; way++) {
        known = NULL;
        if (__atomic_compare_exchange_n(&hook->real[way], &known, real, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            known == real)
            return (uintptr_t)hook->ours[way];
    }
    return address;
}

static uintptr_t divert(const struct trace_hook_list *list, const char *name,
                        uintptr_t address)
{
    for (uint32_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->hooks[i]->count; k++)
            if (same(name, list->hooks[i]->all[k].name))
                return ours_of(&list->hooks[i]->all[k], address);
    return address;
}

__attribute__((visibility("default"))) uintptr_t la_symbind64(
    Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
    unsigned *flags, const char *name)
{
    const struct trace_hook_list *list =
        __atomic_load_n(&hooks, __ATOMIC_ACQUIRE);

    (void)index;
    (void)from;
    if (*to == LINKER && *flags & LA_SYMB_DLSYM && same(name, TRACE_DOOR))
        return (uintptr_t)door;
    if (*to == COMPILER && list)
        return divert(list, name, symbol->st_value);
    return symbol->st_value;
}
