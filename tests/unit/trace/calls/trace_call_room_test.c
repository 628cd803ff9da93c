/* trace_call_room_test.c: the space of calls, and calls at its limits. The file
 * is built with functions_cflags.
 */
#include "tests/support/calls.h"

#include "trace/calls/calls.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(trace_call_room, .init = test_folder);

static volatile int sink;

static void leaf(void)
{
    sink++;
}

static void call_often(size_t count)
{
    for (size_t i = 0; i < count; i++)
        leaf();
}

/* ---- Times ---- */

static void make_times_distant(void)
{
    leaf();
    trace_calls.base -= UINT64_C(1) << 32; /* as if it had begun so long ago */
    leaf();
}

Test(trace_call_room, begins_a_record_for_a_start_that_does_not_fit)
{
    struct trace_reader *reader;
    struct trace_entry first, second;

    test_record_calls(TRACE_LIMIT_LEAST);
    make_times_distant();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 2);
    cr_assert_eq(trace_reader_rewind(reader), 0);
    do
        cr_assert(trace_reader_next(reader, &first));
    while (strcmp(first.site->name, "leaf"));
    do
        cr_assert(trace_reader_next(reader, &second));
    while (second.kind != TRACE_ENTRY_SPAN);
    cr_expect_gt(second.time, first.time);
    cr_expect_lt(second.time - first.time, UINT64_C(1000000000));
}

enum { SHORT, LONGEST, LONG };

static uint64_t began;

static void last(int how)
{
    uint64_t longest = UINT32_MAX;

    leaf();
    began = trace_calls.top->start;
    if (how == LONGEST)
        trace_calls.top->start = trace_clock_now() - longest + 1000000;
    if (how == LONG)
        trace_calls.top->start -= 3 * longest;
}

static uint64_t ticks_of(int how)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    test_record_calls(TRACE_LIMIT_LEAST);
    trace_recording.header->clock = TRACE_CLOCK_MONOTONIC; /* ticks are ns */
    last(how);
    leaf();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 2);
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "last", &entry));
    cr_assert_neq(entry.end, UINT64_MAX);
    unlink(test_path("recording"));
    return entry.end - entry.time;
}

Test(trace_call_room, records_calls_of_any_duration)
{
    cr_expect_lt(ticks_of(SHORT), UINT32_MAX / 2);
    cr_expect_gt(ticks_of(LONGEST), UINT32_MAX - UINT32_C(2000000));
    /* The entry's start is not the one that was changed. */
    cr_expect_eq(ticks_of(LONG), UINT32_MAX);
}

static void end_long_call(void)
{
    struct trace_frame *top = trace_calls.top;
    uint64_t longer = UINT64_C(5) << 32;

    /* As if it had begun so long ago: the record, and the call. */
    trace_calls.record->time -= longer;
    trace_calls.base -= longer;
    top->start -= longer;
}

Test(trace_call_room, records_the_end_of_a_long_call)
{
    struct trace_entry entry;

    test_record_calls(TRACE_LIMIT_LEAST);
    trace_recording.header->clock = TRACE_CLOCK_MONOTONIC;
    trace_recording.header->origin.ticks = 0;
    end_long_call();
    leaf();
    cr_assert(
        test_find(test_read(), TRACE_ENTRY_SPAN, "end_long_call", &entry));
    cr_expect_geq(entry.end - entry.time, UINT64_C(5) << 32);
    cr_expect_lt(entry.end - entry.time, UINT64_C(6) << 32);
}

/* A call that began long before and ends when calls have no space. */
static void fill_space(void)
{
    struct trace_frame *top = trace_calls.top;
    struct trace_record *first = trace_calls.record;
    uint64_t longer = UINT64_C(5) << 32;

    call_often(2 * TRACE_LIMIT_LEAST / sizeof(struct trace_call_entry));
    cr_assert(trace_calls.full);
    first->time -= longer;
    top->start -= longer;
}

/* Reads the call of fill_space. */
static struct trace_entry read_filling(void)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry;

    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "fill_space", &entry));
    cr_expect_gt(trace_reader_calls_lost(reader), 0);
    return entry;
}

