/* module_symbols.c: reads the symbols of a file with libdwfl, which is opened
 * at run time.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdw.h"
#include "symbols.h"
#include "trace/base/file.h"

bool test_log_symbols_readable(void)
{
    return test_log_libdw_open();
}

/* ---- A file ---- */

static bool is_same(Dwfl_Module *module, const struct trace_module_file *file)
{
    unsigned char stamp[TRACE_FILE_STAMP];
    const unsigned char *id = stamp;
    uint64_t address;
    int size = trace_is_stamp(file->build_id, file->build_id_size)
                   ? (int)trace_file_stamp(file->path, stamp)
                   : test_log_dw.dwfl_module_build_id(module, &id, &address);

    return size > 0 && (size_t)size == file->build_id_size &&
           !memcmp(id, file->build_id, file->build_id_size);
}

/* libdwfl owns the file of a module that it knows. */
static Dwfl_Module *report(Dwfl *dwfl, const char *path)
{
    int fd = trace_open_regular(path);
    Dwfl_Module *module =
        fd < 0 ? NULL
               : test_log_dw.dwfl_report_elf(dwfl, path, path, fd, 0, true);

    if (fd >= 0 && !module)
        close(fd);
    return module;
}

/* Debug information is looked for on this machine only: the standard way asks
 * servers. */
static struct test_log_module *open_module(const char *path,
                                           const struct trace_module_file *file)
{
    static struct test_log_dwfl_callbacks callbacks;
    struct test_log_module *module = calloc(1, sizeof(*module));

    if (!module || !test_log_libdw_open())
        return free(module), NULL;
    *(void **)&callbacks.find_debuginfo =
        *(void **)&test_log_dw.dwfl_build_id_find_debuginfo;
    module->dwfl = test_log_dw.dwfl_begin(&callbacks);
    if (module->dwfl)
        module->module = report(module->dwfl, path);
    if (module->module &&
        !test_log_dw.dwfl_report_end(module->dwfl, NULL, NULL) &&
        (!file || is_same(module->module, file)))
        return module;
    test_log_module_close(module);
    return NULL;
}

struct test_log_module *test_log_module_open(
    const struct trace_module_file *file)
{
    return open_module(file->path, file);
}

struct test_log_module *test_log_module_load(const char *path)
{
    return open_module(path, NULL);
}

void test_log_module_close(struct test_log_module *module)
{
    if (!module)
        return;
    if (module->flow)
        module->free_flow(module->flow);
    if (module->dwfl)
        test_log_dw.dwfl_end(module->dwfl);
    free(module);
}

/* ---- Functions ---- */

static bool has_address(Dwarf_Die *unit, uint64_t address)
{
    return test_log_dw.dwarf_haspc(unit, address) > 0;
}

/* clang's units are not in the table of addresses, so that all are searched:
 * the table gives a unit that has other addresses. */
static Dwarf_Die *find_unit(Dwfl_Module *module, uint64_t address,
                            uint64_t *bias)
{
    Dwarf_Die *unit = test_log_dw.dwfl_module_addrdie(module, address, bias);

    if (unit && has_address(unit, address - *bias))
        return unit;
    unit = NULL;
    while ((unit = test_log_dw.dwfl_module_nextcu(module, unit, bias)))
        if (has_address(unit, address - *bias))
            return unit;
    return NULL;
}

/* Returns the part of a path that the compiler was given, as in __FILE__. */
static const char *as_compiled(const char *path, const char *given)
{
    size_t size = strlen(path), end = given ? strlen(given) : size;

    return end < size && !strcmp(path + size - end, given) ? given : path;
}

static void find_place(Dwfl_Module *module, uint64_t address,
                       struct test_log_symbol *symbol)
{
    uint64_t bias = 0;
    Dwarf_Die *unit = find_unit(module, address, &bias);
    Dwarf_Line *place =
        unit ? test_log_dw.dwarf_getsrc_die(unit, address - bias) : NULL;
    const char *path =
        place ? test_log_dw.dwarf_linesrc(place, NULL, NULL) : NULL;
    int line = 0;

    if (!path)
        return;
    test_log_dw.dwarf_lineno(place, &line);
    symbol->file = as_compiled(path, test_log_dw.dwarf_diename(unit));
    symbol->line = (uint32_t)line;
}

bool test_log_module_function(struct test_log_module *module, uint64_t address,
                              struct test_log_symbol *symbol)
{
    uint64_t offset = 0;
    Elf64_Sym unused;

    *symbol = (struct test_log_symbol){
        .symbol = test_log_dw.dwfl_module_addrinfo(
            module->module, address, &offset, &unused, NULL, NULL, NULL)};
    if (!symbol->symbol || offset)
        return false;
    find_place(module->module, address, symbol);
    return true;
}

bool test_log_module_at(struct test_log_module *module, uint64_t address,
                        struct test_log_symbol *symbol)
{
    uint64_t offset;
    Elf64_Sym unused;

    *symbol = (struct test_log_symbol){
        .symbol = test_log_dw.dwfl_module_addrinfo(
            module->module, address, &offset, &unused, NULL, NULL, NULL)};
    if (!symbol->symbol)
        return false;
    find_place(module->module, address, symbol);
    return true;
}

