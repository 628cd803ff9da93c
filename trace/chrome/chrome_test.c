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

/* Draws the slice of a worker's idle time, unless that is empty. */
static void put_idle(struct trace_exporter *export, uint32_t pid, size_t worker,
                     uint64_t from, uint64_t until)
{
    if (from >= until)
        return;
    begin_slice(export, pid, (uint32_t)worker + 1, "idle", "idle");
    end_slice(export, from, until);
}

/* Draws the tests of one host. */
static void put_host(struct trace_chrome *chrome,
                     const struct trace_chrome_test *tests, size_t count)
{
    uint32_t pid = WORKERS - (uint32_t)tests->host_number;
    struct trace_exporter export = {.chrome = chrome};
    struct trace_test_rows rows = {0};
    struct trace_text name = {0};
    uint64_t end = 0;

    trace_text_string(&name, "workers");
    if (tests->host)
        trace_text_printf(&name, " of %s", tests->host);
    trace_chrome_metadata(&export, "process_name", pid, 0, "name",
                          name.data ? name.data : "workers");
    trace_chrome_index(&export, "process_sort_index", pid, 0, FIRST);
    for (size_t i = 0; i < count; i++) {
        const struct trace_chrome_test *test = &tests[i];
        size_t known = rows.count;
        uint64_t idle_since;
        size_t worker =
            trace_test_rows_add(&rows, test->begin, test->end, &idle_since);
        uint32_t number = (uint32_t)worker + 1;

        end = test->end > end ? test->end : end;
        if (worker == SIZE_MAX)
            continue;
        if (worker == known) {
            char label[32];

            snprintf(label, sizeof(label), "worker %u", number);
            trace_chrome_metadata(&export, "thread_name", pid, number, "name",
                                  label);
            trace_chrome_index(&export, "thread_sort_index", pid, number,
                               number);
            idle_since = tests->begin;
        }
        put_idle(&export, pid, worker, idle_since, test->begin);
        trace_chrome_test_slice(&export, pid, number, test);
    }
    for (size_t i = 0; i < rows.count; i++)
        put_idle(&export, pid, i, rows.ends[i], end);
    trace_test_rows_free(&rows);
    trace_text_free(&name);
    trace_text_free(&export.text);
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
