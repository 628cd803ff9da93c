/* line_parts.c: the parts of a line that the layouts share. */
#include <string.h>
#include <time.h>

#include "layout.h"
#include "log/replay/entry_text.h"
#include "log/replay/replay.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

void log_styled(struct trace_text *out, bool color, const char *style,
                const char *text)
{
    if (!color) {
        log_plain(out, text, strlen(text));
        return;
    }
    trace_text_literal(out, "\033[");
    trace_text_string(out, style);
    trace_text_literal(out, "m");
    log_plain(out, text, strlen(text));
    trace_text_literal(out, "\033[0m");
}

/* ---- Time ---- */

/* Adds `number` with leading zeros. */
static void padded(struct trace_text *out, uint64_t number, size_t width)
{
    char digits[20];

    for (size_t i = width; i-- > 0; number /= 10)
        digits[i] = (char)('0' + number % 10);
    trace_text_put(out, digits, width);
}

/* Most lines are of the same second as the line before. */
static const char *date_of(struct log_memory *memory, int64_t second)
{
    time_t time = (time_t)second;
    struct tm date;

    if (memory->second == second && memory->date[0])
        return memory->date;
    gmtime_r(&time, &date);
    strftime(memory->date, sizeof(memory->date), "%Y-%m-%dT%H:%M:%S.", &date);
    memory->second = second;
    return memory->date;
}

/* Adds the time since the test's body began, in ms. */
static void put_relative(const struct log_parts *parts, struct trace_text *out)
{
    enum { WIDTH = 12 };
    uint64_t zero = trace_reader_began(parts->reader);
    bool before = parts->time < zero;
    uint64_t ns = before ? zero - parts->time : parts->time - zero;
    char text[32];
    int size = snprintf(text, sizeof(text), "%c%llu.%03llums",
                        before ? '-' : '+', (unsigned long long)(ns / 1000000),
                        (unsigned long long)(ns / 1000 % 1000));

    if (parts->style->format != LOG_FORMAT_JSON)
        for (int i = size; i < WIDTH; i++)
            trace_text_char(out, ' ');
    trace_text_put(out, text, (size_t)size);
}

bool log_time(const struct log_parts *parts, struct trace_text *out)
{
    uint64_t ns = parts->time;

    switch (parts->style->time) {
    case LOG_TIME_NONE:
        return false;
    case LOG_TIME_UPTIME:
        trace_text_printf(out, "%4llu.", (unsigned long long)(ns / 1000000000));
        padded(out, ns % 1000000000, 9);
        trace_text_literal(out, "s");
        return true;
    case LOG_TIME_RELATIVE:
        put_relative(parts, out);
        return true;
    default:
        ns += trace_reader_origin(parts->reader).wall;
        trace_text_string(out,
                          date_of(parts->memory, (int64_t)(ns / 1000000000)));
        padded(out, ns % 1000000000 / 1000, 6);
        trace_text_literal(out, "Z");
        return true;
    }
}

void log_put_time(const struct log_parts *parts, struct trace_text *out)
{
    bool color = parts->style->color && parts->style->time != LOG_TIME_NONE;

    if (color)
        trace_text_string(out, "\033[" LOG_DIM "m");
    if (!log_time(parts, out))
        return;
    if (color)
        trace_text_string(out, "\033[0m");
    trace_text_literal(out, " ");
}

/* ---- Level, thread, place ---- */

static const struct {
    const char *text, *color;
} levels[] = {{"  OFF", "0"},  {"ERROR", "31"}, {" WARN", "33"},
              {" INFO", "32"}, {"DEBUG", "34"}, {"TRACE", "35"}};

static unsigned level_of(const struct log_parts *parts)
{
    unsigned level = parts->site->level;

    return level > TRACE_LEVEL_TRACE ? 0 : level;
}

const char *log_level_color(const struct log_parts *parts)
{
    return levels[level_of(parts)].color;
}

const char *log_level_text(const struct log_parts *parts)
{
    return levels[level_of(parts)].text;
}

void log_put_level(const struct log_parts *parts, struct trace_text *out)
{
    log_styled(out, parts->style->color, log_level_color(parts),
               log_level_text(parts));
    trace_text_literal(out, " ");
}

bool log_has(const struct log_parts *parts, enum log_detail detail)
{
    return parts->style->details & detail;
}

static void put_thread(const struct log_parts *parts, struct trace_text *out)
{
    bool named = log_has(parts, LOG_DETAIL_THREAD_NAME);
    bool numbered = log_has(parts, LOG_DETAIL_THREAD_ID);
    const struct trace_thread *thread = parts->thread;
    size_t *width = &parts->memory->thread_width;
    size_t size = strlen(thread->name);

    if (named && size) {
        *width = size > *width ? size : *width;
        trace_text_printf(out, "%*s", (int)(*width - size), "");
        log_plain(out, thread->name, size);
        trace_text_literal(out, " ");
    }
    if (numbered || (named && !size))
        trace_text_printf(out, "ThreadId(%02u) ", thread->tid);
}

void log_put_head(const struct log_parts *parts, struct trace_text *out)
{
    log_put_time(parts, out);
    log_put_level(parts, out);
    if (log_has(parts, LOG_DETAIL_PID))
        trace_text_printf(out, "ProcessId(%u) ", parts->thread->pid);
    put_thread(parts, out);
}

void log_put_place(const struct log_parts *parts, struct trace_text *out,
                   bool apart)
{
    bool color = parts->style->color, known = parts->site->file[0];
    bool file = known && log_has(parts, LOG_DETAIL_FILE);
    bool line = known && log_has(parts, LOG_DETAIL_LINE);
    char number[16];

    log_styled(out, color, LOG_DIM, parts->site->target);
    LOG_STYLED(out, color, LOG_DIM, ":");
    trace_text_literal(out, " ");
    if (file) {
        log_styled(out, color, LOG_DIM, parts->site->file);
        LOG_STYLED(out, color, LOG_DIM, ":");
    }
    if (line) {
        snprintf(number, sizeof(number), "%u%s", parts->site->line,
                 apart ? "" : ":");
        log_styled(out, color, LOG_DIM, number);
        if (apart)
            LOG_STYLED(out, color, LOG_DIM, ":");
    }
    if (file || line)
        trace_text_literal(out, " ");
}

/* ---- Message and fields ---- */

void log_put_field(struct trace_text *out, bool color,
                   const struct trace_field *field)
{
    log_styled(out, color, LOG_ITALIC, field->name);
    LOG_STYLED(out, color, LOG_DIM, "=");
    log_value(out, &field->value);
}

void log_put_fields(struct trace_text *out, bool color,
                    const struct trace_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            trace_text_literal(out, " ");
        log_put_field(out, color, &fields[i]);
    }
}

bool log_is_message(const struct trace_field *field)
{
    return (field->value.type == TRACE_TYPE_STRING ||
            field->value.type == TRACE_TYPE_DISPLAY) &&
           !strcmp(field->name, "message");
}

void log_put_event(const struct log_parts *parts, struct trace_text *out)
{
    bool any = parts->message_size > 0;

    if (any)
        log_plain(out, parts->message, parts->message_size);
    for (size_t i = 0; i < parts->field_count; i++) {
        const struct trace_field *field = &parts->fields[i];

        if (any)
            trace_text_literal(out, " ");
        any = true;
        if (log_is_message(field))
            log_plain(out, field->value.as.text, field->value.size);
        else
            log_put_field(out, parts->style->color, field);
    }
}