Test(trace_call_room, records_the_end_of_a_long_call_without_space_for_calls)
{
    struct trace_entry entry;

    test_record_calls(TRACE_LIMIT_LEAST);
    trace_recording.header->clock = TRACE_CLOCK_MONOTONIC;
    trace_recording.header->origin.ticks = 0;
    fill_space();
    entry = read_filling();
    cr_expect_geq(entry.end - entry.time, UINT64_C(5) << 32);
    cr_expect_lt(entry.end - entry.time, UINT64_C(6) << 32);
}

/* A shorter duration would not be true. */
Test(trace_call_room, leaves_a_long_call_open_without_any_space)
{
    test_record_calls(TRACE_LIMIT_LEAST);
    trace_recording.header->clock = TRACE_CLOCK_MONOTONIC;
    trace_recording.header->origin.ticks = 0;
    for (size_t i = 0; i < TRACE_LIMIT_DEFAULT / TRACE_SLOT_SIZE; i++)
        trace_event(INFO, "fills");
    fill_space();
    cr_expect_eq(read_filling().end, UINT64_MAX);
}

static void set_clock_ahead(void)
{
    trace_writer.last += UINT64_C(1) << 60;
    leaf();
}

/* The clock steps back: every stamp is the last one's and 1. */
Test(trace_call_room, counts_a_call_of_no_ticks_as_one)
{
    struct trace_entry entry;

    test_record_calls(TRACE_LIMIT_LEAST);
    trace_recording.header->clock = TRACE_CLOCK_MONOTONIC;
    set_clock_ahead();
    cr_assert(test_find(test_read(), TRACE_ENTRY_SPAN, "leaf", &entry));
    cr_expect_eq(entry.end - entry.time, 1);
}

/* ---- Space ---- */

enum { MANY = 50000 };

Test(trace_call_room, takes_more_space_when_a_range_is_full)
{
    struct trace_reader *reader;

    test_record_calls(TRACE_LIMIT_LEAST * 64);
    call_often(MANY);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), MANY);
    cr_expect_eq(trace_reader_calls_lost(reader), 0);
}

static uint64_t counted(struct trace_reader *reader, const char *name)
{
    const struct trace_site *site;
    uint64_t count, sum = 0;
    size_t cursor = 0;

    while (trace_reader_call_counts(reader, &cursor, &site, &count))
        if (!strcmp(site->name, name))
            sum += count;
    return sum;
}

Test(trace_call_room, counts_calls_beyond_the_limit_by_function)
{
    struct trace_reader *reader;
    size_t recorded;

    test_record_calls(TRACE_LIMIT_LEAST);
    call_often(MANY);
    trace_event(INFO, "event");
    reader = test_read();
    recorded = test_count(reader, TRACE_ENTRY_SPAN, "leaf");
    cr_expect_gt(recorded, 8000);
    cr_expect_lt(recorded, MANY);
    cr_expect_eq(counted(reader, "leaf"), MANY - recorded);
    cr_expect_eq(trace_reader_calls_lost(reader), MANY - recorded);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event"), 1);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    cr_expect_not(trace_reader_summary(reader).limit_reached);
}

Test(trace_call_room, leaves_records_their_part_of_the_limit)
{
    struct trace_reader *reader;
    size_t events = 0;

    test_record_calls(TRACE_LIMIT_LEAST);
    call_often(MANY);
    while (!trace_reader_summary(reader = test_read()).dropped) {
        unlink(test_path("recording"));
        test_record_calls(TRACE_LIMIT_LEAST);
        call_often(MANY);
        events += 1000;
        for (size_t i = 0; i < events; i++)
            trace_event(INFO, "event");
    }
    /* 256 KiB of 32 bytes each, four times. */
    cr_expect_gt(test_count(reader, TRACE_ENTRY_EVENT, "event"), 28000);
}

static void *call_in_thread(void *count)
{
    call_often(*(size_t *)count);
    return NULL;
}

Test(trace_call_room, reuses_the_space_of_ended_threads)
{
    struct trace_reader *reader;
    size_t few = 10;

    test_record_calls(TRACE_LIMIT_LEAST);
    for (int i = 0; i < 500; i++)
        test_thread(call_in_thread, &few);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 500 * few);
    cr_expect_eq(trace_reader_calls_lost(reader), 0);
}
