/* log_span_times_test.c: lines when spans begin, are entered and left, and
 * close.
 */
#include "tests/support/support.h"

#include "log/filter/filter.h"
#include "log/lines/layout.h"
#include "log/replay/replay.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define AT "tests::unit::log::log_span_times_test: "

TestSuite(log_span_times, .init = test_begin);

static void expect(const char *filter, unsigned events, const char *expected)
{
    struct log_style style = {.time = LOG_TIME_NONE, .span_events = events};
    char *lines = test_lines(test_read(), filter, &style);

    cr_expect_str_eq(lines, expected, "%s---\n%s", lines, expected);
}

Test(log_span_times, shows_new_enter_exit_and_close_of_a_block)
{
    {
        trace_span(DEBUG, "outer", ("a", trace_empty()));
        trace_record(trace_span_current(), ("a", 1));
        trace_event(INFO, "hi");
    }
    expect("debug", LOG_SPAN_FULL,
           "DEBUG outer: " AT "new\n"
           "DEBUG outer: " AT "enter\n"
           " INFO outer{a=1}: " AT "hi\n"
           "DEBUG outer{a=1}: " AT "exit\n"
           "DEBUG outer{a=1}: " AT "close\n");
}

static void enter_twice(void)
{
    struct trace_span_ref span = trace_span_new(INFO, "s");

    {
        trace_span_enter(span);
    }
    {
        trace_span_enter(span);
    }
    trace_span_end(span);
}

static const struct {
    unsigned events;
    const char *lines;
} chosen[] = {
    {LOG_SPAN_NONE, ""},
    {LOG_SPAN_NEW, " INFO s: " AT "new\n"},
    {LOG_SPAN_ENTER, " INFO s: " AT "enter\n INFO s: " AT "enter\n"},
    {LOG_SPAN_EXIT, " INFO s: " AT "exit\n INFO s: " AT "exit\n"},
    {LOG_SPAN_CLOSE, " INFO s: " AT "close\n"},
    {LOG_SPAN_NEW | LOG_SPAN_CLOSE,
     " INFO s: " AT "new\n INFO s: " AT "close\n"},
    {LOG_SPAN_ACTIVE, " INFO s: " AT "enter\n INFO s: " AT "exit\n"
                      " INFO s: " AT "enter\n INFO s: " AT "exit\n"},
};

Test(log_span_times, shows_only_the_requested_span_events)
{
    for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
        if (i) {
            remove(test_path("recording"));
            test_record();
        }
        enter_twice();
        expect("trace", chosen[i].events, chosen[i].lines);
    }
}

/* Span events ignore directives for events. A hidden span has none, and is
 * missing in the chains of others. */
Test(log_span_times, shows_events_only_of_spans_that_the_filter_shows)
{
    {
        trace_span(INFO, "outer");
        trace_span(DEBUG, "hidden");
        trace_span(INFO, "inner");
        trace_event(DEBUG, "nobody sees this");
    }
    expect("info", LOG_SPAN_NEW | LOG_SPAN_CLOSE,
           " INFO outer: " AT "new\n"
           " INFO outer:inner: " AT "new\n"
           " INFO outer:inner: " AT "close\n"
           " INFO outer: " AT "close\n");
}

Test(log_span_times, shows_events_of_spans_that_a_span_directive_shows)
{
    for (int i = 0; i < 2; i++) {
        trace_span(DEBUG, "request", ("id", i));
        trace_span(DEBUG, "read");
    }
    expect("[request{id=1}]=debug", LOG_SPAN_NEW,
           "DEBUG request{id=0}: " AT "new\n"
           "DEBUG request{id=1}: " AT "new\n"
           "DEBUG request{id=1}:read: " AT "new\n");
}

Test(log_span_times, omits_the_close_of_an_open_span)
{
    struct trace_span_ref left = trace_span_new(INFO, "left");

    trace_span_begin(INFO, "open");
    {
        trace_span_enter(left);
    }
    expect("trace", LOG_SPAN_EXIT | LOG_SPAN_CLOSE, " INFO left: " AT "exit\n");
}

