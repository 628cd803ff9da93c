/* trace_event_test.c: records counters and signposts whatever the filters are.
 */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trace_event, .init = test_folder);

static const struct log_style style = {.time = LOG_TIME_NONE};

static void subscribe(const char *show, const char *record)
{
    struct log_options options = {.show = show, .record = record, .fd = -1};

    cr_assert_eq(log_subscribe(&options), 0);
}

static char *lines(const char *filter)
{
    return test_lines(test_read(), filter, &style);
}

static void expect_lines(const char *filter, const char *expected)
{
    char *text = lines(filter);

    cr_expect_str_eq(text, expected, "%s", text);
}

Test(trace_event, records_counters_whatever_the_filters_are)
{
    subscribe("off", "off");
    test_record();
    trace_event(ERROR, "off");
    trace_counter("depth", 3);
    {
        trace_span(ERROR, "off");
        trace_counter("depth", (size_t)4);
        trace_counter("load", 0.5);
    }
    expect_lines(
        "trace",
        "TRACE tests::unit::trace::record::trace_event_test: depth=3\n"
        "TRACE tests::unit::trace::record::trace_event_test: depth=4\n"
        "TRACE tests::unit::trace::record::trace_event_test: load=0.5\n");
}

Test(trace_event, shows_counters_at_level_trace)
{
    test_record();
    trace_counter("depth", 3);
    expect_lines("debug", "");
}

Test(trace_event, filters_counters_by_value)
{
    test_record();
    for (int i = 0; i < 10; i++)
        trace_counter("depth", i);
    expect_lines(
        "off,{depth>8}",
        "TRACE tests::unit::trace::record::trace_event_test: depth=9\n");
}

Test(trace_event, shows_signposts_at_level_info)
{
    subscribe("off", "off");
    test_record();
    {
        trace_span(INFO, "off");
        trace_signpost("phase", "%d of %s", 1, "two");
    }
    trace_signpost("phase", "two");
    expect_lines(
        "info",
        " INFO tests::unit::trace::record::trace_event_test: phase: 1 of two\n"
        " INFO tests::unit::trace::record::trace_event_test: phase: two\n");
}

Test(trace_event, shows_signposts_inside_their_span)
{
    test_record();
    {
        trace_span(INFO, "load", ("n", 1));
        trace_signpost("phase", "begins");
    }
    expect_lines(
        "info",
        " INFO load{n=1}: tests::unit::trace::record::trace_event_test: phase: "
        "begins\n");
}

Test(trace_event, escapes_newlines_in_signposts)
{
    const char *header = "a\nb";

    test_record();
    trace_signpost(header, "%s", "c\nd");
    expect_lines(
        "info",
        " INFO tests::unit::trace::record::trace_event_test: a\\nb: c\\nd\n");
}

Test(trace_event, filters_signposts_by_message)
{
    test_record();
    trace_signpost("phase", "one");
    trace_signpost("phase", "two");
    expect_lines(
        "off,/^phase: two$/",
        " INFO tests::unit::trace::record::trace_event_test: phase: two\n");
}

static int evaluated;

static int next(void)
{
    return ++evaluated;
}

Test(trace_event, evaluates_nothing_without_a_recording)
{
    trace_counter("n", next());
    trace_signpost("header", "%d", next());
    cr_expect_eq(evaluated, 0);
    test_record();
    trace_disable();
    trace_counter("n", next());
    trace_signpost("header", "%d", next());
    cr_expect_eq(evaluated, 0);
    trace_enable();
    trace_counter("n", next());
    trace_signpost("header", "%d", next());
    cr_expect_eq(evaluated, 2);
    expect_lines(
        "trace",
        "TRACE tests::unit::trace::record::trace_event_test: n=1\n"
        " INFO tests::unit::trace::record::trace_event_test: header: 2\n");
}

Test(trace_event, leaves_errno_alone)
{
    test_record();
    errno = EDOM;
    trace_counter("n", 1);
    trace_signpost("header", "%0100000d", 1);
    cr_expect_eq(errno, EDOM);
}

Test(trace_event, shows_a_signpost_s_format_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_record();
    trace_signpost("first", "is known");
    test_fail_memory(1, false);
    trace_signpost("header", "%d", 1);
    test_fail_memory(0, false);

    char *text = lines("info");

    cr_expect_not_null(strstr(text, "header: "), "%s", text);
}
