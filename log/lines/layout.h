/* layout.h: what the layouts of lines share. Private.
 *
 * A new layout is a file layout_NAME.c with a function like log_full, a row in
 * LOG_FORMATS (log.h), from which the flag, its help and completion come, and
 * the word in testlog-flags.7. One that tracing-subscriber has also gets golden
 * files in tests/cases/formats/. */
#ifndef LOG_LAYOUT_H
#define LOG_LAYOUT_H

#include "log/replay/replay.h"

/* ---- line_parts.c ---- */

/* The input of a layout. */
struct log_parts {
    const struct log_style *style;
    const struct trace_reader *reader;
    struct log_memory *memory;
    uint64_t time; /* ns */
    const struct trace_thread *thread;
    const struct trace_site *site; /* has the level, target and place */
    const char *message;           /* NULL: none */
    size_t message_size;
    struct trace_field *fields;
    size_t field_count;
    struct log_chain *chain; /* the enclosing spans */
    bool outside;            /* the innermost one is not entered */
};

#define LOG_DIM    "2"
#define LOG_BOLD   "1"
#define LOG_ITALIC "3"

/* log_event adds an event's line with all its spans, whatever the filter. The
 * caller frees the memory's message. */
void log_event(struct log_memory *, const struct log_style *,
               const struct trace_reader *, const struct trace_entry *,
               struct trace_text *out);

/* log_event_text adds only an event's message and fields. */
void log_event_text(struct log_memory *, const struct trace_entry *,
                    struct trace_text *out);

/* log_styled adds text in a terminal style, if `color`. */
void log_styled(struct trace_text *out, bool color, const char *style,
                const char *text);

/* LOG_STYLED is log_styled for a constant without control characters. */
#define LOG_STYLED(out, color, style, text)                                    \
    ((color) ? log_styled(out, true, style, text)                              \
             : trace_text_literal(out, text))

/* log_put_time adds the time and a blank, if the style has times. log_time adds
 * the time alone and returns whether the style has times. */
void log_put_time(const struct log_parts *, struct trace_text *out);
bool log_time(const struct log_parts *, struct trace_text *out);

/* log_level_color returns the terminal's colour of a level, log_level_text its
 * name in five columns. */
const char *log_level_color(const struct log_parts *);
const char *log_level_text(const struct log_parts *);
void log_put_level(const struct log_parts *, struct trace_text *out);

/* log_has returns whether lines have a detail. */
bool log_has(const struct log_parts *, enum log_detail);

/* log_put_head adds time, level, process and thread, each with a blank. */
void log_put_head(const struct log_parts *, struct trace_text *out);

/* log_put_place adds "target: file:line: "; with `apart`, the line's colon has
 * a style of its own. */
void log_put_place(const struct log_parts *, struct trace_text *out,
                   bool apart);

/* log_put_field adds "name=value", log_put_fields several with blanks between
 * them. */
void log_put_field(struct trace_text *out, bool color,
                   const struct trace_field *);
void log_put_fields(struct trace_text *out, bool color,
                    const struct trace_field *, size_t count);

/* log_is_message returns whether a field is printed without its name. */
bool log_is_message(const struct trace_field *);

/* log_put_event adds the message and then the fields. */
void log_put_event(const struct log_parts *, struct trace_text *out);

/* ---- layout_*.c ---- */

#define LOG_X(name, word, layout)                                              \
    void layout(const struct log_parts *, struct trace_text *out);
LOG_FORMATS(LOG_X)
#undef LOG_X

#endif
