/* trace_entry_test.c: records as entries, and ticks as times. */
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(trace_entry);

/* ---- Times ---- */

static struct trace_reader reader;

static void set_clock(enum trace_clock clock, uint64_t ticks, uint64_t ns)
{
    reader.header.clock = clock;
    reader.header.origin = (struct trace_anchor){.ticks = 1000};
    trace_reader_set_end(
        &reader, (struct trace_anchor){.ticks = 1000 + ticks, .monotonic = ns});
}

Test(trace_entry, converts_ticks_by_the_rate_of_two_anchors)
{
    set_clock(TRACE_CLOCK_COUNTER, 4000, 1000);
    cr_expect_eq(trace_reader_time(&reader, 1000), 0);
    cr_expect_eq(trace_reader_time(&reader, 1400), 100);
    cr_expect_eq(trace_reader_time(&reader, 9000), 2000);
    cr_expect_eq(trace_reader_time(&reader, 10), 0, "before the origin");
}

Test(trace_entry, takes_ticks_of_the_monotonic_clock_as_ns)
{
    set_clock(TRACE_CLOCK_MONOTONIC, 4000, 1000);
    cr_expect_eq(trace_reader_time(&reader, 1400), 400);
}

/* A damaged header may have any anchors. */
Test(trace_entry, takes_ticks_without_a_plausible_rate_as_ns)
{
    set_clock(TRACE_CLOCK_COUNTER, 4000, 0);
    cr_expect_eq(trace_reader_time(&reader, 1400), 400);
    set_clock(TRACE_CLOCK_COUNTER, 4000, UINT64_MAX);
    cr_expect_eq(trace_reader_time(&reader, 1400), 400);
    set_clock(TRACE_CLOCK_COUNTER, (uint64_t)-500, 1000);
    cr_expect_eq(trace_reader_time(&reader, 1400), 400);
}

Test(trace_entry, keeps_times_below_a_limit)
{
    set_clock(TRACE_CLOCK_COUNTER, 1, 100);
    cr_expect_leq(trace_reader_time(&reader, UINT64_MAX), INT64_MAX);
    set_clock(TRACE_CLOCK_COUNTER, 1, 1000000);
    cr_expect_leq(trace_reader_time(&reader, UINT64_MAX), INT64_MAX);
}

/* ---- Records ---- */

enum { FIRST = TRACE_FIRST_PLACE, RECORDS = 8 };

static struct trace_record records[FIRST + RECORDS];

static void begin(void)
{
    reader = (struct trace_reader){.base = (const unsigned char *)records,
                                   .size = sizeof(records)};
}

TestSuite(trace_entry_records, .init = begin);

static struct trace_record *add(uint32_t at, enum trace_kind kind,
                                uint32_t span)
{
    records[FIRST + at] = (struct trace_record){
        .time = 100 + at, .kind = (uint8_t)kind, .span = span, .slots = 1};
    return &records[FIRST + at];
}

Test(trace_entry_records, finds_finished_records_inside_the_file)
{
    add(0, TRACE_KIND_EVENT, 0);
    add(1, TRACE_KIND_EVENT, 0)->time = 0;
    add(2, TRACE_KIND_EVENT, 0)->slots = 0;
    add(RECORDS - 1, TRACE_KIND_EVENT, 0)->slots = 2;
    cr_expect_eq(trace_reader_record(&reader, FIRST), &records[FIRST]);
    cr_expect_null(trace_reader_record(&reader, FIRST + 1), "unfinished");
    cr_expect_null(trace_reader_record(&reader, FIRST + 2), "empty");
    cr_expect_null(trace_reader_record(&reader, FIRST + RECORDS - 1),
                   "beyond the end");
    cr_expect_null(trace_reader_record(&reader, FIRST - 1), "the header");
    cr_expect_null(trace_reader_record(&reader, UINT32_MAX));
}

static struct trace_entry entry_at(uint32_t at)
{
    static const struct trace_thread thread = {.name = "main"};
    struct trace_entry entry;

    cr_assert(trace_reader_entry(&reader, FIRST + at, &thread, &entry));
    return entry;
}

Test(trace_entry_records, describes_each_kind)
{
    add(0, TRACE_KIND_SPAN, 0)->end = 900;
    add(1, TRACE_KIND_SPAN, FIRST)->flags = TRACE_FLAG_NOT_ENTERED;
    add(2, TRACE_KIND_ENTER, FIRST);
    add(3, TRACE_KIND_CLOSE, FIRST);
    add(4, TRACE_KIND_COUNTER, FIRST + 1);

    struct trace_entry span = entry_at(0), child = entry_at(1);

    cr_expect_eq(span.kind, TRACE_ENTRY_SPAN);
    cr_expect(span.entered);
    cr_expect_eq(span.id, FIRST);
    cr_expect_eq(span.end, 900);
    cr_expect_str_eq(span.site->name, "?", "its call site is unknown");
    cr_expect_eq(child.span, FIRST);
    cr_expect_not(child.entered);
    cr_expect_eq(child.end, UINT64_MAX, "it is open");
    cr_expect_eq(entry_at(2).kind, TRACE_ENTRY_ENTER);
    cr_expect_eq(entry_at(3).kind, TRACE_ENTRY_CLOSE);
    cr_expect_eq(entry_at(4).kind, TRACE_ENTRY_EVENT);
    cr_expect_eq(entry_at(4).span, FIRST + 1);
}

Test(trace_entry_records, skips_kinds_without_an_entry)
{
    struct trace_thread thread = {.name = ""};
    struct trace_entry entry;

    add(0, TRACE_KIND_META, 0);
    add(1, (enum trace_kind)200, 0);
    for (uint32_t at = 0; at < 2; at++)
        cr_expect_not(trace_reader_entry(&reader, FIRST + at, &thread, &entry));
}

/* A damaged recording may have any places: a chain of parents must end. */
Test(trace_entry_records, accepts_only_an_earlier_span_as_parent)
{
    add(0, TRACE_KIND_SPAN, FIRST + 1);
    add(1, TRACE_KIND_SPAN, FIRST + 1);
    add(2, TRACE_KIND_SPAN, FIRST + 3);
    add(3, TRACE_KIND_EVENT, 7);
    cr_expect_eq(entry_at(0).span, 0, "a later one");
    cr_expect_eq(entry_at(1).span, 0, "itself");
    cr_expect_eq(entry_at(2).span, 0, "an event");
    cr_expect_eq(entry_at(3).span, 0, "none");
}

/* Without its place, an activity cannot be described. */
Test(trace_entry_records, refuses_a_damaged_activity)
{
    struct trace_thread thread = {.name = ""};
    struct trace_activity_place place;
    struct trace_values values;
    struct trace_entry entry;

    add(0, TRACE_KIND_DEVICE, 0);
    cr_expect_not(trace_reader_activity(&records[FIRST], &values, &place));
    cr_expect_not(trace_reader_entry(&reader, FIRST, &thread, &entry));
}
