/* chrome_arrow.c: draws arrows between slices: from the slice of a span to the
 * threads that enter the span, and for the other files.
 */
#include <stdlib.h>

#include "chrome_json.h"
#include "trace/read/reader_parts.h"

static void put_flow(struct trace_exporter *export, const char *phase,
                     const char *category,
                     const struct trace_chrome_point *point)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_text_printf(
        text, ",\n{\"ph\":\"%s\",\"id\":%llu,\"pid\":%u,\"tid\":%u", phase,
        (unsigned long long)export->chrome->flows, point->pid, point->tid);
    trace_chrome_time(text, ",\"ts\":", point->time);
    trace_text_printf(text, ",\"cat\":\"%s\",\"name\":\"%s\"%s}", category,
                      category, *phase == 'f' ? ",\"bp\":\"e\"" : "");
    trace_chrome_put(export);
}

void trace_chrome_arrow(struct trace_exporter *export, const char *category,
                        const struct trace_chrome_point *from,
                        const struct trace_chrome_point *to)
{
    bool forward = from->time <= to->time;

    export->chrome->flows++;
    put_flow(export, "s", category, forward ? from : to);
    put_flow(export, "f", category, forward ? to : from);
}

/* ---- Spans that other threads enter ---- */

/* Where a span was created. */
struct trace_chrome_origin {
    const struct trace_thread *thread;
    struct trace_chrome_point point;
    uint32_t arrows; /* that begin here, so far */
};

void trace_chrome_created(struct trace_exporter *export,
                          const struct trace_entry *span, uint32_t tid)
{
    size_t count = export->origin_count;

    if (!trace_reader_later(export->reader, span->id) ||
        !TRACE_ARRAY_RESERVE(export->origins, export->origin_capacity,
                             count + 1) ||
        !trace_table_set(&export->origin_table, span->id, count))
        return;
    export->origins[export->origin_count++] = (struct trace_chrome_origin){
        span->thread, {export->pid, tid, span->time}, 0};
}

/* Returns whether an entry is a thread's first enter of a span. */
static bool is_first(struct trace_exporter *export,
                     const struct trace_entry *entry)
{
    uint64_t thread = (uint64_t)(entry->thread - export->reader->threads);
    uint64_t key = (thread + 1) << 32 | entry->span;
    uintptr_t unused;

    return !trace_table_find(&export->origin_table, key, &unused) &&
           trace_table_set(&export->origin_table, key, 0);
}

/* Returns where an arrow to an enter begins, NULL if there is none. */
static const struct trace_chrome_origin *find_origin(
    struct trace_exporter *export, const struct trace_entry *entry)
{
    struct trace_chrome_origin *origin;
    uintptr_t number;

    if (!trace_table_find(&export->origin_table, entry->span, &number))
        return NULL;
    origin = &export->origins[number];
    if (origin->thread == entry->thread || !is_first(export, entry))
        return NULL;
    origin->arrows++;
    return origin;
}

void trace_chrome_entered(struct trace_exporter *export,
                          const struct trace_entry *entry, uint32_t tid)
{
    struct trace_chrome_point here = {export->pid, tid, entry->time};
    const struct trace_chrome_origin *origin = find_origin(export, entry);

    if (origin)
        trace_chrome_arrow(export, "enter", &origin->point, &here);
}

uint32_t trace_chrome_arrival(struct trace_exporter *export,
                              const struct trace_entry *entry)
{
    const struct trace_chrome_origin *origin = find_origin(export, entry);

    return origin ? origin->arrows : 0;
}

void trace_chrome_arrows_free(struct trace_exporter *export)
{
    free(export->origins);
    trace_table_free(&export->origin_table);
}
