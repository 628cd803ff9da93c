/* growing.c: turns a recording that grows into blocks, each of which adds rows
 * to the tables of those before it.
 *
 * A reader of the blocks draws them as they come, so a block has a limited
 * number of rows: if there are more slices, those that are short become one,
 * the sum of their neighbors on a track.
 */
#include <stdlib.h>

#include "harness/results/report/growing.h"
#include "harness/results/report/recorded.h"
#include "trace/base/containers.h"
#include "trace/base/text.h"

enum {
    SLICES_MOST = 20000, /* in a block, more or less */
    LINES_MOST = 5000,
    COUNTERS_MOST = 20000,
    SPANS_KEPT = 1 << 18, /* whose rows are known */
    CALLS_KEPT = 1 << 20,
};

/* The shortest slice that gets a row is never shorter, in ns, and a sum is as
 * many times longer. */
enum { WIDTH_LEAST = 1000, SUM_LENGTH = 100 };

/* A slice whose end is not known. */
struct open {
    uint64_t begin; /* ns */
    uint32_t place; /* of the record that enters */
    uint32_t span;
    uint32_t track, row;
};

/* Short slices of a track that have one row. */
struct sum {
    uint64_t begin, end, limit; /* ns; limit: where the slice around it ends */
    uint64_t slices;            /* 0: there is no sum */
    uint32_t row;
};

struct test_log_growing {
    struct test_log_recorded recorded;
    struct open *open;
    size_t open_count, open_capacity;
    struct trace_table open_at; /* from places to indexes */
    struct sum *sums;           /* by track */
    size_t sum_count;
    uint64_t width; /* ns: shorter slices are summed; 0: none are */
    size_t allowed; /* slices of this block, before the width grows */
    bool some;      /* there is something for the next block */
};

static struct test_log_table *table_of(struct test_log_growing *growing,
                                       enum test_log_recorded_table table)
{
    return &growing->recorded.tables[table];
}

/* ---- Sums ---- */

static void end_sum(struct test_log_growing *growing, uint32_t track)
{
    struct test_log_recorded *recorded = &growing->recorded;
    struct sum *sum = track < growing->sum_count ? &growing->sums[track] : NULL;
    const struct trace_value slices = {.type = TRACE_TYPE_U64,
                                       .as.u = sum ? sum->slices : 0};

    if (!slices.as.u)
        return;
    test_log_recorded_field(recorded, TEST_LOG_ENDED_FIELDS, "slices", &slices);
    test_log_slices_end(recorded, track, sum->row, sum->begin, sum->end, 1);
    sum->slices = 0;
}

/* Begins a sum with the slice of an entry. */
static void begin_sum(struct test_log_growing *growing, struct sum *sum,
                      uint32_t track, const struct trace_entry *entry)
{
    const struct trace_slice *around =
        trace_slices_around(&growing->recorded.slices, track, entry->time);

    *sum = (struct sum){.begin = entry->time,
                        .end = entry->end,
                        .limit = around ? around->end : UINT64_MAX,
                        .slices = 1};
    sum->row = test_log_slices_sum(&growing->recorded, entry);
}

/* Adds a short slice to the sum of its track; false without memory. */
static bool add_to_sum(struct test_log_growing *growing,
                       const struct trace_entry *entry)
{
    uint32_t track = test_log_track_of(&growing->recorded, entry);
    struct sum *sum;

    if (!TRACE_ARRAY_RESERVE(growing->sums, growing->sum_count, track + 1))
        return false;
    sum = &growing->sums[track];
    if (sum->slices &&
        (entry->time >= sum->limit ||
         entry->time - sum->begin >= SUM_LENGTH * growing->width))
        end_sum(growing, track);
    if (!sum->slices) {
        begin_sum(growing, sum, track, entry);
        return true;
    }
    sum->slices++;
    if (entry->end > sum->end)
        sum->end = entry->end;
    return true;
}

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

static void forget_open(struct test_log_growing *growing, size_t index)
{
    struct open *last = &growing->open[--growing->open_count];

    trace_table_remove(&growing->open_at, growing->open[index].place);
    if (&growing->open[index] == last)
        return;
    growing->open[index] = *last;
    trace_table_set(&growing->open_at, last->place, index);
}

