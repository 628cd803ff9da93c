/* function_filter.c: makes the filter of calls for the tests of a program.
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
    bool hooked;           /* it calls the hooks */
};

struct making {
    struct test_log_function_list *list;
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
    const char *name = making->count ? info->dlpi_name : "/proc/self/exe";
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

/* ---- Functions ---- */

struct visiting {
    struct test_log_function_list *list;
    struct module *module;
    bool program;
};

static bool is_hook(const char *symbol)
{
    return !strcmp(symbol, "__cyg_profile_func_enter");
}

/* A program can be linked with testlog statically. */
static void find_hook(void *context, const char *symbol, uint64_t address,
                      bool defined)
{
    struct visiting *visiting = context;

    (void)address;
    if (is_hook(symbol) && (!defined || visiting->program))
        visiting->module->hooked = true;
}

static void judge(void *context, const char *symbol, uint64_t address,
                  bool defined)
{
    struct visiting *visiting = context;
    struct module *module = visiting->module;
    uint64_t offset = address - module->low;

    if (defined && offset < module->text)
        module->wanted[offset >> TRACE_WANTED_SHIFT] |=
            (unsigned char)test_log_function_list_match(visiting->list, symbol);
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

static void judge_module(struct making *making, struct module *module)
{
    struct visiting visiting = {making->list, module,
                                module == making->modules};
    struct test_log_module *file =
        test_log_module_open(&(struct trace_module_file){.path = module->path});

    if (!file)
        return;
    test_log_module_each(file, find_hook, &visiting);
    if (module->hooked)
        module->wanted = calloc(1, bytes_for(module->text));
    if (module->wanted) {
        test_log_module_each(file, judge, &visiting);
        decide(making->list, module);
    } else {
        making->failed |= module->hooked;
    }
    test_log_module_close(file);
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

static void put_modules(const struct making *making,
                        struct trace_function_filter *filter)
{
    struct trace_filtered_module *to = filter->modules;
    uint64_t place =
        sizeof(*filter) + filter->module_count * sizeof(*filter->modules);

    for (size_t i = 0; i < making->count; i++) {
        const struct module *module = &making->modules[i];

        if (!module->wanted)
            continue;
        *to++ = (struct trace_filtered_module){
            trace_hash_string(TRACE_HASH, module->path), module->size, place};
        memcpy((char *)filter + place, module->wanted, bytes_for(module->text));
        place += bytes_for(module->text);
    }
}

/* Makes the memory, which goes away with its last process. */
static struct trace_function_filter *make_memory(const struct making *making,
                                                 int *id)
{
    size_t size = sizeof(struct trace_function_filter), count = 0;
    struct trace_function_filter *filter;

    for (size_t i = 0; i < making->count; i++)
        if (making->modules[i].wanted) {
            size +=
                sizeof(*filter->modules) + bytes_for(making->modules[i].text);
            count++;
        }
    *id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    if (*id < 0)
        return NULL;
    filter = shmat(*id, NULL, 0);
    shmctl(*id, IPC_RMID, NULL); /* on Linux, others can still attach */
    if (filter == (void *)-1)
        return NULL;
    filter->module_count = count;
    return filter;
}

static void free_modules(struct making *making)
{
    for (size_t i = 0; i < making->count; i++)
        free(making->modules[i].wanted);
    free(making->modules);
}

int test_log_function_filter_share(struct test_log_function_list *list,
                                   uint32_t depth, uint64_t least,
                                   const struct trace_anchor *start,
                                   bool *hooked)
{
    struct making making = {.list = list};
    struct trace_function_filter *filter = NULL;
    int id = -1;

    *hooked = false;
    if (list->count)
        dl_iterate_phdr(add_module, &making);
    for (size_t i = 0; i < making.count && !making.failed; i++) {
        judge_module(&making, &making.modules[i]);
        *hooked |= making.modules[i].hooked;
    }
    if (making.failed)
        errno = ENOMEM;
    else
        filter = make_memory(&making, &id);
    if (filter) {
        filter->depth = depth;
        filter->least = ticks_of(least, start);
        filter->others = !list->includes;
        put_modules(&making, filter);
    }
    free_modules(&making);
    return filter ? id : -1;
}
