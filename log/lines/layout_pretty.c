/* layout_pretty.c: tracing-subscriber's Pretty layout, several lines per event.
 *
 *    [TIME ]LEVEL target: message, f: v
 *      at file:line[ on [PROCESS ][THREAD]]
 *      in target::span with f: v, g: w
 *      in target::span
 *
 * The innermost span comes first, an empty line ends the event. The first line
 * has the level's colour. Newlines in messages and formatted values are kept; a
 * line that could be taken for one of ours then begins with "    | ".
 */
#include <string.h>

#include "layout.h"
#include "log/replay/entry_text.h"
#include "trace/read/reader.h"

#define DIM_ITALIC LOG_DIM ";" LOG_ITALIC

/* Switches the style: bold, a level's colour, or both. */
static void begin(struct trace_text *out, const char *color, bool bold)
{
    trace_text_string(out, "\033[");
    if (bold)
        trace_text_string(out, LOG_BOLD);
    if (bold && color[0])
        trace_text_char(out, ';');
    trace_text_string(out, color);
    trace_text_char(out, 'm');
}

/* Adds a name in bold and switches back to `color`; NULL: no styles, "": no
 * colour. */
static void put_name(struct trace_text *out, const char *color,
                     const char *name)
{
    if (color)
        begin(out, color, true);
    log_plain(out, name, strlen(name));
    if (color)
        trace_text_string(out, "\033[0m");
    if (color && color[0])
        begin(out, color, false);
}

/* Whether a line begins as ours do: with a time, a level, "at" or "in". */
static bool looks_like_ours(const char *line, size_t size)
{
    static const char *const words[] = {"at ", "in ", "on "};

    while (size && (*line == ' ' || *line == '[')) {
        line++;
        size--;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (size >= 3 && !memcmp(line, words[i], 3))
            return true;
    for (unsigned level = TRACE_LEVEL_ERROR; level <= TRACE_LEVEL_TRACE;
         level++) {
        const char *word = trace_level_word(level);

        if (size >= strlen(word) && trace_same_bytes(line, word, strlen(word)))
            return true;
    }
    return size && *line >= '0' && *line <= '9';
}

static void put_text(struct trace_text *out, const char *text, size_t size)
{
    const char *newline;

    while ((newline = memchr(text, '\n', size))) {
        size_t line = (size_t)(newline - text);

        log_plain(out, text, line);
        text += line + 1;
        size -= line + 1;
        trace_text_char(out, '\n');
        if (looks_like_ours(text, size))
            trace_text_literal(out, "    | ");
    }
    log_plain(out, text, size);
}

static void put_field(struct trace_text *out, const char *color,
                      const struct trace_field *field)
{
    put_name(out, color, field->name);
    trace_text_string(out, ": ");
    if (field->value.type == TRACE_TYPE_DISPLAY)
        put_text(out, field->value.as.text, field->value.size);
    else
        log_value(out, &field->value);
}

static void put_message(struct trace_text *out, const char *color,
                        const char *text, size_t size)
{
    if (color)
        begin(out, color, false);
    put_text(out, text, size);
}

static void put_event(const struct log_parts *parts, const char *color,
                      struct trace_text *out)
{
    bool any = parts->message_size > 0;

    if (any)
        put_message(out, color, parts->message, parts->message_size);
    for (size_t i = 0; i < parts->field_count; i++) {
        const struct trace_field *field = &parts->fields[i];

        if (any)
            trace_text_string(out, ", ");
        any = true;
        if (log_is_message(field))
            put_message(out, color, field->value.as.text, field->value.size);
        else
            put_field(out, color, field);
    }
    trace_text_string(out, color ? "\033[0m\n" : "\n");
}

/* Adds "    word ". */
static void put_word(const struct log_parts *parts, struct trace_text *out,
                     const char *indent, const char *word)
{
    trace_text_string(out, indent);
    log_styled(out, parts->style->color, DIM_ITALIC, word);
    trace_text_char(out, ' ');
}

static void put_place(const struct log_parts *parts, struct trace_text *out)
{
    const struct trace_thread *thread = parts->thread;
    bool named = log_has(parts, LOG_DETAIL_THREAD_NAME);
    bool name = named && thread->name[0];
    bool id = log_has(parts, LOG_DETAIL_THREAD_ID) || (named && !name);
    bool pid = log_has(parts, LOG_DETAIL_PID);
    bool known = parts->site->file[0];

    if (!known && !name && !id && !pid)
        return;
    if (known) {
        put_word(parts, out, "    ", "at");
        log_plain(out, parts->site->file, strlen(parts->site->file));
        trace_text_printf(out, ":%u", parts->site->line);
    }
    if (name || id || pid)
        put_word(parts, out, known ? " " : "    ", "on");
    if (pid)
        trace_text_printf(out, "ProcessId(%u)%s", thread->pid,
                          name || id ? " " : "");
    if (name)
        log_plain(out, thread->name, strlen(thread->name));
    if (id)
        trace_text_printf(out, "%sThreadId(%u)", name ? " " : "", thread->tid);
    trace_text_char(out, '\n');
}

static void put_span(const struct log_parts *parts,
                     const struct trace_entry *span, struct trace_text *out)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    const char *color = parts->style->color ? "" : NULL;
    size_t count =
        trace_reader_fields(parts->reader, span, parts->time, fields);

    put_word(parts, out, "    ", "in");
    log_plain(out, span->site->target, strlen(span->site->target));
    trace_text_string(out, "::");
    put_name(out, color, span->site->name);
    if (count)
        put_word(parts, out, " ", "with");
    for (size_t i = 0; i < count; i++) {
        if (i)
            trace_text_string(out, ", ");
        put_field(out, color, &fields[i]);
    }
    trace_text_char(out, '\n');
}

void log_pretty(const struct log_parts *parts, struct trace_text *out)
{
    const char *color = parts->style->color ? log_level_color(parts) : NULL;

    trace_text_string(out, "  ");
    log_put_time(parts, out);
    log_put_level(parts, out);
    put_name(out, color, parts->site->target);
    trace_text_string(out, ": ");
    put_event(parts, color, out);
    put_place(parts, out);
    for (size_t i = 0; i < parts->chain->count; i++)
        put_span(parts, &parts->chain->spans[i], out);
    trace_text_char(out, '\n');
}