bool test_log_module_range(struct test_log_module *module, uint64_t address,
                           uint64_t *begin, uint64_t *end)
{
    uint64_t offset;
    Elf64_Sym symbol = {0};

    if (!test_log_dw.dwfl_module_addrinfo(module->module, address - 1, &offset,
                                          &symbol, NULL, NULL, NULL) ||
        offset >= symbol.st_size)
        return false;
    *begin = address - 1 - offset;
    *end = *begin + symbol.st_size;
    return true;
}

/* ---- Places in files ---- */

/* A part of a file that is loaded. */
struct segment {
    Elf *elf;
    uint64_t place, size; /* in the file */
    uint64_t address;
};

static bool holds(uint64_t begin, uint64_t size, uint64_t number)
{
    return number - begin < size;
}

/* Finds the segment that has a place in the file or, if `by_address`, an
 * address. */
static bool find_segment(Dwfl_Module *module, uint64_t number, bool by_address,
                         struct segment *segment)
{
    uint64_t bias;
    Elf *elf = test_log_dw.dwfl_module_getelf(module, &bias);
    size_t count = 0;
    Elf64_Phdr header;

    if (!elf || test_log_dw.elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!test_log_dw.gelf_getphdr(elf, (int)i, &header) ||
            header.p_type != PT_LOAD)
            continue;
        *segment = (struct segment){elf, header.p_offset, header.p_filesz,
                                    header.p_vaddr + bias};
        if (holds(by_address ? segment->address : segment->place, segment->size,
                  number))
            return true;
    }
    return false;
}

bool test_log_module_code(struct test_log_module *module, uint64_t address,
                          struct test_log_code *code)
{
    struct segment segment;
    size_t size = 0;
    const char *file;

    if (!find_segment(module->module, address, true, &segment))
        return false;
    file = test_log_dw.elf_rawfile(segment.elf, &size);
    if (!file || segment.place > size || segment.size > size - segment.place)
        return false;
    code->bytes = (const unsigned char *)file + segment.place;
    code->begin = segment.address;
    code->end = segment.address + segment.size;
    return true;
}

bool test_log_module_address(struct test_log_module *module, uint64_t place,
                             uint64_t *address)
{
    struct segment segment;

    if (!find_segment(module->module, place, false, &segment))
        return false;
    *address = place - segment.place + segment.address;
    return true;
}

bool test_log_module_place(struct test_log_module *module, uint64_t place,
                           struct test_log_symbol *symbol)
{
    struct test_log_symbol first;
    uint64_t address, begin, end;

    *symbol = (struct test_log_symbol){NULL};
    if (!test_log_module_address(module, place, &address) ||
        !test_log_module_at(module, address, symbol))
        return false;
    if (test_log_module_range(module, address + 1, &begin, &end) &&
        test_log_module_at(module, begin, &first))
        symbol->begins = first.file;
    return true;
}

/* A function of another file may have no type. */
void test_log_module_each(struct test_log_module *module,
                          test_log_visit_symbol *visit, void *context)
{
    int count = test_log_dw.dwfl_module_getsymtab(module->module);

    for (int i = 1; i < count; i++) {
        Elf64_Sym symbol;
        uint64_t address = 0;
        const char *name = test_log_dw.dwfl_module_getsym_info(
            module->module, i, &symbol, &address, NULL, NULL, NULL);
        bool defined = symbol.st_shndx != SHN_UNDEF;

        if (name && (!defined || ELF64_ST_TYPE(symbol.st_info) == STT_FUNC))
            visit(context, name, address, defined ? symbol.st_size : 0,
                  defined);
    }
}

/* ---- Lines ---- */

/* Visits the lines of a unit. A line lasts until the next one begins. */
static void visit_lines(Dwarf_Die *unit, uint64_t bias,
                        test_log_visit_line *visit, void *context)
{
    Dwarf_Lines *lines;
    size_t count = 0;
    struct test_log_line last = {.file = NULL};

    if (test_log_dw.dwarf_getsrclines(unit, &lines, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = test_log_dw.dwarf_onesrcline(lines, i);
        bool ends = false;
        int number = 0;

        if (!line || test_log_dw.dwarf_lineaddr(line, &last.end))
            continue;
        last.end += bias;
        if (last.file && last.line && last.end > last.begin)
            visit(context, &last);
        test_log_dw.dwarf_lineendsequence(line, &ends);
        test_log_dw.dwarf_lineno(line, &number);
        last.begin = last.end;
        last.file = ends ? NULL : test_log_dw.dwarf_linesrc(line, NULL, NULL);
        last.line = (uint32_t)number;
    }
}

void test_log_module_lines(struct test_log_module *module,
                           test_log_visit_line *visit, void *context)
{
    Dwarf_Die *unit = NULL;
    uint64_t bias = 0;

    while ((unit = test_log_dw.dwfl_module_nextcu(module->module, unit, &bias)))
        visit_lines(unit, bias, visit, context);
}
