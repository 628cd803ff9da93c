/* function_names.c: names the functions of recordings, each once.
 *
 * A runner reads the recordings of many tests, which call the same functions.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

/* A file, and what was asked about it. */
struct file {
    uint64_t key;
    char *path;
    struct test_log_module *module; /* NULL: it cannot be read */
    bool other;                     /* it is not the one that was recorded */
    /* To indexes of `names`. */
    struct trace_table by_address, by_place, by_line;
    struct trace_table rules; /* pointers, by place */
};

static struct {
    struct file *files;
    size_t file_count, file_capacity;
    struct trace_function_name *names;
    size_t name_count, name_capacity;
} known;

/* libdw is for one thread at a time: samples are unwound while results are
 * rendered. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
    *file = (struct file){.key = key,
                          .path = strdup(module->path),
                          .module = test_log_module_open(module)};
    if (!file->module) {
        struct test_log_module *other = test_log_module_load(module->path);

        file->other = other != NULL;
        test_log_module_close(other);
    }
    return file;
}

const char *test_log_changed_file(size_t *count)
{
    const char *first = NULL;

    *count = 0;
    for (size_t i = 0; i < known.file_count; i++)
        if (known.files[i].other && !(*count)++)
            first = known.files[i].path;
    return first;
}

/* The texts of a symbol stay valid as long as the file. */
static struct trace_function_name name_of(const struct test_log_symbol *symbol)
{
    char *name = test_log_demangle(symbol->symbol);

    return (struct trace_function_name){name ? name : symbol->symbol,
                                        symbol->file, symbol->line,
                                        symbol->last_line, symbol->begins};
}

typedef bool ask_symbol(struct test_log_module *, uint64_t,
                        struct test_log_symbol *);

/* Asks a file once; a name stays NULL if it does not know the function. */
static bool find(struct file *file, struct trace_table *table, uint64_t key,
                 ask_symbol *ask, struct trace_function_name *name)
{
    uintptr_t at = known.name_count;
    struct test_log_symbol symbol;

    if (!trace_table_find(table, key, &at)) {
        if (!TRACE_ARRAY_RESERVE(known.names, known.name_capacity, at + 1) ||
            !trace_table_set(table, key, at))
            return false;
        known.names[known.name_count++] = ask(file->module, key, &symbol)
                                              ? name_of(&symbol)
                                              : (struct trace_function_name){0};
    }
    *name = known.names[at];
    return name->name;
}

/* Asks about a file; false if it has no answer. `table` is the offset of its
 * table. */
static bool ask(const struct trace_module_file *module, size_t table,
                uint64_t key, ask_symbol *find_symbol,
                struct trace_function_name *name)
{
    struct file *file;
    bool found;

    pthread_mutex_lock(&lock);
    file = file_of(module);
    found = file && file->module &&
            find(file, (struct trace_table *)((char *)file + table), key,
                 find_symbol, name);
    pthread_mutex_unlock(&lock);
    return found;
}

static bool name_function(const struct trace_module_file *module,
                          uint64_t address, struct trace_function_name *name)
{
    return ask(module, offsetof(struct file, by_address), address,
               test_log_module_function, name);
}

static bool name_place(const struct trace_module_file *module, uint64_t place,
                       struct trace_function_name *name)
{
    return ask(module, offsetof(struct file, by_place), place,
               test_log_module_place, name);
}

static bool name_line(const struct trace_module_file *module, uint64_t address,
                      struct trace_function_name *name)
{
    return ask(module, offsetof(struct file, by_line), address,
               test_log_module_block, name);
}

/* ---- Rules of frames ---- */

static const struct trace_frame_rules none;

/* Asks a file for rules, and keeps them; NULL without memory. */
static const struct trace_frame_rules *read_rules(struct file *file,
                                                  uint64_t place)
{
    struct trace_frame_rules rules, *kept;

    if (!test_log_module_rules(file->module, place, &rules))
        return &none;
    kept = malloc(sizeof(*kept));
    if (kept)
        *kept = rules;
    return kept;
}

/* There are not many places from which functions are called. */
static const struct trace_frame_rules *rules_of(struct file *file,
                                                uint64_t place)
{
    const struct trace_frame_rules *rules;
    uintptr_t found;

    if (trace_table_find(&file->rules, place, &found))
        return (const struct trace_frame_rules *)found;
    rules = read_rules(file, place);
    if (rules)
        trace_table_set(&file->rules, place, (uintptr_t)rules);
    return rules;
}

static const struct trace_frame_rules *find_rules(
    const struct trace_module_file *module, uint64_t place)
{
    const struct trace_frame_rules *rules = NULL;
    struct file *file;

    pthread_mutex_lock(&lock);
    file = file_of(module);
    if (file && file->module)
        rules = rules_of(file, place);
    pthread_mutex_unlock(&lock);
    return rules == &none ? NULL : rules;
}

void test_log_name_functions(void)
{
    static const struct trace_resolver resolver = {.function = name_function,
                                                   .line = name_line,
                                                   .place = name_place,
                                                   .rules = find_rules};

    trace_resolve_with(&resolver);
}
