/* log_spans_test.c: a line's spans and the fields that they had at its time. */
#include "tests/support/support.h"

#include "log/filter/filter.h"
#include "log/replay/replay.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(log_spans, .init = test_begin);

static void expect_styled(const char *filter, bool all_spans,
                          const char *expected)
{
    struct log_style style = {.time = LOG_TIME_NONE, .all_spans = all_spans};
    char *text = test_lines(test_read(), filter, &style);

    cr_expect_str_eq(text, expected, "%s", text);
}

static void expect_lines(const char *filter, const char *expected)
{
    expect_styled(filter, false, expected);
}

Test(log_spans, shows_only_spans_that_the_filter_shows)
{
    trace_span(INFO, "outer", ("a", 1));
    trace_span(TRACE, "hidden", ("b", 2));
    trace_span(INFO, "inner", ("c", 3));
    trace_event(INFO, "hi");
    expect_lines(
        "info",
        " INFO outer{a=1}:inner{c=3}: tests::unit::log::log_spans_test: hi\n");
}

Test(log_spans, shows_all_spans_but_excluded_ones_on_demand)
{
    static const char *const rows[][2] = {
        {"error", "outer{a=1}:deep{b=2}:inner{c=3}"},
        {"error,deep=off,^[inner]=error", "outer{a=1}:deep{b=2}:inner{c=3}"},
        {"error,!~*::no", "outer{a=1}:inner{c=3}"},
    };
    static const char *const names[] = {"b"};
    static struct trace_site deep =
        TEST_SITE(SPAN, TRACE, "deep", "deep::no", names, 1);
    struct trace_value two = trace_i64_(2);
    char expected[128];

    trace_span(INFO, "outer", ("a", 1));
    trace_span_open_(&deep, 1, &two);
    trace_span(INFO, "inner", ("c", 3));
    trace_event(ERROR, "hi");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(expected, sizeof(expected),
                 "ERROR %s: tests::unit::log::log_spans_test: hi\n",
                 rows[i][1]);
        expect_styled(rows[i][0], true, expected);
    }
}

Test(log_spans, omits_fields_without_a_value)
{
    trace_span(INFO, "none", ("a", trace_empty()));
    trace_span(INFO, "one", ("a", trace_empty()), ("b", 1));
    trace_event(INFO, "hi", ("c", trace_empty()), ("d", 2));
    expect_lines(
        "info",
        " INFO none:one{b=1}: tests::unit::log::log_spans_test: hi d=2\n");
}

Test(log_spans, shows_deep_chains_completely)
{
    struct trace_text expected = {0};

    trace_text_string(&expected, " INFO ");
    for (int i = 0; i < 100; i++) {
        trace_span_begin(INFO, "s", ("i", i));
        trace_text_printf(&expected, "s{i=%d}:", i);
    }
    trace_event(INFO, "hi");
    trace_text_string(&expected, " tests::unit::log::log_spans_test: hi\n");
    expect_lines("info", expected.data);
    trace_text_free(&expected);
}

Test(log_spans, keeps_the_innermost_spans_without_memory)
{
    struct trace_entry entry;
    struct log_chain chain;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (int i = 0; i < 40; i++)
        trace_span_begin(INFO, "s", ("i", i));
    trace_event(INFO, "hi");

    struct trace_reader *reader = test_read();

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "hi", &entry));
    test_fail_memory(1, false);
    log_chain_of(&chain, NULL, false, reader, entry.span);
    test_fail_memory(0, false);
    cr_expect_eq(chain.count, 16);
    cr_expect_eq(chain.spans[0].id, entry.span);
    log_chain_free(&chain);
}

static char *span_text(struct trace_reader *reader, const char *filter_text,
                       const char *event)
{
    struct log_filter *filter =
        log_filter_parse(filter_text, NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, event, &entry));
    log_span_text(replay, reader, entry.span, entry.time, &text);
    log_replay_free(replay);
    log_filter_free(filter);
    return test_keep(text.data ? text.data : strdup(""));
}

Test(log_spans, writes_only_the_chain_as_span_text)
{
    static const struct {
        const char *filter, *event, *text;
    } rows[] = {
        {"info", "out", ""},
        {"info", "first", "outer{a=1}:inner"},
        {"info", "second", "outer{a=2}:inner"},
        {"warn", "first", ""},
    };

    trace_event(INFO, "out");
    {
        struct trace_span_ref outer = trace_span_begin(INFO, "outer", ("a", 1));
        trace_span(INFO, "inner");

        trace_event(INFO, "first");
        trace_record(outer, ("a", 2));
        trace_event(INFO, "second");
    }

    struct trace_reader *reader = test_read();

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *text = span_text(reader, rows[i].filter, rows[i].event);

        cr_expect_str_eq(text, rows[i].text, "%s", text);
    }
}

static void deep(int depth)
{
    trace_span(INFO, "deep", ("d", depth));

    if (depth == 32)
        trace_event(INFO, "all");
    if (depth == 33)
        trace_event(INFO, "without two");
    else
        deep(depth + 1);
}

Test(log_spans, omits_the_middle_of_a_deep_recursion)
{
    struct trace_reader *reader;
    char *text;

    deep(0);
    reader = test_read();
    text = span_text(reader, "info", "all");
    cr_expect_not_null(strstr(text, ":deep{d=7}:deep{d=8}:deep{d=9}:"));
    text = span_text(reader, "info", "without two");
    cr_expect_not_null(strstr(text, ":deep{d=7}:... 2 more ...:deep{d=10}:"),
                       "%s", text);
    cr_expect_not_null(strstr(text, ":deep{d=33}"));
}

Test(log_spans, shows_messages_of_every_kind)
{
    static struct trace_site site = {
        .level = TRACE_LEVEL_WARN, .target = "m", .file = "f.c"};

    log_warn("deferred %d%%", 5);
    log_warn("%ls", L"at the call");
    trace_message(&site, "its own");
    trace_event(WARN, "literal %d", ("a", 1));
    trace_event(WARN, "", ("message", "as a field"), ("a", 1));
    trace_event(WARN, "", ("message", 5));
    expect_lines("warn",
                 " WARN tests::unit::log::log_spans_test: deferred 5%\n"
                 " WARN tests::unit::log::log_spans_test: at the call\n"
                 " WARN m: its own\n"
                 " WARN tests::unit::log::log_spans_test: literal %d a=1\n"
                 " WARN tests::unit::log::log_spans_test: as a field a=1\n"
                 " WARN tests::unit::log::log_spans_test: message=5\n");
}
