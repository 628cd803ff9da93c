/* critical.c: finds the critical path of a test: the chain of slices that its
 * end waited for.
 *
 * The walk goes back from the end of the main thread, as CRISP does in traces
 * of services (Zhang, Z. et al., "CRISP: Critical Path Analysis of Large-Scale
 * Microservice Architectures", USENIX ATC 2022) and HTA in traces of GPUs
 * ("Critical Path Analysis", Holistic Trace Analysis, hta.readthedocs.io). At
 * each moment it finds the last end that the thread could have waited for, and
 * continues there.
 */
#include <stdlib.h>
#include <string.h>

#include "critical.h"
#include "trace/base/strings.h"

/* Jumps without a step in time, before one is forced. */
enum { STANDSTILLS = 100 };

/* ---- Phases ---- */

const char *trace_phase_label(enum trace_phase phase)
{
    switch (phase) {
    case TRACE_PHASE_SETUP:
        return "(setup)";
    case TRACE_PHASE_BODY:
        return "(test body)";
    case TRACE_PHASE_TEARDOWN:
        return "(teardown)";
    default:
        return "(nothing recorded)";
    }
}

/* Returns when the phase began that a moment ends or lies in; 0: it has none,
 * or only the recording's beginning limits it. */
static uint64_t phase_before(const struct trace_causes *slices, uint64_t time,
                             enum trace_phase *phase)
{
    const struct trace_phases *phases = &slices->phases;
    const uint64_t begins[] = {[TRACE_PHASE_SETUP] = phases->setup,
                               [TRACE_PHASE_BODY] = phases->body,
                               [TRACE_PHASE_TEARDOWN] = phases->teardown};

    for (*phase = TRACE_PHASE_TEARDOWN; *phase; (*phase)--)
        if (begins[*phase] && begins[*phase] < time)
            return begins[*phase];
    return 0;
}

/* ---- The path ---- */

/* Returns the slice that begins at a time and whose cause is known: `left`, the
 * innermost one that was just left, or one that begins with it. TRACE_NO_SLICE:
 * there is none. */
static uint32_t caused(const struct trace_caused *all, uint32_t left,
                       uint64_t time)
{
    while (left != TRACE_NO_SLICE && all[left].begin == time &&
           all[left].cause_track == TRACE_NO_SLICE)
        left = all[left].around;
    return left != TRACE_NO_SLICE && all[left].begin == time ? left
                                                             : TRACE_NO_SLICE;
}

/* Pieces are added from the end; adjacent parts of a slice are one piece. */
static bool add_part(struct trace_critical *critical, struct trace_piece piece)
{
    struct trace_piece *last =
        critical->count ? &critical->pieces[critical->count - 1] : NULL;

    critical->phases[piece.phase] += piece.end - piece.begin;
    if (piece.slice != TRACE_NO_SLICE)
        critical->covered += piece.end - piece.begin;
    if (last && last->slice == piece.slice && last->track == piece.track &&
        last->phase == piece.phase) {
        last->begin = piece.begin;
        return true;
    }
    if (!TRACE_ARRAY_RESERVE(critical->pieces, critical->capacity,
                             critical->count + 1))
        return false;
    critical->pieces[critical->count++] = piece;
    return true;
}

/* Adds the parts of a piece in each phase. */
static bool add_piece(struct trace_critical *critical,
                      const struct trace_causes *slices,
                      struct trace_piece piece)
{
    bool ok = true;

    while (ok && piece.begin < piece.end) {
        struct trace_piece part = piece;
        uint64_t begin = phase_before(slices, piece.end, &part.phase);

        if (begin > part.begin)
            part.begin = begin;
        ok = add_part(critical, part);
        piece.end = part.begin;
    }
    return ok;
}

static void reverse(struct trace_critical *critical)
{
    for (size_t i = 0, j = critical->count; i + 1 < j; i++) {
        struct trace_piece piece = critical->pieces[--j];

        critical->pieces[j] = critical->pieces[i];
        critical->pieces[i] = piece;
    }
}

int trace_critical_find(struct trace_critical *critical,
                        const struct trace_causes *slices)
{
    struct trace_moment now = {TRACE_MAIN_TRACK, slices->end};
    const struct trace_caused *all = slices->all;
    uint32_t left = TRACE_NO_SLICE; /* the slice that the path was in */
    unsigned standstills = 0;
    bool ok = true;

    *critical = (struct trace_critical){.count = 0};
    while (ok && now.time > slices->begin) {
        uint64_t since; /* nothing has ended on this track after it */
        uint32_t around = trace_causes_around(slices, now, &since);
        uint32_t begun = caused(all, left, now.time);
        bool is_busy = around != TRACE_NO_SLICE && all[around].end == now.time;
        struct trace_moment before = {now.track, since};

        if (begun != TRACE_NO_SLICE && !is_busy && all[begun].cause > since)
            before = (struct trace_moment){all[begun].cause_track,
                                           all[begun].prepared};
        if (around != TRACE_NO_SLICE ||
            (begun == TRACE_NO_SLICE && now.track == TRACE_MAIN_TRACK))
            trace_causes_waited(slices, around, now, &before);
        else if (begun == TRACE_NO_SLICE)
            before = (struct trace_moment){TRACE_MAIN_TRACK, now.time};
        standstills = before.time == now.time ? standstills + 1 : 0;
        if (standstills > STANDSTILLS)
            before = (struct trace_moment){now.track, since};
        left = before.track == now.track ? around : TRACE_NO_SLICE;
        ok = add_piece(critical, slices,
                       (struct trace_piece){.begin = before.time,
                                            .end = now.time,
                                            .track = now.track,
                                            .slice = around});
        now = before;
    }
    reverse(critical);
    return ok ? 0 : -1;
}

/* ---- Sums ---- */

static const char *name_of(const struct trace_piece_sum *sum)
{
    return sum->name ? sum->name : trace_phase_label(sum->phase);
}

static int by_total(const void *a, const void *b)
{
    const struct trace_piece_sum *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(name_of(x), name_of(y));
}

int trace_critical_sum(struct trace_critical *critical,
                       const struct trace_causes *slices)
{
    struct trace_table by_name = {.count = 0};
    bool ok = true;

    for (size_t i = 0; i < critical->count; i++) {
        const struct trace_piece *piece = &critical->pieces[i];
        const char *name = piece->slice == TRACE_NO_SLICE
                               ? NULL
                               : slices->all[piece->slice].site->name;
        uint64_t key =
            name ? trace_hash_string(TRACE_HASH, name) : piece->phase;
        uintptr_t number = critical->sum_count;

        if (!trace_table_find(&by_name, key, &number)) {
            ok = TRACE_ARRAY_RESERVE(critical->sums, critical->sum_capacity,
                                     critical->sum_count + 1) &&
                 trace_table_set(&by_name, key, number);
            if (!ok)
                break;
            critical->sums[critical->sum_count++] = (struct trace_piece_sum){
                .name = name, .phase = name ? 0 : piece->phase};
        }
        critical->sums[number].total += piece->end - piece->begin;
        critical->sums[number].pieces++;
    }
    trace_table_free(&by_name);
    if (critical->sum_count)
        qsort(critical->sums, critical->sum_count, sizeof(*critical->sums),
              by_total);
    return ok ? 0 : -1;
}

void trace_critical_free(struct trace_critical *critical)
{
    free(critical->pieces);
    free(critical->sums);
    *critical = (struct trace_critical){.count = 0};
}
