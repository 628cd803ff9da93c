/* cases.c: turns a recorded case of tests/cases/filter into calls of the
 * library. tests/cases/filter/README.md describes the syntax of a row.
 */
#include "cases.h"

#include "log/replay/entry_text.h"
#include "trace/record/recorder.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

/* Turns each %XX into the byte that it stands for. */
static char *unescape(char *text)
{
    char *to = text;

    for (char *from = text; *from; to++) {
        char digits[3] = {0};

        *to = *from++;
        if (*to != '%')
            continue;
        memcpy(digits, from, 2);
        from += 2;
        *to = (char)strtol(digits, NULL, 16);
    }
    *to = '\0';
    return text;
}

/* Formats a string as Rust's Debug does: only strings are quoted. */
static struct trace_value quoted(const char *text)
{
    struct trace_value value = trace_string(text, strlen(text));
    struct trace_text shown = {0};

    log_value(&shown, &value);
    value = trace_string(shown.data, shown.size);
    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

static struct trace_value guess(const char *text)
{
    char *end;

    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return trace_bool(*text == 't');
    if (*text && (strtoll(text, &end, 10), !*end))
        return trace_i64_(strtoll(text, NULL, 10));
    if (*text && (strtod(text, &end), !*end))
        return trace_f64_(strtod(text, NULL));
    return trace_text_(text);
}

static struct trace_value value_of(const char *text)
{
    const char *rest = text + 2;
    struct trace_value value;

