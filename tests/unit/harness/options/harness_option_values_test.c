/* harness_option_values_test.c: parses words as values of options, and suggests
 * the nearest flag. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>

#include "harness/options/options.h"

Test(harness_option_values, takes_words_in_any_case)
{
    enum log_format format = LOG_FORMAT_FULL;
    enum log_time time = LOG_TIME_UTC;
    const char *color = NULL;

    cr_expect_eq(test_log_read_format("f", "JSON", &format), 0);
    cr_expect_eq(format, LOG_FORMAT_JSON);
    cr_expect_eq(test_log_read_time("t", "Uptime", &time), 0);
    cr_expect_eq(time, LOG_TIME_UPTIME);
    cr_expect_eq(test_log_read_color("c", NULL, &color), 0);
    cr_expect_str_eq(color, "always");
}

Test(harness_option_values, joins_words_about_spans)
{
    static const struct {
        const char *text;
        unsigned events;
    } rows[] = {
        {"new", LOG_SPAN_NEW},
        {"new, close", LOG_SPAN_NEW | LOG_SPAN_CLOSE},
        {" Active ", LOG_SPAN_ENTER | LOG_SPAN_EXIT},
        {"none", 0},
        {"none,exit", LOG_SPAN_EXIT},
        {"full",
         LOG_SPAN_NEW | LOG_SPAN_ENTER | LOG_SPAN_EXIT | LOG_SPAN_CLOSE},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        unsigned events = 99;

        cr_expect_eq(test_log_read_span_events("s", rows[i].text, &events), 0);
        cr_expect_eq(events, rows[i].events, "\"%s\": %u", rows[i].text,
                     events);
    }
}

Test(harness_option_values, joins_details_of_lines)
{
    unsigned details = 99;

    cr_expect_eq(test_log_read_details("f", "none", &details), 0);
    cr_expect_eq(details, 0);
    cr_expect_eq(test_log_read_details("f", "pid, Location", &details), 0);
    cr_expect_eq(details, LOG_DETAIL_FILE | LOG_DETAIL_LINE | LOG_DETAIL_PID);
}

Test(harness_option_values, refuses_other_words_and_changes_nothing)
{
    enum log_time time = LOG_TIME_NONE;
    unsigned events = 7;

    cr_redirect_stderr();
    cr_expect_eq(test_log_read_time("--time", "noon", &time), -1);
    cr_expect_eq(time, LOG_TIME_NONE);
    cr_expect_eq(test_log_read_span_events("--spans", "new,,close", &events),
                 -1);
    cr_expect_eq(test_log_read_span_events("--spans", "", &events), -1);
    cr_expect_eq(events, 7);
    fflush(stderr);
    cr_expect_stderr_eq_str(
        "testlog: --time: unknown value \"noon\"; write utc, uptime, relative "
        "or none\n"
        "testlog: --spans: unknown value \"\"; write new, enter, exit, close, "
        "active, full or none\n"
        "testlog: --spans: unknown value \"\"; write new, enter, exit, close, "
        "active, full or none\n");
}
