/* log_line_test.c: turns entries into lines. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(log_line, .init = test_begin);

Test(log_line, writes_lines_only_for_events_that_the_filter_shows)
{
    struct log_style style = {.time = LOG_TIME_NONE};
    struct log_filter *filter = log_filter_parse("info", NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;
    size_t lines = 0, entries = 0;

    {
        trace_span(INFO, "span", ("a", 1));
        trace_record(trace_span_current(), ("a", 2));
        trace_event(INFO, "shown");
        trace_event(DEBUG, "hidden");
    }

    struct trace_reader *reader = test_read();

    for (; trace_reader_next(reader, &entry); entries++) {
        bool line = log_line(replay, &style, reader, &entry, &text);

        cr_expect_eq(line, entry.kind == TRACE_ENTRY_EVENT &&
                               entry.site->level <= TRACE_LEVEL_INFO);
        lines += line;
    }
    cr_expect_eq(entries, 5);
    cr_expect_eq(lines, 1);
    cr_expect_str_eq(
        text.data, " INFO span{a=2}: tests::unit::log::log_line_test: shown\n");
    trace_text_free(&text);
    log_replay_free(replay);
    log_filter_free(filter);
}

Test(log_line, writes_and_counts_all_lines)
{
    static const char expected[] =
        "[suite/test]  WARN tests::unit::log::log_line_test: line 0\\nof two\n"
        "[suite/test]  WARN tests::unit::log::log_line_test: line 1\\nof two\n";
    struct log_style style = {.time = LOG_TIME_NONE, .test = "suite/test"};
    struct log_filter *filter = log_filter_parse("warn", NULL, "LOG", NULL);
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    for (int i = 0; i < 2; i++) {
        log_warn("line %d\nof two", i);
        log_info("hidden");
    }

    struct trace_reader *reader = test_read();

    cr_expect_eq(log_write_all(filter, &style, reader, stream), 2);
    cr_expect_eq(log_write_all(filter, &style, reader, stream), 2);
    fclose(stream);
    cr_assert_eq(size, 2 * strlen(expected), "%s", text);
    cr_expect_str_eq(text + strlen(expected), expected, "%s", text);
    free(text);
    log_filter_free(filter);
}

Test(log_line, turns_levels_off_without_a_recording)
{
    cr_expect(log_enabled(ERROR));
    trace_close();
    cr_expect_not(log_enabled(ERROR));
}

Test(log_line, survives_a_lack_of_memory)
{
    struct log_style style = {.time = LOG_TIME_UTC, .color = true};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    FILE *null = fopen("/dev/null", "we");

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_rich();

    struct trace_reader *reader = test_read();

    for (size_t nth = 1; nth < 60; nth++) {
        test_fail_memory(nth, nth % 2);
        log_write_all(filter, &style, reader, null);
        test_fail_memory(0, false);
    }
    fclose(null);
    log_filter_free(filter);
}
