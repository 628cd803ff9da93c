/* expect_read.c: parses expectations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "log/replay/entry_text.h"

/* ---- Conditions ---- */

/* Unlike LOG, a bad directive fails the whole expectation. */
static void put_complaints(struct trace_text *why, const char *complaints)
{
    static const char left_out[] = " (directive ignored)";
    const char *at = strstr(complaints, left_out);
    size_t size = at ? (size_t)(at - complaints) : 0;

    trace_text_add(why, complaints, size);
    complaints += at ? size + strlen(left_out) : 0;
    trace_text_add(why, complaints, strlen(complaints) - 1);
}

struct about {
    const struct log_directive *directive;
    bool any;
};

static void find_about(struct trace_site *site, void *context)
{
    struct about *about = context;

    about->any |= log_directive_about(about->directive, site);
}

/* Returns whether a directive matches a call site of the process, or of the
 * recording: the process may have run another program. */
static bool is_about_any(const struct log_directive *directive,
                         struct trace_reader *reader)
{
    struct about about = {directive, false};
    struct trace_entry entry;

    trace_site_each(find_about, &about);
    while (!about.any && trace_reader_next(reader, &entry))
        if (log_is_event(&entry))
            about.any = log_directive_about(directive, entry.site);
    return trace_reader_rewind(reader) || about.any;
}

/* A mistyped level matches no event, which would satisfy log_expect_no_event.
 */
static bool is_mistyped(const struct log_filter *filter, const char *text,
                        struct trace_reader *reader, struct trace_text *why)
{
    const char *level = log_nearest_level(text);

    if (!level || filter->count != 1 ||
        strcmp(text, filter->directives->target) != 0 ||
        is_about_any(filter->directives, reader))
        return false;
    trace_text_printf(why,
                      "\"%s\" matches no call site; did you mean the level "
                      "%s?",
                      text, level);
    return true;
}

/* "=error,db" could mean two things. */
static bool joins_level(const char *text, struct trace_text *why)
{
    size_t size = text[0] == '=' ? strcspn(text, ",") : 0;
    char word[16];
    unsigned level;

    if (!size || !text[size] || size >= sizeof(word))
        return false;
    snprintf(word, sizeof(word), "%.*s", (int)size - 1, text + 1);
    if (!log_level_of(word, &level))
        return false;
    trace_text_printf(why,
                      "\"=%s\" must be a filter of its own; write \"=%s\", "
                      "\"%s\"",
                      word, word, text + size + 1);
    return true;
}

static bool read_condition(struct condition *condition, const char *text,
                           struct trace_reader *reader, struct trace_text *why)
{
    struct trace_text complaints = {0};

    if (text[0] == '=' && log_level_of(text + 1, &condition->level) &&
        condition->level)
        return true;
    if (joins_level(text, why))
        return false;
    condition->level = 0;
    condition->filter = log_filter_parse(text, "trace", "filter", &complaints);
    if (complaints.size)
        put_complaints(why, complaints.data);
    else if (condition->filter &&
             !is_mistyped(condition->filter, text, reader, why))
        condition->replay = log_replay_new(condition->filter);
    trace_text_free(&complaints);
    return condition->replay != NULL;
}

static bool read_conditions(struct search *search, struct trace_text *why)
{
    const char *const *texts = search->expectation->texts;
    size_t count = 0;

    while (texts[count])
        count++;
    search->conditions = calloc(count + 1, sizeof(*search->conditions));
    if (!search->conditions)
        return false;
    for (size_t i = 0; i < count; i++) {
        search->condition_count++;
        if (!read_condition(&search->conditions[i], texts[i], search->reader,
                            why))
            return false;
    }
    return true;
}

/* Returns where a part of "outer{a=1}:inner" ends: at a single colon outside of
 * braces. */
static size_t part_extent(const char *text)
{
    const char *at = text, *closing;

    while (*at && (*at != ':' || at[1] == ':')) {
        closing = *at == '{' ? log_brace_end(at) : NULL;
        at = closing ? closing : at;
        at += *at == ':' ? 2 : 1;
    }
    return (size_t)(at - text);
}

/* Parses a part: a name, fields as in a filter of events, or both. */
static bool read_part(struct search *search, const char *text, size_t size,
                      struct trace_text *why)
{
    struct part *part = &search->path[search->path_count++];
    struct log_mistake mistake = {0};
    enum log_reading reading = LOG_READ;
    size_t name = strcspn(text, "{");

    if (!size) {
        trace_text_string(why, "a span without a name or fields; a path is "
                               "like outer{id=5}:inner");
        return false;
    }
    part->name = strndup(text, name < size ? name : size);
    if (!part->name)
        return false;
    if (name < size)
        reading = log_directive_read(&part->fields, text + name, size - name,
                                     &mistake);
    if (reading == LOG_MISTAKEN ||
        (name < size && reading == LOG_READ && text[size - 1] != '}')) {
        trace_text_string(why, "not a span: ");
        log_plain(why, text, size);
        trace_text_string(why, "; a path is like outer{id=5}:inner");
        return false;
    }
    return reading == LOG_READ;
}

static bool read_path(struct search *search, struct trace_text *why)
{
    const char *text = search->expectation->texts[0];
    size_t parts = strlen(text) + 1;

    search->path = calloc(parts, sizeof(*search->path));
    if (!search->path)
        return false;
    for (;;) {
        size_t size = part_extent(text);

        if (!read_part(search, text, size, why))
            return false;
        if (!text[size])
            return true;
        text += size + 1;
    }
}

bool log_search_read(struct search *search, struct trace_text *why)
{
    switch (search->kind->looked_at) {
    case EVENTS:
        return read_conditions(search, why);
    case SPANS:
        return read_path(search, why);
    default:
        return true;
    }
}