/* ---- Closing ---- */

Test(log_span_times, closes_a_handle_when_it_ends)
{
    struct trace_span_ref span = trace_span_begin(INFO, "s");

    {
        trace_span_enter(span);
    }
    trace_event(INFO, "not yet");
    trace_span_end(span);
    expect("trace", LOG_SPAN_EXIT | LOG_SPAN_CLOSE,
           " INFO s: " AT "exit\n"
           " INFO s: " AT "not yet\n"
           " INFO s: " AT "exit\n"
           " INFO s: " AT "close\n");
}

Test(log_span_times, closes_a_span_that_was_never_entered)
{
    trace_span_end(trace_span_new(INFO, "s"));
    expect("trace", LOG_SPAN_FULL,
           " INFO s: " AT "new\n INFO s: " AT "close\n");
}

static pthread_barrier_t entered, ended;

static void *stay(void *context)
{
    {
        trace_span_enter(*(struct trace_span_ref *)context);
        pthread_barrier_wait(&entered);
        pthread_barrier_wait(&ended);
        trace_event(INFO, "still here");
    }
    return NULL;
}

static void elsewhere(void (*body)(struct trace_span_ref *))
{
    struct trace_span_ref span = {0, 0};
    pthread_t thread;

    pthread_barrier_init(&entered, NULL, 2);
    pthread_barrier_init(&ended, NULL, 2);
    body(&span);
    pthread_create(&thread, NULL, stay, &span);
    pthread_barrier_wait(&entered);
    trace_span_end(span);
    pthread_barrier_wait(&ended);
    pthread_join(thread, NULL);
}

static void made(struct trace_span_ref *span)
{
    *span = trace_span_new(INFO, "s");
}

static void begun(struct trace_span_ref *span)
{
    *span = trace_span_begin(INFO, "s");
}

Test(log_span_times, closes_an_ended_span_with_its_last_exit)
{
    elsewhere(made);
    expect("trace", LOG_SPAN_EXIT | LOG_SPAN_CLOSE,
           " INFO s: " AT "still here\n"
           " INFO s: " AT "exit\n"
           " INFO s: " AT "close\n");
}

Test(log_span_times, closes_a_left_span_with_its_last_exit_elsewhere)
{
    elsewhere(begun);
    expect("trace", LOG_SPAN_EXIT | LOG_SPAN_CLOSE,
           " INFO s: " AT "exit\n"
           " INFO s: " AT "still here\n"
           " INFO s: " AT "exit\n"
           " INFO s: " AT "close\n");
}

static void *pass_through(void *context)
{
    trace_span_enter(*(struct trace_span_ref *)context);
    return NULL;
}

/* The result must not depend on how quick the thread is. */
Test(log_span_times, closes_a_block_that_is_entered_after_its_end)
{
    struct trace_span_ref span;

    {
        trace_span(INFO, "s");
        span = trace_span_current();
    }
    test_thread(pass_through, &span);
    trace_event(INFO, "after");
    expect("trace", LOG_SPAN_ACTIVE | LOG_SPAN_CLOSE,
           " INFO s: " AT "enter\n"
           " INFO s: " AT "exit\n"
           " INFO s: " AT "enter\n"
           " INFO s: " AT "exit\n"
           " INFO s: " AT "close\n"
           " INFO " AT "after\n");
}

Test(log_span_times, closes_spans_that_a_jump_left_when_unwinding)
{
    trace_span_begin(INFO, "outer");
    trace_span_begin(INFO, "inner");
    trace_unwind(0);
    expect("trace", LOG_SPAN_CLOSE,
           " INFO outer:inner: " AT "close\n INFO outer: " AT "close\n");
}

/* ---- Durations ---- */

static struct trace_site site = TEST_SITE(SPAN, INFO, "s", "m", NULL, 0);

/* Replays entries of a span at the given times; returns the last line. */
static char *play(const struct trace_entry *entries, size_t count,
                  enum log_time time)
{
    struct log_style style = {.time = time, .span_events = LOG_SPAN_CLOSE};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text line = {0};
    struct trace_entry span;

