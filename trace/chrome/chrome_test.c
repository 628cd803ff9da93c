/* chrome_test.c: draws tests: a slice above the threads of each one, and in the
 * trace of a run a row for each worker, which shows when it was idle.
 */
#include <stdlib.h>

#include "chrome_json.h"
#include "trace/read/test_rows.h"

enum {
    WORKERS = 0x3fffffff, /* the process of workers, less their host's number;
                             no real one has such an id */
    TEST_TID = 0,         /* no real thread has this id */
    FIRST = -1,           /* above the rows without an index */
};

/* ---- One slice ---- */

void trace_chrome_test_args(struct trace_text *text,
                            const struct trace_chrome_test *test)
{
    trace_chrome_key(text, "outcome");
    trace_chrome_string(text, test->outcome ? test->outcome : "unknown");
    if (test->reason) {
        trace_chrome_key(text, "reason");
        trace_chrome_string(text, test->reason);
    }
    if (test->stacks) {
        trace_chrome_key(text, "stacks");
        trace_chrome_string(text, test->stacks);
    }
    if (test->duration) {
        trace_chrome_key(text, "duration_ns");
        trace_json_number(text, test->duration);
    }
    if (test->file) {
        trace_chrome_key(text, "location");
        trace_chrome_place_text(text, test->file, test->line);
    }
}

/* Writes a slice without arguments, up to its end. */
static void begin_slice(struct trace_exporter *export, uint32_t pid,
                        uint32_t tid, const char *category, const char *name)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_text_printf(text,
                      ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"cat\":\"%s\","
                      "\"name\":",
                      pid, tid, category);
    trace_chrome_string(text, name);
}

static void end_slice(struct trace_exporter *export, uint64_t begin,
                      uint64_t end)
{
    trace_chrome_time(&export->text, ",\"ts\":", begin);
    trace_chrome_time(&export->text, ",\"dur\":", trace_between(begin, end));
    trace_text_char(&export->text, '}');
    trace_chrome_put(export);
}

void trace_chrome_test_slice(struct trace_exporter *export, uint32_t pid,
                             uint32_t tid, const struct trace_chrome_test *test)
{
    struct trace_text *text = &export->text;

    begin_slice(export, pid, tid, "test", test->name);
    if (test->file) {
        trace_chrome_literal(text, ",\"loc\":");
        trace_chrome_place_text(text, test->file, test->line);
    }
    trace_chrome_literal(text, ",\"args\":{");
    trace_chrome_test_args(text, test);
    trace_text_char(text, '}');
    end_slice(export, test->begin, test->end);
}

void trace_chrome_test(struct trace_exporter *export)
{
    struct trace_summary summary = trace_reader_summary(export->reader);
    struct trace_chrome_test test;

    if (!export->chrome->test)
        return;
    test = *export->chrome->test;
    test.begin = summary.begin;
    test.end = export->end;
    trace_chrome_metadata(export, "thread_name", export->pid, TEST_TID, "name",
                          "test");
    trace_chrome_index(export, "thread_sort_index", export->pid, TEST_TID,
                       FIRST);
    trace_chrome_test_slice(export, export->pid, TEST_TID, &test);
}

/* ---- Workers ---- */

static int in_order(const void *a, const void *b)
{
    const struct trace_chrome_test *x = a, *y = b;

    if (x->host_number != y->host_number)
        return x->host_number < y->host_number ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

struct workers {
    struct trace_exporter export;
    struct trace_test_rows rows;
    uint32_t pid;
    uint64_t begin; /* of the first test of all */
};

static void put_idle(struct workers *workers, size_t worker, uint64_t from,
                     uint64_t until)
{
    if (from >= until)
        return;
    begin_slice(&workers->export, workers->pid, (uint32_t)worker + 1, "idle",
                "idle");
    end_slice(&workers->export, from, until);
}

static void name_worker(struct workers *workers, size_t worker)
{
    uint32_t number = (uint32_t)worker + 1;
    char name[32];

    snprintf(name, sizeof(name), "worker %u", number);
    trace_chrome_metadata(&workers->export, "thread_name", workers->pid, number,
                          "name", name);
    trace_chrome_index(&workers->export, "thread_sort_index", workers->pid,
                       number, number);
}

static void put_test(struct workers *workers,
                     const struct trace_chrome_test *test)
{
    size_t count = workers->rows.count;
    uint64_t idle_since;
    size_t worker = trace_test_rows_add(&workers->rows, test->begin, test->end,
                                        &idle_since);

    if (worker == SIZE_MAX)
        return;
    if (worker == count) {
        name_worker(workers, worker);
        idle_since = workers->begin;
    }
    put_idle(workers, worker, idle_since, test->begin);
    trace_chrome_test_slice(&workers->export, workers->pid,
                            (uint32_t)worker + 1, test);
}

static void put_process(struct workers *workers, const char *host)
{
    struct trace_text name = {0};

    trace_text_string(&name, "workers");
    if (host)
        trace_text_printf(&name, " of %s", host);
    trace_chrome_metadata(&workers->export, "process_name", workers->pid, 0,
                          "name", name.data ? name.data : "workers");
    trace_chrome_index(&workers->export, "process_sort_index", workers->pid, 0,
                       FIRST);
    trace_text_free(&name);
}

/* Draws the tests of one host. */
static void put_host(struct trace_chrome *chrome,
                     const struct trace_chrome_test *tests, size_t count)
{
    struct workers workers = {.export = {.chrome = chrome},
                              .pid = WORKERS - (uint32_t)tests->host_number,
                              .begin = tests->begin};
    uint64_t end = 0;

    put_process(&workers, tests->host);
    for (size_t i = 0; i < count; i++) {
        put_test(&workers, &tests[i]);
        end = tests[i].end > end ? tests[i].end : end;
    }
    for (size_t i = 0; i < workers.rows.count; i++)
        put_idle(&workers, i, workers.rows.ends[i], end);
    trace_test_rows_free(&workers.rows);
    trace_text_free(&workers.export.text);
}

void trace_chrome_workers(struct trace_chrome *chrome,
                          struct trace_chrome_test *tests, size_t count)
{
    if (count)
        qsort(tests, count, sizeof(*tests), in_order);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && tests[to].host_number == tests[from].host_number)
            to++;
        put_host(chrome, tests + from, to - from);
    }
}
