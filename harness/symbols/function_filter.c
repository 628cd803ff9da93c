/* function_filter.c: makes the filter of calls and lines for the tests of a
 * program.
 *
 * A worker is the same program, and has the same modules. It reads no symbols,
 * which takes time and memory.
 */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "symbols.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* A module of this process. */
struct module {
    char path[PATH_MAX];
    uint64_t low, size;    /* of its addresses, in the file */
    uint64_t text;         /* of those up to the end of its code */
    unsigned char *wanted; /* as in struct trace_filtered_module */
    bool hooked;           /* it calls the hooks of functions */
    bool lined;            /* and that of lines, */
    uint64_t line_hook;    /* which is here; 0: in another module */
    /* Code whose lines are recorded. */
    struct range *ranges;
    size_t range_count, range_capacity;
    bool failed; /* without memory */
};

/* Addresses, from the module's lowest one. */
struct range {
    uint64_t begin, end;
};

struct making {
    struct test_log_recorded_code *code;
    struct module *modules;
    size_t count, capacity;
    bool failed;
};

static uint64_t bytes_for(uint64_t addresses)
{
    return (addresses >> TRACE_WANTED_SHIFT) + 1;
}

/* ---- Modules ---- */

static void find_range(const struct dl_phdr_info *info, struct module *module)
{
    uint64_t end = 0, text = 0;

    module->low = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t low = info->dlpi_phdr[i].p_vaddr;
        uint64_t high = low + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        module->low = low < module->low ? low : module->low;
        end = high > end ? high : end;
        if (info->dlpi_phdr[i].p_flags & PF_X)
            text = high;
    }
    module->size = end > module->low ? end - module->low : 0;
    module->text = text > module->low ? text - module->low : 0;
}

/* The program itself comes first, and has no name. */
static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct making *making = context;
    bool own = !making->code->modules && !making->count;
    const char *name = own ? "/proc/self/exe" : info->dlpi_name;
    struct module *module;

    (void)size;
    if (!TRACE_ARRAY_RESERVE(making->modules, making->capacity,
                             making->count + 1)) {
        making->failed = true;
        return 1;
    }
    module = &making->modules[making->count];
    memset(module, 0, sizeof(*module));
    find_range(info, module);
    if (realpath(name, module->path))
        making->count++;
    return 0;
}

static void add_modules(struct making *making)
{
    struct dl_phdr_info *modules = making->code->modules;

    if (!modules)
        dl_iterate_phdr(add_module, making);
    for (; modules && modules->dlpi_name; modules++)
        add_module(modules, sizeof(*modules), making);
}

/* ---- Functions ---- */

struct visiting {
    struct test_log_recorded_code *code;
    struct module *module;
    bool program;
};

/* A program can be linked with testlog statically. */
static void find_hooks(void *context, const char *symbol, uint64_t address,
                       uint64_t size, bool defined)
{
    struct visiting *visiting = context;

    (void)size;
    if (defined && !visiting->program)
        return;
    visiting->module->hooked |= !strcmp(symbol, "__cyg_profile_func_enter");
    if (strcmp(symbol, "__sanitizer_cov_trace_pc"))
        return;
    visiting->module->lined = true;
    if (defined)
        visiting->module->line_hook = address;
}

static void judge(void *context, const char *symbol, uint64_t address,
                  uint64_t size, bool defined)
{
    struct visiting *visiting = context;
    struct module *module = visiting->module;
    uint64_t offset = address - module->low;

    (void)size;
    if (defined && offset < module->text)
        module->wanted[offset >> TRACE_WANTED_SHIFT] |=
            (unsigned char)test_log_function_list_match(
                &visiting->code->functions, symbol);
}

/* Makes 0 or 1 of what was found for each function. */
static void decide(struct test_log_function_list *list, struct module *module)
{
    unsigned file = test_log_function_list_match_file(list, module->path);
    unsigned any = file | (list->includes ? 0 : TEST_LOG_FUNCTION_INCLUDED);

    for (uint64_t i = 0; i < bytes_for(module->text); i++)
        module->wanted[i] =
            (module->wanted[i] | any) == TEST_LOG_FUNCTION_INCLUDED;
}

static void judge_functions(struct visiting *visiting,
                            struct test_log_module *file)
{
    struct module *module = visiting->module;

    module->wanted = calloc(1, bytes_for(module->text));
    if (!module->wanted) {
        module->failed = true;
        return;
    }
    test_log_module_each(file, judge, visiting);
    decide(&visiting->code->functions, module);
}

/* ---- Lines ---- */

