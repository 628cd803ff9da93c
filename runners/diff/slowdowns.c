/* slowdowns.c: finds spans and kernels that became slower or more frequent from
 * some runs to others.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "pass_times.h"
#include "runners/runs/find.h"
#include "runners/stat/stat.h"
#include "slowdowns.h"

/* A span counts only if all its calls together take so many ns longer: the
 * clock, and what it costs, are as long as short calls. A GPU's costs nothing.
 */
enum { EXCESS_LEAST = 10000 };

/* ---- Tests that ran in both runs ---- */

int runners_paths_add(struct run_paths *paths, const char *path)
{
    if (!TRACE_ARRAY_RESERVE(paths->all, paths->capacity, paths->count + 1) ||
        !(paths->all[paths->count] = strdup(path)))
        return -1;
    paths->count++;
    return 0;
}

void runners_paths_free(struct run_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->all[i]);
    free(paths->all);
}

static uint64_t key_of(const struct recording *recording)
{
    return runners_test_key(recording->program, recording->test);
}

static size_t repetition_of(const struct recording *recording)
{
    const char *mark = strchr(recording->test, '#');

    return mark ? strtoul(mark + 1, NULL, 10) : 0;
}

/* ---- What each run measured ---- */

int runners_slowdowns_measure(struct side *side, size_t number)
{
    if (!TRACE_ARRAY_RESERVE(side->measured, side->capacity, side->sums.count))
        return -1;
    for (size_t i = 0; i < side->sums.count; i++) {
        struct percentiles *run = &side->sums.all[i].run;

        if (run->count &&
            runners_measure_calls(&side->measured[i], number, run))
            return -1;
        runners_percentiles_free(run);
    }
    return 0;
}

static int add(struct side *side, const char *command,
               const struct recording *recording)
{
    struct trace_reader *reader = runners_open(recording->path);
    int status = 0;

    if (reader) {
        side->recordings++;
        status = runners_sums_add(&side->sums, recording, reader);
    } else if (errno != EBADMSG) {
        test_log_notice("%s: cannot read %s: %s; its spans are not compared",
                        command, recording->path, strerror(errno));
    }
    trace_reader_close(reader);
    return status;
}

/* Adds the tests that the other side has, too, repetition by repetition. */
static int add_run(struct side *side, const char *command, size_t number,
                   const struct recordings *found,
                   const struct trace_table *others)
{
    size_t last = 0;
    uintptr_t place;
    int status = 0;

    for (size_t i = 0; i < found->count; i++)
        if (repetition_of(&found->all[i]) > last)
            last = repetition_of(&found->all[i]);
    for (size_t repetition = 0; repetition <= last && !status; repetition++) {
        for (size_t i = 0; i < found->count && !status; i++)
            if (repetition_of(&found->all[i]) == repetition &&
                trace_table_find(others, key_of(&found->all[i]), &place))
                status = add(side, command, &found->all[i]);
        if (!status)
            status = runners_slowdowns_measure(side, number);
    }
    return status;
}

static int read_runs(struct slowdowns *slowdowns,
                     const struct recorded_runs *runs)
{
    struct recordings *found[2] = {NULL, NULL}; /* of each run of a side */
    struct trace_table tests[2] = {{0}, {0}};
    int status = 0;

    for (int i = 0; i < 2 && !status; i++) {
        const struct run_paths *paths = &runs->sides[i];

        found[i] = calloc(paths->count, sizeof(**found));
        status = found[i] ? 0 : -1;
        for (size_t j = 0; j < paths->count && !status; j++) {
            struct recordings *all = &found[i][j];

            runners_recordings_find(all, paths->all[j], runs->patterns);
            for (size_t k = 0; k < all->count && !status; k++)
                status = trace_table_set(&tests[i], key_of(&all->all[k]), k)
                             ? 0
                             : -1;
        }
    }
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < runs->sides[i].count && !status; j++)
            status = add_run(&slowdowns->sides[i], runs->command, j,
                             &found[i][j], &tests[1 - i]);
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; found[i] && j < runs->sides[i].count; j++)
            runners_recordings_free(&found[i][j]);
        free(found[i]);
        trace_table_free(&tests[i]);
    }
    return status;
}

/* ---- Comparing ---- */

/* Compares how often a test of each side calls it. */
static double times_as_many(const struct slowdown *one,
                            const struct slowdowns *slowdowns)
{
    double before = (double)one->before->durations.count /
                    (double)slowdowns->sides[0].recordings;
    double after = (double)one->after->durations.count /
                   (double)slowdowns->sides[1].recordings;

    return after / before;
}

