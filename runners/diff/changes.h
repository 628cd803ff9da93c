/* changes.h: what differs between two runs. Private. */
#ifndef TESTLOG_CHANGES_H
#define TESTLOG_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pass_times.h"

struct test_log_result;
struct test_log_run;

/* X(NAME, word in JSON, text) */
#define RUNNERS_CHANGES(X)                                                     \
    X(NEWLY_FAILING, "newly-failing", "newly failing")                         \
    X(NEWLY_PASSING, "newly-passing", "newly passing")                         \
    X(OTHER_OUTCOME, "other-outcome", "with another outcome")                  \
    X(ADDED, "added", "added")                                                 \
    X(GONE, "gone", "gone")                                                    \
    X(SLOWER, "slower", "slower")                                              \
    X(FASTER, "faster", "faster")                                              \
    X(UNCHANGED, "unchanged", "unchanged")

enum change_kind {
#define RUNNERS_X(name, word, text) CHANGE_##name,
    RUNNERS_CHANGES(RUNNERS_X)
#undef RUNNERS_X
        CHANGE_KINDS
};

/* The words of each kind. */
struct change_words {
    const char *word, *text;
};
extern const struct change_words runners_change_kinds[];

struct change {
    enum change_kind kind;
    const struct test_log_result *before, *after; /* NULL: it did not run */
    uint64_t bound; /* the most that its passes took before, or the least if it
                       is faster now */
    bool judged;    /* it passed on both sides */
    struct judgement judgement;
};

struct changes {
    bool any_flavour; /* times of different flavours are compared, too */
    bool untimed;     /* only results are compared */
    enum measure by;
    struct change *all; /* in the order of the new run, gone tests last */
    size_t count, capacity;
    size_t counts[CHANGE_KINDS];
    size_t verdicts[VERDICTS]; /* of the tests that passed on both sides */
};

/* runners_changes_find compares the results of two sides, and how long their
 * passes took: a shift up to `over` is none. -1 without memory; call
 * runners_changes_free in any case. */
int runners_changes_find(struct changes *, const struct test_log_run *before,
                         const struct test_log_run *after,
                         const struct pass_times *, double over);
void runners_changes_free(struct changes *);

/* runners_changes_select keeps only the tests that patterns select, as
 * runners_select_tests does. -1 without memory. */
int runners_changes_select(struct changes *, char **patterns);

#endif
