/* chrome_counts.c: a recording as one slice with counts, for traces that would
 * be too large with all of it. */
#include "chrome_json.h"

struct counts {
    uint64_t spans, events, activities, begin;
    bool some;
};

static void count(struct counts *counts, const struct trace_entry *entry)
{
    if (!counts->some)
        counts->begin = entry->time;
    counts->some = true;
    counts->spans += entry->kind == TRACE_ENTRY_SPAN;
    counts->events += entry->kind == TRACE_ENTRY_EVENT;
    counts->activities += entry->kind == TRACE_ENTRY_DEVICE;
}

static size_t count_threads(const struct trace_reader *reader)
{
    size_t threads = 0;

    while (trace_reader_thread(reader, threads))
        threads++;
    return threads;
}

static void put_slice(struct trace_exporter *export,
                      const struct counts *counts, const char *hint)
{
    uint64_t end = export->end > counts->begin ? export->end : counts->begin;
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_text_printf(text, ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":0",
                      export->pid);
    trace_chrome_time(text, ",\"ts\":", counts->begin);
    trace_chrome_time(text, ",\"dur\":", end - counts->begin);
    trace_chrome_literal(text, ",\"cat\":\"test\",\"name\":");
    trace_chrome_string(text, export->name);
    trace_chrome_literal(text, ",\"args\":{");
    if (export->chrome->test) {
        trace_chrome_test_args(text, export->chrome->test);
        trace_text_char(text, ',');
    }
    trace_text_printf(
        text,
        "\"spans\":%llu,\"events\":%llu,"
        "\"activities\":%llu,\"threads\":%zu,\"hint\":",
        (unsigned long long)counts->spans, (unsigned long long)counts->events,
        (unsigned long long)counts->activities, count_threads(export->reader));
    trace_chrome_string(text, hint);
    trace_chrome_literal(text, "}}");
    trace_chrome_put(export);
}

int trace_chrome_add_counts(struct trace_chrome *chrome,
                            struct trace_reader *reader, uint32_t pid,
                            const char *name, const char *hint)
{
    struct trace_exporter export = {.chrome = chrome,
                                    .reader = reader,
                                    .name = name,
                                    .pid = pid,
                                    .end = trace_reader_summary(reader).end};
    struct counts counts = {0};
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return -1;
    while (trace_reader_next(reader, &entry))
        count(&counts, &entry);
    trace_chrome_metadata(&export, "process_name", pid, 0, "name", name);
    put_slice(&export, &counts, hint);
    trace_chrome_added(&export);
    trace_text_free(&export.text);
    return 0;
}
