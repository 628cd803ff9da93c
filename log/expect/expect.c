/* expect.c: judges expectations of a test about its own records. A new one is a
 * row in LOG_EXPECTATIONS, a case in is_right, a macro in test_log.h, and lines
 * in tests/programs/expecting.c. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "log/lines/layout.h"
#include "log/replay/entry_text.h"

/* ---- Matching ---- */

/* Formats the event as a line without time, colours and newline. */
static void put_line(struct search *search, const struct trace_entry *entry)
{
    static const struct log_style style = {.time = LOG_TIME_NONE};

    trace_text_clear(&search->line);
    if (entry->kind == TRACE_ENTRY_SPAN)
        log_span_text(NULL, search->reader, entry->id, UINT64_MAX,
                      &search->line);
    else
        log_event(&search->memory, &style, search->reader, entry,
                  &search->line);
    if (search->line.size && search->line.data[search->line.size - 1] == '\n')
        search->line.data[--search->line.size] = '\0';
}

static bool match_line(struct search *search, const struct trace_entry *entry)
{
    const char *text = search->expectation->texts[0];
    struct trace_text message = {.ceiling = 1 << 20};
    bool matches;

    put_line(search, entry);
    matches = search->line.data && strstr(search->line.data, text);
    if (!matches && strpbrk(text, "\n\t\r\033")) { /* escaped in the line */
        log_message_of(entry, &message);
        matches = message.data && strstr(message.data, text);
    }
    trace_text_free(&message);
    return matches;
}

static bool is_about(const struct log_filter *filter,
                     const struct trace_site *site)
{
    for (size_t i = 0; i < filter->count; i++)
        if (log_directive_about(&filter->directives[i], site))
            return true;
    return false;
}

/* Steps over an entry, counts the conditions that it meets and notes those that
 * refuse it. */
static bool meets_conditions(struct search *search,
                             const struct trace_entry *entry, int *nearness)
{
    bool all = true;

    *nearness = 0;
    search->refused = 0;
    for (size_t i = 0; i < search->condition_count; i++) {
        const struct condition *condition = &search->conditions[i];
        bool met = condition->level ? condition->level == entry->site->level
                                    : log_replay_step(condition->replay,
                                                      search->reader, entry);

        if (met)
            *nearness += 2;
        else if (!condition->level)
            *nearness += is_about(condition->filter, entry->site);
        if (!met && i < 32)
            search->refused |= UINT32_C(1) << i;
        all &= met;
    }
    return all;
}

static bool declares(const struct trace_site *site, const char *name)
{
    for (size_t i = 0; i < site->field_count; i++)
        if (!strcmp(site->fields[i], name))
            return true;
    return false;
}

static bool match_field(const struct log_pattern *pattern,
                        const struct trace_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, pattern->name))
            return pattern->operation == LOG_DECLARED ||
                   log_pattern_matches(pattern, &fields[i].value);
    return false;
}

/* Returns whether a span matches a part of a path, by its latest values. */
static bool match_part(const struct search *search, const struct part *part,
                       const struct trace_entry *span)
{
    const struct log_directive *asked = &part->fields;
    struct trace_field fields[TRACE_FIELDS_MAX];
    size_t count = 0;

    if (part->name[0] && strcmp(part->name, span->site->name) != 0)
        return false;
    if (asked->field_count)
        count = trace_reader_fields(search->reader, span, UINT64_MAX, fields);
    for (size_t i = 0; i < asked->field_count; i++) {
        const struct log_pattern *pattern = &asked->fields[i];

        if (!match_field(pattern, fields, count) &&
            (pattern->operation != LOG_DECLARED ||
             !declares(span->site, pattern->name)))
            return false;
    }
    return true;
}

/* The last part matches the span; the others its enclosing spans, in order. */
static bool match_path(const struct search *search,
                       const struct trace_entry *entry)
{
    struct trace_entry span = *entry;
    size_t left = search->path_count - 1;

    if (!match_part(search, &search->path[left], &span))
        return false;
    while (left && span.span &&
           trace_reader_span(search->reader, span.span, &span))
        left -= match_part(search, &search->path[left - 1], &span);
    return !left;
}

