/* log_subscriber_test.c: the filters decide what is recorded and what is
 * printed live.
 */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(log_subscriber, .init = test_folder);

static int open_output(const char *name)
{
    int fd =
        open(test_path(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    cr_assert_geq(fd, 0);
    return fd;
}

static void expect_output(const char *name, const char *expected)
{
    char *text = test_load(test_path(name), NULL);

    cr_expect_str_eq(text, expected, "%s", text);
}

static void subscribe(const char *show, const char *record, bool live, int fd)
{
    struct log_options options = {.show = show,
                                  .record = record,
                                  .live = live,
                                  .fd = fd,
                                  .style = {.time = LOG_TIME_NONE}};

    cr_assert_eq(log_subscribe(&options), 0, "%s", strerror(errno));
}

static void every_level(void)
{
    log_error("1");
    log_warn("2");
    log_info("3");
    log_debug("4");
    log_trace("5");
}

static size_t count_recorded(void)
{
    struct trace_reader *reader = test_read();
    size_t count = test_count(reader, TRACE_ENTRY_EVENT, NULL);

    return count;
}

Test(log_subscriber, records_what_either_filter_wants)
{
    static const struct {
        const char *show, *record;
        size_t events;
    } rows[] = {
        {"off", "off", 0},
        {"warn", "off", 2},
        {"off", "debug", 4},
        {"info", "error", 3},
        {"off", "other=trace", 0},
        {"off", "tests::unit::log::log_subscriber_test=info", 3},
        {"", "off", 3}, /* empty: falls back to info */
        {"off", "", 5}, /* empty: falls back to trace */
        {"!", "off", 3},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        subscribe(rows[i].show, rows[i].record, false, -1);
        test_record();
        every_level();
        cr_expect_eq(count_recorded(), rows[i].events, "\"%s\" and \"%s\"",
                     rows[i].show, rows[i].record);
    }
}

Test(log_subscriber, prints_live_lines_that_log_shows)
{
    int fd = open_output("out");

    subscribe("warn", "trace", true, fd);
    test_record();
    {
        trace_span(WARN, "span", ("a", 1));
        every_level();
    }
    expect_output(
        "out", "ERROR span{a=1}: tests::unit::log::log_subscriber_test: 1\n"
               " WARN span{a=1}: tests::unit::log::log_subscriber_test: 2\n");
    cr_expect_eq(count_recorded(), 5);
    close(fd);
}

Test(log_subscriber, shows_late_fields_in_live_lines)
{
    int fd = open_output("live");

    subscribe("info", "off", true, fd);
    cr_assert_eq(trace_open(NULL, &(struct trace_options){.limit = 0}), 0);
    {
        struct trace_span_ref outer = trace_span_begin(INFO, "outer");
        trace_span(INFO, "inner", ("b", 1));

        for (int i = 2; i < 5; i++) {
            trace_record(trace_span_current(), ("b", i));
            trace_record(outer, ("a", 10 * i));
        }
        log_info("hi");
    }
    expect_output("live", " INFO outer{a=40}:inner{b=4}: "
                          "tests::unit::log::log_subscriber_test: hi\n");
    close(fd);
}

Test(log_subscriber, does_not_write_to_a_stolen_descriptor)
{
    int fd = open_output("out"), error = open_output("error"),
        mine = open_output("mine"), kept = dup(STDERR_FILENO);

    subscribe("warn", "trace", true, fd);
    test_record();
    log_warn("first");
    dup2(error, STDERR_FILENO);
    dup2(mine, fd);
    log_warn("second");
    close(fd);
    log_warn("third");
    dup2(kept, STDERR_FILENO);
    expect_output("out",
                  " WARN tests::unit::log::log_subscriber_test: first\n");
    expect_output("mine", "");
    expect_output("error",
                  " WARN tests::unit::log::log_subscriber_test: second\n"
                  " WARN tests::unit::log::log_subscriber_test: third\n");
}

Test(log_subscriber, refuses_a_descriptor_that_is_not_open)
{
    struct log_options options = {
        .show = "info", .record = "info", .live = true, .fd = -1};

    cr_expect_eq(log_subscribe(&options), -1);
    cr_expect_eq(errno, EBADF);
}

static void expect_long_line(size_t length)
{
    char *text = malloc(length + 1), *out;
    int fd = open_output("out");
    size_t size;

    cr_assert_not_null(text);
    memset(text, 'x', length);
    text[length] = '\0';
    subscribe("info", "off", true, fd);
    test_record();
    log_info("%s", text);
    out = test_load(test_path("out"), &size);
    cr_assert_eq(size,
                 strlen(" INFO tests::unit::log::log_subscriber_test: \n") +
                     length);
    cr_expect_eq(out[size - 1], '\n');
    free(text);
    close(fd);
}

Test(log_subscriber, prints_a_long_line_completely)
{
    expect_long_line(300000);
}

Test(log_subscriber, prints_a_line_over_4_mib_completely)
{
    expect_long_line(5 << 20);
}

Test(log_subscriber, refuses_to_subscribe_while_a_recording_runs)
{
    struct log_options options = {.show = "warn", .record = "off"};

    subscribe("info", "trace", false, -1);
    test_record();
    errno = 0;
    cr_expect_eq(log_subscribe(&options), -1);
    cr_expect_eq(errno, EBUSY);
    trace_close();
    cr_expect_eq(log_subscribe(&options), 0);
}

/* Reads nothing until the writer waits for room. */
static void *count_slowly(void *context)
{
    static char bytes[4096];
    int *pipe = context;
    struct pollfd filled = {.fd = pipe[0], .events = POLLIN};
    size_t *size = malloc(sizeof(*size));
    ssize_t some;

    while (poll(&filled, 1, -1) != 1)
        ;
    test_until_waits(getpid());
    for (*size = 0; (some = read(pipe[0], bytes, sizeof(bytes))) > 0;)
        *size += (size_t)some;
    return size;
}

Test(log_subscriber, waits_for_a_non_blocking_file)
{
    static char text[300000];
    size_t *size;
    pthread_t reader;
    int pipe[2];

    memset(text, 'x', sizeof(text) - 1);
    cr_assert_eq(pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
    cr_assert_eq(fcntl(pipe[0], F_SETFL, 0), 0);
    subscribe("info", "off", true, pipe[1]);
    cr_assert_eq(trace_open(NULL, &(struct trace_options){.limit = 0}), 0);
    pthread_create(&reader, NULL, count_slowly, pipe);
    log_info("%s", text);
    close(pipe[1]);
    pthread_join(reader, (void **)&size);
    cr_expect_eq(*size,
                 strlen(" INFO tests::unit::log::log_subscriber_test: \n") +
                     sizeof(text) - 1);
    free(size);
    close(pipe[0]);
}

Test(log_subscriber, copies_its_options)
{
    char show[] = "warn", record[] = "off", test[] = "s/t";
    int fd = open_output("out");
    struct log_options options = {
        .show = show,
        .record = record,
        .live = true,
        .fd = fd,
        .style = {.time = LOG_TIME_NONE, .test = test}};

    cr_assert_eq(log_subscribe(&options), 0);
    memset(show, 'x', sizeof(show) - 1);
    memset(record, 'x', sizeof(record) - 1);
    memset(&options, 0, sizeof(options));
    test_record();
    every_level();
    expect_output("out",
                  "[s/t] ERROR tests::unit::log::log_subscriber_test: 1\n"
                  "[s/t]  WARN tests::unit::log::log_subscriber_test: 2\n");
    close(fd);
}

/* ---- Exclusions in TRACE_FILTER ---- */

static void begin_recording(const char *filter)
{
    subscribe("off", filter, false, -1);
    test_record();
}

/* Compares the recording's lines and its number of spans. */
static void expect_recording(size_t spans, const char *expected)
{
    static const struct log_style plain = {.time = LOG_TIME_NONE};
    struct trace_reader *reader = test_read();
    char *lines = test_lines(reader, "trace", &plain);

    cr_expect_str_eq(lines, expected, "%s", lines);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, NULL), spans);
    cr_expect_eq(trace_depth(), 0);
}

#undef LOG_TARGET
#define LOG_TARGET "t"

Test(log_subscriber, records_nothing_inside_an_excluded_span)
{
    begin_recording("trace,![quiet]");
    {
        trace_span(INFO, "outer");
        {
            trace_span(INFO, "quiet");
            trace_span(INFO, "inner");
            trace_event(ERROR, "muted");
            trace_record(trace_span_current(), ("late", 1));
        }
        trace_event(INFO, "heard");
    }
    expect_recording(1, " INFO outer: t: heard\n");
}

Test(log_subscriber, records_what_log_could_show_despite_an_exclusion)
{
    subscribe("info", "trace,![quiet]", false, -1);
    test_record();
    {
        trace_span(INFO, "quiet");
        trace_span(INFO, "inner");
        trace_event(INFO, "shown");
        trace_event(DEBUG, "muted");
    }
    trace_event(DEBUG, "heard");
    expect_recording(2, " INFO quiet:inner: t: shown\n"
                        "DEBUG t: heard\n");
}

Test(log_subscriber, does_not_record_spans_above_a_cap)
{
    begin_recording("trace,^[s]=info");
    {
        trace_span(INFO, "s");
        trace_span(DEBUG, "inner");
        trace_event(INFO, "heard");
    }
    expect_recording(1, " INFO s: t: heard\n");
    begin_recording("[s]=debug,^[s]=info");
    {
        trace_span(INFO, "s");
        trace_span(DEBUG, "inner");
        trace_event(INFO, "heard");
    }
    expect_recording(1, " INFO s: t: heard\n");
}

static void *enter_elsewhere(void *span)
{
    trace_event(INFO, "before");
    {
        trace_span_enter(*(struct trace_span_ref *)span);
        trace_event(INFO, "muted");
    }
    trace_event(INFO, "after");
    return NULL;
}

Test(log_subscriber, mutes_threads_that_enter_an_excluded_span)
{
    begin_recording("trace,![quiet]");

    struct trace_span_ref quiet = trace_span_new(INFO, "quiet");

    test_thread(enter_elsewhere, &quiet);
    enter_elsewhere(&quiet);
    trace_record(quiet, ("late", 1));
    trace_span_end(quiet);
    {
        trace_span(INFO, "quiet");
        struct trace_span_ref current = trace_span_current();

        test_thread(enter_elsewhere, &current);
    }
    expect_recording(0, " INFO t: before\n INFO t: after\n"
                        " INFO t: before\n INFO t: after\n"
                        " INFO t: before\n INFO t: after\n");
}

Test(log_subscriber, ends_excluded_spans_one_by_one)
{
    begin_recording("trace,![quiet],^[capped]=error");

    struct trace_span_ref made = trace_span_new(INFO, "quiet");
    struct trace_span_ref begun = trace_span_begin(INFO, "quiet");

    trace_event(INFO, "muted");
    trace_span_end(made);
    trace_event(INFO, "muted");
    trace_span_end(begun);
    trace_event(INFO, "1");
    {
        trace_span(INFO, "quiet");
        trace_span_end(made);
        trace_span_end(begun);
        trace_event(INFO, "muted");
    }
    trace_event(INFO, "2");
    trace_span_begin(INFO, "quiet");
    trace_unwind(0);
    trace_event(INFO, "3");
    trace_span_end(trace_span_current());
    expect_recording(0, " INFO t: 1\n INFO t: 2\n INFO t: 3\n");
}

static void muted_child(void)
{
    trace_event(INFO, "muted");
    trace_unwind(0);
    trace_event(INFO, "child");
}

Test(log_subscriber, mutes_a_child_forked_inside_an_excluded_span)
{
    begin_recording("trace,![quiet]");
    {
        trace_span(INFO, "quiet");
        test_child(muted_child);
    }
    trace_event(INFO, "parent");
    expect_recording(0, " INFO t: child\n INFO t: parent\n");
}

/* The bytes of an excluded span must not be read as records. */
Test(log_subscriber, leaves_no_bytes_of_an_excluded_span)
{
    unsigned char bytes[1024];
    struct trace_record event = {.time = trace_anchor_now().ticks,
                                 .site = 1,
                                 .kind = TRACE_KIND_EVENT,
                                 .slots = 1};

    begin_recording("trace,![quiet]");
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = ((unsigned char *)&event)[(8 + i) % sizeof(event)];
    {
        trace_span(INFO, "quiet", ("bytes", trace_bytes(bytes, sizeof(bytes))));
    }
    trace_event(INFO, "heard");
    expect_recording(0, " INFO t: heard\n");
}

static void spoil(struct trace_text *out, const void *unused)
{
    (void)unused;
    trace_text_string(out, "x");
    errno = EIO;
}

Test(log_subscriber, leaves_errno_alone_while_filtering)
{
    begin_recording("{n=x},[s{n=x}]=debug,![s{n=y}]");
    errno = ENOENT;
    trace_event(INFO, "event", ("n", trace_display(spoil, NULL)));
    cr_expect_eq(errno, ENOENT);
    {
        trace_span(INFO, "s", ("n", trace_display(spoil, NULL)));
        cr_expect_eq(errno, ENOENT);
        trace_record(trace_span_current(), ("n", trace_display(spoil, NULL)));
        cr_expect_eq(errno, ENOENT);
    }
    expect_recording(1, " INFO t: event n=x\n");
}
