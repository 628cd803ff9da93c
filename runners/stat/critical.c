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

/* ---- The walk ---- */

struct walk {
    const struct slices *slices;
    struct slice_moment now;
    uint32_t begun; /* the slice that begins now, or SLICES_NONE */
    unsigned standstills;
};

/* Returns the slice that begins now and whose cause is known: the innermost one
 * that was just left, or one that begins with it. SLICES_NONE: there is none.
 */
static uint32_t caused(const struct walk *walk)
{
    const struct slice *all = walk->slices->all;
    uint32_t at = walk->begun;

    while (at != SLICES_NONE && all[at].begin == walk->now.time &&
           all[at].cause_track == SLICES_NONE)
        at = all[at].around;
    return at != SLICES_NONE && all[at].begin == walk->now.time ? at
                                                                : SLICES_NONE;
}

/* Returns the moment, at most now, that the path comes from. On this track,
 * nothing has ended after `since`. */
static struct slice_moment find_before(const struct walk *walk, uint32_t around,
                                       uint64_t since)
{
    const struct slice *all = walk->slices->all;
    struct slice_moment before = {walk->now.track, since};
    bool is_busy = around != SLICES_NONE && all[around].end == walk->now.time;
    uint32_t begun = caused(walk);

    if (begun != SLICES_NONE && !is_busy && all[begun].cause > since)
        before =
            (struct slice_moment){all[begun].cause_track, all[begun].prepared};
    if (around != SLICES_NONE ||
        (begun == SLICES_NONE && walk->now.track == SLICES_MAIN))
        runners_slices_waited(walk->slices, around, walk->now, &before);
    else if (begun == SLICES_NONE)
        before = (struct slice_moment){SLICES_MAIN, walk->now.time};
    return before;
}

/* Pieces are added from the end; adjacent parts of a slice are one piece. */
static bool add_piece(struct critical *critical, struct piece piece)
{
    struct piece *last =
        critical->count ? &critical->pieces[critical->count - 1] : NULL;

    if (piece.begin == piece.end)
        return true;
    if (piece.slice != SLICES_NONE)
        critical->covered += piece.end - piece.begin;
    if (last && last->slice == piece.slice && last->track == piece.track) {
        last->begin = piece.begin;
        return true;
    }
    if (!TRACE_ARRAY_RESERVE(critical->pieces, critical->capacity,
                             critical->count + 1))
        return false;
    critical->pieces[critical->count++] = piece;
    return true;
}

static bool step(struct walk *walk, struct critical *critical)
{
    struct slice_moment now = walk->now, before;
    uint64_t since;
    uint32_t around = runners_slices_around(walk->slices, now, &since);

    before = find_before(walk, around, since);
    walk->standstills = before.time == now.time ? walk->standstills + 1 : 0;
    if (walk->standstills > STANDSTILLS)
        before = (struct slice_moment){now.track, since};
    walk->now = before;
    walk->begun = before.track == now.track ? around : SLICES_NONE;
    return add_piece(critical,
                     (struct piece){before.time, now.time, now.track, around});
}

static void reverse(struct critical *critical)
{
    for (size_t i = 0, j = critical->count; i + 1 < j; i++) {
        struct piece piece = critical->pieces[--j];

        critical->pieces[j] = critical->pieces[i];
        critical->pieces[i] = piece;
    }
}

/* ---- Sums ---- */

static int by_total(const void *a, const void *b)
{
    const struct piece_sum *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static bool add_to_sums(struct critical *critical, struct trace_table *by_name,
                        const struct piece *piece, const char *name)
{
    uint64_t key = name ? trace_hash_string(TRACE_HASH, name) : 0;
    uintptr_t number = critical->sum_count;

    if (!trace_table_find(by_name, key, &number)) {
        if (!TRACE_ARRAY_RESERVE(critical->sums, critical->sum_capacity,
                                 critical->sum_count + 1) ||
            !trace_table_set(by_name, key, number))
            return false;
        critical->sums[critical->sum_count++].name = name;
    }
    critical->sums[number].total += piece->end - piece->begin;
    critical->sums[number].pieces++;
    return true;
}

static bool sum_up(struct critical *critical, const struct slices *slices)
{
    struct trace_table by_name = {.count = 0};
    bool ok = true;

    for (size_t i = 0; ok && i < critical->count; i++) {
        const struct piece *piece = &critical->pieces[i];

        ok = add_to_sums(critical, &by_name, piece,
                         piece->slice == SLICES_NONE
                             ? NULL
                             : slices->all[piece->slice].site->name);
    }
    trace_table_free(&by_name);
    if (critical->sum_count)
        qsort(critical->sums, critical->sum_count, sizeof(*critical->sums),
              by_total);
    return ok;
}

/* ---- The path ---- */

int runners_critical_find(struct critical *critical,
                          const struct slices *slices)
{
    struct walk walk = {.slices = slices,
                        .now = {SLICES_MAIN, slices->end},
                        .begun = SLICES_NONE};
    bool ok = true;

    *critical = (struct critical){.count = 0};
    while (ok && walk.now.time > slices->begin)
        ok = step(&walk, critical);
    reverse(critical);
    return ok && sum_up(critical, slices) ? 0 : -1;
}

void runners_critical_free(struct critical *critical)
{
    free(critical->pieces);
    free(critical->sums);
    *critical = (struct critical){.count = 0};
}