static struct judgement judge(const struct slowdowns *slowdowns,
                              const struct slowdown *one,
                              const struct judge_rules *rules)
{
    const struct side *old = &slowdowns->sides[0], *new = &slowdowns->sides[1];
    struct judgement judgement =
        runners_judge(&old->measured[one->before - old->sums.all],
                      &new->measured[one->after - new->sums.all], rules);
    double excess = fabs(judgement.medians[1] - judgement.medians[0]);
    double all = excess * (double)one->after->durations.count;
    bool is_of_host = old->sums.table != STAT_KERNEL;

    if (excess < runners_excess_least(rules->by, false) ||
        (is_of_host && rules->by != MEASURE_INSTRUCTIONS &&
         all < EXCESS_LEAST)) {
        judgement.verdict = VERDICT_NOT_SLOWER;
        judgement.more_runs = 0;
    }
    return judgement;
}

static int keep(struct slowdowns *slowdowns, const struct slowdown *one)
{
    if (!TRACE_ARRAY_RESERVE(slowdowns->all, slowdowns->capacity,
                             slowdowns->count + 1))
        return -1;
    slowdowns->all[slowdowns->count++] = *one;
    if (one->frequent)
        slowdowns->frequent++;
    else
        slowdowns->counts[one->judgement.verdict]++;
    return 0;
}

/* A span that no meter was read at has no durations. */
static bool is_measured(const struct slowdown *one)
{
    return one->before && one->before->durations.count &&
           one->after->durations.count;
}

static int compare(struct slowdowns *slowdowns, const struct sum *after,
                   const struct judge_rules *rules)
{
    const struct sums *sums = &slowdowns->sides[0].sums;
    struct slowdown one = {.before = runners_sums_like(sums, after),
                           .after = after};
    struct slowdown other = one;

    if (!is_measured(&one))
        return 0;
    one.judgement = judge(slowdowns, &one, rules);
    other.frequent = true;
    other.times = times_as_many(&one, slowdowns);
    if (keep(slowdowns, &one))
        return -1;
    return other.times > 1 + rules->over ? keep(slowdowns, &other) : 0;
}

static size_t count_common(const struct slowdowns *slowdowns)
{
    const struct sums *after = &slowdowns->sides[1].sums;
    size_t count = 0;

    for (size_t i = 0; i < after->count; i++)
        count += runners_sums_like(&slowdowns->sides[0].sums, &after->all[i]) !=
                 NULL;
    return count;
}

static double ratio_of(const struct slowdown *one)
{
    return one->frequent ? one->times : one->judgement.ratio;
}

/* By verdict, the slower ones first, then the more frequent ones; then by
 * ratio. */
static int by_verdict(const void *a, const void *b)
{
    const struct slowdown *x = a, *y = b;

    if (x->frequent != y->frequent)
        return x->frequent - y->frequent;
    if (x->judgement.verdict != y->judgement.verdict)
        return x->judgement.verdict < y->judgement.verdict ? 1 : -1;
    return ratio_of(x) < ratio_of(y) ? 1 : ratio_of(x) > ratio_of(y) ? -1 : 0;
}

int runners_slowdowns_compare(struct slowdowns *slowdowns, double over)
{
    const struct sums *after = &slowdowns->sides[1].sums;
    const struct judge_rules rules = {slowdowns->by, over,
                                      count_common(slowdowns)};
    int status = 0;

    for (size_t i = 0; i < after->count && !status; i++)
        status = compare(slowdowns, &after->all[i], &rules);
    if (slowdowns->count)
        qsort(slowdowns->all, slowdowns->count, sizeof(*slowdowns->all),
              by_verdict);
    return status;
}

int runners_slowdowns_read(struct slowdowns *slowdowns, enum stat_table table,
                           const struct recorded_runs *runs)
{
    *slowdowns = (struct slowdowns){.count = 0};
    for (int i = 0; i < 2; i++)
        slowdowns->sides[i].sums = (struct sums){
            .table = table,
            .apart = table != STAT_TREE,
            .metered = runs->by != MEASURE_TIME,
            .meter = runs->by == MEASURE_CPU ? TRACE_METER_CPU
                                             : TRACE_METER_INSTRUCTIONS};
    slowdowns->by = runs->by;
    if (runs->by == MEASURE_MEMORY)
        return 0; /* spans have none */
    return read_runs(slowdowns, runs);
}

void runners_slowdowns_free(struct slowdowns *slowdowns)
{
    for (int i = 0; i < 2; i++) {
        struct side *side = &slowdowns->sides[i];

        for (size_t j = 0; j < side->capacity; j++)
            free(side->measured[j].all);
        free(side->measured);
        runners_sums_free(&side->sums);
    }
    free(slowdowns->all);
    *slowdowns = (struct slowdowns){.count = 0};
}
