/* parse.c: parses filters and reports bad directives.
 *
 * The language extends that of tracing-subscriber's EnvFilter: directive.c
 * parses it, verdict.c applies it.
 */
#include <stdlib.h>
#include <string.h>

#include "filter.h"

/* ---- Complaints ---- */

enum {
    COMPLAINTS_MAX = 10, /* bad directives that are reported */
    AROUND = 60,         /* bytes of a long filter on each side of a mistake */
};

struct parser {
    struct log_filter *filter;
    const char *whole;  /* the filter as the user wrote it */
    const char *origin; /* "LOG" */
    struct trace_text *complaints;
    struct log_mistake *first; /* NULL: bad directives are ignored */
    size_t capacity;
    size_t mistakes;
};

/* Adds the part of a text from `from` to `to`, with dots where it is cut. */
static void add_piece(struct trace_text *out, const char *text, size_t from,
                      size_t to)
{
    if (from)
        trace_text_string(out, "...");
    log_plain(out, text + from, to - from);
    if (text[to])
        trace_text_string(out, "...");
}

/* Adds the filter, or its part around `offset`, and a caret below. */
static void add_place(struct trace_text *out, const char *whole, size_t offset)
{
    size_t size = strlen(whole), from = 0, to = size;
    struct trace_text before = {0};

    if (size > 3 * AROUND && offset > AROUND)
        from = trace_utf8_boundary(whole, offset - AROUND);
    if (size > 3 * AROUND && to > offset + AROUND)
        to = trace_utf8_boundary(whole, offset + AROUND);
    trace_text_string(out, "\n    ");
    add_piece(out, whole, from, to);
    trace_text_string(out, from ? "\n       " : "\n    ");
    log_plain(&before, whole + from, offset - from);
    for (size_t i = 0; i < before.size; i++)
        if (!trace_utf8_continues(before.data[i]))
            trace_text_char(out, before.data[i] == '\t' ? '\t' : ' ');
    trace_text_string(out, "^\n");
    trace_text_free(&before);
}

/* Reports a mistake at `offset` of the filter. */
static void complain(struct parser *parser, size_t offset,
                     const struct log_mistake *mistake, const char *directive)
{
    const char *word = mistake->word ? mistake->word : directive;
    size_t size = strnlen(word, 2 * AROUND);
    struct trace_text *out = parser->complaints;

    if (!out || parser->mistakes++ >= COMPLAINTS_MAX)
        return;
    trace_text_printf(out, "%s: %s \"", parser->origin, mistake->what);
    add_piece(out, word, 0,
              word[size] ? trace_utf8_boundary(word, size) : size);
    trace_text_string(out, mistake->instead[0] ? "\"; did you mean \"" : "\"");
    if (mistake->instead[0]) {
        log_plain(out, mistake->instead, strlen(mistake->instead));
        trace_text_string(out, "\"?");
    }
    trace_text_string(out, " (directive ignored)");
    add_place(out, parser->whole, offset);
}

/* ---- Parsing ---- */

static enum log_reading add(struct parser *parser, size_t offset, size_t size)
{
    struct log_filter *filter = parser->filter;
    struct log_mistake mistake = {LOG_MISTAKE_NONE};
    enum log_reading reading;

    if (!TRACE_ARRAY_RESERVE(filter->directives, parser->capacity,
                             filter->count + 1))
        return LOG_NO_MEMORY;

    struct log_directive *directive = &filter->directives[filter->count];

    memset(directive, 0, sizeof(*directive));
    directive->number = filter->count++;
    reading =
        log_directive_read(directive, parser->whole + offset, size, &mistake);
    if (reading == LOG_READ)
        return LOG_READ;
    if (reading == LOG_MISTAKEN) {
        complain(parser, offset + (size_t)(mistake.at - directive->parts),
                 &mistake, directive->text);
        mistake.at = mistake.word = NULL;
        if (parser->first && !parser->first->kind)
            *parser->first = mistake;
    }
    log_directive_free(directive);
    filter->count--;
    return reading;
}

/* Parses the directives of a filter, without the white space around them. */
static bool read_all(struct parser *parser)
{
    const char *at = parser->whole;
    bool unclosed = false;

    for (;;) {
        size_t extent = log_directive_extent(at, &unclosed), size = 0, space;
        const char *end = at + extent;

        while (at < end && (space = log_space(at)))
            at += space;
        for (const char *c = at; c < end; c += space ? space : 1) {
            space = log_space(c);
            if (!space)
                size = (size_t)(c - at) + 1;
        }
        if (size &&
            add(parser, (size_t)(at - parser->whole), size) == LOG_NO_MEMORY)
            return false;
        if (!*end)
            return true;
        at = end + 1;
    }
}

/* The most specific first; among those that replace each other, the last. */
static int by_order(const void *a, const void *b)
{
    const struct log_directive *x = a, *y = b;
    int order = log_directive_order(x, y);

    return order ? order : x->number > y->number ? -1 : 1;
}

static void raise_to(unsigned *most, unsigned level)
{
    if (*most < level)
        *most = level;
}

/* A limit on all call sites lowers the most verbose level. */
static void note_cap(unsigned *most, const struct log_directive *directive)
{
    if (directive->effect == LOG_CAPS && !directive->target_size &&
        !directive->of_spans && !directive->of_events &&
        directive->level < *most)
        *most = directive->level;
}

