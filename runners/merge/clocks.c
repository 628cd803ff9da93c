/* clocks.c: puts the times of several hosts on one clock.
 *
 * A recording has its time zero on the wall clock. Wall clocks of two hosts
 * differ by at most the errors that their kernels report (adjtimex(2)), unless
 * a clock was set while tests ran. Then it moved against the monotonic clock,
 * and the later time counts as the better one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "merge.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"

enum {
    HOSTS_MOST = 10,        /* how many are printed */
    MEETINGS_MOST = 100000, /* spans of a host to read for aligning clocks */
    STEP_LEAST = 1000000,   /* ns; the clocks are read one after the other */
};

/* ---- What recordings tell ---- */

/* Anchors of a damaged or hostile recording can have any value. */
static int64_t difference(uint64_t a, uint64_t b)
{
    const uint64_t most = INT64_MAX / 4;

    if (a >= b)
        return (int64_t)(a - b < most ? a - b : most);
    return -(int64_t)(b - a < most ? b - a : most);
}

static void note_anchor(struct merge_clock *clock,
                        const struct trace_anchor *anchor, bool first)
{
    int64_t now = difference(anchor->wall, anchor->monotonic);

    if (first)
        clock->first = clock->least = clock->most = now;
    if (now < clock->least)
        clock->least = now;
    if (now > clock->most)
        clock->most = now;
    if (anchor->monotonic >= clock->at) {
        clock->last = now;
        clock->at = anchor->monotonic;
    }
}

static bool is_known(const struct merge_clock *clock,
                     const struct trace_anchor *origin)
{
    for (size_t i = 0; i < clock->count; i++)
        if (clock->origins[i].wall == origin->wall &&
            clock->origins[i].monotonic == origin->monotonic)
            return true;
    return false;
}

void merge_clock_note(struct merge_source *source,
                      const struct trace_reader *reader)
{
    struct trace_summary summary = trace_reader_summary(reader);
    struct merge_clock *clock = &source->clock;

    note_anchor(clock, &summary.origin, !clock->count);
    if (summary.closed.ticks)
        note_anchor(clock, &summary.closed, false);
    if (!is_known(clock, &summary.origin) &&
        TRACE_ARRAY_RESERVE(clock->origins, clock->capacity, clock->count + 1))
        clock->origins[clock->count++] = summary.origin;
}

/* ---- Aligning by a span ---- */

/* The time that a host spent in the span. */
struct meeting {
    uint64_t begin, end; /* ns since 1970, by the host's clock */
};

struct meetings {
    struct meeting *all;
    size_t count, capacity;
};

static int in_order(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void read_recording(struct meetings *meetings, const char *path,
                           const char *span)
{
    struct trace_reader *reader = runners_open(path);
    uint64_t origin = reader ? trace_reader_summary(reader).origin.wall : 0;
    struct trace_entry entry;

    while (reader && meetings->count < MEETINGS_MOST &&
           trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_SPAN && entry.end != UINT64_MAX &&
            !strcmp(entry.site->name, span) &&
            TRACE_ARRAY_RESERVE(meetings->all, meetings->capacity,
                                meetings->count + 1))
            meetings->all[meetings->count++] =
                (struct meeting){origin + entry.time, origin + entry.end};
    trace_reader_close(reader);
}

static void read_host(struct meetings *meetings, const struct merge *merge,
                      size_t host)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct recordings found = {0};

        if (merge->run.sources[i].host_number != host)
            continue;
        runners_recordings_find(&found, merge->sources[i].path, NULL);
        for (size_t j = 0; j < found.count; j++)
            read_recording(meetings, found.all[j].path, merge->align);
        runners_recordings_free(&found);
    }
    if (meetings->count)
        qsort(meetings->all, meetings->count, sizeof(*meetings->all), in_order);
}

static uint64_t shorter(const struct meeting *a, const struct meeting *b)
{
    uint64_t one = trace_between(a->begin, a->end);
    uint64_t other = trace_between(b->begin, b->end);

    return one < other ? one : other;
}

/* Compares the ends of the hosts' first spans, of their second ones, and so on.
 * At a barrier, all hosts leave together, and the last to arrive waits least.
 * So the pair with the shortest span has the smallest error. */
static void align(struct test_log_merged_run *merged,
                  const struct meetings *first, const struct meetings *own)
{
    merged->uncertainty = UINT64_MAX;
    for (size_t i = 0; i < first->count && i < own->count; i++) {
        uint64_t error = shorter(&first->all[i], &own->all[i]);

        if (error >= merged->uncertainty)
            continue;
        merged->uncertainty = error;
        merged->offset = difference(first->all[i].end, own->all[i].end);
    }
}

