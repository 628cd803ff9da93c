/* compared.h: two runs, and what changed from one to the other. Private. */
#ifndef TESTLOG_COMPARED_H
#define TESTLOG_COMPARED_H

#include "changes.h"
#include "harness/run/model/model.h"
#include "slowdowns.h"

struct compared {
    struct test_log_run before,
        after;         /* all runs of a side; `path` is the last */
    uint64_t times[2]; /* ns that the runs took; 0: unknown */
    double over;       /* a shift up to it is none */
    char *
        counted[2]; /* how instructions were counted, of each side; NULL: not */
    bool locked[2]; /* the clocks of GPUs, while counters were sampled */
    bool apart;     /* times are not compared */
    struct changes changes;
    struct slowdowns spans, kernels;
};

/* runners_compared_read reads and compares runs; tests, spans and kernels count
 * as slower or more frequent if they are so by more than `over`. -1 if it has
 * printed what is wrong; call runners_compared_free in any case. */
int runners_compared_read(struct compared *, const struct recorded_runs *,
                          double over);
void runners_compared_free(struct compared *);

#endif
