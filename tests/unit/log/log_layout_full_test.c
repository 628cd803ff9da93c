/* log_layout_full_test.c: writes lines as tracing-subscriber's full format
 * does. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "tests/support/formats.h"

TestSuite(log_layout_full, .init = test_folder);

/* ---- Recorded answers ---- */

/* Display text is written unchanged, except that characters that would break a
 * line are escaped. */
static const struct format_deviation number_deviations[] = {
    {2, " \x02\x01\r", " \\0\\x01\\r"},
    {0},
};

Test(log_layout_full, matches_upstream_lines)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    cr_expect_eq(
        format_check("formats/cases.tsv", "full.expected", &style, format_text),
        8);
}

Test(log_layout_full, matches_upstream_numbers_and_escapes)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    cr_expect_eq(format_check("formats/numbers.tsv", "numbers-full.expected",
                              &style, number_deviations),
                 2);
}

Test(log_layout_full, matches_upstream_colours_and_span_events)
{
    struct log_style style = {FORMAT_ALL};

    cr_expect_eq(format_check("formats/cases.tsv",
                              "full-ansi-spanevents.expected", &style,
                              format_colors),
                 8);
}

Test(log_layout_full, adds_only_escapes_for_colours)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    cr_expect_eq(format_check_plain("formats/cases.tsv", &style), 8);
    cr_expect_eq(format_check_plain("formats/numbers.tsv", &style), 2);
}

/* ---- Times ---- */

static struct trace_site plain_site =
    TEST_SITE(EVENT, WARN, "hello", "m", NULL, 0);

/* Returns the line of an event `ns` after an origin at `wall`. */
static char *line_at(uint64_t wall, uint64_t ns, const struct log_style *style)
{
    struct trace_options options = {.origin = trace_anchor_now()};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;

    options.origin.wall = wall;
    plain_site.id = 0;
    remove(test_path("recording"));
    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
    trace_event_(&plain_site, 0, NULL);

    struct trace_reader *reader = test_read();

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "hello", &entry));
    entry.time = ns;
    cr_assert(log_line(replay, style, reader, &entry, &text));
    log_replay_free(replay);
    log_filter_free(filter);
    return text.data;
}

Test(log_layout_full, shows_times_as_utc_uptime_or_none)
{
    static const struct {
        enum log_time time;
        uint64_t wall, ns;
        const char *line;
    } rows[] = {
        {LOG_TIME_UTC, UINT64_C(1795226184269717999), 0,
         "2026-11-21T01:56:24.269717Z  WARN m: hello\n"},
        {LOG_TIME_UTC, 0, 0, "1970-01-01T00:00:00.000000Z  WARN m: hello\n"},
        {LOG_TIME_UTC, UINT64_C(951782399999999000), 1001,
         "2000-02-29T00:00:00.000000Z  WARN m: hello\n"},
        {LOG_TIME_UTC, 1, UINT64_C(999999998),
         "1970-01-01T00:00:00.999999Z  WARN m: hello\n"},
        {LOG_TIME_UPTIME, 7, 123456, "   0.000123456s  WARN m: hello\n"},
        {LOG_TIME_UPTIME, 7, UINT64_C(9999999999999),
         "9999.999999999s  WARN m: hello\n"},
        {LOG_TIME_UPTIME, 7, UINT64_C(12345000000000),
         "12345.000000000s  WARN m: hello\n"},
        {LOG_TIME_NONE, 7, 7, " WARN m: hello\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_style style = {.time = rows[i].time};
        char *line = line_at(rows[i].wall, rows[i].ns, &style);

        cr_expect_str_eq(line, rows[i].line, "%s", line);
        free(line);
    }
}

Test(log_layout_full, applies_the_style_to_the_line_s_prefix)
{
    static const struct {
        struct log_style style;
        const char *line;
    } rows[] = {
        {{.time = LOG_TIME_NONE, .test = "net/slow"},
         "[net/slow]  WARN m: hello\n"},
        {{.time = LOG_TIME_NONE, .details = LOG_DETAIL_FILE},
         " WARN m: src/lib.rs: hello\n"},
        {{.time = LOG_TIME_NONE, .details = LOG_DETAIL_LINE},
         " WARN m: 42: hello\n"},
        {{.time = LOG_TIME_NONE, .details = LOG_DETAIL_FILE | LOG_DETAIL_LINE},
         " WARN m: src/lib.rs:42: hello\n"},
        {{.time = LOG_TIME_NONE, .details = LOG_DETAIL_THREAD_NAME},
         " WARN a\\x1bb m: hello\n"},
        {{.time = LOG_TIME_NONE, .details = LOG_DETAIL_THREAD_ID},
         " WARN ThreadId(#) m: hello\n"},
        {{.time = LOG_TIME_UPTIME, .color = true},
         "\033[2m   0.000000000s\033[0m \033[33m WARN\033[0m \033[2mm\033[0m"
         "\033[2m:\033[0m hello\n"},
    };

    prctl(PR_SET_NAME, "a\033b");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *line = line_at(0, 0, &rows[i].style);

        format_normalise(line, false);
        cr_expect_str_eq(line, rows[i].line, "%s", line);
        free(line);
    }
}

static void *say_hello(void *name)
{
    prctl(PR_SET_NAME, name);
    trace_event_(&plain_site, 0, NULL);
    return NULL;
}

Test(log_layout_full, pads_thread_names_to_the_longest_so_far)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_THREAD_NAME};

    plain_site.id = 0;
    test_record();
    test_thread(say_hello, (char[]){"ab"});
    test_thread(say_hello, (char[]){"abcd"});
    test_thread(say_hello, (char[]){"c"});

    char *lines = test_lines(test_read(), "trace", &style);

    cr_expect_str_eq(lines,
                     " WARN ab m: hello\n WARN abcd m: hello\n"
                     " WARN    c m: hello\n",
                     "%s", lines);
}

/* ---- Names with unusual characters ---- */

Test(log_layout_full, escapes_newlines_in_every_part_of_a_line)
{
    static const char *const names[] = {"evil\nfield"};
    struct trace_site span =
        TEST_SITE(SPAN, INFO, "s\np\033[1m", "t\n", NULL, 0);
    struct trace_site event =
        TEST_SITE(EVENT, INFO, "first\nsecond", "t\033", names, 1);
    struct trace_value value = trace_text_("a\nb");

    event.file = "dir\n/file.c";
    test_record();

    struct trace_span_ref ref = trace_span_open_(&span, 0, NULL);

    trace_event_(&event, 1, &value);
    trace_span_leave_(ref);

    struct log_style style = {.time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_FILE};
    char *line = test_lines(test_read(), "trace", &style);

    cr_expect_str_eq(line,
                     " INFO s\\np\\x1b[1m: t\\x1b: dir\\n/file.c: "
                     "first\\nsecond evil\\nfield=\"a\\nb\"\n",
                     "%s", line);
}