    site.id = 0;
    trace_span_new_(&site, 0, NULL);

    struct trace_reader *reader = test_read();

    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "s", &span));
    for (size_t i = 0; i < count; i++) {
        struct trace_entry entry = span;

        entry.kind = entries[i].kind;
        entry.entered = entries[i].entered;
        entry.time = entries[i].time;
        entry.id = entries[i].id ? span.id : 0;
        entry.span = entry.kind == TRACE_ENTRY_SPAN ? 0 : span.id;
        cr_expect_eq(log_line(replay, &style, reader, &entry, &line),
                     i + 1 == count);
    }
    log_replay_free(replay);
    log_filter_free(filter);
    return test_keep(line.data);
}

/* One entering within the other. */
static const struct trace_entry entries[] = {
    {.kind = TRACE_ENTRY_SPAN, .time = 1000, .entered = true, .id = 1},
    {.kind = TRACE_ENTRY_ENTER, .time = 1100},
    {.kind = TRACE_ENTRY_EXIT, .time = 1200},
    {.kind = TRACE_ENTRY_EXIT, .time = 1500, .id = 1},
};

static const struct trace_entry late[] = {
    {.kind = TRACE_ENTRY_SPAN, .time = 1000, .id = 1},
    {.kind = TRACE_ENTRY_ENTER, .time = 2000},
    {.kind = TRACE_ENTRY_EXIT, .time = 82400},
    {.kind = TRACE_ENTRY_CLOSE, .time = 2082400},
};

Test(log_span_times, counts_overlapping_busy_time_once)
{
    char *line = play(entries, 4, LOG_TIME_UPTIME);

    cr_expect_str_eq(line,
                     "   0.000001500s  INFO s: m: close time.busy=500ns "
                     "time.idle=0.00ns\n",
                     "%s", line);
}

Test(log_span_times, counts_time_before_the_close_as_idle)
{
    char *line = play(late, 4, LOG_TIME_UPTIME);

    cr_expect_str_eq(line,
                     "   0.002082400s  INFO s: m: close time.busy=80.4µs "
                     "time.idle=2.00ms\n",
                     "%s", line);
}

Test(log_span_times, omits_durations_without_times)
{
    char *line = play(late, 4, LOG_TIME_NONE);

    cr_expect_str_eq(line, " INFO s: m: close\n", "%s", line);
}

Test(log_span_times, shows_durations_with_three_digits)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } rows[] = {
        {0, "0.00ns"},
        {9, "9.00ns"},
        {10, "10.0ns"},
        {999, "999ns"},
        {1000, "1.00µs"},
        {1234, "1.23µs"},
        {80400, "80.4µs"},
        {999499, "999µs"},
        {1000000, "1.00ms"},
        {UINT64_C(12345678901), "12.3s"},
        {UINT64_C(999400000000), "999s"},
        {UINT64_C(1234000000000), "1234s"},
        {UINT64_C(86400000000000), "86400s"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text text = {0};

        log_duration(&text, rows[i].ns);
        cr_expect_str_eq(text.data, rows[i].text);
        trace_text_free(&text);
    }
}

Test(log_span_times, survives_a_lack_of_memory)
{
    struct log_style style = {
        .format = LOG_FORMAT_JSON, .span_events = LOG_SPAN_FULL, .test = "a/b"};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    FILE *null = fopen("/dev/null", "we");

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_rich();

    struct trace_reader *reader = test_read();

    for (size_t nth = 1; nth < 80; nth++) {
        style.format = (enum log_format)(nth % 4);
        test_fail_memory(nth, nth % 2);
        log_write_all(filter, &style, reader, null);
        test_fail_memory(0, false);
    }
    fclose(null);
    log_filter_free(filter);
}

Test(log_span_times, shows_durations_with_a_decimal_point_in_every_locale)
{
    struct trace_text text = {0};

    if (!test_decimal_comma())
        cr_skip_test("no locale with a decimal comma");
    log_duration(&text, 1500);
    cr_expect_str_eq(text.data, "1.50\xc2\xb5s");
    trace_text_free(&text);
}
