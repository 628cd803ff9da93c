/* expect.c: judges what a test expects of its own records.
 *
 * The recording is read as it is, whatever LOG says. One pass counts; where it
 * came to something else than was expected, another finds the nearest records.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- What can be expected ---- */

enum looked_at { LINES, EVENTS, SPANS };
enum wanted { SOME, NONE, NUMBER, ALL };

static const struct kind {
    const char *word;
    enum looked_at looked_at;
    enum wanted wanted;
    const char *wrong;
} kinds[] = {
#define LOG_X(name, word, looked_at, wanted, wrong)                            \
    {word, looked_at, wanted, wrong},
    LOG_EXPECTATIONS(LOG_X)
#undef LOG_X
};

static bool takes_number(enum log_expectation_kind kind)
{
    return kinds[kind].wanted == NUMBER ||
           kind == LOG_EXPECTATION_SPAN_SHORTER ||
           kind == LOG_EXPECTATION_SPAN_LONGER;
}

/* A text as it stands in the source. */
static void put_quoted(struct trace_text *out, const char *text)
{
    trace_text_char(out, '"');
    for (;;) {
        size_t size = strcspn(text, "\"\\");

        log_plain(out, text, size);
        text += size;
        if (!*text)
            break;
        trace_text_char(out, '\\');
        trace_text_char(out, *text++);
    }
    trace_text_char(out, '"');
}

void log_expectation_text(const struct log_expectation *expectation,
                          struct trace_text *out)
{
    const char *const *text = expectation->texts;

    trace_text_printf(out, "log_expect_%s(", kinds[expectation->kind].word);
    if (takes_number(expectation->kind))
        trace_text_printf(out, "%g, ", expectation->number);
    for (; *text; text++) {
        if (text > expectation->texts)
            trace_text_string(out, ", ");
        put_quoted(out, *text);
    }
    trace_text_char(out, ')');
}

/* ---- A search ---- */

/* What is asked of an event: a filter that shows it, or its very level. */
struct condition {
    unsigned level; /* "=warn"; 0: the filter */
    struct log_filter *filter;
    struct log_replay *replay;
};

/* A span that matches, and what became of it. */
struct found {
    uint32_t place;
    uint32_t inside; /* enterings that have not ended */
    uint64_t begin, last;
    bool entered, closed, needs_close;
};

/* A record that is shown because it is what was looked for, or near. */
struct near {
    int nearness;
    char *line;
};

enum { NEAR_MAX = 5, NEAR_BYTES = 400, COMPARED_MAX = 20000 };

/* A part of a path of spans. */
struct part {
    char *name;
    struct log_directive fields;
};

struct search {
    const struct log_expectation *expectation;
    const struct kind *kind;
    struct trace_reader *reader;
    struct condition *conditions; /* of EVENTS */
    struct part *path;            /* of SPANS: from outside to inside */
    size_t condition_count, path_count;
    struct trace_text line; /* of the record that is looked at */
    struct log_memory memory;
    size_t all, matched;
    struct found *found;
    size_t found_count;
    struct near near[NEAR_MAX];
    size_t near_count, compared;
};

/* ---- Reading conditions ---- */

