/* unused_sites.c: finds the call sites of C++ code that has not run yet.
 *
 * They register at first use. Until then only the symbol tables of the loaded
 * objects name them: each is a static variable trace_site_N of a function.
 */
#include <string.h>

#include "harness/machine/elf_file.h"
#include "harness/options/options.h"
#include "trace/device.h"

/* An object's symbols, and their names. */
struct table {
    const char *symbols, *names;
    size_t count, names_size;
};

static bool read_section(const struct test_log_elf *file, size_t number,
                         ElfW(Shdr) * section)
{
    uint64_t offset = file->header.e_shoff + number * sizeof(*section);
    const char *from = number < file->header.e_shnum &&
                               file->header.e_shentsize == sizeof(*section)
                           ? test_log_elf_at(file, offset, sizeof(*section))
                           : NULL;

    if (from)
        memcpy(section, from, sizeof(*section));
    return from;
}

static void read_table(const struct test_log_elf *file,
                       const ElfW(Shdr) * symbols, const ElfW(Shdr) * names,
                       struct table *table)
{
    table->symbols =
        test_log_elf_at(file, symbols->sh_offset, symbols->sh_size);
    table->names = test_log_elf_at(file, names->sh_offset, names->sh_size);
    table->names_size = names->sh_size;
    if (table->symbols && table->names)
        table->count = symbols->sh_size / sizeof(ElfW(Sym));
}

/* A stripped file has no table. */
static struct table find_table(const struct test_log_elf *file)
{
    struct table table = {NULL};
    ElfW(Shdr) symbols, names;

    for (size_t i = 0; !table.count && i < file->header.e_shnum; i++)
        if (read_section(file, i, &symbols) && symbols.sh_type == SHT_SYMTAB &&
            read_section(file, symbols.sh_link, &names) &&
            names.sh_type == SHT_STRTAB)
            read_table(file, &symbols, &names, &table);
    return table;
}

static bool names_site(const struct table *table, size_t offset)
{
    static const char prefix[] = "trace_site_";
    const char *name = table->names + offset, *found;

    if (offset >= table->names_size ||
        !memchr(name, '\0', table->names_size - offset))
        return false;
    found = strstr(name, prefix);
    return found && strspn(found + strlen(prefix), "0123456789");
}

/* Checks that a variable lies in the object's data, because the file may have
 * been replaced since it was loaded. */
static bool is_loaded(const struct dl_phdr_info *object,
                      const ElfW(Sym) * symbol)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags & PF_W &&
            symbol->st_value >= part->p_vaddr &&
            symbol->st_value - part->p_vaddr < part->p_memsz &&
            symbol->st_size <=
                part->p_memsz - (symbol->st_value - part->p_vaddr))
            return true;
    }
    return false;
}

static void register_site(const struct dl_phdr_info *object,
                          const struct table *table, size_t number)
{
    ElfW(Sym) symbol;
    struct trace_site *site;

    memcpy(&symbol, table->symbols + number * sizeof(symbol), sizeof(symbol));
    if ((symbol.st_info & 0xf) != STT_OBJECT ||
        symbol.st_size != sizeof(*site) || !names_site(table, symbol.st_name) ||
        !is_loaded(object, &symbol))
        return;
    site = (struct trace_site *)(object->dlpi_addr + symbol.st_value);
    if (__atomic_load_n(&site->interest, __ATOMIC_RELAXED) ==
        TRACE_UNREGISTERED)
        trace_site_register(site);
}

static int look_into(struct dl_phdr_info *object, size_t size, void *unused)
{
    const char *path =
        object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe";
    struct test_log_elf file;
    struct table table;

    (void)size;
    (void)unused;
    if (!test_log_elf_open(&file, path))
        return 0;
    table = find_table(&file);
    for (size_t i = 0; i < table.count; i++)
        register_site(object, &table, i);
    test_log_elf_close(&file);
    return 0;
}

void test_log_unused_sites_find(void)
{
    dl_iterate_phdr(look_into, NULL);
}
