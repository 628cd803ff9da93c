/* log_layout_compact_test.c: writes lines as tracing-subscriber's compact
 * format does.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/support/formats.h"

TestSuite(log_layout_compact, .init = test_folder);

Test(log_layout_compact, matches_upstream_lines)
{
    struct log_style style = {.format = LOG_FORMAT_COMPACT,
                              .time = LOG_TIME_NONE};

    cr_expect_eq(format_check("formats/cases.tsv", "compact.expected", &style,
                              format_text),
                 8);
}

Test(log_layout_compact, matches_upstream_colours_and_span_events)
{
    struct log_style style = {.format = LOG_FORMAT_COMPACT, FORMAT_ALL};

    cr_expect_eq(format_check("formats/cases.tsv",
                              "compact-ansi-spanevents.expected", &style,
                              format_colors),
                 8);
}

Test(log_layout_compact, adds_only_escapes_for_colours)
{
    struct log_style style = {.format = LOG_FORMAT_COMPACT,
                              .time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_LINE};

    cr_expect_eq(format_check_plain("formats/cases.tsv", &style), 8);
    cr_expect_eq(format_check_plain("formats/numbers.tsv", &style), 2);
}

Test(log_layout_compact, escapes_newlines_in_every_part_of_a_line)
{
    static const char *const names[] = {"evil\nfield"};
    struct log_style style = {.format = LOG_FORMAT_COMPACT,
                              .time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_FILE};
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

    char *line = test_lines(test_read(), "trace", &style);

    cr_expect_str_eq(line,
                     " INFO s\\np\\x1b[1m: t\\x1b: dir\\n/file.c: "
                     "first\\nsecond evil\\nfield=\"a\\nb\"\n",
                     "%s", line);
}
