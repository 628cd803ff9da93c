/* functions.c: the functions that were called and the blocks of lines, and the
 * call sites that stand for them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_index.h"
#include "reader_parts.h"

static const struct trace_resolver *resolver;

void trace_resolve_with(const struct trace_resolver *new)
{
    resolver = new;
}

bool trace_resolve_place(const struct trace_module_file *file, uint64_t place,
                         struct trace_function_name *function)
{
    return resolver && resolver->place &&
           resolver->place(file, place, function);
}

const struct trace_frame_rules *trace_resolve_rules(
    const struct trace_module_file *file, uint64_t place)
{
    return resolver && resolver->rules ? resolver->rules(file, place) : NULL;
}

/* ---- Modules ---- */

static bool next_number(struct trace_values *values, uint64_t *number)
{
    struct trace_value value;

    if (!trace_values_next(values, &value) || value.type != TRACE_TYPE_U64)
        return false;
    *number = value.as.u;
    return true;
}

bool trace_functions_module(struct trace_call_index *calls,
                            const struct trace_record *record)
{
    struct trace_seen_module module = {.time = record->time};
    struct trace_values values = trace_values_in(record);
    struct trace_value path, id;

    if (!trace_values_next(&values, &path) || path.type != TRACE_TYPE_STRING ||
        !trace_values_next(&values, &id) || id.type != TRACE_TYPE_BYTES ||
        !next_number(&values, &module.low) ||
        !next_number(&values, &module.size) ||
        !next_number(&values, &module.bias))
        return true;
    if (!TRACE_ARRAY_RESERVE(calls->modules, calls->module_capacity,
                             calls->module_count + 1))
        return false;
    module.file =
        (struct trace_module_file){path.as.text, id.as.bytes, id.size};
    calls->modules[calls->module_count++] = module;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct trace_seen_module *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

static bool overlap(const struct trace_seen_module *a,
                    const struct trace_seen_module *b)
{
    return a->low - b->low < b->size || b->low - a->low < a->size;
}

void trace_functions_sort(struct trace_call_index *calls)
{
    struct trace_seen_module *modules = calls->modules;

    if (!calls->module_count)
        return;
    qsort(modules, calls->module_count, sizeof(*modules), by_time);
    for (size_t i = 0; i < calls->module_count; i++)
        for (size_t j = 0; j < i; j++)
            if (overlap(&modules[i], &modules[j]))
                modules[i].shares = modules[j].shares = true;
}

static bool has(const struct trace_seen_module *module, uint64_t address)
{
    return address - module->low < module->size;
}

/* Returns the module that was at an address: the last one that was recorded
 * there before. */
static const struct trace_seen_module *module_of(
    const struct trace_call_index *calls, uint64_t address, uint64_t time)
{
    const struct trace_seen_module *modules = calls->modules, *found = NULL;

    address &= TRACE_CALL_ADDRESS;
    for (size_t i = 0; i < calls->module_count; i++) {
        if (!has(&modules[i], address))
            continue;
        if (!modules[i].shares)
            return &modules[i];
        if (!found || modules[i].time <= time)
            found = &modules[i];
    }
    return found;
}

/* ---- Functions ---- */

/* Two functions with one key would be one; there are 2^14 modules at most. */
static uint64_t key_of(const struct trace_call_index *calls, uint64_t address,
                       const struct trace_seen_module *module)
{
    uint64_t number = module ? (uint64_t)(module - calls->modules) + 1 : 0;

    return (address & (TRACE_CALL_ADDRESS | TRACE_CALL_LINE)) | number << 50;
}

bool trace_functions_add(struct trace_call_index *calls, uint64_t address,
                         uint64_t time)
{
    const struct trace_seen_module *module = module_of(calls, address, time);
    uint64_t key = key_of(calls, address, module);
    uintptr_t number;

    if (trace_table_find(&calls->by_address, key, &number))
        return true;
    if (!TRACE_ARRAY_RESERVE(calls->functions, calls->function_capacity,
                             calls->function_count + 1) ||
        !trace_table_set(&calls->by_address, key, calls->function_count))
        return false;
    calls->functions[calls->function_count++] =
        (struct trace_called){address, module, NULL};
    return true;
}

/* ---- Names ---- */

static bool is_line(const struct trace_called *function)
{
    return function->address & TRACE_CALL_LINE;
}

/* Returns its address in the module's file. */
static uint64_t address_of(const struct trace_called *function)
{
    uint64_t address = function->address & TRACE_CALL_ADDRESS;

    return function->module ? address - function->module->bias : address;
}

/* Asks for its name; false if it is not known. */
static bool resolve(const struct trace_called *function,
                    struct trace_function_name *found)
{
    *found = (struct trace_function_name){0};
    if (!resolver || !function->module)
        return false;
    return is_line(function)
               ? resolver->line && resolver->line(&function->module->file,
                                                  address_of(function), found)
               : resolver->function(&function->module->file,
                                    address_of(function), found);
}

/* A call site with its own texts. */
struct function_site {
    struct trace_site site;
    char texts[];
};

static const char *module_name(const struct trace_called *function)
{
    return function->module ? trace_base_name(function->module->file.path)
                            : "?";
}

/* Without a name, it has that of its module and its offset there. */
static void put_name(struct trace_text *text,
                     const struct trace_called *function,
                     const struct trace_function_name *found)
{
    if (is_line(function) && found->file) {
        trace_text_printf(text, "%s:%u", trace_base_name(found->file),
                          (unsigned)found->line);
        if (found->last_line)
            trace_text_printf(text, "-%u", (unsigned)found->last_line);
    } else if (found->name && !is_line(function)) {
        trace_text_string(text, found->name);
    } else {
        trace_text_printf(text, "%s+0x%" PRIx64, module_name(function),
                          address_of(function));
    }
}

static void put_target(struct trace_text *text,
                       const struct trace_called *function, const char *file)
{
    char target[256];

    if (file)
        trace_target(file, target, sizeof(target));
    trace_text_printf(text, "%s::%s", is_line(function) ? "line" : "fn",
                      file ? target : module_name(function));
}

/* Returns the place behind a text's end. */
static char *put(char *to, const char **text, const char *from)
{
    size_t size = strlen(from) + 1;

    *text = memcpy(to, from, size);
    return to + size;
}

static struct trace_site *make_site(const char *name, const char *target,
                                    const struct trace_function_name *found)
{
    struct function_site *function =
        calloc(1, sizeof(*function) + strlen(name) + strlen(target) +
                      strlen(found->file) + strlen(found->name) + 4);
    char *to;

    if (!function)
        return NULL;
    to = put(function->texts, &function->site.name, name);
    to = put(to, &function->site.target, target);
    to = put(to, &function->site.file, found->file);
    put(to, &function->site.function, found->name);
    function->site.line = found->line;
    function->site.level = TRACE_LEVEL_TRACE;
    function->site.kind = TRACE_SITE_SPAN;
    return &function->site;
}

static struct trace_site *name_function(const struct trace_called *function)
{
    struct trace_function_name found;
    struct trace_text name = {0}, target = {0};
    struct trace_site *site = NULL;

    if (!resolve(function, &found))
        found = (struct trace_function_name){0};
    put_name(&name, function, &found);
    put_target(&target, function, found.file);
    if (!found.file)
        found.file = module_name(function);
    if (!found.name)
        found.name = name.data;
    if (!name.failed && !target.failed)
        site = make_site(name.data, target.data, &found);
    trace_text_free(&name);
    trace_text_free(&target);
    return site;
}

const struct trace_site *trace_functions_site(const struct trace_reader *reader,
                                              uint64_t address, uint64_t time)
{
    const struct trace_call_index *calls = &reader->calls;
    struct trace_called *function;
    uintptr_t number;

    if (!trace_table_find(
            &calls->by_address,
            key_of(calls, address, module_of(calls, address, time)), &number))
        return NULL;
    function = &calls->functions[number];
    if (!function->site) {
        function->site = name_function(function);
        if (function->site)
            function->site->id = calls->first_site + (uint32_t)number;
        reader->sites[calls->first_site + number] = function->site;
    }
    return function->site;
}

bool trace_reader_line(const struct trace_reader *reader,
                       const struct trace_site *site,
                       struct trace_module_file *file, uint64_t *address)
{
    const struct trace_call_index *calls = &reader->calls;
    uint32_t number = site->id - calls->first_site;
    const struct trace_called *block = &calls->functions[number];

    if (number >= calls->function_count || !is_line(block) || !block->module)
        return false;
    *file = block->module->file;
    *address = address_of(block);
    return true;
}

void trace_functions_free(struct trace_call_index *calls)
{
    free(calls->functions);
    free(calls->modules);
    trace_table_free(&calls->by_address);
}
