/* function_names.c: names the functions of recordings, each once.
 *
 * A runner reads the recordings of many tests, which call the same functions.
 */
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

/* A file, and what was asked about it. */
struct file {
    uint64_t key;
    struct test_log_module *module; /* NULL: it cannot be read */
    struct trace_table by_address;  /* to indexes of `names` */
};

static struct {
    struct file *files;
    size_t file_count, file_capacity;
    struct trace_function_name *names;
    size_t name_count, name_capacity;
} known;

static uint64_t key_of(const struct trace_module_file *module)
{
    return trace_hash(trace_hash_string(TRACE_HASH, module->path),
                      module->build_id, module->build_id_size);
}

static struct file *file_of(const struct trace_module_file *module)
{
    uint64_t key = key_of(module);
    struct file *file;

    for (size_t i = 0; i < known.file_count; i++)
        if (known.files[i].key == key)
            return &known.files[i];
    if (!TRACE_ARRAY_RESERVE(known.files, known.file_capacity,
                             known.file_count + 1))
        return NULL;
    file = &known.files[known.file_count++];
    *file = (struct file){.key = key, .module = test_log_module_open(module)};
    return file;
}

/* Asks the file; a name stays NULL if it does not know the function. */
static struct trace_function_name ask(const struct file *file, uint64_t address)
{
    struct test_log_symbol symbol;
    char *name;

    if (!test_log_module_function(file->module, address, &symbol))
        return (struct trace_function_name){0};
    name = test_log_demangle(symbol.symbol);
    return (struct trace_function_name){name ? name : symbol.symbol,
                                        symbol.file, symbol.line};
}

static bool name_function(const struct trace_module_file *module,
                          uint64_t address, struct trace_function_name *name)
{
    struct file *file = file_of(module);
    uintptr_t at = known.name_count;

    if (!file || !file->module)
        return false;
    if (!trace_table_find(&file->by_address, address, &at)) {
        if (!TRACE_ARRAY_RESERVE(known.names, known.name_capacity, at + 1) ||
            !trace_table_set(&file->by_address, address, at))
            return false;
        known.names[known.name_count++] = ask(file, address);
    }
    *name = known.names[at];
    return name->name;
}

void test_log_name_functions(void)
{
    static const struct trace_resolver resolver = {name_function};

    trace_resolve_with(&resolver);
}
