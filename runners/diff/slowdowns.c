/* slowdowns.c: finds spans and kernels that became slower or more frequent from
 * one run to another.
 *
 * The calls of a name are repeats of one measurement. The noise of a ratio is
 * three times its standard error, by the delta method: see G. W. Oehlert, "A
 * Note on the Delta Method", 1992.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/results/terminal/terminal.h"
#include "runners/find/find.h"
#include "runners/stat/stat.h"
#include "slowdowns.h"
#include "trace/base/strings.h"

enum {
    CALLS_LEAST = 5, /* to estimate the noise */
    ERRORS = 3,      /* how many standard errors are noise */
    /* A span counts only if all its calls together take so many ns longer,
     * because caches and other processes change short times. The clock of a GPU
     * is better. */
    EXCESS_LEAST = 1000000,
};

/* ---- Tests that ran in both runs ---- */

/* Repetitions, "name#1", are one test. */
static uint64_t key_of(const struct recording *recording)
{
    const char *test = recording->test;
    uint64_t hash = trace_hash_string(TRACE_HASH, recording->program);

    hash = trace_hash(hash, "", 1);
    return trace_hash(hash, test, strcspn(test, "#"));
}

static int index_tests(struct trace_table *tests,
                       const struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (!trace_table_set(tests, key_of(&found->all[i]), i))
            return -1;
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

static int add_common(struct side *side, const char *command,
                      const struct recordings *found,
                      const struct trace_table *others)
{
    uintptr_t place;
    int status = 0;

    for (size_t i = 0; i < found->count && !status; i++)
        if (trace_table_find(others, key_of(&found->all[i]), &place))
            status = add(side, command, &found->all[i]);
    return status;
}

static int read_runs(struct slowdowns *slowdowns,
                     const struct recorded_runs *runs)
{
    struct recordings found[2] = {{.all = NULL}, {.all = NULL}};
    struct trace_table tests[2] = {{.slots = NULL}, {.slots = NULL}};
    int status = 0;

    for (int i = 0; i < 2 && !status; i++) {
        runners_recordings_find(&found[i], runs->paths[i], runs->patterns);
        status = index_tests(&tests[i], &found[i]);
    }
    for (int i = 0; i < 2 && !status; i++)
        status = add_common(&slowdowns->sides[i], runs->command, &found[i],
                            &tests[1 - i]);
    for (int i = 0; i < 2; i++) {
        runners_recordings_free(&found[i]);
        trace_table_free(&tests[i]);
    }
    return status;
}

/* ---- Comparing ---- */

/* Returns the variance of the mean relative to its square. */
static double error_of(const struct percentiles *durations)
{
    double count = (double)durations->count;

    return durations->squares / (count - 1) / count /
           (durations->mean * durations->mean);
}

static bool is_slower(struct slowdown *one, enum stat_table table, double over)
{
    const struct percentiles *before = &one->before->durations;
    const struct percentiles *after = &one->after->durations;
    double excess = (after->mean - before->mean) * (double)after->count;

    if (before->mean <= 0)
        return false;
    one->ratio = after->mean / before->mean;
    if (before->count < CALLS_LEAST || after->count < CALLS_LEAST)
        return test_log_is_longer((uint64_t)after->mean,
                                  (uint64_t)before->mean) &&
               one->ratio > 1 + over;
    one->noise = ERRORS * one->ratio * sqrt(error_of(before) + error_of(after));
    return one->ratio - one->noise > 1 + over &&
           (table == STAT_KERNEL || excess >= EXCESS_LEAST);
}

/* Compares how often a test of each run calls it. */
static bool is_more_frequent(struct slowdown *one,
                             const struct slowdowns *slowdowns, double over)
{
    double before = (double)one->before->durations.count /
                    (double)slowdowns->sides[0].recordings;
    double after = (double)one->after->durations.count /
                   (double)slowdowns->sides[1].recordings;

    one->frequent = true;
    one->ratio = after / before;
    return one->ratio > 1 + over;
}

static int keep(struct slowdowns *slowdowns, const struct slowdown *one)
{
    if (!TRACE_ARRAY_RESERVE(slowdowns->all, slowdowns->capacity,
                             slowdowns->count + 1))
        return -1;
    slowdowns->all[slowdowns->count++] = *one;
    return 0;
}

static int compare(struct slowdowns *slowdowns, const struct sum *after,
                   double over)
{
    const struct sums *sums = &slowdowns->sides[0].sums;
    struct slowdown one = {.before = runners_sums_like(sums, after),
                           .after = after};
    struct slowdown other = one;

    if (!one.before)
        return 0;
    if (is_slower(&one, sums->table, over) && keep(slowdowns, &one))
        return -1;
    if (is_more_frequent(&other, slowdowns, over) && keep(slowdowns, &other))
        return -1;
    return 0;
}

/* Slower ones first, then the largest ratio. */
static int by_ratio(const void *a, const void *b)
{
    const struct slowdown *x = a, *y = b;

    if (x->frequent != y->frequent)
        return x->frequent - y->frequent;
    return x->ratio < y->ratio ? 1 : x->ratio > y->ratio ? -1 : 0;
}

int runners_slowdowns_compare(struct slowdowns *slowdowns, double over)
{
    const struct sums *after = &slowdowns->sides[1].sums;
    int status = 0;

    for (size_t i = 0; i < after->count && !status; i++)
        status = compare(slowdowns, &after->all[i], over);
    if (slowdowns->count)
        qsort(slowdowns->all, slowdowns->count, sizeof(*slowdowns->all),
              by_ratio);
    return status;
}

int runners_slowdowns_read(struct slowdowns *slowdowns, enum stat_table table,
                           const struct recorded_runs *runs)
{
    *slowdowns = (struct slowdowns){.count = 0};
    for (int i = 0; i < 2; i++)
        slowdowns->sides[i].sums.table = table;
    return read_runs(slowdowns, runs);
}

void runners_slowdowns_free(struct slowdowns *slowdowns)
{
    for (int i = 0; i < 2; i++)
        runners_sums_free(&slowdowns->sides[i].sums);
    free(slowdowns->all);
    *slowdowns = (struct slowdowns){.count = 0};
}
