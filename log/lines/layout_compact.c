/* layout_compact.c: tracing-subscriber's Compact layout.
 *
 *  [TIME ]LEVEL [PROCESS ][THREAD ][span:span: ]target: [file:][line: ]message
 *  f=v[ g=w]
 *
 * The spans' fields come last, those of the outermost span first.
 */
#include "layout.h"
#include "trace/read/reader.h"

static void put_spans(const struct log_parts *parts, struct trace_text *out)
{
    for (size_t i = parts->chain->count; i-- > 0;) {
        log_styled(out, parts->style->color, LOG_BOLD,
                   parts->chain->spans[i].site->name);
        trace_text_char(out, ':');
    }
    if (parts->chain->count)
        trace_text_char(out, ' ');
}

/* Dims the text as far as the style resets within it allow. */
static void put_span_fields(const struct log_parts *parts,
                            struct trace_text *out)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    bool color = parts->style->color;

    for (size_t i = parts->chain->count; i-- > 0;) {
        size_t count = trace_reader_fields(
            parts->reader, &parts->chain->spans[i], parts->time, fields);

        if (!count)
            continue;
        trace_text_string(out, color ? " \033[" LOG_DIM "m" : " ");
        log_put_fields(out, color, fields, count);
        if (color)
            trace_text_string(out, "\033[0m");
    }
}

void log_compact(const struct log_parts *parts, struct trace_text *out)
{
    log_put_head(parts, out);
    put_spans(parts, out);
    log_put_place(parts, out, true);
    log_put_event(parts, out);
    put_span_fields(parts, out);
    trace_text_char(out, '\n');
}
