/* chrome_counts.c: a recording as one slice with counts, for traces that would
 * be too large with all of it. */
#include "chrome_json.h"

int trace_chrome_add_counts(struct trace_chrome *chrome,
                            struct trace_reader *reader, uint32_t pid,
                            const char *name, const char *hint)
{
    struct trace_exporter export = {.chrome = chrome,
                                    .reader = reader,
                                    .name = name,
                                    .pid = pid,
                                    .end = trace_reader_summary(reader).end};
    unsigned long long spans = 0, events = 0, activities = 0;
    struct trace_text *text = &export.text;
    size_t entries = 0, threads = 0;
    struct trace_entry entry;
    uint64_t begin = 0;

    if (trace_reader_rewind(reader))
        return -1;
    while (trace_reader_next(reader, &entry)) {
        if (!entries++)
            begin = entry.time;
        spans += entry.kind == TRACE_ENTRY_SPAN;
        events += entry.kind == TRACE_ENTRY_EVENT;
        activities += entry.kind == TRACE_ENTRY_DEVICE;
    }
    while (trace_reader_thread(reader, threads))
        threads++;
    trace_chrome_metadata(&export, "process_name", pid, 0, "name", name);
    trace_text_clear(text);
    trace_text_printf(text, ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":0", pid);
    trace_chrome_time(text, ",\"ts\":", begin);
    trace_chrome_time(text, ",\"dur\":", trace_between(begin, export.end));
    trace_chrome_literal(text, ",\"cat\":\"test\",\"name\":");
    trace_chrome_string(text, name);
    trace_chrome_literal(text, ",\"args\":{");
    if (chrome->test) {
        trace_chrome_test_args(text, chrome->test);
        trace_text_char(text, ',');
    }
    trace_text_printf(text,
                      "\"spans\":%llu,\"events\":%llu,"
                      "\"activities\":%llu,\"threads\":%zu,\"hint\":",
                      spans, events, activities, threads);
    trace_chrome_string(text, hint);
    trace_chrome_literal(text, "}}");
    trace_chrome_put(&export);
    trace_chrome_added(&export);
    trace_text_free(text);
    return 0;
}