/* ---- Times of spans ---- */

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return x->place < y->place ? -1 : x->place > y->place;
}

/* Returns the matching span at `place`, NULL if there is none. They are sorted.
 */
static struct found *found_at(const struct search *search, uint32_t place)
{
    struct found key = {.place = place};

    return search->found_count
               ? bsearch(&key, search->found, search->found_count, sizeof(key),
                         by_place)
               : NULL;
}

static bool is_closed(const struct found *found)
{
    return found->closed || (!found->inside && !found->needs_close);
}

/* Reads what a meter has recorded. */
static void read_instructions(struct found *found,
                              const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    if (strcmp(entry->site->target, TRACE_METER_TARGET) != 0)
        return;
    for (size_t i = 0;
         i < entry->site->field_count && trace_values_next(&values, &value);
         i++)
        if (!strcmp(entry->site->fields[i],
                    trace_meter_fields[TRACE_METER_INSTRUCTIONS]))
            found->instructions = value.as.u;
}

static void follow(struct search *search, const struct trace_entry *entry)
{
    struct found *found = found_at(search, entry->span);

    if (found && entry->kind == TRACE_ENTRY_FIELDS)
        read_instructions(found, entry);
    if (!found || entry->kind == TRACE_ENTRY_FIELDS)
        return;
    if (entry->kind == TRACE_ENTRY_ENTER) {
        found->entered = true;
        found->inside++;
    } else if (entry->kind == TRACE_ENTRY_EXIT) {
        found->inside -= found->inside > 0;
        found->last = entry->time;
    } else {
        found->closed = true;
        found->last = entry->time;
    }
}

static bool is_right(const struct log_expectation *expectation,
                     const struct found *found)
{
    bool closed = is_closed(found);
    double seconds = (double)trace_between(found->begin, found->last) / 1e9;

    switch (expectation->kind) {
    case LOG_EXPECTATION_SPAN_ENTERED:
        return found->entered;
    case LOG_EXPECTATION_SPAN_CLOSED:
        return closed;
    case LOG_EXPECTATION_SPAN_SHORTER:
        return closed && seconds < expectation->number;
    case LOG_EXPECTATION_SPAN_LONGER:
        return closed && seconds > expectation->number;
    case LOG_EXPECTATION_INSTRUCTIONS_AT_MOST:
        return closed && (double)found->instructions <= expectation->number;
    default:
        return true;
    }
}

/* Returns whether the expectation is about counts that nothing has made. */
static bool is_uncounted(const struct search *search)
{
    if (search->expectation->kind != LOG_EXPECTATION_INSTRUCTIONS_AT_MOST)
        return false;
    for (size_t i = 0; i < search->found_count; i++)
        if (is_closed(&search->found[i]) && !search->found[i].instructions)
            return true;
    return false;
}

/* ---- Failures ---- */

/* Adds a span's duration, or that it is open, if the expectation is about it.
 */
static void put_fate(struct search *search, const struct trace_entry *span)
{
    const struct found *found = found_at(search, span->id);
    locale_t before = trace_locale_enter();

    if (found && is_closed(found) && found->instructions)
        trace_text_printf(&search->line, " (%llu instructions)",
                          (unsigned long long)found->instructions);
    else if (found && is_closed(found))
        trace_text_printf(&search->line, " (%.9f s)",
                          (double)trace_between(found->begin, found->last) /
                              1e9);
    else if (found)
        trace_text_string(&search->line, " (open)");
    trace_locale_leave(before);
}

/* Returns whether the records found are the wrong ones, rather than missing. */
static bool too_many(const struct search *search)
{
    enum wanted wanted = search->kind->wanted;

    return wanted == NONE || (wanted == ALL && search->matched) ||
           (wanted == NUMBER &&
            (double)search->matched > search->expectation->number);
}

