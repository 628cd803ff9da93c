/* log_layout_pretty_test.c: writes lines as tracing-subscriber's pretty format
 * does.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/formats.h"

TestSuite(log_layout_pretty, .init = test_folder);

static const struct format_deviation deviations[] = {
    /* A field that is recorded again is replaced. */
    {5, "late: 5, late: 6", "late: 6"},
    /* Newlines stay, but terminal control bytes are escaped. */
    {7, "raw\033[31m\nline", "raw\\x1b[31m\nline"},
    /* "r#" and the hidden fields "log.*" are specific to Rust. */
    {8, " type: 1, ", " r#type: 1, log.x: 1, "},
    {0},
};

#define NAME(name)  "\033[1m" name "\033[0m: "
#define GREEN(name) "\033[1;32m" name "\033[0m\033[32m: "

static const struct format_deviation color_deviations[] = {
    {5, NAME("late") "5, " NAME("late") "6", NAME("late") "6"},
    {7, "raw\033[31m\nline", "raw\\x1b[31m\nline"},
    {8, GREEN("type") "1, ", GREEN("r#type") "1, " GREEN("log.x") "1, "},
    {0},
};

Test(log_layout_pretty, matches_upstream_lines)
{
    struct log_style style = {.format = LOG_FORMAT_PRETTY,
                              .time = LOG_TIME_NONE};

    cr_expect_eq(format_check("formats/cases.tsv", "pretty.expected", &style,
                              deviations),
                 8);
}

Test(log_layout_pretty, matches_upstream_colours_and_span_events)
{
    struct log_style style = {.format = LOG_FORMAT_PRETTY, FORMAT_ALL};

    cr_expect_eq(format_check("formats/cases.tsv",
                              "pretty-ansi-spanevents.expected", &style,
                              color_deviations),
                 8);
}

Test(log_layout_pretty, adds_only_escapes_for_colours)
{
    struct log_style style = {.format = LOG_FORMAT_PRETTY,
                              .time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_THREAD_ID};

    cr_expect_eq(format_check_plain("formats/numbers.tsv", &style), 2);
}

static void check(const struct log_style *style, const char *expected)
{
    char *lines = test_lines(test_read(), "trace", style);

    format_normalise(lines, false);
    cr_expect_str_eq(lines, expected, "%s", lines);
}

static struct trace_site site =
    TEST_SITE(EVENT, WARN, "first\nsecond\r", "m", NULL, 0);

Test(log_layout_pretty, prefixes_every_line_with_the_test_s_name)
{
    struct log_style style = {
        .format = LOG_FORMAT_PRETTY, .time = LOG_TIME_NONE, .test = "net/slow"};

    test_record();
    trace_event_(&site, 0, NULL);
    check(&style, "[net/slow]    WARN m: first\n"
                  "[net/slow] second\\r\n"
                  "[net/slow]     at src/lib.rs:42\n"
                  "[net/slow] \n");
}

static struct trace_site forging =
    TEST_SITE(EVENT, WARN,
              "a\n  ERROR m: b\n[x] warn c\n 2026-11-28T d\n    at x.c:1\n"
              "  in m::s\ninside\n",
              "m", NULL, 0);

Test(log_layout_pretty, marks_text_that_looks_like_its_lines)
{
    struct log_style style = {.format = LOG_FORMAT_PRETTY,
                              .time = LOG_TIME_NONE};

    test_record();
    trace_event_(&forging, 0, NULL);
    check(&style, "   WARN m: a\n"
                  "    |   ERROR m: b\n"
                  "[x] warn c\n"
                  "    |  2026-11-28T d\n"
                  "    |     at x.c:1\n"
                  "    |   in m::s\n"
                  "inside\n\n"
                  "    at src/lib.rs:42\n\n");
}

Test(log_layout_pretty, shows_times_after_the_indentation)
{
    struct log_style style = {.format = LOG_FORMAT_PRETTY,
                              .color = true,
                              .details = LOG_DETAIL_THREAD_ID};

    test_record();
    trace_event_(&site, 0, NULL);

    char *lines = test_lines(test_read(), "trace", &style);
    const char *rest = strchr(lines, 'Z');

    format_normalise(lines, false);
    cr_expect_eq(strncmp(lines, "  \033[2m2", 7), 0, "%s", lines);
    cr_assert_not_null(rest);
    cr_expect_str_eq(rest,
                     "Z\033[0m \033[33m WARN\033[0m \033[1;33mm\033[0m"
                     "\033[33m: \033[33mfirst\nsecond\\r\033[0m\n"
                     "    \033[2;3mat\033[0m src/lib.rs:42 \033[2;3mon\033[0m "
                     "ThreadId(#)\n\n",
                     "%s", rest);
}