static int align_host(struct merge *merge, const struct meetings *first,
                      size_t host)
{
    struct meetings own = {0};
    struct test_log_merged_run aligned = {.offset = 0};
    const char *name = "";

    read_host(&own, merge, host);
    align(&aligned, first, host ? &own : first);
    free(own.all);
    for (size_t i = 0; i < merge->count; i++) {
        struct test_log_merged_run *merged = &merge->run.sources[i];

        if (merged->host_number != host)
            continue;
        merged->offset = aligned.offset;
        merged->uncertainty = host ? aligned.uncertainty : 0;
        merge->sources[i].clock.aligned = true;
        name = merged->host;
    }
    if (aligned.uncertainty != UINT64_MAX)
        return 0;
    test_log_notice("merge: --align: no test of %s recorded a span %s",
                    name ? name : "a run without a host", merge->align);
    return -1;
}

int merge_clocks_align(struct merge *merge)
{
    struct meetings first = {0};
    int status = 0;

    if (!merge->align)
        return 0;
    read_host(&first, merge, 0);
    for (size_t host = 0; host < merge->run.host_count && !status; host++)
        status = align_host(merge, &first, host);
    free(first.all);
    return status;
}

/* ---- One clock ---- */

/* The moment on the merged run's clock. */
static uint64_t moment_of(uint64_t wall, int64_t offset)
{
    if (offset < 0)
        return trace_between((uint64_t)-offset, wall);
    return wall < UINT64_MAX - (uint64_t)offset ? wall + (uint64_t)offset
                                                : UINT64_MAX;
}

/* ns from the merged run's start to that of a source. */
static uint64_t shift_of(const struct merge *merge, size_t source)
{
    const struct test_log_merged_run *own = &merge->run.sources[source - 1];

    return own->start ? trace_between(merge->run.start.wall,
                                      moment_of(own->start, own->offset))
                      : 0;
}

static void shift(uint64_t *began, uint64_t by)
{
    if (*began && by < UINT64_MAX / 2 && *began < UINT64_MAX / 2)
        *began += by;
}

static void shift_tests(struct merge *merge)
{
    struct test_log_run *run = &merge->run;

    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];

        if (!result->source)
            continue;
        for (size_t j = 0; j < result->earlier_count; j++)
            shift(&result->earlier[j].began,
                  shift_of(merge, result->earlier[j].source));
        shift(&result->began, shift_of(merge, result->source));
        if (result->began + result->duration > run->took)
            run->took = result->began + result->duration;
    }
    for (size_t i = 0; i < merge->count; i++) {
        uint64_t end = shift_of(merge, i + 1) + merge->sources[i].duration;

        if (merge->sources[i].duration && end > run->took)
            run->took = end;
    }
}

static int write_origins(const struct merge *merge)
{
    const struct test_log_run *run = &merge->run;
    struct trace_file file;

    if (test_log_create(run, RUNNERS_ORIGINS, &file))
        return -1;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_clock *clock = &merge->sources[i].clock;

        for (size_t j = 0; j < clock->count; j++) {
            uint64_t moment =
                moment_of(clock->origins[j].wall, run->sources[i].offset);

            runners_merged_clock_put(file.stream, &clock->origins[j],
                                     run->start.wall,
                                     trace_between(run->start.wall, moment));
        }
    }
    return trace_file_commit(&file);
}

/* If the clocks of a host moved against each other, the wall clock was set, or
 * the host slept. */
int merge_clocks_apply(struct merge *merge)
{
    uint64_t start = UINT64_MAX;

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_clock *clock = &merge->sources[i].clock;
        struct test_log_merged_run *merged = &merge->run.sources[i];
        uint64_t spread = (uint64_t)(clock->most - clock->least), own;
        bool known = clock->error <= INT64_MAX;

        if (!clock->aligned) {
            merged->offset =
                spread < STEP_LEAST ? 0 : clock->last - clock->first;
            merged->uncertainty = known ? clock->error + spread : UINT64_MAX;
        }
        own = moment_of(merged->start, merged->offset);
        if (merged->start && own < start)
            start = own;
    }
    merge->run.start.wall = start == UINT64_MAX ? 0 : start;
    shift_tests(merge);
    return write_origins(merge);
}

/* ---- Printing ---- */

void merge_clocks_print(const struct merge *merge)
{
    const struct test_log_run *run = &merge->run;
    bool unknown = false;
    size_t next = 0;

    if (run->host_count < 2)
        return;
    for (size_t i = 0; i < run->source_count && next < HOSTS_MOST; i++) {
        const struct test_log_merged_run *merged = &run->sources[i];
        char error[64] = "unknown";

        if (merged->host_number != next)
            continue;
        next++;
        if (merged->uncertainty == UINT64_MAX)
            unknown = true;
        else
            snprintf(error, sizeof(error), "%.6f s",
                     (double)merged->uncertainty / 1e9);
        test_log_notice("merge: clock of %s: offset %+.6f s, uncertainty %s",
                        merged->host ? merged->host : "a run without a host",
                        (double)merged->offset / 1e9, error);
    }
    if (run->host_count > HOSTS_MOST)
        test_log_notice("merge: run.json has the clocks of %zu more hosts",
                        run->host_count - HOSTS_MOST);
    if (unknown)
        test_log_notice("merge: to align clocks whose error is unknown, name a "
                        "span that all hosts have: --align=SPAN");
}