/* Nothing is left out here: the whole expectation fails. */
static void put_complaints(struct trace_text *why, const char *complaints)
{
    static const char left_out[] = " This directive is left out.";
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

/* Whether a directive is about a call site of the process or, as another
 * program may have been run, of the recording. */
static bool is_about_any(const struct log_directive *directive,
                         struct trace_reader *reader)
{
    struct about about = {directive, false};
    struct trace_entry entry;

    trace_site_each(find_about, &about);
    while (!about.any && trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_EVENT)
            about.any = log_directive_about(directive, entry.site);
    return trace_reader_rewind(reader) || about.any;
}

/* A word that is about nothing and nearly a level shows no event, which is all
 * that log_expect_no_event asks for. */
static bool is_mistyped(const struct log_filter *filter, const char *text,
                        struct trace_reader *reader, struct trace_text *why)
{
    const char *level = log_mistyped_level(text);

    if (!level || filter->count != 1 ||
        strcmp(text, filter->directives->target) != 0 ||
        is_about_any(filter->directives, reader))
        return false;
    trace_text_printf(why,
                      "\"%s\" is about no call site; did you mean the level "
                      "%s?",
                      text, level);
    return true;
}

static bool read_condition(struct condition *condition, const char *text,
                           struct trace_reader *reader, struct trace_text *why)
{
    struct trace_text complaints = {0};

    if (text[0] == '=' && log_level_of(text + 1, &condition->level) &&
        condition->level)
        return true;
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

/* Where a part of "outer{a=1}:inner" ends: at a colon that stands alone,
 * outside of braces and quotes. */
static size_t part_extent(const char *text)
{
    bool quoted = false;
    size_t depth = 0, i = 0;

    for (; text[i]; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == '{')
            depth++;
        else if (!quoted && text[i] == '}' && depth)
            depth--;
        else if (!quoted && !depth && !strncmp(text + i, "::", 2))
            i++;
        else if (!quoted && !depth && text[i] == ':')
            break;
    }
    return i;
}

/* A part is a name and behind it fields as in a filter of events, or one of
 * both. */
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
        trace_text_string(why, "no span: ");
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

/* ---- What matches ---- */

/* How few letters must change for `text` to stand in `line`: Sellers' row of
 * Levenshtein's table, which begins anew at each place of the line. */
static int distance_within(const char *text, const char *line, size_t size)
{
    int row[256], least, n = (int)strnlen(text, 255);

    for (int j = 0; j <= n; j++)
        row[j] = j;
    least = n;
    for (size_t i = 0; i < size; i++) {
        int corner = 0;

        for (int j = 1; j <= n; j++) {
            int changed = corner + (line[i] != text[j - 1]);
            int around = row[j] < row[j - 1] ? row[j] : row[j - 1];

            corner = row[j];
            row[j] = changed < around + 1 ? changed : around + 1;
        }
        least = row[n] < least ? row[n] : least;
    }
    return least;
}

/* The event as a line without time, colours and newline. */
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

/* Steps over an entry; the more conditions it meets, the nearer. */
static bool meets_conditions(struct search *search,
                             const struct trace_entry *entry, int *nearness)
{
    bool all = true;

    *nearness = 0;
    for (size_t i = 0; i < search->condition_count; i++) {
        const struct condition *condition = &search->conditions[i];
        bool met = condition->level ? condition->level == entry->site->level
                                    : log_replay_step(condition->replay,
                                                      search->reader, entry);

        if (met)
            *nearness += 2;
        else if (!condition->level)
            *nearness += is_about(condition->filter, entry->site);
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
                        const struct log_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, pattern->name))
            return pattern->operation == LOG_DECLARED ||
                   log_pattern_matches(pattern, &fields[i].value);
    return false;
}

/* Whether a span is as a part of a path says, by its latest values. */
static bool match_part(const struct search *search, const struct part *part,
                       const struct trace_entry *span)
{
    const struct log_directive *asked = &part->fields;
    struct log_field fields[LOG_FIELDS_MAX];
    size_t count = 0;

    if (part->name[0] && strcmp(part->name, span->site->name) != 0)
        return false;
    if (asked->field_count)
        count = log_fields_of(search->reader, span, UINT64_MAX, fields);
    for (size_t i = 0; i < asked->field_count; i++) {
        const struct log_pattern *pattern = &asked->fields[i];

        if (!match_field(pattern, fields, count) &&
            (pattern->operation != LOG_DECLARED ||
             !declares(span->site, pattern->name)))
            return false;
    }
    return true;
}

/* The last part is the span; the others are around it, in their order. */
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

/* ---- What became of a span ---- */

static bool keep_found(struct search *search, const struct trace_entry *span)
{
    size_t count = search->found_count;

    if (!(count & (count - 1))) { /* a power of two: full */
        void *grown = realloc(search->found,
                              (count ? 2 * count : 1) * sizeof(struct found));

        if (!grown)
            return false;
        search->found = grown;
    }
    search->found[search->found_count++] =
        (struct found){.place = span->id,
                       .inside = span->entered,
                       .begin = span->time,
                       .last = span->time,
                       .entered = span->entered,
                       .needs_close = !span->entered};
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return x->place < y->place ? -1 : x->place > y->place;
}

