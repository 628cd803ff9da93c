/* line_order.c: prints blocks of lines in the order in which they ran. */
#include <string.h>

#include "line_table.h"
#include "source_files.h"
#include "trace/base/text.h"

#define ORDER_COLUMNS(X)                                                       \
    X("Start", "start_ns", TIME, (int64_t)(begin - zero))                      \
    X("Duration", "duration_ns", TIME, end - begin)                            \
    X("Thread", "thread", TEXT, thread.data)                                   \
    X("Line", NULL, TEXT, site->name)                                          \
    X(NULL, "file", TEXT, site->file)                                          \
    X(NULL, "line", COUNT, site->line)                                         \
    X("Function", "function", TEXT, site->function)                            \
    X("Source", "source", TEXT, source + strspn(source, " \t"))

static const struct runners_column *const columns =
    RUNNERS_COLUMNS(ORDER_COLUMNS);

static void put(struct runners_table *table, struct source_files *sources,
                const struct trace_reader *reader,
                const struct trace_entry *entry, uint64_t begin, uint64_t end,
                uint64_t zero)
{
    const struct trace_site *site = entry->site;
    const char *source = runners_source_line(sources, site->file, site->line);
    struct trace_text thread = {0};

    trace_name_thread(&thread, reader, entry->thread);
    runners_table_add(table, RUNNERS_CELLS(ORDER_COLUMNS));
    trace_text_free(&thread);
}

bool runners_line_order_put(struct trace_reader *reader,
                            struct stat_window window, uint64_t zero,
                            enum runners_form form, const char *where)
{
    uint64_t last = trace_reader_summary(reader).end, address;
    struct source_files sources = {.count = 0};
    struct trace_module_file file;
    struct runners_table table = {.columns = NULL};
    struct trace_entry entry;
    bool some = false;

    if (form != RUNNERS_AS_TEXT)
        runners_table_begin(&table, columns, form);
    while (trace_reader_next(reader, &entry)) {
        uint64_t begin = entry.time, end = trace_slice_end(&entry, last);

        if (entry.kind != TRACE_ENTRY_SPAN ||
            !trace_reader_line(reader, entry.site, &file, &address) ||
            !runners_window_clip(window, &begin, &end))
            continue;
        if (!some && form == RUNNERS_AS_TEXT)
            runners_table_begin(&table, columns, form);
        put(&table, &sources, reader, &entry, begin, end, zero);
        some = true;
    }
    if (some || form != RUNNERS_AS_TEXT)
        runners_table_end(&table);
    runners_sources_free(&sources);
    if (form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, "line order", table.rows);
    return some;
}
