/* log_verdict_test.c: call sites, events and spans are judged as the recorded
 * EnvFilter did, and what is ours keeps to its rules. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log/internal.h"
#include "support.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

enum { FIELDS = 8, SPANS = 8 };

/* A span or event with its values, and those that are recorded later. */
struct thing {
    struct trace_site site;
    const char *names[FIELDS];
    struct trace_value values[FIELDS];
    const char *message; /* of an event */
    struct thing *before, *after;
};

/* What a thread is in, outermost first, and then says. */
struct scene {
    struct thing spans[SPANS], late[2 * SPANS], event;
    size_t count, late_count;
};

/* What a filter makes of a scene. */
struct outcome {
    bool spans[SPANS], event;
};

static struct log_filter *parse(const char *text, const char *fallback)
{
    struct log_filter *filter = log_filter_parse(text, fallback, "LOG", NULL);

    cr_assert_not_null(filter);
    return filter;
}

static struct log_fields fields_of(const struct thing *thing)
{
    return (struct log_fields){&thing->site, thing->site.field_count,
                               thing->values, thing->message};
}

static void record(struct log_span *span, const struct thing *late)
{
    if (late) {
        struct log_fields fields = fields_of(late);

        log_span_fields(span, &fields);
    }
}

/* Begins and enters a span; returns whether it is shown. */
static bool enter(const struct log_filter *filter, const struct thing *thing,
                  struct trace_scope *inside)
{
    struct log_tracked tracked = {0};
    struct log_fields fields = fields_of(thing);
    struct log_verdict verdict;
    bool shown;

    cr_assert(log_verdict_make(&verdict, filter, &thing->site));

    struct log_span *span = log_tracked_add(&tracked, 1, &verdict);

    shown = log_span_begin(span, *inside, &fields);
    record(span, thing->before);

    struct trace_scope own = log_span_holds(span);

    record(span, thing->after);
    inside->adds = own.adds > inside->adds ? own.adds : inside->adds;
    inside->takes = own.takes > inside->takes ? own.takes : inside->takes;
    cr_expect(!shown || log_verdict_reaches(&verdict));
    log_tracked_free(&tracked);
    log_verdict_free(&verdict);
    return shown;
}

static struct outcome judge(const struct log_filter *filter,
                            const struct scene *scene)
{
    struct outcome outcome = {{false}, false};
    struct log_fields fields = fields_of(&scene->event);
    struct trace_scope inside = {0, 0};
    struct log_verdict verdict;

    for (size_t i = 0; i < scene->count; i++)
        outcome.spans[i] = enter(filter, &scene->spans[i], &inside);
    cr_assert(log_verdict_make(&verdict, filter, &scene->event.site));
    outcome.event = log_verdict_event(&verdict, inside, &fields);
    cr_expect(!outcome.event || log_verdict_reaches(&verdict));
    log_verdict_free(&verdict);
    return outcome;
}

/* ---- The recorded answers ---- */

static void unescape(char *text)
{
    char *to = text, digits[3] = "";

    for (; *text; text++)
        if (*text == '%') {
            memcpy(digits, text + 1, 2);
            *to++ = (char)strtoul(digits, NULL, 16);
            text += 2;
        } else {
            *to++ = *text;
        }
    *to = '\0';
}

static struct trace_value as_debug(const char *text)
{
    static char pool[SPANS * FIELDS][64];
    static size_t next;
    char *room = pool[next++ % COUNT(pool)];
    struct trace_value value;

    snprintf(room, sizeof(pool[0]), "\"%s\"", text);
    value = trace_string(room, strlen(room));
    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

static struct trace_value guessed(const char *text)
{
    char *end;

    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return trace_bool(*text == 't');
    if (*text && (strtoll(text, &end, 10), !*end))
        return trace_i64_(strtoll(text, NULL, 10));
    if (*text && (strtod(text, &end), !*end))
        return trace_f64_(strtod(text, NULL));
    return trace_string(text, strlen(text));
}

static struct trace_value value_of(char *text)
{
    struct trace_value value;

    unescape(text);
    if (!text[0] || text[1] != ':')
        return guessed(text);
    switch (*text) {
    case 'i':
        return trace_i64_(strtoll(text + 2, NULL, 10));
    case 'u':
        return trace_u64_(strtoull(text + 2, NULL, 10));
    case 'f':
        return trace_f64_(strtod(text + 2, NULL));
    case 'b':
        return trace_bool(text[2] == 't');
    case 'q':
        return as_debug(text + 2);
    default:
        value = trace_string(text + 2, strlen(text + 2));
        value.type = *text == 'd' ? TRACE_TYPE_DISPLAY : TRACE_TYPE_STRING;
        return value;
    }
}

/* Reads "field[=value],..."; an event's message stands beside its fields. */
static void read_fields(struct thing *thing, char *text)
{
    char *field;

    thing->site.fields = thing->names;
    while ((field = strsep(&text, ",")) && *field) {
        char *value = strchr(field, '=');
        size_t i = thing->site.field_count++;

        cr_assert_lt(i, FIELDS);
        if (value)
            *value++ = '\0';
        unescape(field);
        thing->names[i] = field;
        thing->values[i] = value ? value_of(value) : trace_empty();
    }
}

/* Reads "{...}" at the end of a span and cuts it off. */
static struct thing *read_late(struct scene *scene, char *span, char sign)
{
    char opening[] = {sign, '{', '\0'}, *at = strstr(span, opening);
    struct thing *late = &scene->late[scene->late_count];

