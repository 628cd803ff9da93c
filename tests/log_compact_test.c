/* log_compact_test.c: lines look as tracing-subscriber's compact ones. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "formats.h"

TestSuite(log_compact, .init = test_folder);

/* A line stays a line: what would break it is escaped, in a text that is shown
 * as it is too. */
#define NEWLINES                                                               \
    {7, "\\x7f\nnew", "\\x7f\\nnew"},                                          \
    {                                                                          \
        7, "raw\033[31m\nline", "raw\\x1b[31m\\nline"                          \
    }

static const struct format_deviation deviations[] = {
    /* What is recorded again replaces. */
    {5, "late=5 late=6", "late=6"},
    NEWLINES,
    /* "r#" and the hidden fields "log.*" are Rust's. */
    {8, " type=1 ", " r#type=1 log.x=1 "},
    {0},
};

#define NAME(name) "\033[3m" name "\033[0m\033[2m=\033[0m"

static const struct format_deviation color_deviations[] = {
    {5, NAME("late") "5 " NAME("late") "6", NAME("late") "6"},
    NEWLINES,
    {8, NAME("type") "1 ", NAME("r#type") "1 " NAME("log.x") "1 "},
    {0},
};

Test(log_compact, lines_are_those_of_upstream)
{
    struct log_style style = {.format = LOG_FORMAT_COMPACT,
                              .time = LOG_TIME_NONE};

    cr_expect_eq(format_check("formats/cases.tsv", "compact.expected", &style,
                              deviations),
                 8);
}

Test(log_compact, colours_and_lines_of_spans_are_those_of_upstream)
{
    struct log_style style = {.format = LOG_FORMAT_COMPACT, FORMAT_ALL};

    cr_expect_eq(format_check("formats/cases.tsv",
                              "compact-ansi-spanevents.expected", &style,
                              color_deviations),
                 8);
}

Test(log_compact, colours_change_nothing_else)
{
    struct log_style style = {
        .format = LOG_FORMAT_COMPACT, .time = LOG_TIME_NONE, .line = true};

    cr_expect_eq(format_check_plain("formats/cases.tsv", &style), 8);
    cr_expect_eq(format_check_plain("formats/numbers.tsv", &style), 2);
}

Test(log_compact, nothing_breaks_a_line)
{
    static const char *const names[] = {"evil\nfield"};
    struct log_style style = {
        .format = LOG_FORMAT_COMPACT, .time = LOG_TIME_NONE, .file = true};
    struct trace_site span =
        TEST_SITE(SPAN, INFO, "s\np\033[1m", "t\n", names, 1);
    struct trace_site event =
        TEST_SITE(EVENT, INFO, "first\nsecond", "t\033", NULL, 0);
    struct trace_value value = trace_text_("a\nb");

    event.file = "dir\n/file.c";
    test_record();

    struct trace_span_ref ref = trace_span_open_(&span, 1, &value);

    trace_event_(&event, 0, NULL);
    trace_span_leave_(ref);

    struct trace_reader *reader = test_read();
    char *line = test_lines(reader, "trace", &style);

    cr_expect_str_eq(line,
                     " INFO s\\np\\x1b[1m: t\\x1b: dir\\n/file.c: "
                     "first\\nsecond evil\\nfield=\"a\\nb\"\n",
                     "%s", line);
    free(line);
    trace_reader_close(reader);
}