static void compare(struct search *search, const struct trace_entry *entry,
                    bool matches, int nearness)
{
    const struct found *found = matches ? found_at(search, entry->id) : NULL;

    if (matches ? found && is_right(search->expectation, found)
                : too_many(search))
        return;
    if (search->kind->looked_at != LINES)
        put_line(search, entry);
    if (entry->kind == TRACE_ENTRY_SPAN)
        put_fate(search, entry);
    if (!matches && search->kind->looked_at != EVENTS &&
        !log_search_distance(search, &nearness))
        return;
    log_search_offer(search, matches ? INT_MAX : nearness);
}

/* ---- Passes ---- */

/* testlog's own messages about a test would match the text that they quote. */
static bool is_ours(const struct trace_entry *entry)
{
    return entry->message && !entry->site->function[0];
}

static bool looks_at(const struct search *search,
                     const struct trace_entry *entry)
{
    if (search->kind->looked_at == SPANS)
        return entry->kind == TRACE_ENTRY_SPAN;
    return log_is_event(entry) && !is_ours(entry);
}

static bool match(struct search *search, const struct trace_entry *entry,
                  int *nearness)
{
    switch (search->kind->looked_at) {
    case LINES:
        return match_line(search, entry);
    case SPANS:
        return match_path(search, entry);
    default:
        return meets_conditions(search, entry, nearness);
    }
}

static bool count(struct search *search)
{
    struct trace_entry entry;
    int nearness;

    while (trace_reader_next(search->reader, &entry)) {
        bool counts = looks_at(search, &entry);

        if (!counts && search->kind->looked_at != EVENTS)
            continue;

        bool matches = match(search, &entry, &nearness);

        search->all += counts;
        search->matched += counts && matches;
        if (!counts || !matches || search->kind->wanted != ALL)
            continue;
        if (!TRACE_ARRAY_RESERVE(search->found, search->found_capacity,
                                 search->found_count + 1))
            return false;
        search->found[search->found_count++] =
            (struct found){.place = entry.id,
                           .inside = entry.entered,
                           .begin = entry.time,
                           .last = entry.time,
                           .entered = entry.entered,
                           .needs_close = !entry.entered};
    }
    return true;
}

/* Finds the times of the spans that match. */
static bool follow_all(struct search *search)
{
    struct trace_entry entry;

    if (!search->found_count)
        return true;
    qsort(search->found, search->found_count, sizeof(*search->found), by_place);
    if (trace_reader_rewind(search->reader))
        return false;
    while (trace_reader_next(search->reader, &entry))
        if (entry.kind != TRACE_ENTRY_SPAN && entry.kind != TRACE_ENTRY_EVENT &&
            entry.kind != TRACE_ENTRY_DEVICE)
            follow(search, &entry);
    return true;
}

static bool compare_all(struct search *search)
{
    struct trace_entry entry;
    int nearness = 0;

    for (size_t i = 0; i < search->condition_count; i++) {
        struct condition *condition = &search->conditions[i];

        log_replay_free(condition->replay);
        condition->replay =
            condition->filter ? log_replay_new(condition->filter) : NULL;
        if (condition->filter && !condition->replay)
            return false;
    }
    if (trace_reader_rewind(search->reader))
        return false;
    while (trace_reader_next(search->reader, &entry)) {
        bool counts = looks_at(search, &entry);

        if (!counts && search->kind->looked_at != EVENTS)
            continue;

        bool matches = match(search, &entry, &nearness);

        if (counts)
            compare(search, &entry, matches, nearness);
    }
    return true;
}

/* ---- Judging ---- */

static size_t wrong_ones(const struct search *search)
{
    size_t wrong = 0;

    for (size_t i = 0; i < search->found_count; i++)
        wrong += !is_right(search->expectation, &search->found[i]);
    return wrong;
}

static bool is_met(const struct search *search)
{
    switch (search->kind->wanted) {
    case SOME:
        return search->matched > 0;
    case NONE:
        return !search->matched;
    case NUMBER:
        return (double)search->matched == search->expectation->number;
    default:
        return search->matched && !wrong_ones(search);
    }
}