static void add_exit(struct test_log_growing *growing,
                     const struct trace_entry *entry)
{
    struct test_log_recorded *recorded = &growing->recorded;
    uintptr_t index;
    struct open open;

    if (!trace_table_find(&growing->open_at, entry->place, &index))
        return;
    open = growing->open[index];
    end_sum(growing, open.track);
    test_log_slices_end(recorded, open.track, open.row, open.begin, entry->time,
                        test_log_slices_late(recorded, open.span));
    forget_open(growing, index);
}

/* ---- Entries ---- */

static bool is_short(const struct test_log_growing *growing,
                     const struct trace_entry *entry)
{
    return entry->end != UINT64_MAX &&
           trace_between(entry->time, entry->end) < growing->width;
}

/* The more rows a block has, the longer a slice must be to get one. */
static void adapt_width(struct test_log_growing *growing)
{
    if (table_of(growing, TEST_LOG_SLICES)->rows < growing->allowed)
        return;
    growing->allowed += SLICES_MOST;
    growing->width = growing->width ? 2 * growing->width : WIDTH_LEAST;
}

static void add_slice(struct test_log_growing *growing,
                      const struct trace_entry *entry)
{
    struct test_log_recorded *recorded = &growing->recorded;
    struct test_log_table *slices = table_of(growing, TEST_LOG_SLICES);
    size_t row = test_log_table_next(slices);

    end_sum(growing, test_log_track_of(recorded, entry));
    test_log_recorded_add(recorded, entry);
    if (entry->end == UINT64_MAX && test_log_table_next(slices) > row)
        note_open(growing, entry, (uint32_t)row);
    adapt_width(growing);
}

static void add_other(struct test_log_growing *growing,
                      const struct trace_entry *entry)
{
    struct test_log_recorded *recorded = &growing->recorded;
    bool room = table_of(growing, TEST_LOG_LINES)->rows < LINES_MOST &&
                table_of(growing, TEST_LOG_COUNTERS)->rows < COUNTERS_MOST;

    if (entry->kind == TRACE_ENTRY_EVENT && !room)
        recorded->cut.lines++;
    else
        test_log_recorded_add(recorded, entry);
}

static void add(struct test_log_growing *growing,
                const struct trace_entry *entry)
{
    struct test_log_recorded *recorded = &growing->recorded;

    if (entry->kind == TRACE_ENTRY_EXIT)
        add_exit(growing, entry);
    if (!trace_has_slice(entry))
        add_other(growing, entry);
    else if (!is_short(growing, entry) || !add_to_sum(growing, entry))
        add_slice(growing, entry);
    else if (recorded->replay)
        log_replay_step(recorded->replay, recorded->reader, entry);
}

bool test_log_growing_add(struct test_log_growing *growing)
{
    struct trace_entry entry;

    while (trace_reader_next(growing->recorded.reader, &entry)) {
        add(growing, &entry);
        growing->some = true;
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

static void next_block(struct test_log_growing *growing)
{
    if (table_of(growing, TEST_LOG_SLICES)->rows < SLICES_MOST / 4)
        growing->width = growing->width > WIDTH_LEAST ? growing->width / 2 : 0;
    growing->allowed = SLICES_MOST;
    growing->some = false;
    test_log_recorded_continue(&growing->recorded);
    forget(growing);
}

void test_log_growing_put(struct trace_text *out, const char *members,
                          struct test_log_growing *growing)
{
    struct trace_text all = {0};

    for (size_t i = 0; i < growing->sum_count; i++)
        end_sum(growing, (uint32_t)i);
    trace_text_string(&all, members);
    trace_text_printf(&all, "\"width\":%llu,",
                      (unsigned long long)growing->width);
    test_log_recorded_block(out, all.data ? all.data : "", &growing->recorded);
    out->failed |= all.failed;
    trace_text_free(&all);
    next_block(growing);
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
    growing->allowed = SLICES_MOST;
    return growing;
}

void test_log_growing_free(struct test_log_growing *growing)
{
    if (!growing)
        return;
    test_log_recorded_free(&growing->recorded);
    free(growing->open);
    trace_table_free(&growing->open_at);
    free(growing->sums);
    free(growing);
}
