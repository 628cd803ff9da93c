/* log_subscriber_test.c: filters decide what is recorded and what is live. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
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

static void output_is(const char *name, const char *expected)
{
    char *text = test_load(test_path(name), NULL);

    cr_expect_str_eq(text, expected, "%s", text);
    free(text);
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

static size_t recorded(void)
{
    struct trace_reader *reader = test_read();
    size_t count = test_count(reader, TRACE_ENTRY_EVENT, NULL);

    trace_reader_close(reader);
    return count;
}

Test(log_subscriber, either_filter_makes_a_site_recorded)
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
        {"off", "tests::log_subscriber_test=info", 3},
        {"", "off", 3}, /* what is empty falls back to info */
        {"off", "", 5}, /* and here to trace */
        {"!", "off", 3},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        subscribe(rows[i].show, rows[i].record, false, -1);
        test_record();
        every_level();
        cr_expect_eq(recorded(), rows[i].events, "\"%s\" and \"%s\"",
                     rows[i].show, rows[i].record);
    }
}

Test(log_subscriber, live_lines_are_those_that_are_shown)
{
    int fd = open_output("out");

    subscribe("warn", "trace", true, fd);
    test_record();
    {
        trace_span(WARN, "span", ("a", 1));
        every_level();
    }
    output_is("out", "ERROR span{a=1}: tests::log_subscriber_test: 1\n"
                     " WARN span{a=1}: tests::log_subscriber_test: 2\n");
    cr_expect_eq(recorded(), 5);
    close(fd);
}

/* A test may close what it does not know. */
Test(log_subscriber, a_stolen_descriptor_is_not_written_to)
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
    output_is("out", " WARN tests::log_subscriber_test: first\n");
    output_is("mine", "");
    output_is("error", " WARN tests::log_subscriber_test: second\n"
                       " WARN tests::log_subscriber_test: third\n");
}

Test(log_subscriber, a_descriptor_that_is_not_open_is_an_error)
{
    struct log_options options = {
        .show = "info", .record = "info", .live = true, .fd = -1};

    cr_expect_eq(log_subscribe(&options), -1);
    cr_expect_eq(errno, EBADF);
}

Test(log_subscriber, a_long_line_is_whole)
{
    static char text[300000];
    int fd = open_output("out");
    size_t size;

    memset(text, 'x', sizeof(text) - 1);
    subscribe("info", "off", true, fd);
    test_record();
    log_info("%s", text);

    char *out = test_load(test_path("out"), &size);

    cr_expect_eq(size, strlen(" INFO tests::log_subscriber_test: \n") +
                           sizeof(text) - 1);
    free(out);
    close(fd);
}

Test(log_subscriber, options_are_copied)
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
    output_is("out", "[s/t] ERROR tests::log_subscriber_test: 1\n"
                     "[s/t]  WARN tests::log_subscriber_test: 2\n");
    close(fd);
}
