/* sample_table.c: sums up samples by function or by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_table.h"
#include "trace/base/file.h"
#include "trace/samples/samples.h"

enum { SOURCE_MOST = 16 << 20 /* bytes */ };

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
    if (!sums->by_line)
        function.line = 0;
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

/* A source file, or that it cannot be read. */
struct source {
    struct trace_text text;
    size_t *lines; /* where each begins */
    size_t count, capacity;
};

struct sources {
    struct source *all;
    size_t count, capacity;
    struct trace_table by_path;
};

/* A recording may come from elsewhere: what it names may be very large. */
static FILE *open_source(const char *path)
{
    int fd = trace_open_regular(path);
    struct stat status;

    if (fd >= 0 && !fstat(fd, &status) && status.st_size <= SOURCE_MOST)
        return fdopen(fd, "r");
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void read_source(struct source *source, const char *path)
{
    FILE *file = open_source(path);
    size_t capacity = 0;
    char *line = NULL;

    while (file && getline(&line, &capacity, file) >= 0 &&
           TRACE_ARRAY_RESERVE(source->lines, source->capacity,
                               source->count + 1)) {
        line[strcspn(line, "\r\n")] = '\0';
        source->lines[source->count++] = source->text.size;
        trace_text_add(&source->text, line, strlen(line) + 1);
    }
    if (source->text.failed)
        source->count = 0;
    free(line);
    if (file)
        fclose(file);
}

/* Returns a line without its indentation, "" if it cannot be read. */
static const char *line_of(struct sources *sources,
                           const struct sample_sum *sum)
{
    uint64_t key = trace_hash_string(TRACE_HASH, sum->file ? sum->file : "");
    const struct source *source;
    const char *line;
    uintptr_t number = sources->count;

    if (!sum->file || !sum->line)
        return "";
    if (!trace_table_find(&sources->by_path, key, &number)) {
        if (!TRACE_ARRAY_RESERVE(sources->all, sources->capacity, number + 1) ||
            !trace_table_set(&sources->by_path, key, number))
            return "";
        read_source(&sources->all[sources->count++], sum->file);
    }
    source = &sources->all[number];
    if (sum->line > source->count)
        return "";
    line = source->text.data + source->lines[sum->line - 1];
    return line + strspn(line, " \t");
}

static void free_sources(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        trace_text_free(&sources->all[i].text);
        free(sources->all[i].lines);
    }
    free(sources->all);
    trace_table_free(&sources->by_path);
}

static void add_line(struct runners_table *table, struct sources *sources,
                     const struct sample_sum *sum, double all)
{
    const char *source = line_of(sources, sum), *place;
    struct trace_text where = {0};

    if (sum->file)
        trace_text_printf(&where, "%s:%u", sum->file, (unsigned)sum->line);
    place = where.data ? where.data : "-";
    runners_table_add(table, RUNNERS_CELLS(LINE_COLUMNS));
    trace_text_free(&where);
}

void runners_samples_put(struct sample_sums *sums, enum runners_form form,
                         const char *where)
{
    struct runners_table table;
    struct sources sources = {0};
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
    free_sources(&sources);
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