static void put_why(struct search *search, struct trace_text *why)
{
    const char *what = search->kind->looked_at == SPANS ? "spans" : "events";

    log_expectation_text(search->expectation, why);
    if (search->kind->wanted == ALL && search->matched)
        trace_text_printf(why, ": %zu of the %zu spans that match: %s",
                          wrong_ones(search), search->matched,
                          search->kind->wrong);
    else
        trace_text_printf(why, ": %zu of %zu %s match", search->matched,
                          search->all, what);
    if (search->kind->looked_at == SPANS && !search->matched &&
        trace_reader_has_calls(search->reader))
        trace_text_string(why,
                          "; calls of functions have no names in a test, only "
                          "afterwards, so that no expectation finds them");
    if (compare_all(search))
        log_search_put_near(search, why);
}

static enum log_judgement judge(struct search *search, struct trace_text *why)
{
    bool ready;

    errno = 0;
    ready = log_search_read(search, why);
    if (!ready &&
        why->size) { /* it says why the expectation cannot be parsed */
        struct trace_text whole = {.ceiling = why->ceiling};

        log_expectation_text(search->expectation, &whole);
        trace_text_printf(&whole, ": %s", why->data);
        trace_text_free(why);
        *why = whole;
        return LOG_NOT_MET;
    }
    /* Without memory, filters show too much and lines have gaps. */
    if (!ready || !count(search) || !follow_all(search) || errno == ENOMEM) {
        trace_text_string(why, "out of memory");
        return LOG_NOT_JUDGED;
    }
    if (is_uncounted(search)) {
        trace_text_string(why, "nothing counts instructions; use --callgrind, "
                               "or --trace-options=instructions=1 where the "
                               "kernel counts them");
        return LOG_NOT_JUDGED;
    }
    if (is_met(search))
        return LOG_MET;
    put_why(search, why);
    return LOG_NOT_MET;
}

/* Adds which records are missing; returns false if none is. */
static bool misses(const struct trace_reader *reader, struct trace_text *why)
{
    struct trace_summary summary = trace_reader_summary(reader);

    if (trace_reader_losses(why, reader))
        return true;
    if (summary.disabled)
        trace_text_string(why, "trace_disable() was called");
    else if (trace_static_max() < TRACE_LEVEL_TRACE)
        trace_text_printf(why, "this was built with LOG_STATIC_MAX=%s",
                          trace_level_word(trace_static_max()));
    return why->size > 0;
}

static void search_free(struct search *search)
{
    for (size_t i = 0; i < search->condition_count; i++) {
        log_replay_free(search->conditions[i].replay);
        log_filter_free(search->conditions[i].filter);
    }
    for (size_t i = 0; i < search->path_count; i++) {
        free(search->path[i].name);
        log_directive_free(&search->path[i].fields);
    }
    for (size_t i = 0; i < search->near_count; i++)
        free(search->near[i].line);
    free(search->conditions);
    free(search->path);
    free(search->found);
    trace_text_free(&search->line);
    trace_text_free(&search->memory.message);
    trace_reader_close(search->reader);
}

enum log_judgement log_judge(const struct log_expectation *expectation,
                             struct trace_text *why)
{
    struct search search = {.expectation = expectation,
                            .kind = &log_expectation_kinds[expectation->kind]};
    enum log_judgement judgement = LOG_NOT_JUDGED;

    if (!expectation->texts[0]) {
        log_expectation_text(expectation, why);
        trace_text_string(why, ": the text is NULL");
        return LOG_NOT_MET;
    }
    trace_device_flush(false);
    errno = 0;
    search.reader = trace_reader_open_own();
    if (errno == ENOMEM) /* or a call site may be unknown */
        trace_text_string(why, "out of memory");
    else if (!search.reader)
        trace_text_string(why, "the process has no recording");
    else if (!misses(search.reader, why))
        judgement = judge(&search, why);
    search_free(&search);
    return judgement;
}