/* The span that matched at `place`; NULL if none did. They are sorted. */
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

static void follow(struct search *search, const struct trace_entry *entry)
{
    struct found *found = found_at(search, entry->span);

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
    double seconds = (double)(found->last - found->begin) / 1e9;

    switch (expectation->kind) {
    case LOG_EXPECTATION_SPAN_ENTERED:
        return found->entered;
    case LOG_EXPECTATION_SPAN_CLOSED:
        return closed;
    case LOG_EXPECTATION_SPAN_SHORTER:
        return closed && seconds < expectation->number;
    case LOG_EXPECTATION_SPAN_LONGER:
        return closed && seconds > expectation->number;
    default:
        return true;
    }
}

/* ---- The nearest records ---- */

static char *shortened(const char *line)
{
    size_t size = strnlen(line, NEAR_BYTES + 1);
    bool cut = size > NEAR_BYTES;
    char *text = NULL;

    while (cut && size && ((unsigned char)line[size - 1] & 0xc0) == 0x80)
        size--;
    if (asprintf(&text, "%.*s%s", (int)(cut && size ? size - 1 : size), line,
                 cut ? "..." : "") < 0)
        return NULL;
    return text;
}

/* Keeps the record at hand if it is nearer than one that is kept; of those that
 * are as near the first stay. */
static void offer(struct search *search, int nearness)
{
    size_t least = 0;

    for (size_t i = 1; i < search->near_count; i++)
        if (search->near[i].nearness <= search->near[least].nearness)
            least = i;
    if (search->near_count == NEAR_MAX) {
        if (nearness <= search->near[least].nearness)
            return;
        free(search->near[least].line);
        search->near_count--;
        memmove(&search->near[least], &search->near[least + 1],
                (search->near_count - least) * sizeof(*search->near));
    }
    search->near[search->near_count++] = (struct near){
        nearness, shortened(search->line.data ? search->line.data : "?")};
}

/* How long a span took, or that it is open, where that is what was asked. */
static void put_fate(struct search *search, const struct trace_entry *span)
{
    const struct found *found = found_at(search, span->id);

    if (found && is_closed(found))
        trace_text_printf(&search->line, " (%.9f s)",
                          (double)(found->last - found->begin) / 1e9);
    else if (found)
        trace_text_string(&search->line, " (open)");
}

/* Whether what was found is what is wrong, not what was not found. */
static bool too_many(const struct search *search)
{
    enum wanted wanted = search->kind->wanted;

    return wanted == NONE || (wanted == ALL && search->matched) ||
           (wanted == NUMBER &&
            (double)search->matched > search->expectation->number);
}

static bool is_wrong(const struct search *search,
                     const struct trace_entry *entry)
{
    const struct found *found = found_at(search, entry->id);

    return !found || !is_right(search->expectation, found);
}

static void compare(struct search *search, const struct trace_entry *entry,
                    bool matches, int nearness)
{
    if (matches ? !is_wrong(search, entry) : too_many(search))
        return;
    if (search->kind->looked_at != LINES)
        put_line(search, entry);
    if (entry->kind == TRACE_ENTRY_SPAN)
        put_fate(search, entry);
    if (!matches && search->kind->looked_at != EVENTS) {
        if (search->compared++ > COMPARED_MAX)
            return;
        nearness = -distance_within(search->expectation->texts[0],
                                    search->line.data ? search->line.data : "",
                                    search->line.size);
    }
    offer(search, matches ? INT_MAX : nearness);
}

/* ---- Passes ---- */

/* What testlog itself says of a test would match what it quotes. */
static bool is_ours(const struct trace_entry *entry)
{
    return entry->message && !entry->site->function[0];
}

