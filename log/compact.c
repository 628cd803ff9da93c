/* compact.c: tracing-subscriber's Compact layout.
 *
 *  [TIME ]LEVEL [THREAD ][span:span: ]target: [file:][line: ]message f=v[ g=w]
 *
 * The spans' fields stand at the end: those of each span, from the root on.
 */
#include "internal.h"

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

static void put_place(const struct log_parts *parts, struct trace_text *out)
{
    bool color = parts->style->color;
    char line[16];

    if (parts->style->file) {
        log_styled(out, color, LOG_DIM, parts->site->file);
        log_styled(out, color, LOG_DIM, ":");
    }
    if (parts->style->line) {
        snprintf(line, sizeof(line), "%u", parts->site->line);
        log_styled(out, color, LOG_DIM, line);
        log_styled(out, color, LOG_DIM, ":");
    }
    if (parts->style->file || parts->style->line)
        trace_text_char(out, ' ');
}

/* Dim, as far as the ends of the styles within let it be. */
static void put_span_fields(const struct log_parts *parts,
                            struct trace_text *out)
{
    struct log_field fields[LOG_FIELDS_MAX];
    bool color = parts->style->color;

    for (size_t i = parts->chain->count; i-- > 0;) {
        size_t count = log_fields_of(parts->reader, &parts->chain->spans[i],
                                     parts->time, fields);

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
    log_put_time(parts, out);
    log_put_level(parts, out);
    log_put_thread(parts, out);
    put_spans(parts, out);
    log_put_target(parts, out);
    put_place(parts, out);
    log_put_event(parts, out);
    put_span_fields(parts, out);
    trace_text_char(out, '\n');
}
