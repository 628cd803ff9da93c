/* trace_bridge_test.c: lines of other loggers. */
#include "tests/support/support.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

TestSuite(trace_bridge, .init = test_folder);

static const struct log_style style = {
    .time = LOG_TIME_NONE, .details = LOG_DETAIL_FILE | LOG_DETAIL_LINE};

/* Another logger. */
static void other_log(enum trace_level level, const char *target,
                      const char *file, unsigned line, const char *format, ...)
    TRACE_PRINTF(5, 6);

static void other_log(enum trace_level level, const char *target,
                      const char *file, unsigned line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_bridge(level, target, file, line, format, args);
    va_end(args);
}

static void expect_lines(const char *filter, const char *expected)
{
    char *text = test_lines(test_read(), filter, &style);

    cr_expect_str_eq(text, expected, "%s", text);
}

Test(trace_bridge, keeps_level_target_file_and_line)
{
    char file[] = "net/tcp.c", target[] = "net";

    test_record();
    errno = 7;
    other_log(TRACE_LEVEL_WARN, target, file, 12, "%d of %s", 3, "four");
    cr_expect_eq(errno, 7);
    memset(file, 'x', sizeof(file) - 1);
    memset(target, 'x', sizeof(target) - 1);
    other_log(TRACE_LEVEL_DEBUG, NULL, "net/udp.c", 5, "closed");
    other_log(TRACE_LEVEL_DEBUG, NULL, "net/udp.c", 5, "closed again");
    expect_lines("trace", " WARN net: net/tcp.c:12: 3 of four\n"
                          "DEBUG net::udp: net/udp.c:5: closed\n"
                          "DEBUG net::udp: net/udp.c:5: closed again\n");
    expect_lines("net=warn", " WARN net: net/tcp.c:12: 3 of four\n");
}

Test(trace_bridge, takes_a_finished_text)
{
    char text[] = "100 %s of it";

    test_record();
    errno = 7;
    log_bridge_text(TRACE_LEVEL_WARN, "net", "tcp.c", 12, text);
    cr_expect_eq(errno, 7);
    memset(text, 'x', sizeof(text) - 1);
    log_bridge_text((enum trace_level)99, NULL, NULL, 0, "");
    other_log(TRACE_LEVEL_WARN, "net", "tcp.c", 12, "%d", 3);
    expect_lines("trace", " WARN net: tcp.c:12: 100 %s of it\n"
                          "TRACE bridge: \n"
                          " WARN net: tcp.c:12: 3\n");
}

Test(trace_bridge, accepts_missing_places_and_unknown_levels)
{
    test_record();
    other_log((enum trace_level)0, NULL, NULL, 0, "none");
    other_log((enum trace_level)1, "a", NULL, 0, "a file is missing");
    other_log((enum trace_level)9, "a", NULL, 0, "a level is unknown");
    other_log((enum trace_level) - 1, "a", NULL, 0, "another one");
    expect_lines("a=trace", "ERROR a: a file is missing\n"
                            "TRACE a: a level is unknown\n"
                            "ERROR a: another one\n");
    expect_lines("bridge", "ERROR bridge: none\n");
}

Test(trace_bridge, bounds_its_call_sites)
{
    char *text, file[32];
    size_t count = 0;

    test_record();
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(file, sizeof(file), "f%u.c", i);
        other_log(TRACE_LEVEL_INFO, "many", file, i, "line %u", i);
    }
    text = test_lines(test_read(), "trace", &style);
    for (const char *at = text; (at = strstr(at, ": line ")); at++)
        count++;
    cr_expect_eq(count, 5000);
    cr_expect_not_null(strstr(text, " INFO bridge: line 4999\n"));
    cr_expect_not_null(strstr(text, " INFO many: f0.c:0: line 0\n"));
}

static void log_next(enum trace_level *level, const char *format, ...)
    TRACE_PRINTF(2, 3);

static void log_next(enum trace_level *level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_bridge((*level)++, "t", NULL, 0, format, args);
    va_end(args);
}

Test(trace_bridge, evaluates_its_arguments_once)
{
    enum trace_level level = TRACE_LEVEL_INFO;

    test_record();
    log_next(&level, "first");
    cr_expect_eq(level, TRACE_LEVEL_DEBUG);
    log_next(&level, "second");
    expect_lines("trace", " INFO t: first\nDEBUG t: second\n");
}

Test(trace_bridge, is_off_without_a_recording)
{
    other_log(TRACE_LEVEL_INFO, "t", "f.c", 1, "%s", "nowhere");
    test_record();
    other_log(TRACE_LEVEL_INFO, "t", "f.c", 1, "%s", "here");
    expect_lines("trace", " INFO t: f.c:1: here\n");
}
