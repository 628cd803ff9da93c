/* slowdowns.h: spans that became slower or more frequent. Private. */
#ifndef TESTLOG_SLOWDOWNS_H
#define TESTLOG_SLOWDOWNS_H

#include "runners/stat/stat.h"

/* A span or kernel that is slower or more frequent. */
struct slowdown {
    const struct sum *before, *after;
    bool frequent; /* otherwise slower */
    double ratio;  /* of the averages, or of the calls in a test */
    double noise;  /* of the ratio; 0: there are too few calls */
};

struct side {
    struct sums sums;
    size_t recordings;
};

struct slowdowns {
    struct side sides[2]; /* the old and the new run */
    struct slowdown *all; /* the slower ones first */
    size_t count, capacity;
};

/* The runs whose recordings are read. */
struct recorded_runs {
    const char *command;  /* for messages */
    const char *paths[2]; /* of the old and the new run */
    char **patterns;      /* of tests; NULL: all */
    bool any_flavour;     /* times of different flavours are compared, too */
};

/* runners_slowdowns_read sums up the tests that both runs recorded; a run that
 * has no recordings has no sums. runners_slowdowns_compare compares the sums: a
 * ratio must exceed 1 + `over`, and the noise. -1 without memory; call
 * runners_slowdowns_free in any case. */
int runners_slowdowns_read(struct slowdowns *, enum stat_table,
                           const struct recorded_runs *);
int runners_slowdowns_compare(struct slowdowns *, double over);
void runners_slowdowns_free(struct slowdowns *);

#endif
