/* trace_phases_test.c: the phases of a test, and the zero of its time. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "tests/support/support.h"

#include "trace/read/reader.h"

TestSuite(trace_phases, .init = test_folder);

static struct trace_site span_site =
    TEST_SITE(SPAN, INFO, "span", "m", NULL, 0);

static struct trace_span_ref open_span(void)
{
    return trace_span_open_(&span_site, 0, NULL);
}

static void record_span(void)
{
    trace_span_leave_(open_span());
}

static uint64_t time_of(struct trace_reader *reader, size_t number)
{
    struct trace_entry entry = {.time = 0};

    trace_reader_rewind(reader);
    for (size_t i = 0; i <= number; i++)
        cr_assert(trace_reader_next(reader, &entry));
    return entry.time;
}

static uint64_t zero_of(struct trace_reader *reader, uint64_t began,
                        uint64_t duration)
{
    return trace_reader_zero(reader, (struct trace_noted){began, duration});
}

/* ---- Recordings with phases ---- */

Test(trace_phases, are_read_in_order)
{
    struct trace_reader *reader;
    struct trace_phases phases;
    const char *name, *value;
    size_t cursor = 0;

    test_record();
    for (int i = TRACE_PHASE_SETUP; i < TRACE_PHASE_COUNT; i++) {
        trace_phase_begin((enum trace_phase)i);
        record_span();
    }
    reader = test_read();
    phases = trace_reader_phases(reader);
    cr_expect_gt(phases.setup, 0);
    cr_expect_gt(time_of(reader, 0), phases.setup);
    cr_expect_gt(phases.body, time_of(reader, 0));
    cr_expect_gt(phases.teardown, phases.body);
    cr_expect_gt(phases.end, phases.teardown);
    cr_expect_eq(zero_of(reader, 1, 1), phases.body);
    cr_expect_not(trace_reader_metas(reader, &cursor, &name, &value));
}

Test(trace_phases, count_when_they_are_noted_first)
{
    struct trace_reader *reader;
    struct trace_phases phases;

    test_record();
    trace_phase_begin(TRACE_PHASE_TEARDOWN);
    record_span();
    trace_phase_begin(TRACE_PHASE_TEARDOWN);
    reader = test_read();
    phases = trace_reader_phases(reader);
    cr_expect_lt(phases.teardown, time_of(reader, 0));
}

Test(trace_phases, may_end_with_the_setup)
{
    struct trace_reader *reader;
    struct trace_phases phases;

    test_record();
    record_span();
    trace_phase_begin(TRACE_PHASE_SETUP);
    reader = test_read();
    phases = trace_reader_phases(reader);
    cr_expect_gt(phases.setup, 0);
    cr_expect_eq(phases.body, 0);
    cr_expect_eq(zero_of(reader, 1, 1), phases.setup);
}

Test(trace_phases, are_noted_only_in_a_recording)
{
    trace_phase_begin(TRACE_PHASE_BODY);
    test_record();
    trace_close();
    trace_phase_begin(TRACE_PHASE_BODY);

    cr_expect_eq(trace_reader_phases(test_open()).body, 0);
}

Test(trace_phases, lose_no_record_without_space)
{
    test_record_limit(TRACE_LIMIT_LEAST);

    struct trace_reader *reader;
    uint64_t lost;

    for (int i = 0; i < 1 << 14; i++)
        record_span();
    reader = trace_reader_open_own();
    cr_assert(reader);
    lost = trace_reader_summary(reader).dropped;
    cr_expect_gt(lost, 0);
    trace_reader_close(reader);
    for (int i = 0; i < 1 << 10; i++)
        trace_phase_begin(TRACE_PHASE_BODY);
    reader = test_read();
    cr_expect_eq(trace_reader_summary(reader).dropped, lost);
    cr_expect_gt(trace_reader_phases(reader).body, 0);
}

/* ---- Estimates ---- */

static void *record_in_thread(void *unused)
{
    record_span();
    return unused;
}

/* Two spans of the main thread, and a later one of another thread. */
static struct trace_reader *record_threads(void)
{
    pthread_t thread;

    test_record();
    record_span();
    record_span();
    cr_assert_eq(pthread_create(&thread, NULL, record_in_thread, NULL), 0);
    pthread_join(thread, NULL);
    return test_read();
}

/* Returns the end of the main thread's second span. */
static uint64_t last_of_main(struct trace_reader *reader)
{
    struct trace_entry entry;

    trace_reader_rewind(reader);
    for (int i = 0; i < 3; i++)
        cr_assert(trace_reader_next(reader, &entry));
    cr_assert_eq(entry.kind, TRACE_ENTRY_SPAN);
    return entry.end;
}

Test(trace_phases, are_estimated_by_the_first_record)
{
    struct trace_reader *reader = record_threads();
    uint64_t first = time_of(reader, 0);

    cr_expect_eq(zero_of(reader, 0, 0), first);
    cr_expect_eq(zero_of(reader, 0, UINT64_MAX), first);
    cr_expect_eq(zero_of(reader, UINT64_MAX, 1), first);
    cr_expect_eq(time_of(reader, 0), first, "it is rewound");
}

Test(trace_phases, are_estimated_by_what_the_runner_noted)
{
    struct trace_reader *reader = record_threads();
    uint64_t first = time_of(reader, 0), last = last_of_main(reader);

    cr_assert_gt(first, 2);
    cr_expect_eq(zero_of(reader, first - 1, last), first - 2);
    cr_expect_eq(zero_of(reader, 1, last - first + 1), first - 1);
}

Test(trace_phases, are_estimated_without_records)
{
    test_record();

    struct trace_reader *reader = test_read();

    cr_expect_eq(zero_of(reader, 0, 0), 0);
    cr_expect_eq(zero_of(reader, 8, 5), 7);
}
