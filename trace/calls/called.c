/* called.c: tells whether code of the process calls the hooks of functions or
 * lines.
 */
#include <link.h>
#include <string.h>

#include "calls.h"

/* Part of a loaded object, at addresses of this process. */
struct imports {
    const ElfW(Sym) * symbols;
    const char *names;
    size_t count;
};

/* Undefined symbols come before those that the hash table has. glibc has
 * relocated the pointers, except where it is to leave them as they are. */
static bool find_imports(const struct dl_phdr_info *info,
                         const ElfW(Dyn) * dynamic, struct imports *imports)
{
    const uint32_t *hash = NULL, *gnu = NULL;

    *imports = (struct imports){.count = 0};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        ElfW(Addr) at = dynamic->d_un.d_ptr;

        if (at < info->dlpi_addr)
            at += info->dlpi_addr;
        if (dynamic->d_tag == DT_SYMTAB)
            imports->symbols = (const void *)at;
        else if (dynamic->d_tag == DT_STRTAB)
            imports->names = (const void *)at;
        else if (dynamic->d_tag == DT_HASH)
            hash = (const void *)at;
        else if (dynamic->d_tag == DT_GNU_HASH)
            gnu = (const void *)at;
    }
    imports->count = gnu ? gnu[1] : hash ? hash[1] : 0;
    return imports->symbols && imports->names;
}

static bool imports_hook(const struct dl_phdr_info *info,
                         const ElfW(Dyn) * dynamic)
{
    struct imports imports;

    if (!find_imports(info, dynamic, &imports))
        return false;
    for (size_t i = 1; i < imports.count; i++) {
        const ElfW(Sym) *symbol = &imports.symbols[i];
        const char *name = imports.names + symbol->st_name;

        if (!symbol->st_shndx && (!strcmp(name, "__cyg_profile_func_enter") ||
                                  !strcmp(name, "__sanitizer_cov_trace_pc")))
            return true;
    }
    return false;
}

/* The hooks are in a program only if it calls them: they are in an archive. */
static bool has_hook(const struct dl_phdr_info *info,
                     const ElfW(Phdr) * segment, uintptr_t hook)
{
    return hook - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t *hook = context, in_program = *hook;

    (void)size;
    *hook = 0; /* the program comes first */
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if ((segment->p_type == PT_LOAD && in_program &&
             has_hook(info, segment, in_program)) ||
            (segment->p_type == PT_DYNAMIC &&
             imports_hook(info,
                          (const void *)(info->dlpi_addr + segment->p_vaddr))))
            return 1;
    }
    return 0;
}

bool trace_calls_hooks(uintptr_t hook)
{
    return dl_iterate_phdr(look_at, &hook);
}