static void add_range(struct module *module, uint64_t begin, uint64_t end)
{
    if (begin < module->low || end > module->low + module->text || begin >= end)
        return;
    if (TRACE_ARRAY_RESERVE(module->ranges, module->range_capacity,
                            module->range_count + 1))
        module->ranges[module->range_count++] =
            (struct range){begin - module->low, end - module->low};
    else
        module->failed = true;
}

static void judge_line(void *context, const struct test_log_line *line)
{
    struct visiting *visiting = context;

    if (test_log_line_list_match(&visiting->code->lines, line))
        add_range(visiting->module, line->begin, line->end);
}

static void judge_lines_of(void *context, const char *symbol, uint64_t address,
                           uint64_t size, bool defined)
{
    struct visiting *visiting = context;

    if (defined &&
        test_log_line_list_match_function(&visiting->code->lines, symbol))
        add_range(visiting->module, address, address + size);
}

/* ---- Blocks of lines ---- */

/* Finds the blocks of a module. If the hook is in another module, it has an
 * address here that differs from module to module: functions with the lines
 * call nothing more often. */
struct calling {
    struct module *module;
    struct test_log_module *file;
    struct trace_table counts; /* of calls, by address */
    uint64_t hook;
    uintptr_t most;
    struct range *blocks; /* where their hooks return to */
    size_t count, capacity;
};

static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Sorts the ranges, and merges those that touch. */
static void merge_ranges(struct module *module)
{
    struct range *ranges = module->ranges;
    size_t count = 0;

    if (module->range_count)
        qsort(ranges, module->range_count, sizeof(*ranges), by_begin);
    for (size_t i = 0; i < module->range_count; i++) {
        if (!count || ranges[i].begin > ranges[count - 1].end)
            ranges[count++] = ranges[i];
        else if (ranges[i].end > ranges[count - 1].end)
            ranges[count - 1].end = ranges[i].end;
    }
    module->range_count = count;
}

/* Returns whether a range overlaps some addresses. */
static bool has_lines(const struct module *module, uint64_t begin, uint64_t end)
{
    size_t low = 0, high = module->range_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (module->ranges[middle].end <= begin - module->low)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->range_count &&
           module->ranges[low].begin < end - module->low;
}

static void count_call(void *context, uint64_t called)
{
    struct calling *calling = context;
    uintptr_t count = 0;

    trace_table_find(&calling->counts, called, &count);
    trace_table_set(&calling->counts, called, ++count);
    if (count <= calling->most)
        return;
    calling->most = count;
    calling->hook = called;
}

static void count_calls(void *context, const char *symbol, uint64_t address,
                        uint64_t size, bool defined)
{
    struct calling *calling = context;

    (void)symbol;
    if (defined && has_lines(calling->module, address, address + size))
        test_log_visit_calls(calling->file, address, address + size, count_call,
                             calling);
}

static void take_block(struct calling *calling, uint64_t address)
{
    uint64_t low = calling->module->low;

    if (TRACE_ARRAY_RESERVE(calling->blocks, calling->capacity,
                            calling->count + 1))
        calling->blocks[calling->count++] =
            (struct range){address - 1 - low, address - low};
    else
        calling->module->failed = true;
}

static void take_piece(void *context, const struct test_log_piece *piece)
{
    struct calling *calling = context;

    if (!has_lines(calling->module, piece->begin, piece->end))
        return;
    if (piece->from)
        take_block(calling, piece->from);
    if (piece->next)
        take_block(calling, piece->next);
}

static void take_blocks(void *context, const char *symbol, uint64_t address,
                        uint64_t size, bool defined)
{
    struct calling *calling = context;

    (void)symbol;
    if (defined && has_lines(calling->module, address, address + size))
        test_log_visit_pieces(calling->file, calling->hook, address,
                              address + size, take_piece, calling);
}

/* A block is recorded if it has one of the lines, not only if it begins with
 * one. If no block is found, the hooks in the lines themselves are. */
static void find_blocks(struct module *module, struct test_log_module *file)
{
    struct calling calling = {
        .module = module, .file = file, .hook = module->line_hook};

    merge_ranges(module);
    if (!calling.hook)
        test_log_module_each(file, count_calls, &calling);
    if (calling.hook)
        test_log_module_each(file, take_blocks, &calling);
    trace_table_free(&calling.counts);
    if (!calling.count) {
        free(calling.blocks);
        return;
    }
    free(module->ranges);
    module->ranges = calling.blocks;
    module->range_count = calling.count;
    merge_ranges(module);
}

/* ---- Modules that call hooks ---- */

