/* log_hidden_test.c: finds the recorded lines that a filter does not show. */
#include "log/filter/filter.h"
#include "trace/read/reader.h"

#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

TestSuite(log_hidden, .init = test_folder);

static struct trace_site info_site =
    TEST_SITE(EVENT, INFO, "shown", "m", NULL, 0);
static struct trace_site debug_site =
    TEST_SITE(EVENT, DEBUG, "hidden", "m", NULL, 0);

/* Records five events, of which the first, third and fourth are at debug. */
static struct trace_reader *five_events(void)
{
    test_record();
    info_site.id = debug_site.id = 0;
    for (int i = 0; i < 5; i++)
        trace_event_(i == 1 || i == 4 ? &info_site : &debug_site, 0, NULL);
    return test_read();
}

static void expect_style(const struct log_style *style, const char *show,
                         size_t most, size_t left_out, const char *lines)
{
    struct log_filter *filter = log_filter_parse(show, "info", "", NULL);
    struct trace_reader *reader = five_events();
    struct trace_text text = {0};

    cr_expect_eq(log_add_hidden(filter, style, reader, most, &text), left_out);
    cr_expect_str_eq(text.data ? text.data : "", lines);
    trace_text_free(&text);
    log_filter_free(filter);
}

static void expect_hidden(const char *show, size_t most, size_t left_out,
                          const char *lines)
{
    const struct log_style style = {.time = LOG_TIME_NONE};

    expect_style(&style, show, most, left_out, lines);
}

Test(log_hidden, adds_lines_below_the_filter)
{
    expect_hidden("off", 9, 0,
                  "DEBUG m: hidden\n INFO m: shown\n"
                  "DEBUG m: hidden (2 times)\n INFO m: shown\n");
}

Test(log_hidden, prints_repeated_lines_once)
{
    expect_hidden("info", 9, 0, "DEBUG m: hidden (3 times)\n");
    expect_hidden("info", 1, 0, "DEBUG m: hidden (3 times)\n");
}

Test(log_hidden, adds_only_the_last_lines)
{
    expect_hidden("off", 1, 4, " INFO m: shown\n");
    expect_hidden("off", 2, 2, "DEBUG m: hidden (2 times)\n INFO m: shown\n");
}

Test(log_hidden, counts_without_adding)
{
    expect_hidden("info", 0, 3, "");
}

Test(log_hidden, adds_nothing_if_the_filter_shows_all)
{
    expect_hidden("trace", 9, 0, "");
}

Test(log_hidden, keeps_each_JSON_line)
{
    const struct log_style style = {.time = LOG_TIME_NONE,
                                    .format = LOG_FORMAT_JSON};
    static const char line[] = "{\"level\":\"DEBUG\",\"fields\":{\"message\":"
                               "\"hidden\"},\"target\":\"m\"}\n";
    struct trace_text lines = {0};

    for (int i = 0; i < 3; i++)
        trace_text_string(&lines, line);
    expect_style(&style, "info", 9, 0, lines.data);
    trace_text_free(&lines);
}

Test(log_hidden, prints_the_number_behind_the_message_of_a_pretty_line)
{
    const struct log_style style = {.time = LOG_TIME_NONE,
                                    .format = LOG_FORMAT_PRETTY};

    expect_style(&style, "info", 9, 0,
                 "  DEBUG m: hidden (3 times)\n    at src/lib.rs:42\n\n");
}

Test(log_hidden, prints_the_first_time_of_repeated_lines)
{
    const struct log_style style = {.time = LOG_TIME_UTC};
    struct log_filter *filter = log_filter_parse("info", "info", "", NULL);
    struct trace_reader *reader = five_events();
    struct trace_text text = {0};
    char first[512] = "";
    FILE *all = fmemopen(first, sizeof(first), "w");

    log_add_hidden(filter, &style, reader, 9, &text);
    log_filter_free(filter);
    filter = log_filter_parse("trace", "info", "", NULL);
    log_write_all(filter, &style, reader, all);
    fclose(all);
    cr_assert(text.size > 27);
    cr_expect_arr_eq(text.data, first, 27);
    trace_text_free(&text);
    log_filter_free(filter);
}

static void expect_mixed(const struct log_style *style, size_t most,
                         size_t left_out, const char *lines)
{
    const size_t room = 4096;
    size_t dropped;
    struct log_filter *filter = log_filter_parse("info", "info", "", NULL);
    struct trace_text text = {0};

    cr_expect_eq(log_add_with_hidden(filter, style, five_events(), most, room,
                                     &dropped, &text),
                 left_out);
    cr_expect_str_eq(text.data ? text.data : "", lines);
    trace_text_free(&text);
    log_filter_free(filter);
}

Test(log_hidden, marks_lines_among_those_that_are_shown)
{
    const struct log_style plain = {.time = LOG_TIME_NONE};
    const struct log_style color = {.time = LOG_TIME_NONE, .color = true};

    expect_mixed(&plain, 9, 0,
                 "~ DEBUG m: hidden\n   INFO m: shown\n"
                 "~ DEBUG m: hidden (2 times)\n   INFO m: shown\n");
    expect_mixed(&plain, 1, 1,
                 "   INFO m: shown\n~ DEBUG m: hidden (2 times)\n"
                 "   INFO m: shown\n");
    expect_mixed(&plain, 0, 3, " INFO m: shown\n INFO m: shown\n");
    expect_mixed(&color, 1, 1,
                 "  \033[32m INFO\033[0m \033[2mm\033[0m\033[2m:\033[0m "
                 "shown\n\033[2m~ DEBUG m: hidden (2 times)\033[0m\n"
                 "  \033[32m INFO\033[0m \033[2mm\033[0m\033[2m:\033[0m "
                 "shown\n");
}

/* The date comes again when it changes. */
Test(log_hidden, has_the_date_once)
{
    const struct log_style utc = {.time = LOG_TIME_UTC};
    struct log_filter *filter = log_filter_parse("trace", "info", "", NULL);
    struct trace_text text = {0};
    const char *line;
    size_t dates = 0, lines = 0, dropped;

    log_add_with_hidden(filter, &utc, five_events(), 9, 4096, &dropped, &text);
    for (line = text.data; line && *line; line = strchr(line, '\n') + 1) {
        dates += line[4] == '-' && line[10] == 'T';
        lines++;
    }
    cr_expect_eq(lines, 5);
    cr_expect(dates == 1 || dates == 2, "%s", text.data);
    trace_text_free(&text);
    log_filter_free(filter);
}

/* Only the end of a long log is there. */
Test(log_hidden, drops_the_first_of_many_lines)
{
    const struct log_style plain = {.time = LOG_TIME_NONE};
    struct log_filter *filter = log_filter_parse("info", "info", "", NULL);
    struct trace_text text = {0};
    size_t dropped;

    log_add_with_hidden(filter, &plain, five_events(), 9, 4, &dropped, &text);
    cr_expect_eq(dropped, sizeof("DEBUG m: hidden\n INFO m: shown\n"
                                 "DEBUG m: hidden\n") -
                              1);
    cr_expect_str_eq(text.data, " INFO m: shown\n");
    trace_text_free(&text);
    log_filter_free(filter);
}
