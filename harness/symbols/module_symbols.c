/* module_symbols.c: reads the symbols of a file with libdwfl, which is opened
 * at run time.
 *
 * The functions are those of elfutils' libdwfl.h, libdw.h and gelf.h.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"
#include "trace/base/file.h"

typedef struct dwfl Dwfl;
typedef struct dwfl_module Dwfl_Module;
typedef struct elf Elf;
typedef struct dwarf_die Dwarf_Die;
typedef struct dwarf_line Dwarf_Line;
typedef struct dwarf_lines Dwarf_Lines;

/* A Dwfl_Callbacks. */
struct callbacks {
    void *find_elf, *find_debuginfo, *section_address;
    char **debuginfo_path;
};

/* X(result, name, arguments) */
#define FUNCTIONS(X)                                                           \
    X(Dwfl *, dwfl_begin, (const struct callbacks *))                          \
    X(void, dwfl_end, (Dwfl *))                                                \
    X(Dwfl_Module *, dwfl_report_elf,                                          \
      (Dwfl *, const char *name, const char *path, int fd, uint64_t base,      \
       bool add_address))                                                      \
    X(int, dwfl_report_end, (Dwfl *, void *removed, void *argument))           \
    X(int, dwfl_build_id_find_debuginfo, (void))                               \
    X(int, dwfl_module_build_id,                                               \
      (Dwfl_Module *, const unsigned char **bits, uint64_t *address))          \
    X(const char *, dwfl_module_addrinfo,                                      \
      (Dwfl_Module *, uint64_t address, uint64_t * offset, Elf64_Sym *,        \
       unsigned *section, void **elf, uint64_t *bias))                         \
    X(Elf *, dwfl_module_getelf, (Dwfl_Module *, uint64_t * bias))             \
    X(char *, elf_rawfile, (Elf *, size_t * size))                             \
    X(int, elf_getphdrnum, (Elf *, size_t *))                                  \
    X(Elf64_Phdr *, gelf_getphdr, (Elf *, int index, Elf64_Phdr *))            \
    X(int, dwfl_module_getsymtab, (Dwfl_Module *))                             \
    X(const char *, dwfl_module_getsym_info,                                   \
      (Dwfl_Module *, int index, Elf64_Sym *, uint64_t *address,               \
       unsigned *section, void **elf, uint64_t *bias))                         \
    X(Dwarf_Die *, dwfl_module_addrdie,                                        \
      (Dwfl_Module *, uint64_t address, uint64_t * bias))                      \
    X(Dwarf_Die *, dwfl_module_nextcu,                                         \
      (Dwfl_Module *, Dwarf_Die * last, uint64_t * bias))                      \
    X(int, dwarf_haspc, (Dwarf_Die *, uint64_t address))                       \
    X(Dwarf_Line *, dwarf_getsrc_die, (Dwarf_Die *, uint64_t address))         \
    X(int, dwarf_getsrclines, (Dwarf_Die *, Dwarf_Lines **, size_t * count))   \
    X(Dwarf_Line *, dwarf_onesrcline, (Dwarf_Lines *, size_t index))           \
    X(int, dwarf_lineaddr, (Dwarf_Line *, uint64_t * address))                 \
    X(int, dwarf_lineendsequence, (Dwarf_Line *, bool *ends))                  \
    X(const char *, dwarf_linesrc,                                             \
      (Dwarf_Line *, uint64_t * time, uint64_t * size))                        \
    X(int, dwarf_lineno, (Dwarf_Line *, int *line))                            \
    X(const char *, dwarf_diename, (Dwarf_Die *))

static struct {
#define X(result, name, arguments) result(*name) arguments;
    FUNCTIONS(X)
#undef X
} dw;

