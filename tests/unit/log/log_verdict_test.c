/* log_verdict_test.c: judges call sites, events and spans as EnvFilter does,
 * and by our own rules.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases.h"

#include "log/filter/filter.h"
#include "log/replay/replay.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* What a filter shows of a case. */
struct outcome {
    char spans[CASE_SPANS + 1]; /* a bit for each, or "-" */
    bool event;
};

static struct log_filter *parse(const char *text, const char *fallback)
{
    struct log_filter *filter = log_filter_parse(text, fallback, "LOG", NULL);

    cr_assert_not_null(filter);
    return filter;
}

static struct log_fields fields_of(const struct case_fields *fields)
{
    return (struct log_fields){&fields->site, fields->site.field_count,
                               fields->values, NULL};
}

static void record(struct log_span *span, const struct case_fields *late)
{
    struct log_fields fields = fields_of(late);

    log_span_fields(span, &fields);
}

/* Begins and enters a span; returns whether it is shown. */
static bool enter(const struct log_filter *filter, const struct case_span *of,
                  struct trace_scope *inside)
{
    struct trace_table tracked = {0};
    struct log_fields fields = fields_of(&of->own);
    struct log_verdict verdict;
    bool shown;

    cr_assert(log_verdict_make(&verdict, filter, &of->own.site));

    struct log_span *span = log_tracked_add(&tracked, 1, &verdict);

    shown = log_span_begin(span, *inside, &fields);
    record(span, &of->before);

    struct trace_scope own = log_span_scope(span);

    record(span, &of->after);
    inside->adds = own.adds > inside->adds ? own.adds : inside->adds;
    inside->takes = own.takes > inside->takes ? own.takes : inside->takes;
    cr_expect(!shown || log_verdict_reaches(&verdict));
    log_tracked_free(&tracked);
    log_verdict_free(&verdict);
    return shown;
}

static struct outcome judge(const struct log_filter *filter,
                            const struct case_row *row, const char *message)
{
    struct outcome outcome = {"-", false};
    struct log_fields fields = fields_of(&row->event);
    struct trace_scope inside = {0, 0};
    struct log_verdict verdict;

    fields.message = message;
    for (size_t i = 0; i < row->span_count; i++)
        outcome.spans[i] = enter(filter, &row->spans[i], &inside) ? '1' : '0';
    cr_assert(log_verdict_make(&verdict, filter, &row->event.site));
    outcome.event = log_verdict_event(&verdict, inside, &fields);
    cr_expect(!outcome.event || log_verdict_reaches(&verdict));
    log_verdict_free(&verdict);
    return outcome;
}

/* ---- Recorded answers ---- */

static void check_row(const struct test_cases *columns,
                      const struct test_cases *answer)
{
    struct case_row row;
    struct log_filter *filter;
    struct outcome outcome;

    case_read(&row, columns);
    filter = parse(row.filter, "error");
    outcome = judge(filter, &row, NULL);
    case_expect(&row, answer, outcome.event, outcome.spans,
                trace_level_word(log_filter_hint(filter)));
    log_filter_free(filter);
    case_free(&row);
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

Test(log_verdict, matches_upstream_s_own_cases)
{
    size_t compared =
        check_file("filter/upstream.tsv", "filter/upstream.expected");

    cr_assert_geq(compared, 200, "only %zu rows", compared);
}

Test(log_verdict, matches_upstream_on_random_filters)
{
    size_t compared = check_file("filter/random.tsv", "filter/random.expected");

    cr_assert_eq(compared, 4000, "only %zu rows", compared);
}

/* ---- Extensions ---- */

/* Judges an event of target "net" with the message "ready"; spans and fields
 * are written as in the cases. */
static struct outcome judge_event(const char *text, const char *spans,
                                  const char *level, const char *fields)
{
    struct log_filter *filter = parse(text, NULL);
    struct test_cases columns = {.columns = {(char *)text, (char *)level,
                                             (char *)"net", (char *)spans,
                                             (char *)fields}};
    struct case_row row;
    struct outcome outcome;

    case_read(&row, &columns);
    row.event.site.name = "ready";
    outcome = judge(filter, &row, "ready");
    log_filter_free(filter);
    case_free(&row);
    return outcome;
}

Test(log_verdict, filters_events_by_message_and_values)
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
        cr_expect_eq(
            judge_event(rows[i].filter, "", "info", rows[i].fields).event,
            rows[i].shown, "\"%s\" and \"%s\"", rows[i].filter, rows[i].fields);
}

Test(log_verdict, excludes_and_caps_events_inside_spans)
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
            judge_event(rows[i].filter, rows[i].spans, rows[i].level, "");

        cr_expect(got.event == rows[i].event &&
                      (got.spans[0] == '1') == rows[i].outer &&
                      (got.spans[1] == '1') == rows[i].inner,
                  "\"%s\" in %s at %s: %d %s", rows[i].filter, rows[i].spans,
                  rows[i].level, got.event, got.spans);
    }
}

/* EnvFilter's level hint must not rise because of our own directives. */
Test(log_verdict, does_not_raise_the_hint_by_a_glob_of_spans)
{
    static const char *const filters[] = {
        "[s]=info",
        "[s]=info,~zzz[t]=trace",
        "[s]=info,~zzz[t{id=5}]=trace",
    };

    for (size_t i = 0; i < COUNT(filters); i++)
        cr_expect_eq(judge_event(filters[i], "s!trace", "info", "").spans[0],
                     '0', "%s", filters[i]);
}

Test(log_verdict, hints_at_the_most_verbose_level_that_can_be_shown)
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

Test(log_verdict, reports_a_lack_of_memory_and_leaves_nothing)
{
    struct log_filter *filter = parse(
        "{id=1},{id=2},{id=3},{id=4},{id=5},{id=6},{id=7},!{id=8},!/x/", NULL);
    struct case_fields event = {.site = {.target = "net",
                                         .name = "ready",
                                         .level = TRACE_LEVEL_INFO,
                                         .field_count = 1}};
    size_t made = 0;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    event.names[0] = "id";
    event.site.fields = event.names;
    for (size_t nth = 1; nth < 4; nth++) {
        struct log_verdict verdict;
        bool ok;

        test_fail_memory(nth, true);
        ok = log_verdict_make(&verdict, filter, &event.site);
        test_fail_memory(0, false);
        cr_expect_eq(verdict.count, ok ? 9 : 0);
        made += ok;
        log_verdict_free(&verdict);
    }
    cr_expect_eq(made, 1);
    log_filter_free(filter);
}