    if (!at)
        return NULL;
    *at = at[1] = '\0';
    at += 2;
    at[strcspn(at, "}")] = '\0';
    scene->late_count++;
    late->site.kind = TRACE_SITE_FIELDS;
    read_fields(late, at);
    return late;
}

/* Reads "name[@target][!LEVEL]{...}[+{...}][>{...}]". */
static void read_span(struct scene *scene, char *text, const char *target)
{
    struct thing *thing = &scene->spans[scene->count++];
    char *level, *at, *brace;

    thing->after = read_late(scene, text, '>');
    thing->before = read_late(scene, text, '+');
    brace = strchr(text, '{');
    if (brace) {
        *brace++ = '\0';
        brace[strcspn(brace, "}")] = '\0';
        read_fields(thing, brace);
    }
    level = strchr(text, '!');
    if (level)
        *level++ = '\0';
    at = strchr(text, '@');
    if (at)
        *at++ = '\0';
    unescape(text);
    thing->site.name = text;
    thing->site.target = at ? at : target;
    thing->site.kind = TRACE_SITE_SPAN;
    thing->site.level = (uint8_t)(level ? test_level(level) : TRACE_LEVEL_INFO);
}

static void read_scene(struct scene *scene, struct test_cases *row)
{
    char *rest = row->columns[3], *span;
    struct thing *event = &scene->event;

    memset(scene, 0, sizeof(*scene));
    while ((span = strsep(&rest, ";")) && *span)
        read_span(scene, span, row->columns[2]);
    event->site.kind = TRACE_SITE_EVENT;
    event->site.level = (uint8_t)test_level(row->columns[1]);
    event->site.target = row->columns[2];
    event->site.name = row->columns[4][0] ? "" : "message";
    read_fields(event, row->columns[4]);
}

/* Where ours differs on purpose: white space around a directive and its parts
 * is trimmed, which EnvFilter refuses or takes as part of a name; commas in
 * braces separate fields; and expressions may have anchors. */
static const struct {
    const char *filter, *answer;
} deviations[] = {
    {"warn, foo=debug", "1 - debug"},
    {"warn,foo=debug ", "1 - debug"},
    {" info", "1 - info"},
    {"info ", "1 - info"},
    {"foo = info", "1 - info"},
    {"foo= info", "1 - info"},
    {"[ s]=debug", "1 1 debug"},
    {"[s ]=debug", "1 1 debug"},
    {"[s]= debug", "1 1 debug"},
    {"[s] =debug", "1 1 debug"},
    {"[s{f= bob}]=debug", "1 1 trace"},
    {"[s{ f=bob}]=debug", "1 1 trace"},
    {"[s{f=bob }]=debug", "1 1 trace"},
    {"[{f,g}]=debug", "1 - debug"},
    {"[s{f=a,b}]=debug", "0 0 trace"},
    {"[s{f=^bob$}]=debug", "1 1 trace"},
    {"[s{f=^x}]=debug", "1 1 trace"},
    {"[s{f=$}]=debug", "1 1 trace"},
    {"[s{f=\\bx}]=debug", "1 1 trace"},
    {"[s{f=x\\b}]=debug", "1 1 trace"},
};

static const char *deviation(const char *filter)
{
    for (size_t i = 0; i < COUNT(deviations); i++)
        if (!strcmp(filter, deviations[i].filter))
            return deviations[i].answer;
    return NULL;
}

static void check_row(struct test_cases *row, const struct test_cases *answer)
{
    struct log_filter *filter = parse(row->columns[0], "error");
    const char *ours = deviation(row->columns[0]);
    struct trace_text expected = {0}, got = {0};
    char *copy = strdup(row->columns[3]);
    struct scene scene;
    struct outcome outcome;

    read_scene(&scene, row);
    outcome = judge(filter, &scene);
    trace_text_printf(&expected, "%s %s %s", answer->columns[0],
                      answer->columns[1], answer->columns[2]);
    trace_text_printf(&got, "%d ", outcome.event);
    for (size_t i = 0; i < scene.count; i++)
        trace_text_printf(&got, "%d", outcome.spans[i]);
    trace_text_printf(&got, "%s %s", scene.count ? "" : "-",
                      trace_level_word(log_filter_hint(filter)));
    cr_expect_str_eq(got.data, ours ? ours : expected.data,
                     "\"%s\" for %s of %s in %s: %s, not %s", row->columns[0],
                     row->columns[1], row->columns[2], copy, got.data,
                     expected.data);
    trace_text_free(&expected);
    trace_text_free(&got);
    free(copy);
    log_filter_free(filter);
}

static size_t check_file(const char *cases, const char *answers)
{
    struct test_cases row, answer;
    size_t compared = 0;

    test_cases_open(&row, cases);
    test_cases_open(&answer, answers);
    while (test_cases_next(&row)) {
        cr_assert(test_cases_next(&answer));
        check_row(&row, &answer);
        compared++;
    }
    cr_assert_not(test_cases_next(&answer));
    return compared;
}

Test(log_verdict, agrees_with_upstreams_own_cases)
{
    size_t compared =
        check_file("filter/upstream.tsv", "filter/upstream.expected");

    cr_assert_geq(compared, 200, "only %zu rows", compared);
}

Test(log_verdict, agrees_on_random_filters)
{
    size_t compared = check_file("filter/random.tsv", "filter/random.expected");

    cr_assert_eq(compared, 4000, "only %zu rows", compared);
}

/* ---- What is ours ---- */

/* Judges an event at `level` of "net" within spans and with fields, written as
 * in the cases; its message is "ready". */
static struct outcome judged(const char *text, const char *spans,
                             const char *level, const char *fields)
{
    struct log_filter *filter = parse(text, NULL);
    char span[128], word[8], target[] = "net", field[64];
    struct test_cases row = {.columns = {NULL, word, target, span, field}};
    struct scene scene;
    struct outcome outcome;

    snprintf(span, sizeof(span), "%s", spans);
    snprintf(word, sizeof(word), "%s", level);
    snprintf(field, sizeof(field), "%s", fields);
    read_scene(&scene, &row);
    scene.event.site.name = scene.event.message = "ready";
    outcome = judge(filter, &scene);
    log_filter_free(filter);
    return outcome;
}

Test(log_verdict, judges_events_by_message_and_values)
{
    static const struct {
        const char *filter, *fields;
        bool shown;
    } rows[] = {
        {"/ready/=info", "", true},
        {"/^rea/=info", "", true},
        {"/^eady/=info", "", false},
        {"/ready/=warn", "", false},
        {"info,!/ready/", "", false},
        {"info,^/ready/=warn", "", false},
        {"info,^/ready/=info", "", true},
        {"info,!/steady/", "", true},
        {"{id>4}=info", "id=5", true},
        {"{id>5}=info", "id=5", false},
        {"{id>4}=info", "other=5", false},
        {"{id>4,ok}=info", "id=5", false},
        {"{id>4,ok}=info", "id=5,ok=true", true},
        {"{id>4,ok=true}=info", "id=5,ok=false", false},
        {"{id}=info", "id", false},
        {"{id}=info", "id=5", true},
        {"{message=ready}=info", "id=5", true},
        {"{message=steady}=info", "", false},
        {"info,!{id=5}", "id=5", false},
        {"info,!{id=5}", "id=6", true},
        {"info,!{id=5}", "", true},
        {"info,!{id!=5}", "id=6", false},
        {"info,^{id=5}=warn", "id=5", false},
        {"info,^{id=5}=info", "id=5", true},
        {"{id=5}=info,!{id>4}", "id=5", false},
        {"off,{id=5}=info", "id=5", true},
        {"net=off,/ready/=info", "", true},
        {"~n*=info", "", true},
        {"net=off,~n*=info", "", true},
        {"~net::=info,!net", "", false},
        {"info,![{id}]", "id=5", false},
        {"info,^[{id}]=warn", "id=5", false},
        {"trace,^=warn", "", false},
        {"trace,^=info", "", true},
        {"trace,^info,^trace", "", true},
        {"trace,^warn,^trace", "", false},
        {"trace,^net=warn,^net=trace", "", false},
        {"!net,trace,net=trace", "", false},
        {"{id=5}=info,{id=5}=off", "id=5", false},
        {"{id=5}=off,{id=5}=info", "id=5", true},
        {"{id=5}=info,{id=\"5\"}=off", "id=5", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(judged(rows[i].filter, "", "info", rows[i].fields).event,
                     rows[i].shown, "\"%s\" and \"%s\"", rows[i].filter,
                     rows[i].fields);
}

Test(log_verdict, takes_from_what_is_within_spans)
{
    static const struct {
        const char *filter, *spans, *level;
        bool event, outer, inner;
    } rows[] = {
        {"info,![s]", "s", "error", false, false, false},
        {"info,![s]", "t", "info", true, true, false},
        {"info,![s]", "s;t", "info", false, false, false},
        {"info,![s]", "t;s", "info", false, true, false},
        {"info,![s]", "s!trace", "info", false, false, false},
        {"[s]=trace,![s]", "s", "info", false, false, false},
        {"[t]=trace,![s]", "s;t", "error", false, false, false},
        {"info,![s{id=5}]", "s{id=5}", "info", false, false, false},
        {"info,![s{id=5}]", "s{id=6}", "info", true, true, false},
        {"info,![s{id=5}]", "s{id}+{id=5}", "info", false, true, false},
        {"info,![s{id=5}]", "s{id}>{id=5}", "info", true, true, false},
        {"debug,^[s]=info", "s", "debug", false, true, false},
        {"debug,^[s]=info", "s", "info", true, true, false},
        {"debug,^[s]=info", "s!debug", "info", true, true, false},
        {"debug,^[s]=info", "s;t!debug", "info", true, true, false},
        {"debug,^[s]=info", "s;t!info", "info", true, true, true},
        {"debug,^[s]=off", "s", "error", false, true, false},
        {"off,[t]=trace,^[s]=info", "t;s", "debug", false, true, true},
        {"off,[t]=trace,^[s]=info", "t;s", "info", true, true, true},
        {"off,[t]=trace,^[s]=info", "s;t", "debug", false, false, true},
        {"trace,^[s]=info,^[s]=debug", "s", "debug", false, true, false},
        {"~n*[s]=debug", "s", "debug", true, true, false},
        {"~m*[s]=debug", "s", "debug", false, false, false},
        {"~n*[s{id>5}]=debug", "s{id=6}", "debug", true, true, false},
        {"~n*[s{id>5}]=debug", "s!trace{id=5}", "debug", false, true, false},
        {"error,~n*[s]=info", "s!trace", "info", true, true, false},
        {"trace,!net", "s", "info", false, false, false},
        {"trace,!net", "s@db", "error", false, true, false},
        {"trace,^net=warn", "s", "warn", true, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct outcome got =
            judged(rows[i].filter, rows[i].spans, rows[i].level, "");

        cr_expect(got.event == rows[i].event && got.spans[0] == rows[i].outer &&
                      got.spans[1] == rows[i].inner,
                  "\"%s\" in %s at %s: %d %d %d", rows[i].filter, rows[i].spans,
                  rows[i].level, got.event, got.spans[0], got.spans[1]);
    }
}

/* EnvFilter's hint is not raised by what EnvFilter does not know. */
Test(log_verdict, a_glob_of_spans_raises_no_hint)
{
    static const char *const filters[] = {
        "[s]=info",
        "[s]=info,~zzz[t]=trace",
        "[s]=info,~zzz[t{id=5}]=trace",
    };

    for (size_t i = 0; i < COUNT(filters); i++)
        cr_expect_not(judged(filters[i], "s!trace", "info", "").spans[0], "%s",
                      filters[i]);
}

Test(log_verdict, the_hint_is_the_most_that_can_be_shown)
{
    static const struct {
        const char *filter;
        unsigned hint;
    } rows[] = {
        {"", 0},
        {"info", 3},
        {"info,net=debug", 4},
        {"info,~n*=debug", 4},
        {"info,/x/=trace", 5},
        {"warn,{id=5}=info", 3},
        {"[s{id=5}]=info", 5},
        {"~n*[s{id=5}]=info", 3},
        {"info,^net=trace", 3},
        {"info,!net", 3},
        {"trace,^=info", 3},
        {"trace,^info,^warn", 2},
        {"info,^trace", 3},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct log_filter *filter = parse(rows[i].filter, NULL);

        cr_expect_eq(log_filter_hint(filter), rows[i].hint, "\"%s\": %u",
                     rows[i].filter, log_filter_hint(filter));
        log_filter_free(filter);
    }
}

Test(log_verdict, without_memory_is_said_and_leaves_nothing)
{
    struct log_filter *filter =
        parse("{id=1},{id=2},{id=3},{id=4},{id=5},!{id=6},!/x/", NULL);
    struct thing event = {.site = {.target = "net",
                                   .name = "ready",
                                   .level = TRACE_LEVEL_INFO,
                                   .field_count = 1}};
    size_t made = 0;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    event.names[0] = "id";
    event.site.fields = event.names;
    for (size_t nth = 1; nth < 6; nth++) {
        struct log_verdict verdict;
        bool ok;

        test_fail_memory(nth, true);
        ok = log_verdict_make(&verdict, filter, &event.site);
        test_fail_memory(0, false);
        cr_expect_eq(verdict.count, ok ? 7 : 0);
        made += ok;
        log_verdict_free(&verdict);
    }
    cr_expect_eq(made, 1);
    log_filter_free(filter);
}
