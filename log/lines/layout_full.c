/* layout_full.c: tracing-subscriber's Full layout.
 *
 *  [TIME ]LEVEL [PROCESS ][THREAD ][SPANS: ]target: [file:][line: ]message f=v
 *
 *  SPANS     span{f=v g=w}:span{f=v}, the outermost first
 *
 * The colours are the original's: time, target and punctuation are dim, names
 * of spans bold, names of fields italic; each level has a colour of its own.
 */
#include <string.h>

#include "layout.h"
#include "log/replay/replay.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

static void put_span(const struct trace_reader *reader,
                     const struct trace_entry *span, uint64_t time, bool color,
                     struct trace_text *out)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    size_t count = trace_reader_fields(reader, span, time, fields);

    log_styled(out, color, LOG_BOLD, span->site->name);
    if (!count)
        return;
    LOG_STYLED(out, color, LOG_BOLD, "{");
    log_put_fields(out, color, fields, count);
    LOG_STYLED(out, color, LOG_BOLD, "}");
}

static void put_spans(const struct log_parts *parts, struct trace_text *out)
{
    bool color = parts->style->color;

    for (size_t i = parts->chain->count; i-- > 0;) {
        put_span(parts->reader, &parts->chain->spans[i], parts->time, color,
                 out);
        LOG_STYLED(out, color, LOG_DIM, ":");
    }
    if (parts->chain->count)
        trace_text_literal(out, " ");
}

void log_full(const struct log_parts *parts, struct trace_text *out)
{
    log_put_head(parts, out);
    put_spans(parts, out);
    log_put_place(parts, out, false);
    log_put_event(parts, out);
    trace_text_literal(out, "\n");
}

/* Leaves out the middle of a deep recursion. */
enum { OUTERMOST = 8, INNERMOST = 24 };

void log_span_text(struct log_replay *replay, const struct trace_reader *reader,
                   uint32_t place, uint64_t time, struct trace_text *out)
{
    struct log_chain chain;
    size_t left_out;

    log_chain_of(&chain, replay, false, reader, place);
    left_out = chain.count > OUTERMOST + INNERMOST + 1
                   ? chain.count - OUTERMOST - INNERMOST
                   : 0;
    for (size_t i = chain.count; i-- > 0;) {
        if (left_out && i == chain.count - OUTERMOST - 1) {
            trace_text_printf(out, "... %zu more ...:", left_out);
            i -= left_out;
        }
        put_span(reader, &chain.spans[i], time, false, out);
        if (i)
            trace_text_literal(out, ":");
    }
    log_chain_free(&chain);
}
