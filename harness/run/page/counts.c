/* counts.c: counts a recording, and decides what a page leaves out of it. */
#include "harness/run/page/recorded.h"
#include "log/replay/entry_text.h"
#include "trace/base/buckets.h"

enum {
    SLICES_MOST = 2000000, /* that a page draws smoothly */
    LINES_MOST = 500000,
    STEPS = 3, /* log2 of the buckets for each power of two */
};

/* ---- Counting ---- */

/* Open slices are left out last. */
uint64_t test_log_slice_duration(const struct trace_entry *entry)
{
    return entry->end == UINT64_MAX ? UINT64_MAX
                                    : trace_between(entry->time, entry->end);
}

/* Returns the time from `now` on in which something lasts, and goes on to its
 * end, at most to `to`. */
static uint64_t spend(uint64_t *now, uint64_t end, uint64_t to)
{
    uint64_t from = *now;

    if (end > to)
        end = to;
    if (end > from)
        *now = end;
    return *now - from;
}

/* Goes on to a later moment. Where it compiles and waits, it compiles. */
static void pass_time(struct test_log_busy *busy, uint64_t to)
{
    busy->compiling += spend(&busy->now, busy->compiles_to, to);
    busy->waiting += spend(&busy->now, busy->waits_to, to);
    spend(&busy->now, to, to);
}

static void note_busy(struct test_log_busy *busy,
                      const struct trace_entry *entry)
{
    bool compiles = entry->at.kind == TRACE_ACTIVITY_COMPILE;
    bool waits = entry->at.kind == TRACE_ACTIVITY_SYNC &&
                 entry->at.thread == busy->first;

    if (!compiles && !waits)
        return;
    pass_time(busy, entry->time);
    if (compiles && entry->end > busy->compiles_to)
        busy->compiles_to = entry->end;
    if (waits && entry->end > busy->waits_to)
        busy->waits_to = entry->end;
}

static void count_activity(struct test_log_counts *counts,
                           const struct trace_entry *entry)
{
    counts->kernels += entry->at.kind == TRACE_ACTIVITY_KERNEL;
    counts->copies += entry->at.kind == TRACE_ACTIVITY_MEMCPY;
    counts->compiles += entry->at.kind == TRACE_ACTIVITY_COMPILE;
    note_busy(&counts->busy, entry);
}

void test_log_count_begin(struct test_log_counts *counts,
                          const struct trace_reader *reader)
{
    *counts = (struct test_log_counts){
        .busy = {.first = trace_reader_summary(reader).pid}};
}

void test_log_count_end(struct test_log_counts *counts,
                        const struct trace_reader *reader)
{
    pass_time(&counts->busy, trace_reader_summary(reader).end);
}

void test_log_count(struct test_log_counts *counts,
                    const struct trace_entry *entry)
{
    if (!counts->some)
        counts->begin = entry->time;
    counts->some = true;
    counts->spans += entry->kind == TRACE_ENTRY_SPAN;
    counts->lines += log_is_event(entry);
    if (entry->kind == TRACE_ENTRY_DEVICE)
        count_activity(counts, entry);
    if (!trace_has_slice(entry))
        return;
    counts->slices++;
    counts->durations[trace_bucket_of(test_log_slice_duration(entry), STEPS)]++;
}

int test_log_count_all(struct test_log_counts *counts,
                       struct trace_reader *reader)
{
    struct trace_entry entry;

    test_log_count_begin(counts, reader);
    if (trace_reader_rewind(reader))
        return -1;
    while (trace_reader_next(reader, &entry))
        test_log_count(counts, &entry);
    test_log_count_end(counts, reader);
    return 0;
}

/* ---- Leaving out ---- */

struct test_log_cut test_log_cut_of(const struct test_log_counts *counts)
{
    struct test_log_cut cut = {0};
    size_t bucket = TEST_LOG_BUCKETS;
    uint64_t longer = 0;

    if (counts->lines > LINES_MOST)
        cut.lines = cut.to_come = counts->lines - LINES_MOST;
    if (counts->slices <= SLICES_MOST)
        return cut;
    while (bucket && longer + counts->durations[bucket - 1] <= SLICES_MOST)
        longer += counts->durations[--bucket];
    cut.width = bucket < TEST_LOG_BUCKETS ? trace_bucket_least(bucket, STEPS)
                                          : UINT64_MAX;
    cut.room = SLICES_MOST - longer;
    return cut;
}

bool test_log_cut_slice(struct test_log_cut *cut, uint64_t duration)
{
    if (duration >= cut->width)
        return false;
    if (cut->room && trace_bucket_of(duration, STEPS) + 1 ==
                         trace_bucket_of(cut->width, STEPS)) {
        cut->room--;
        return false;
    }
    cut->slices++;
    return true;
}

bool test_log_cut_line(struct test_log_cut *cut)
{
    if (!cut->to_come)
        return false;
    cut->to_come--;
    return true;
}
