/* log_replay_test.c: shows and records what EnvFilter would. */
#include "tests/support/cases.h"

#include "log/filter/filter.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(log_replay, .init = test_folder);

/* ---- Recorded answers ---- */

/* The answer to a row: "RESULT SPANBITS HINT". */
struct answer {
    bool shown;
    char bits[CASE_SPANS + 1];
    const char *hint;
};

static void expect(const struct case_row *row, const struct test_cases *answer,
                   const struct answer *found)
{
    case_expect(row, answer, found->shown, row->span_count ? found->bits : "-",
                found->hint);
}

/* ---- Replay ---- */

enum { ROWS = 500 }; /* in one recording */

/* Separates the calls of one row from the next. */
static struct trace_site border =
    TEST_SITE(EVENT, INFO, "border", "border", NULL, 0);

/* Replays the entries of a row. */
static void replay_row(struct trace_reader *reader, const struct case_row *row,
                       const struct log_filter *filter, struct answer *found)
{
    struct log_replay *replay = log_replay_new(filter);
    struct trace_entry entry;
    size_t spans = 0;

    cr_assert_not_null(replay);
    while (trace_reader_next(reader, &entry) &&
           strcmp(entry.site->target, "border") != 0) {
        bool shown = log_replay_step(replay, reader, &entry);

        if (entry.kind == TRACE_ENTRY_SPAN) {
            cr_expect_eq(shown, log_replay_shows(replay, &entry));
            found->bits[spans++] = shown ? '1' : '0';
        }
        if (entry.kind == TRACE_ENTRY_EVENT)
            found->shown = shown;
    }
    cr_assert_eq(spans, row->span_count);
    log_replay_free(replay);
}

static void check_replayed(struct case_row *rows, size_t count,
                           struct test_cases *answers)
{
    struct trace_reader *reader = test_read();

    for (size_t i = 0; i < count; i++) {
        struct log_filter *filter =
            log_filter_parse(rows[i].filter, "error", "LOG", NULL);
        struct answer found = {.hint =
                                   trace_level_word(log_filter_hint(filter))};

        replay_row(reader, &rows[i], filter, &found);
        cr_assert(test_cases_next(answers));
        expect(&rows[i], answers, &found);
        log_filter_free(filter);
        case_free(&rows[i]);
    }
}

/* Records many rows in each recording, and checks what is shown of each. */
static size_t replay_file(const char *cases, const char *expected)
{
    static struct case_row rows[ROWS];
    struct test_cases row, answers;
    size_t count, all = 0;

    test_cases_open(&row, cases);
    test_cases_open(&answers, expected);
    do {
        test_record();
        border.id = 0;
        for (count = 0; count < ROWS && test_cases_next(&row); count++) {
            case_read(&rows[count], &row);
            case_run(&rows[count]);
            trace_event_(&border, 0, NULL);
        }
        check_replayed(rows, count, &answers);
        all += count;
    } while (count == ROWS);
    cr_expect_not(test_cases_next(&answers));
    return all;
}

Test(log_replay, matches_upstream_s_own_cases)
{
    cr_expect_eq(replay_file("filter/upstream.tsv", "filter/upstream.expected"),
                 300);
}

Test(log_replay, matches_upstream_on_random_filters)
{
    cr_expect_eq(replay_file("filter/random.tsv", "filter/random.expected"),
                 4000);
}

/* ---- Recording ---- */

/* What is recorded of a row, counted by a live subscriber. */
static size_t seen_spans, seen_events;

static void listen(const struct trace_reader *reader,
                   const struct trace_entry *entry)
{
    (void)reader;
    seen_spans += entry->kind == TRACE_ENTRY_SPAN;
    seen_events += entry->kind == TRACE_ENTRY_EVENT;
}

/* Begins a recording with a filter, without a file. */
static void record_by(const char *filter)
{
    static struct trace_subscriber listener;
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST};
    struct log_options by = {.show = "off", .record = filter};

    cr_assert_eq(log_subscribe(&by), 0);
    listener = *trace_subscriber;
    listener.live = listen;
    trace_subscribe(&listener);
    cr_assert_eq(trace_open(NULL, &options), 0);
}

/* Records a row with its filter. If no directive shows anything, EnvFilter
 * falls back to "error", but a recording to everything. */
static unsigned record_row(struct case_row *row)
{
    struct log_filter *bare = log_filter_parse(row->filter, NULL, "", NULL);
    struct log_filter *whole = log_filter_parse(row->filter, "error", "", NULL);
    bool falls_back = bare->count != whole->count;
    unsigned hint = log_filter_hint(whole);
    char text[256];

    snprintf(text, sizeof(text), "%s%s", falls_back ? "error," : "",
             row->filter);
    log_filter_free(bare);
    log_filter_free(whole);
    record_by(text);
    seen_spans = seen_events = 0;
    case_run(row);
    trace_close();
    return hint;
}

static void judge_row(struct case_row *row, struct answer *found)
{
    size_t spans = 0;

    found->hint = trace_level_word(record_row(row));
    found->shown = seen_events;
    for (size_t i = 0; i < row->span_count; i++) {
        bool made = row->spans[i].made.place;

        found->bits[i] = made ? '1' : '0';
        spans += made;
    }
    cr_expect_eq(seen_spans, spans, "\"%s\": %zu spans", row->filter,
                 seen_spans);
}

static size_t judge_file(const char *cases, const char *expected)
{
    struct test_cases columns, answers;
    size_t count = 0;

    test_cases_open(&columns, cases);
    test_cases_open(&answers, expected);
    for (; test_cases_next(&columns); count++) {
        struct case_row row;
        struct answer found = {.shown = false};

        case_read(&row, &columns);
        judge_row(&row, &found);
        cr_assert(test_cases_next(&answers));
        expect(&row, &answers, &found);
        case_free(&row);
    }
    cr_expect_not(test_cases_next(&answers));
    return count;
}

Test(log_replay, records_what_upstream_s_own_cases_show)
{
    cr_expect_eq(judge_file("filter/upstream.tsv", "filter/upstream.expected"),
                 300);
}

Test(log_replay, records_what_random_filters_show)
{
    cr_expect_eq(judge_file("filter/random.tsv", "filter/random.expected"),
                 4000);
}

/* ---- Many call sites ---- */

/* A tracked span must find its verdict, however many call sites follow. */
Test(log_replay, keeps_verdicts_as_call_sites_are_added)
{
    static const char *const names[] = {"n"};
    static struct trace_site span = TEST_SITE(SPAN, INFO, "s", "m", names, 1);
    static struct trace_site late =
        TEST_SITE(FIELDS, TRACE, NULL, "m", names, 1);
    static struct trace_site events[1000];
    struct trace_value empty = trace_empty(), one = trace_i64_(1);
    struct log_style style = {.time = LOG_TIME_NONE};

    test_folder();
    test_record();

    struct trace_span_ref ref = trace_span_new_(&span, 1, &empty);

    for (int i = 0; i < 1000; i++) {
        events[i] =
            (struct trace_site)TEST_SITE(EVENT, DEBUG, "e", "m", NULL, 0);
        trace_event_(&events[i], 0, NULL);
    }
    trace_record_(ref, &late, 1, &one);

    struct trace_span_ref entered = trace_span_enter_(ref);

    trace_event_(&events[0], 0, NULL);
    trace_span_leave_(entered);

    cr_expect_str_eq(test_lines(test_read(), "off,[s{n=1}]=debug", &style),
                     "DEBUG s{n=1}: m: e\n");
}
