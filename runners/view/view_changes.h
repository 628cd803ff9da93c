/* view_changes.h: when a test began to fail, to pass or to take another time.
 * Private. */
#ifndef TESTLOG_VIEW_CHANGES_H
#define TESTLOG_VIEW_CHANGES_H

#include "harness/run/model/model.h"

/* A test's result in a run. */
struct view_past {
    enum test_log_outcome outcome;
    uint64_t duration; /* ns */
};

struct view_change {
    size_t at;              /* the first run after it */
    uint64_t before, after; /* ns; both 0: the outcome changed */
};

/* view_find_changes finds what changed in the runs of a test, the first of
 * which is the oldest: changes of the outcome, then those of the duration. It
 * returns their number, and the changes, to be freed.
 *
 * Only passes have a duration. They are divided into parts of at least three:
 * the sum of the distances from the parts' medians is the least possible, where
 * each part costs ten times the median distance of successive passes. Two parts
 * differ if one median is over 1.5 times as long as the other and over 1 ms
 * longer, and at most a quarter of each part is beyond the middle between the
 * medians. */
size_t view_find_changes(const struct view_past *, size_t count,
                         struct view_change **);

#endif
