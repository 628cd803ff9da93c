/* slowdowns.h: spans that became slower or more frequent. Private. */
#ifndef TESTLOG_SLOWDOWNS_H
#define TESTLOG_SLOWDOWNS_H

#include "judge.h"
#include "runners/stat/stat.h"

/* A span or kernel of both sides: how long its calls take, or that it is more
 * frequent. */
struct slowdown {
    const struct sum *before, *after;
    bool frequent;
    double times;               /* as many calls in a test, if it is frequent */
    struct judgement judgement; /* otherwise */
};

struct side {
    struct sums sums;
    struct measured_runs *measured; /* of each sum */
    size_t capacity;
    size_t recordings;
};

struct slowdowns {
    enum measure by;
    struct side sides[2]; /* the old and the new runs */
    struct slowdown *all; /* the slower ones first, then the noisy ones */
    size_t count, capacity;
    size_t counts[VERDICTS], frequent;
};

/* Paths of runs. */
struct run_paths {
    char **all;
    size_t count, capacity;
};

/* runners_paths_add adds a copy of a path; -1 without memory. */
int runners_paths_add(struct run_paths *, const char *path);
void runners_paths_free(struct run_paths *);

/* The runs whose recordings are read. */
struct recorded_runs {
    const char *command;       /* for messages */
    struct run_paths sides[2]; /* the old and the new runs */
    char **patterns;           /* of tests; NULL: all */
    enum measure by;
    bool any_flavour; /* times of different flavours are compared, too */
};

/* runners_slowdowns_read sums up the tests that runs of both sides recorded;
 * runs that have no recordings have no sums. A repetition counts as a run.
 * runners_slowdowns_compare judges the sums: a shift up to `over` is none. -1
 * without memory; call runners_slowdowns_free in any case. */
int runners_slowdowns_read(struct slowdowns *, enum stat_table,
                           const struct recorded_runs *);
int runners_slowdowns_compare(struct slowdowns *, double over);
void runners_slowdowns_free(struct slowdowns *);

/* runners_slowdowns_measure ends a run of a side, or a repetition of one, which
 * have that number: what was added to its sums since the last one is what it
 * measured. -1 without memory. */
int runners_slowdowns_measure(struct side *, size_t number);

#endif
