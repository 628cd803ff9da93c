/* log_hidden_test.c: finds the recorded lines that a filter does not show. */
#include "log/internal.h"

#include <criterion/criterion.h>

#include "support.h"

TestSuite(log_hidden, .init = test_folder);

static struct trace_site info_site =
    TEST_SITE(EVENT, INFO, "shown", "m", NULL, 0);
static struct trace_site debug_site =
    TEST_SITE(EVENT, DEBUG, "hidden", "m", NULL, 0);

/* Records five events, of which the first, third and fifth are at debug. */
static struct trace_reader *five_events(void)
{
    test_record();
    info_site.id = debug_site.id = 0;
    for (int i = 0; i < 5; i++)
        trace_event_(i % 2 ? &info_site : &debug_site, 0, NULL);
    return test_read();
}

static void expect_hidden(const char *show, size_t most, size_t hidden,
                          const char *lines)
{
    const struct log_style style = {.time = LOG_TIME_NONE};
    struct log_filter *filter = log_filter_parse(show, "info", "", NULL);
    struct trace_reader *reader = five_events();
    struct trace_text text = {0};

    cr_expect_eq(log_add_hidden(filter, &style, reader, most, &text), hidden);
    cr_expect_str_eq(text.data ? text.data : "", lines);
    trace_text_free(&text);
    trace_reader_close(reader);
    log_filter_free(filter);
}

Test(log_hidden, adds_lines_below_the_filter)
{
    expect_hidden("info", 9, 3,
                  "DEBUG m: hidden\nDEBUG m: hidden\nDEBUG m: hidden\n");
}

Test(log_hidden, adds_only_the_last_lines)
{
    expect_hidden("info", 1, 3, "DEBUG m: hidden\n");
    expect_hidden("off", 2, 5, " INFO m: shown\nDEBUG m: hidden\n");
}

Test(log_hidden, counts_without_adding)
{
    expect_hidden("info", 0, 3, "");
}

Test(log_hidden, adds_nothing_if_the_filter_shows_all)
{
    expect_hidden("trace", 9, 0, "");
}
