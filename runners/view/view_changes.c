/* view_changes.c: finds when a test began to fail, to pass or to take another
 * time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/containers.h"
#include "view_changes.h"

enum {
    PASSES_LEAST = 3, /* of a part */
    PART_PRICE = 10,  /* in units of the noise */
};

static const uint64_t shortest_change = 1000000; /* ns */

struct changes {
    struct view_change *all;
    size_t count, capacity;
};

static void add(struct changes *changes, const struct view_change *change)
{
    if (TRACE_ARRAY_RESERVE(changes->all, changes->capacity,
                            changes->count + 1))
        changes->all[changes->count++] = *change;
}

/* ---- Outcomes ---- */

static void add_outcomes(struct changes *changes, const struct view_past *past,
                         size_t count)
{
    enum test_log_outcome last = TEST_LOG_OUTCOME_NONE;

    for (size_t i = 0; i < count; i++) {
        enum test_log_outcome outcome = past[i].outcome;
        bool bad = test_log_outcome_bad(outcome);

        if (outcome != TEST_LOG_OUTCOME_PASSED && !bad)
            continue;
        if (last != TEST_LOG_OUTCOME_NONE && bad != test_log_outcome_bad(last))
            add(changes, &(struct view_change){.at = i});
        last = outcome;
    }
}

/* ---- Durations ---- */

/* The durations of passes, and how they are divided. */
struct passes {
    size_t count;
    uint64_t *times, *sorted; /* ns; sorted: of a part */
    size_t *runs;             /* of the times */
    double *least;            /* ns: of the best division of the first ones */
    size_t *from;             /* where the last part of that division begins */
    bool *cut;                /* before this one */
};

static void insert(uint64_t *sorted, size_t count, uint64_t time)
{
    size_t at = count;

    for (; at && sorted[at - 1] > time; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = time;
}

/* Returns the sum of the distances from the median. */
static double sum_distances(const uint64_t *sorted, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count / 2; i++)
        sum += (double)(sorted[count - 1 - i] - sorted[i]);
    return sum;
}

/* Returns the median distance of successive passes. */
static uint64_t find_noise(const struct passes *passes)
{
    const uint64_t *times = passes->times;

    for (size_t i = 0; i + 1 < passes->count; i++)
        insert(passes->sorted, i,
               times[i] > times[i + 1] ? times[i] - times[i + 1]
                                       : times[i + 1] - times[i]);
    return passes->sorted[(passes->count - 1) / 2];
}

/* Considers all parts that begin at `from`, after the best division of what is
 * before. */
static void extend(struct passes *passes, size_t from, double price)
{
    for (size_t i = from; i < passes->count; i++) {
        size_t size = i + 1 - from;
        double sum;

        insert(passes->sorted, size - 1, passes->times[i]);
        sum = passes->least[from] + price + sum_distances(passes->sorted, size);
        if (size < PASSES_LEAST || sum >= passes->least[i + 1])
            continue;
        passes->least[i + 1] = sum;
        passes->from[i + 1] = from;
    }
}

static void divide(struct passes *passes)
{
    double price = PART_PRICE * (double)find_noise(passes);

    for (size_t i = 1; i <= passes->count; i++)
        passes->least[i] = INFINITY;
    for (size_t i = 0; i + PASSES_LEAST <= passes->count; i++)
        if (isfinite(passes->least[i]))
            extend(passes, i, price);
    for (size_t i = passes->count; i; i = passes->from[i])
        passes->cut[passes->from[i]] = true;
}

static uint64_t median(struct passes *passes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        insert(passes->sorted, i - from, passes->times[i]);
    return passes->sorted[(to - from) / 2];
}

static bool is_longer(uint64_t time, uint64_t before)
{
    return time - time / 3 > before && time - before > shortest_change;
}

/* Returns whether few times are beyond `middle`, seen from their median. */
static bool is_apart(const struct passes *passes, size_t from, size_t to,
                     uint64_t middle, bool below)
{
    size_t beyond = 0;

    for (size_t i = from; i < to; i++)
        beyond += below ? passes->times[i] > middle : passes->times[i] < middle;
    return beyond <= (to - from) / 4;
}

/* Compares the part from `from` to `at` with the one from there to `to`. */
static bool differ(struct passes *passes, size_t from, size_t at, size_t to,
                   struct view_change *change)
{
    uint64_t before = median(passes, from, at), after = median(passes, at, to);
    uint64_t middle = before / 2 + after / 2;
    bool slower = after > before;

    *change = (struct view_change){passes->runs[at], before, after};
    return is_longer(slower ? after : before, slower ? before : after) &&
           is_apart(passes, from, at, middle, slower) &&
           is_apart(passes, at, to, middle, !slower);
}

/* Parts that do not differ become one. */
static void add_durations(struct changes *changes, struct passes *passes)
{
    struct view_change change;

    for (size_t from = 0, at = 1, to; at < passes->count; at = to) {
        for (to = at + 1; to < passes->count && !passes->cut[to]; to++)
            ;
        if (!passes->cut[at] || !differ(passes, from, at, to, &change))
            continue;
        add(changes, &change);
        from = at;
    }
}

static void free_passes(struct passes *passes)
{
    free(passes->times);
    free(passes->sorted);
    free(passes->runs);
    free(passes->least);
    free(passes->from);
    free(passes->cut);
}

static void find_durations(struct changes *changes,
                           const struct view_past *past, size_t count)
{
    struct passes passes = {.times = calloc(count + 1, sizeof(uint64_t)),
                            .sorted = calloc(count + 1, sizeof(uint64_t)),
                            .runs = calloc(count + 1, sizeof(size_t)),
                            .least = calloc(count + 1, sizeof(double)),
                            .from = calloc(count + 1, sizeof(size_t)),
                            .cut = calloc(count + 1, sizeof(bool))};
    bool room = passes.times && passes.sorted && passes.runs && passes.least &&
                passes.from && passes.cut;

    for (size_t i = 0; room && i < count; i++)
        if (past[i].outcome == TEST_LOG_OUTCOME_PASSED) {
            passes.times[passes.count] = past[i].duration;
            passes.runs[passes.count++] = i;
        }
    if (passes.count >= PASSES_LEAST) {
        divide(&passes);
        add_durations(changes, &passes);
    }
    free_passes(&passes);
}

size_t view_find_changes(const struct view_past *past, size_t count,
                         struct view_change **all)
{
    struct changes changes = {.count = 0};

    add_outcomes(&changes, past, count);
    find_durations(&changes, past, count);
    *all = changes.all;
    return changes.count;
}