static bool looks_at(const struct search *search,
                     const struct trace_entry *entry)
{
    if (search->kind->looked_at == SPANS)
        return entry->kind == TRACE_ENTRY_SPAN;
    return entry->kind == TRACE_ENTRY_EVENT && !is_ours(entry);
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
        if (counts && matches && search->kind->wanted == ALL &&
            !keep_found(search, &entry))
            return false;
    }
    return true;
}

/* Finds what became of the spans that match. */
static bool follow_all(struct search *search)
{
    struct trace_entry entry;

    if (!search->found_count)
        return true;
    qsort(search->found, search->found_count, sizeof(*search->found), by_place);
    if (trace_reader_rewind(search->reader))
        return false;
    while (trace_reader_next(search->reader, &entry))
        if (entry.kind != TRACE_ENTRY_SPAN && entry.kind != TRACE_ENTRY_EVENT)
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

/* Whether a record is near enough to be shown. Where nothing is, some records
 * are better than none. */
static bool is_near(const struct search *search, int nearness)
{
    int best = INT_MIN, size;

    for (size_t i = 0; i < search->near_count; i++)
        if (search->near[i].nearness != INT_MAX &&
            search->near[i].nearness > best)
            best = search->near[i].nearness;
    if (nearness == INT_MAX)
        return true;
    if (search->kind->looked_at == EVENTS)
        return nearness == best && (best || !search->matched);
    size = (int)strlen(search->expectation->texts[0]);
    return nearness >= best + (best < -2 ? best : -2) &&
           (!search->matched || 2 * -best <= size);
}

static void put_near(const struct search *search, struct trace_text *why)
{
    for (size_t i = 0; i < search->near_count; i++) {
        const struct near *near = &search->near[i];

        if (is_near(search, near->nearness))
            trace_text_printf(why, "\n  %s %s",
                              near->nearness == INT_MAX ? "found:  "
                                                        : "nearest:",
                              near->line ? near->line : "?");
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
    if (compare_all(search))
        put_near(search, why);
}

static enum log_judgement judge(struct search *search, struct trace_text *why)
{
    bool ready;

    errno = 0;
    ready = search->kind->looked_at == LINES ||
            (search->kind->looked_at == EVENTS ? read_conditions(search, why)
                                               : read_path(search, why));

    if (!ready && why->size) { /* it says what cannot be read */
        struct trace_text whole = {.ceiling = why->ceiling};

        log_expectation_text(search->expectation, &whole);
        trace_text_printf(&whole, ": %s", why->data);
        trace_text_free(why);
        *why = whole;
        return LOG_NOT_MET;
    }
    /* Where memory fails them, filters show too much and lines have gaps. */
    if (!ready || !count(search) || !follow_all(search) || errno == ENOMEM) {
        trace_text_string(why, "memory ran out");
        return LOG_NOT_JUDGED;
    }
    if (is_met(search))
        return LOG_MET;
    put_why(search, why);
    return LOG_NOT_MET;
}

/* Says which records are missing; false if none is. */
static bool misses(const struct trace_reader *reader, struct trace_text *why)
{
    struct trace_summary summary = trace_reader_summary(reader);

    if (summary.error)
        trace_text_printf(why, "not all was recorded: %s",
                          strerror(summary.error));
    else if (summary.limit_reached)
        trace_text_string(why, "TRACE_LIMIT was reached");
    else if (summary.dropped)
        trace_text_printf(why, "%llu records were not kept",
                          (unsigned long long)summary.dropped);
    else if (summary.disabled)
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
                            .kind = &kinds[expectation->kind]};
    enum log_judgement judgement = LOG_NOT_JUDGED;

    if (!expectation->texts[0]) {
        log_expectation_text(expectation, why);
        trace_text_string(why, ": NULL is no text");
        return LOG_NOT_MET;
    }
    errno = 0;
    search.reader = trace_reader_open(NULL);
    if (errno == ENOMEM) /* or a call site may be unknown */
        trace_text_string(why, "memory ran out");
    else if (!search.reader)
        trace_text_string(why, "it has no recording");
    else if (!misses(search.reader, why))
        judgement = judge(&search, why);
    search_free(&search);
    return judgement;
}
