/* sample_table.c: sums up samples by function or by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_table.h"
#include "source_files.h"
#include "trace/samples/samples.h"

/* A function, or a line of one. */
struct sample_sum {
    char *name, *file;   /* file NULL: unknown */
    uint32_t line;       /* 0: unknown */
    uint64_t self, all;  /* ns; all: with what it called */
    uint64_t last_stack; /* that was added to it */
};

/* ---- Sums ---- */

static struct sample_sum *add_sum(struct sample_sums *sums, uint64_t key,
                                  const char *name,
                                  const struct trace_function_name *function)
{
    struct sample_sum sum = {.name = strdup(name),
                             .file =
                                 function->file ? strdup(function->file) : NULL,
                             .line = function->line};

    if (!sum.name || (function->file && !sum.file) ||
        !TRACE_ARRAY_RESERVE(sums->all, sums->capacity, sums->count + 1) ||
        !trace_table_set(&sums->by_key, key, sums->count)) {
        free(sum.name);
        free(sum.file);
        return NULL;
    }
    sums->all[sums->count] = sum;
    return &sums->all[sums->count++];
}

/* Returns the sum of a frame, NULL without memory. */
static struct sample_sum *sum_of(struct sample_sums *sums,
                                 const struct trace_reader *reader,
                                 const struct trace_stack_frame *frame)
{
    struct trace_function_name function;
    struct trace_text name = {0};
    struct sample_sum *sum = NULL;
    uintptr_t number;
    uint64_t key;

    trace_name_frame(&name, reader, frame, &function);
    if (!sums->by_line) {
        function.line = 0;
        function.file = function.begins;
    }
    key = trace_hash_string(TRACE_HASH, name.data ? name.data : "");
    key = trace_hash(key, &function.line, sizeof(function.line));
    key = trace_hash_string(key, function.file ? function.file : "");
    if (trace_table_find(&sums->by_key, key, &number))
        sum = &sums->all[number];
    else if (name.data)
        sum = add_sum(sums, key, name.data, &function);
    trace_text_free(&name);
    return sum;
}

/* A function that calls itself counts once. */
static int add_stack(struct sample_sums *sums,
                     const struct trace_reader *reader, uint32_t stack,
                     uint64_t time)
{
    const struct trace_stack_frame *frames;
    size_t count = trace_reader_stack(reader, stack, &frames);

    sums->stacks++;
    sums->time += time;
    for (size_t i = 0; i < count; i++) {
        struct sample_sum *sum = sum_of(sums, reader, &frames[i]);

        if (!sum)
            return -1;
        if (!i)
            sum->self += time;
        if (sum->last_stack != sums->stacks)
            sum->all += time;
        sum->last_stack = sums->stacks;
    }
    return 0;
}

/* Many samples have the same stack: their times are added first. */
static int add_times(struct trace_table *times,
                     const struct trace_reader *reader,
                     struct stat_window window)
{
    struct trace_sample_cursor cursor = {0};
    struct trace_sample sample;
    bool ok = true;

    while (ok && trace_reader_sample(reader, &cursor, &sample)) {
        uintptr_t time = 0;

        if (sample.time < window.from || sample.time >= window.to)
            continue;
        trace_table_find(times, sample.stack, &time);
        ok = trace_table_set(times, sample.stack, time + sample.weight);
    }
    return ok ? 0 : -1;
}

int runners_samples_add(struct sample_sums *sums,
                        const struct trace_reader *reader,
                        struct stat_window window)
{
    struct trace_sample_cursor cursor = {0};
    struct trace_table times = {0};
    struct trace_sample sample;
    int status = add_times(&times, reader, window);
    uintptr_t time;

    while (!status && trace_reader_sample(reader, &cursor, &sample)) {
        if (!trace_table_find(&times, sample.stack, &time) || !time)
            continue;
        status = add_stack(sums, reader, sample.stack, time);
        trace_table_set(&times, sample.stack, 0);
    }
    trace_table_free(&times);
    return status;
}

/* ---- The table ---- */

#define FUNCTION_COLUMNS(X)                                                    \
    X("Self", "self_ns", TIME, sum->self)                                      \
    X("Self %", "self_percent", PERCENT, 100 * (double)sum->self / all)        \
    X("Total", "total_ns", TIME, sum->all)                                     \
    X("Total %", "total_percent", PERCENT, 100 * (double)sum->all / all)       \
    X("Function", "name", TEXT, sum->name)                                     \
    X(NULL, "file", TEXT, sum->file)

#define LINE_COLUMNS(X)                                                        \
    X("Self", "self_ns", TIME, sum->self)                                      \
    X("Self %", "self_percent", PERCENT, 100 * (double)sum->self / all)        \
    X("Total", "total_ns", TIME, sum->all)                                     \
    X("Total %", "total_percent", PERCENT, 100 * (double)sum->all / all)       \
    X("Function", "name", TEXT, sum->name)                                     \
    X("Line", NULL, TEXT, place)                                               \
    X(NULL, "file", TEXT, sum->file)                                           \
    X(NULL, "line", COUNT, sum->line)                                          \
    X("Source", "source", TEXT, source)

static int by_self(const void *a, const void *b)
{
    const struct sample_sum *x = a, *y = b;

    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->all != y->all)
        return x->all > y->all ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_line(struct runners_table *table, struct source_files *sources,
                     const struct sample_sum *sum, double all)
{
    const char *source = runners_source_line(sources, sum->file, sum->line);
    const char *place;
    struct trace_text where = {0};

    if (sum->file)
        trace_text_printf(&where, "%s:%u", sum->file, (unsigned)sum->line);
    place = where.data ? where.data : "-";
    source += strspn(source, " \t");
    runners_table_add(table, RUNNERS_CELLS(LINE_COLUMNS));
    trace_text_free(&where);
}

void runners_samples_put(struct sample_sums *sums, enum runners_form form,
                         const char *where)
{
    struct runners_table table;
    struct source_files sources = {0};
    double all = sums->time ? (double)sums->time : 1;

    if (sums->count)
        qsort(sums->all, sums->count, sizeof(*sums->all), by_self);
    runners_table_begin(&table,
                        sums->by_line ? RUNNERS_COLUMNS(LINE_COLUMNS)
                                      : RUNNERS_COLUMNS(FUNCTION_COLUMNS),
                        form);
    for (size_t i = 0; i < sums->count; i++) {
        const struct sample_sum *sum = &sums->all[i];

        if (sums->by_line)
            add_line(&table, &sources, sum, all);
        else
            runners_table_add(&table, RUNNERS_CELLS(FUNCTION_COLUMNS));
    }
    runners_table_end(&table);
    runners_sources_free(&sources);
    if (form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, sums->by_line ? "line" : "function",
                                table.rows);
}

void runners_samples_free(struct sample_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        free(sums->all[i].name);
        free(sums->all[i].file);
    }
    free(sums->all);
    trace_table_free(&sums->by_key);
    *sums = (struct sample_sums){0};
}
