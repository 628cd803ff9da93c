/* growing.c: turns a recording that grows into blocks, each of which adds rows
 * to the tables of those before it. A block has a limited number of rows,
 * because somebody draws them as they come.
 */
#include <stdlib.h>

#include "harness/run/page/growing.h"
#include "harness/run/page/recorded.h"
#include "trace/base/containers.h"
#include "trace/base/text.h"

enum {
    SPANS_MOST =
        200000, /* a second: if there are more, short ones are summed */
    LINES_FIRST = 100000, /* in the first block */
    LINES_MOST = 5000,    /* in another one */
    COUNTERS_MOST = 20000,
    SPANS_KEPT = 1 << 18, /* whose rows are known */
    CALLS_KEPT = 1 << 20,
};

/* A slice whose end is not known. */
struct open {
    uint64_t begin; /* ns */
    uint32_t place; /* of the record that enters */
    uint32_t span;
    uint32_t track, row;
};

struct test_log_growing {
    struct test_log_recorded recorded;
    struct open *open;
    size_t open_count, open_capacity;
    struct trace_table open_at; /* from places to indexes */
    bool some;                  /* there is something for the next block */
};

/* ---- Open slices ---- */

static void note_open(struct test_log_growing *growing,
                      const struct trace_entry *entry, uint32_t row)
{
    size_t count = growing->open_count;

    if (entry->kind == TRACE_ENTRY_SPAN && !entry->entered)
        return;
    if (!TRACE_ARRAY_RESERVE(growing->open, growing->open_capacity,
                             count + 1) ||
        !trace_table_set(&growing->open_at, entry->place, count))
        return;
    growing->open[growing->open_count++] = (struct open){
        .begin = entry->time,
        .place = entry->place,
        .span = entry->kind == TRACE_ENTRY_SPAN ? entry->id : entry->span,
        .track = test_log_track_of(&growing->recorded, entry),
        .row = row};
}

static void end_open(struct test_log_growing *growing,
                     const struct trace_entry *entry)
{
    struct test_log_recorded *recorded = &growing->recorded;
    struct open *last, open;
    uintptr_t index;

    if (!trace_table_find(&growing->open_at, entry->place, &index))
        return;
    open = growing->open[index];
    test_log_slices_end(recorded, open.track, open.row, open.begin, entry->time,
                        test_log_slices_late(recorded, open.span));
    last = &growing->open[--growing->open_count];
    trace_table_remove(&growing->open_at, open.place);
    if (&growing->open[index] == last)
        return;
    growing->open[index] = *last;
    trace_table_set(&growing->open_at, last->place, index);
}

/* ---- Entries ---- */

static bool has_room(const struct test_log_recorded *recorded)
{
    const struct test_log_table *tables = recorded->tables;
    size_t lines = recorded->block ? LINES_MOST : LINES_FIRST;

    return tables[TEST_LOG_LINES].rows < lines &&
           tables[TEST_LOG_COUNTERS].rows < COUNTERS_MOST;
}

bool test_log_growing_add(struct test_log_growing *growing)
{
    struct test_log_recorded *recorded = &growing->recorded;
    struct test_log_table *slices = &recorded->tables[TEST_LOG_SLICES];
    struct trace_entry entry;

    while (trace_reader_next(recorded->reader, &entry)) {
        size_t row = test_log_table_next(slices);

        growing->some = true;
        if (entry.kind == TRACE_ENTRY_EXIT)
            end_open(growing, &entry);
        if (entry.kind == TRACE_ENTRY_SUM)
            test_log_slices_sum(recorded, &entry);
        else if (entry.kind == TRACE_ENTRY_EVENT && !has_room(recorded))
            recorded->cut.lines++;
        else
            test_log_recorded_add(recorded, &entry);
        if (trace_has_slice(&entry) && entry.end == UINT64_MAX &&
            test_log_table_next(slices) > row)
            note_open(growing, &entry, (uint32_t)row);
    }
    return growing->some;
}

/* ---- Blocks ---- */

/* Forgets the rows of spans that are unlikely to be named again. */
static void forget(struct test_log_growing *growing)
{
    struct test_log_recorded *recorded = &growing->recorded;

    if (recorded->calls.count > CALLS_KEPT)
        trace_table_free(&recorded->calls);
    if (recorded->spans.count < SPANS_KEPT)
        return;
    test_log_slices_forget(recorded);
    for (size_t i = 0; i < growing->open_count; i++)
        if (growing->open[i].place == growing->open[i].span)
            trace_table_set(&recorded->spans, growing->open[i].span,
                            growing->open[i].row);
}

void test_log_growing_put(struct trace_text *out, const char *members,
                          struct test_log_growing *growing)
{
    test_log_recorded_block(out, members, &growing->recorded);
    test_log_recorded_continue(&growing->recorded);
    growing->some = false;
    forget(growing);
}

/* ---- The recording ---- */

struct test_log_growing *test_log_growing_new(struct trace_reader *reader,
                                              const char *filter)
{
    struct test_log_growing *growing = calloc(1, sizeof(*growing));

    if (!growing)
        return NULL;
    test_log_recorded_begin(&growing->recorded, reader, filter);
    growing->recorded.end = UINT64_MAX;
    trace_reader_sum_spans(reader, SPANS_MOST);
    return growing;
}

void test_log_growing_free(struct test_log_growing *growing)
{
    if (!growing)
        return;
    test_log_recorded_free(&growing->recorded);
    free(growing->open);
    trace_table_free(&growing->open_at);
    free(growing);
}
