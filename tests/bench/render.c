/* render.c: renders a recording as Chrome trace events and as lines. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define LOG_TARGET "bench"
#include <testlog/log.h>

#include "bench.h"

#include "trace/base/values.h"
#include "trace/chrome/chrome.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

static struct trace_reader *reader;

static FILE *null_stream(void)
{
    static FILE *null;

    if (!null)
        null = fopen("/dev/null", "w");
    if (!null)
        bench_stop("/dev/null");
    return null;
}

static struct trace_reader *record_events(void)
{
    struct trace_reader *made;

    bench_begin(TRACE_LIMIT_DEFAULT);
    for (size_t i = 0; i < bench_settings.events / 2; i++) {
        trace_span(DEBUG, "span", ("index", (int)i), ("size", (size_t)64));
        trace_event(INFO, "event", ("index", (int)i), ("key", "value"));
    }
    trace_close();
    made = trace_reader_open(bench_path());
    if (!made)
        bench_stop(bench_path());
    bench_end();
    return made;
}

/* The recording to render, made on first use. */
static struct trace_reader *events(void)
{
    if (!reader)
        reader = record_events();
    return reader;
}

void bench_free_events(void)
{
    trace_reader_close(reader);
}

/* ---- Chrome's trace events ---- */

void bench_export(FILE *stream)
{
    struct trace_chrome chrome;

    trace_reader_rewind(events());
    trace_chrome_begin(&chrome, stream);
    if (trace_chrome_add(&chrome, reader, 1, "bench"))
        bench_stop("trace_chrome_add");
    trace_chrome_end(&chrome, NULL);
}

/* Renders the whole recording, whatever the count. */
double bench_chrome(size_t count)
{
    double from;

    (void)count;
    events();
    from = now_ns();
    bench_export(null_stream());
    return (now_ns() - from) / (double)bench_settings.events;
}

/* Builds what trace_chrome_add writes for a span or an event. */
static cJSON *object(size_t i)
{
    bool is_span = i % 2 == 0;
    cJSON *event = cJSON_CreateObject();
    cJSON *args = cJSON_AddObjectToObject(event, "args");

    cJSON_AddStringToObject(event, "ph", is_span ? "X" : "i");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", 12345);
    cJSON_AddNumberToObject(event, "ts", (double)i * 0.037);
    cJSON_AddStringToObject(event, "cat", is_span ? "debug" : "info");
    cJSON_AddStringToObject(event, "loc", "tests/bench.c:335");
    cJSON_AddNumberToObject(args, "index", (double)i);
    if (is_span)
        cJSON_AddNumberToObject(args, "size", 64);
    else
        cJSON_AddStringToObject(args, "key", "value");
    cJSON_AddStringToObject(args, "testlog.target", "bench");
    cJSON_AddStringToObject(args, "testlog.location", "tests/bench.c:335");
    cJSON_AddStringToObject(event, "name", is_span ? "span" : "event");
    if (is_span)
        cJSON_AddNumberToObject(event, "dur", 0.093);
    else
        cJSON_AddStringToObject(event, "s", "t");
    return event;
}

double bench_cjson(size_t count)
{
    FILE *null = null_stream();
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        cJSON *event = object(i);
        char *text = cJSON_PrintUnformatted(event);

        fputs(text, null);
        free(text);
        cJSON_Delete(event);
    }
    return (now_ns() - from) / (double)count;
}

/* ---- Lines ---- */

static double render(enum log_format format)
{
    struct log_style style = {.format = format};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    FILE *null = null_stream();
    struct trace_reader *all = events();
    double from = now_ns();
    size_t lines = filter ? log_write_all(filter, &style, all, null) : 0;
    double ns = now_ns() - from;

    if (lines != bench_settings.events / 2)
        bench_stop("log_write_all");
    log_filter_free(filter);
    return ns / (double)lines;
}

double bench_full(size_t count)
{
    (void)count;
    return render(LOG_FORMAT_FULL);
}

double bench_json(size_t count)
{
    (void)count;
    return render(LOG_FORMAT_JSON);
}

/* Formats a message from the recording, and directly from its arguments. */
double bench_message(size_t count)
{
    struct trace_value values[] = {trace_text_("fetch"), trace_i64_(1234),
                                   trace_u64_(64)};
    size_t size = trace_values_size(3, values);
    unsigned char stored[128];
    struct trace_text text = {.ceiling = sizeof(stored)};
    double from;

    trace_values_store(stored, 3, values);
    from = now_ns();
    for (size_t i = 0; i < count; i++) {
        struct trace_values next = {stored, stored + size, NULL};

        trace_text_clear(&text);
        trace_format(&text, "%s took %d of %zu", &next);
    }
    from = now_ns() - from;
    trace_text_free(&text);
    return from / (double)count;
}

double bench_snprintf(size_t count)
{
    char text[128];
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%s took %d of %zu", "fetch", 1234,
                 (size_t)64);
        __asm__ volatile("" : : "r"(text) : "memory");
    }
    return (now_ns() - from) / (double)count;
}

/* Prints the text that "full" produces, with a known date. */
double bench_fprintf(size_t count)
{
    FILE *null = null_stream();
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        fprintf(null,
                "%s.%06uZ %5s %s{index=%d size=%zu}: %s: %s index=%d "
                "key=\"%s\"\n",
                "2026-11-21T01:56:24", (unsigned)(i % 1000000), "INFO", "span",
                (int)i, (size_t)64, "bench", "event", (int)i, "value");
    return (now_ns() - from) / (double)count;
}