static void judge_module(struct making *making, struct module *module)
{
    struct test_log_recorded_code *code = making->code;
    struct visiting visiting = {code, module, module == making->modules};
    struct test_log_module *file = test_log_module_load(module->path);

    if (!file)
        return;
    test_log_module_each(file, find_hooks, &visiting);
    if (module->hooked && code->functions.count)
        judge_functions(&visiting, file);
    if (module->lined && code->lines.count) {
        test_log_module_lines(file, judge_line, &visiting);
        test_log_module_each(file, judge_lines_of, &visiting);
        find_blocks(module, file);
    }
    test_log_module_close(file);
    code->hooked |= module->hooked;
    code->lined |= module->lined;
    making->failed |= module->failed;
}

/* ---- The filter ---- */

static uint64_t ticks_of(uint64_t ns, const struct trace_anchor *start)
{
    struct trace_anchor now = trace_anchor_now();
    double rate = now.monotonic > start->monotonic
                      ? (double)(now.ticks - start->ticks) /
                            (double)(now.monotonic - start->monotonic)
                      : 1;
    double ticks = (double)ns * rate;

    return ticks < UINT32_MAX - 1 ? (uint64_t)ticks : UINT32_MAX - 1;
}

static bool is_filtered(const struct module *module)
{
    return module->wanted || module->range_count;
}

/* A block's hook returns to an address behind the call in its first line. */
static void put_lines(const struct module *module, unsigned char *to)
{
    for (size_t i = 0; i < module->range_count; i++) {
        const struct range *range = &module->ranges[i];

        memset(to + range->begin + 1, 1, range->end - range->begin);
    }
}

/* Returns the place behind the module's bytes. Memory that is not written to
 * takes no space: a byte for each address costs little. */
static uint64_t put_module(const struct module *module,
                           struct trace_function_filter *filter, uint64_t place)
{
    struct trace_filtered_module *to = &filter->modules[filter->module_count++];

    to->path = trace_hash_string(TRACE_HASH, module->path);
    to->size = module->size;
    if (module->wanted) {
        to->wanted = place;
        memcpy((char *)filter + place, module->wanted, bytes_for(module->text));
        place += bytes_for(module->text);
    }
    if (module->range_count) {
        to->lines = place;
        filter->lines = 1;
        put_lines(module, (unsigned char *)filter + place);
        place += module->size + 1;
    }
    return place;
}

static void put_modules(const struct making *making,
                        struct trace_function_filter *filter, uint64_t place)
{
    for (size_t i = 0; i < making->count; i++)
        if (is_filtered(&making->modules[i]))
            place = put_module(&making->modules[i], filter, place);
}

/* Returns the bytes of the filter, and where those of modules begin. */
static size_t size_of(const struct making *making, uint64_t *first)
{
    struct trace_function_filter *filter;
    size_t size = 0;

    *first = sizeof(*filter);
    for (size_t i = 0; i < making->count; i++) {
        const struct module *module = &making->modules[i];

        *first += is_filtered(module) ? sizeof(*filter->modules) : 0;
        size += module->wanted ? bytes_for(module->text) : 0;
        size += module->range_count ? module->size + 1 : 0;
    }
    return *first + size;
}

/* Makes the memory, which goes away with its last process. */
static struct trace_function_filter *make_memory(size_t size, int *id)
{
    struct trace_function_filter *filter;

    *id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    if (*id < 0)
        return NULL;
    filter = shmat(*id, NULL, 0);
    shmctl(*id, IPC_RMID, NULL); /* on Linux, others can still attach */
    return filter == (void *)-1 ? NULL : filter;
}

static void free_modules(struct making *making)
{
    for (size_t i = 0; i < making->count; i++) {
        free(making->modules[i].wanted);
        free(making->modules[i].ranges);
    }
    free(making->modules);
}

int test_log_function_filter_share(struct test_log_recorded_code *code,
                                   const struct trace_anchor *start)
{
    struct making making = {.code = code};
    struct trace_function_filter *filter = NULL;
    uint64_t first;
    int id = -1;

    code->hooked = code->lined = false;
    if (code->functions.count || code->lines.count)
        add_modules(&making);
    for (size_t i = 0; i < making.count && !making.failed; i++)
        judge_module(&making, &making.modules[i]);
    if (making.failed)
        errno = ENOMEM;
    else
        filter = make_memory(size_of(&making, &first), &id);
    if (filter) {
        filter->depth = code->depth;
        filter->least = ticks_of(code->least, start);
        filter->others = !code->functions.includes;
        put_modules(&making, filter, first);
    }
    free_modules(&making);
    return filter ? id : -1;
}