static bool found_library(void)
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
        found = (*(void **)&dw.name = dlsym(library, #name));
    FUNCTIONS(X)
#undef X
    return found;
}

bool test_log_symbols_readable(void)
{
    return found_library();
}

/* ---- A file ---- */

struct test_log_module {
    Dwfl *dwfl;
    Dwfl_Module *module;
};

static bool is_same(Dwfl_Module *module, const struct trace_module_file *file)
{
    const unsigned char *id = NULL;
    uint64_t address;
    int size = dw.dwfl_module_build_id(module, &id, &address);

    return !file->build_id_size ||
           (size >= 0 && (size_t)size == file->build_id_size &&
            !memcmp(id, file->build_id, file->build_id_size));
}

/* libdwfl owns the file of a module that it knows. */
static Dwfl_Module *report(Dwfl *dwfl, const char *path)
{
    int fd = trace_open_regular(path);
    Dwfl_Module *module =
        fd < 0 ? NULL : dw.dwfl_report_elf(dwfl, path, path, fd, 0, true);

    if (fd >= 0 && !module)
        close(fd);
    return module;
}

/* Debug information is looked for on this machine only: the standard way asks
 * servers. */
struct test_log_module *test_log_module_open(
    const struct trace_module_file *file)
{
    static struct callbacks callbacks;
    struct test_log_module *module = calloc(1, sizeof(*module));

    if (!module || !found_library())
        return free(module), NULL;
    *(void **)&callbacks.find_debuginfo =
        *(void **)&dw.dwfl_build_id_find_debuginfo;
    module->dwfl = dw.dwfl_begin(&callbacks);
    if (module->dwfl)
        module->module = report(module->dwfl, file->path);
    if (module->module && !dw.dwfl_report_end(module->dwfl, NULL, NULL) &&
        is_same(module->module, file))
        return module;
    test_log_module_close(module);
    return NULL;
}

void test_log_module_close(struct test_log_module *module)
{
    if (!module)
        return;
    if (module->dwfl)
        dw.dwfl_end(module->dwfl);
    free(module);
}

/* ---- Functions ---- */

static bool has_address(Dwarf_Die *unit, uint64_t address)
{
    return dw.dwarf_haspc(unit, address) > 0;
}

/* clang's units are not in the table of addresses, so that all are searched:
 * the table gives a unit that has other addresses. */
static Dwarf_Die *find_unit(Dwfl_Module *module, uint64_t address,
                            uint64_t *bias)
{
    Dwarf_Die *unit = dw.dwfl_module_addrdie(module, address, bias);

    if (unit && has_address(unit, address - *bias))
        return unit;
    unit = NULL;
    while ((unit = dw.dwfl_module_nextcu(module, unit, bias)))
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
    Dwarf_Line *place = unit ? dw.dwarf_getsrc_die(unit, address - bias) : NULL;
    const char *path = place ? dw.dwarf_linesrc(place, NULL, NULL) : NULL;
    int line = 0;

    if (!path)
        return;
    dw.dwarf_lineno(place, &line);
    symbol->file = as_compiled(path, dw.dwarf_diename(unit));
    symbol->line = (uint32_t)line;
}

bool test_log_module_function(struct test_log_module *module, uint64_t address,
                              struct test_log_symbol *symbol)
{
    uint64_t offset = 0;
    Elf64_Sym unused;

    *symbol = (struct test_log_symbol){
        .symbol = dw.dwfl_module_addrinfo(module->module, address, &offset,
                                          &unused, NULL, NULL, NULL)};
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
        .symbol = dw.dwfl_module_addrinfo(module->module, address, &offset,
                                          &unused, NULL, NULL, NULL)};
    if (!symbol->symbol)
        return false;
    find_place(module->module, address, symbol);
    return true;
}

uint64_t test_log_module_function_end(struct test_log_module *module,
                                      uint64_t address)
{
    uint64_t offset;
    Elf64_Sym symbol = {0};

    return dw.dwfl_module_addrinfo(module->module, address - 1, &offset,
                                   &symbol, NULL, NULL, NULL) &&
                   offset < symbol.st_size
               ? address - 1 - offset + symbol.st_size
               : address;
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
    Elf *elf = dw.dwfl_module_getelf(module, &bias);
    size_t count = 0;
    Elf64_Phdr header;

    if (!elf || dw.elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!dw.gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
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
    file = dw.elf_rawfile(segment.elf, &size);
    if (!file || segment.place > size || segment.size > size - segment.place)
        return false;
    code->bytes = (const unsigned char *)file + segment.place;
    code->begin = segment.address;
    code->end = segment.address + segment.size;
    return true;
}

bool test_log_module_place(struct test_log_module *module, uint64_t place,
                           struct test_log_symbol *symbol)
{
    struct segment segment;

    *symbol = (struct test_log_symbol){NULL};
    return find_segment(module->module, place, false, &segment) &&
           test_log_module_at(module, place - segment.place + segment.address,
                              symbol);
}

/* A function of another file may have no type. */
void test_log_module_each(struct test_log_module *module,
                          test_log_visit_symbol *visit, void *context)
{
    int count = dw.dwfl_module_getsymtab(module->module);

    for (int i = 1; i < count; i++) {
        Elf64_Sym symbol;
        uint64_t address = 0;
        const char *name = dw.dwfl_module_getsym_info(
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

    if (dw.dwarf_getsrclines(unit, &lines, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dw.dwarf_onesrcline(lines, i);
        bool ends = false;
        int number = 0;

        if (!line || dw.dwarf_lineaddr(line, &last.end))
            continue;
        last.end += bias;
        if (last.file && last.line && last.end > last.begin)
            visit(context, &last);
        dw.dwarf_lineendsequence(line, &ends);
        dw.dwarf_lineno(line, &number);
        last.begin = last.end;
        last.file = ends ? NULL : dw.dwarf_linesrc(line, NULL, NULL);
        last.line = (uint32_t)number;
    }
}

void test_log_module_lines(struct test_log_module *module,
                           test_log_visit_line *visit, void *context)
{
    Dwarf_Die *unit = NULL;
    uint64_t bias = 0;

    while ((unit = dw.dwfl_module_nextcu(module->module, unit, &bias)))
        visit_lines(unit, bias, visit, context);
}