static void arrange(struct log_filter *filter)
{
    struct log_directive *all = filter->directives;
    size_t kept = 0;

    for (size_t i = 0; i < filter->count; i++) {
        const struct log_directive *one = &all[i];

        filter->scoped |= one->of_spans;
        filter->judges |= one->of_events;
        filter->takes |= one->of_spans && one->effect != LOG_ADDS;
        if (one->effect != LOG_ADDS)
            continue;
        raise_to(&filter->most, one->level);
        if (one->of_spans)
            raise_to(&filter->dynamics, one->level);
        /* EnvFilter's hint: a replaced level still counts, and our own
         * directives do not. */
        if (!one->glob && !one->of_events)
            raise_to(&filter->hint, one->of_spans && one->values
                                        ? TRACE_LEVEL_TRACE
                                        : one->level);
    }
    raise_to(&filter->most, filter->hint);
    for (size_t i = 0; i < filter->count; i++)
        note_cap(&filter->most, &all[i]);
    if (filter->count)
        qsort(all, filter->count, sizeof(*all), by_order);
    /* A directive that is ordered like the one before it has no effect, but
     * limits and exclusions always have one. */
    for (size_t i = 0; i < filter->count; i++)
        if (kept && all[kept - 1].effect == LOG_ADDS &&
            !log_directive_order(&all[kept - 1], &all[i]))
            log_directive_free(&all[i]);
        else
            all[kept++] = all[i];
    filter->count = kept;
}

bool log_filter_adds(const struct log_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->directives[i].effect == LOG_ADDS)
            return true;
    return false;
}

struct log_filter *log_filter_read(const char *text, const char *fallback,
                                   const char *origin,
                                   struct trace_text *complaints,
                                   struct log_mistake *first)
{
    struct log_filter *filter = calloc(1, sizeof(*filter));
    struct parser parser = {.filter = filter,
                            .whole = text,
                            .origin = origin,
                            .complaints = complaints,
                            .first = first};
    bool ok;

    if (!filter)
        return NULL;
    ok = read_all(&parser);
    if (parser.mistakes > COMPLAINTS_MAX)
        trace_text_printf(complaints, "%s: %zu more directives are ignored\n",
                          origin, parser.mistakes - COMPLAINTS_MAX);
    /* Limits and exclusions alone apply to the default. */
    if (ok && fallback && !log_filter_adds(filter)) {
        parser.whole = fallback;
        parser.complaints = NULL;
        ok = read_all(&parser);
    }
    if (!ok) {
        log_filter_free(filter);
        return NULL;
    }
    arrange(filter);
    return filter;
}

struct log_filter *log_filter_parse(const char *text, const char *fallback,
                                    const char *origin,
                                    struct trace_text *complaints)
{
    return log_filter_read(text, fallback, origin, complaints, NULL);
}

bool log_filter_is_empty(const struct log_filter *filter)
{
    return !filter->count;
}

unsigned log_filter_most(const struct log_filter *filter)
{
    unsigned most = TRACE_LEVEL_OFF;

    for (size_t i = 0; i < filter->count; i++)
        if (filter->directives[i].effect == LOG_ADDS)
            raise_to(&most, filter->directives[i].level);
    for (size_t i = 0; i < filter->count; i++)
        note_cap(&most, &filter->directives[i]);
    return most;
}

unsigned log_filter_hint(const struct log_filter *filter)
{
    return filter->most;
}

void log_filter_free(struct log_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        log_directive_free(&filter->directives[i]);
    free(filter->directives);
    free(filter);
}

/* ---- Directives without call sites ---- */

void log_filter_seen(struct log_filter *filter, const struct trace_site *site)
{
    for (size_t i = 0; i < filter->count; i++)
        if (log_directive_about(&filter->directives[i], site) ||
            (site->kind == TRACE_SITE_DEVICE &&
             log_directive_about(&filter->directives[i], &log_launch_site)))
            filter->directives[i].seen = true;
}

static bool is_within(const struct log_directive *directive, const char *target)
{
    size_t size = strlen(target);

    return !strncmp(directive->target, target, size) &&
           (directive->target_size == size || directive->target[size] == ':' ||
            directive->target[size] == '*');
}

/* The targets of devices exist even without a device. */
static bool of_device(const struct log_directive *directive)
{
    return is_within(directive, "gpu");
}

/* Functions have no call sites before they are called. */
static bool of_function(const struct log_directive *directive)
{
    return is_within(directive, "fn");
}

/* Those of NVTX exist once a program annotates with it. */
static bool of_nvtx(const struct log_directive *directive)
{
    return is_within(directive, "nvtx");
}

bool log_filter_of_device(const struct log_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        if (of_device(&filter->directives[i]))
            return true;
    return false;
}

const char *log_filter_unmatched(const struct log_filter *filter, size_t *from)
{
    while (*from < filter->count) {
        size_t i = (*from)++;
        const struct log_directive *one = &filter->directives[i];
        bool is_level = !one->target_size && !one->of_spans && !one->of_events;
        /* One of several with the same text is reported. */
        bool is_repeated = i && !log_directive_order(one - 1, one);

        if (!one->seen && !is_level && !is_repeated && !of_device(one) &&
            !of_nvtx(one) && !of_function(one))
            return one->text;
    }
    return NULL;
}