    if (!*text || text[1] != ':')
        return guess(text);
    switch (*text) {
    case 'i':
        return trace_i64_(strtoll(rest, NULL, 10));
    case 'u':
        return trace_u64_(strtoull(rest, NULL, 10));
    case 'f':
        return trace_f64_(strtod(rest, NULL));
    case 'b':
        return trace_bool(!strcmp(rest, "true"));
    case 'q':
        return quoted(rest);
    default:
        value = trace_text_(rest);
        value.type = *text == 'd' ? TRACE_TYPE_DISPLAY : TRACE_TYPE_STRING;
        return value;
    }
}

/* ---- Reading ---- */

static void read_fields(struct case_fields *fields, enum trace_site_kind kind,
                        char *text)
{
    char *field;
    size_t count = 0;

    while (text && *text && (field = strsep(&text, ","))) {
        char *value = strchr(field, '=');

        cr_assert_lt(count, CASE_FIELDS, "too many fields");
        if (value)
            *value++ = '\0';
        fields->names[count] = unescape(field);
        fields->quoted[count] = value && !strncmp(value, "q:", 2);
        fields->values[count++] =
            value ? value_of(unescape(value)) : trace_empty();
    }
    fields->site = (struct trace_site){.name = "",
                                       .target = "case",
                                       .file = "case",
                                       .function = "case",
                                       .fields = fields->names,
                                       .level = TRACE_LEVEL_TRACE,
                                       .kind = kind,
                                       .field_count = (uint8_t)count};
}

/* Splits "before{inside}" and returns the inside, or NULL. */
static char *braces(char *text, const char *before)
{
    char *open = text ? strstr(text, before) : NULL;

    if (!open)
        return NULL;
    *open = '\0';
    open += strlen(before);
    open[strcspn(open, "}")] = '\0';
    return open;
}

static void read_span(struct case_span *span, char *text, const char *target)
{
    char *after = braces(text, ">{"), *before = braces(text, "+{");
    char *fields = braces(text, "{"), *level, *at;

    read_fields(&span->own, TRACE_SITE_SPAN, fields);
    read_fields(&span->before, TRACE_SITE_FIELDS, before);
    read_fields(&span->after, TRACE_SITE_FIELDS, after);
    level = strchr(text, '!');
    if (level)
        *level++ = '\0';
    at = strchr(text, '@');
    if (at)
        *at++ = '\0';
    span->own.site.name = unescape(text);
    span->own.site.target = at ? unescape(at) : target;
    span->own.site.level =
        (uint8_t)(level ? test_level(level) : TRACE_LEVEL_INFO);
}

void case_read(struct case_row *row, const struct test_cases *columns)
{
    char *rest, *span;

    *row = (struct case_row){0};
    for (size_t i = 0; i < TEST_COLUMNS; i++)
        row->text[i] = strdup(columns->columns[i]);
    row->filter = row->text[0];
    rest = row->text[3];
    while (rest && *rest && (span = strsep(&rest, ";"))) {
        cr_assert_lt(row->span_count, CASE_SPANS);
        read_span(&row->spans[row->span_count++], span, row->text[2]);
    }
    read_fields(&row->event, TRACE_SITE_EVENT, row->text[4]);
    row->event.site.name = row->event.site.field_count ? "" : "message";
    row->event.site.target = row->text[2];
    row->event.site.level = (uint8_t)test_level(row->text[1]);
}

static void free_fields(struct case_fields *fields)
{
    for (size_t i = 0; i < fields->site.field_count; i++)
        if (fields->quoted[i])
            free((char *)fields->values[i].as.text);
}

void case_free(struct case_row *row)
{
    for (size_t i = 0; i < row->span_count; i++) {
        free_fields(&row->spans[i].own);
        free_fields(&row->spans[i].before);
        free_fields(&row->spans[i].after);
    }
    free_fields(&row->event);
    for (size_t i = 0; i < TEST_COLUMNS; i++)
        free(row->text[i]);
}

/* ---- Running ---- */

static bool on(struct trace_site *site)
{
    site->interest = (uint8_t)trace_site_interest(site);
    return trace_site_on_(site);
}

static void record(struct trace_span_ref span, struct case_fields *fields)
{
    if (span.place && fields->site.field_count)
        trace_record_(span, &fields->site, fields->site.field_count,
                      fields->values);
}

static void begin(struct case_span *span, size_t depth)
{
    struct case_fields *own = &span->own;

    if (on(&own->site))
        span->made =
            trace_span_new_(&own->site, own->site.field_count, own->values);
    record(span->made, &span->before);
    if (span->made.place)
        span->entered = test_block(depth, NULL, &span->made, 0, NULL);
    record(span->made, &span->after);
}

static void end(struct case_span *span)
{
    if (span->entered.place)
        trace_span_leave_(span->entered);
    if (span->made.place)
        trace_span_end(span->made);
}

void case_run(struct case_row *row)
{
    struct case_fields *event = &row->event;

    for (size_t i = 0; i < row->span_count; i++)
        begin(&row->spans[i], i);
    if (on(&event->site))
        trace_event_(&event->site, event->site.field_count, event->values);
    for (size_t i = row->span_count; i-- > 0;)
        end(&row->spans[i]);
}

/* ---- Recorded answers ---- */

/* Deviations on purpose. */
#define TRIMMED "white space around tokens is trimmed"
#define BRACED  "a comma in braces separates fields"
#define ANCHORS "PCRE2 supports anchors and \\b"

static const struct {
    const char *filter, *answer, *reason;
} deviations[] = {
    {"warn, foo=debug", "1\t-\tdebug", TRIMMED},
    {"warn,foo=debug ", "1\t-\tdebug", TRIMMED},
    {" info", "1\t-\tinfo", TRIMMED},
    {"info ", "1\t-\tinfo", TRIMMED},
    {"foo = info", "1\t-\tinfo", TRIMMED},
    {"foo= info", "1\t-\tinfo", TRIMMED},
    {"[ s]=debug", "1\t1\tdebug", TRIMMED},
    {"[s ]=debug", "1\t1\tdebug", TRIMMED},
    {"[s]= debug", "1\t1\tdebug", TRIMMED},
    {"[s] =debug", "1\t1\tdebug", TRIMMED},
    {"[s{f= bob}]=debug", "1\t1\ttrace", TRIMMED},
    {"[s{ f=bob}]=debug", "1\t1\ttrace", TRIMMED},
    {"[s{f=bob }]=debug", "1\t1\ttrace", TRIMMED},
    {"[{f,g}]=debug", "1\t-\tdebug", BRACED},
    {"[s{f=a,b}]=debug", "0\t0\ttrace", BRACED},
    {"[s{f=^bob$}]=debug", "1\t1\ttrace", ANCHORS},
    {"[s{f=^x}]=debug", "1\t1\ttrace", ANCHORS},
    {"[s{f=$}]=debug", "1\t1\ttrace", ANCHORS},
    {"[s{f=\\bx}]=debug", "1\t1\ttrace", ANCHORS},
    {"[s{f=x\\b}]=debug", "1\t1\ttrace", ANCHORS},
};

const char *case_deviation(const char *filter)
{
    for (size_t i = 0; i < sizeof(deviations) / sizeof(*deviations); i++)
        if (!strcmp(filter, deviations[i].filter))
            return deviations[i].answer;
    return NULL;
}

void case_expect(const struct case_row *row, const struct test_cases *answer,
                 bool shown, const char *bits, const char *hint)
{
    const char *ours = case_deviation(row->filter);
    char text[64], recorded[64];

    snprintf(text, sizeof(text), "%d\t%s\t%s", shown, bits, hint);
    snprintf(recorded, sizeof(recorded), "%s\t%s\t%s", answer->columns[0],
             answer->columns[1], answer->columns[2]);
    if (ours)
        cr_expect_str_neq(ours, recorded, "\"%s\" does not deviate",
                          row->filter);
    cr_expect_str_eq(text, ours ? ours : recorded, "\"%s\" %s %s: %s, not %s",
                     row->filter, row->text[1], row->text[2], text,
                     ours ? ours : recorded);
}
