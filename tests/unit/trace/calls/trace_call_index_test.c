/* trace_call_index_test.c: reads recordings with calls, also damaged ones. The
 * file is built with functions_cflags.
 */
#include "tests/support/calls.h"

#include "harness/symbols/symbols.h"
#include "trace/format.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(trace_call_index, .init = test_folder);

static volatile int sink;

static void leaf(void)
{
    sink++;
}

static void call_many(int count)
{
    trace_span(INFO, "span");

    for (int i = 0; i < count; i++)
        leaf();
    trace_event(INFO, "event");
}

/* ---- Order ---- */

Test(trace_call_index, sorts_calls_among_spans_and_events)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    uint64_t last = 0;
    size_t entries = 0;

    test_record_calls(TRACE_LIMIT_LEAST);
    call_many(3);
    reader = test_read();
    while (trace_reader_next(reader, &entry)) {
        cr_expect_geq(entry.time, last);
        last = entry.time;
        entries++;
    }
    /* 4 calls and the span with their exits, and the event. */
    cr_expect_eq(entries, 2 * 5 + 1);
}

Test(trace_call_index, finds_a_call_by_its_number)
{
    struct trace_reader *reader;
    struct trace_entry entry, found;

    test_record_calls(TRACE_LIMIT_LEAST);
    call_many(3);
    reader = test_read();
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "leaf", &entry));
    cr_expect(entry.id & TRACE_CALL_ID);
    cr_assert(trace_reader_span(reader, entry.id, &found));
    cr_expect_eq(found.time, entry.time);
    cr_expect_eq(found.site, entry.site);
    cr_expect_not(trace_reader_span(reader, TRACE_CALL_ID, &found));
    cr_expect_not(trace_reader_span(reader, UINT32_MAX, &found));
}

/* ---- Death ---- */

static void die(void)
{
    call_many(1000);
    raise(SIGKILL);
}

static void record_and_die(void)
{
    test_record_calls(TRACE_LIMIT_LEAST);
    die();
}

Test(trace_call_index, keeps_the_calls_of_a_process_that_is_killed)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    test_child(record_and_die);
    test_log_name_functions();
    reader = test_open();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 1000);
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "die", &entry));
    cr_expect_eq(entry.end, UINT64_MAX);
}

/* ---- Damage ---- */

static void read_all(const char *path)
{
    struct trace_reader *reader = trace_reader_open(path);
    struct trace_entry entry;
    const struct trace_site *site;
    uint64_t count;
    size_t cursor = 0;

    if (!reader)
        return;
    while (trace_reader_next(reader, &entry))
        for (uint32_t place = entry.span;
             trace_reader_span(reader, place, &entry);)
            place = entry.span;
    while (trace_reader_call_counts(reader, &cursor, &site, &count))
        ;
    trace_reader_close(reader);
}

static void damage(unsigned char *bytes, size_t size)
{
    for (int i = 0; i < 20; i++) {
        /* Most records are near the beginning. */
        size_t at = test_below(2) ? test_below((uint32_t)size)
                                  : test_below(TRACE_HEADER_SIZE * 8);

        bytes[at < size ? at : 0] = (unsigned char)test_random();
    }
}

Test(trace_call_index, reads_damaged_recordings, .timeout = 60)
{
    unsigned char *bytes, *damaged;
    size_t size;

    test_record_calls(TRACE_LIMIT_LEAST);
    call_many(20000);
    trace_close();
    bytes = (unsigned char *)test_load(test_path("recording"), &size);
    damaged = malloc(size);
    test_seed(29);
    for (int i = 0; i < 60; i++) {
        memcpy(damaged, bytes, size);
        damage(damaged, size);
        test_save(test_path("damaged"), damaged, size);
        read_all(test_path("damaged"));
    }
    free(damaged);
}
