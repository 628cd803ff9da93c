/* balance.h: divides tests among shards. Private. */
#ifndef TESTLOG_BALANCE_H
#define TESTLOG_BALANCE_H

#include <stddef.h>
#include <stdint.h>

#include "harness/run/model/model.h"

struct test_log_balanced {
    const char *program, *name; /* unique */
    uint64_t time;              /* that the test takes */
    size_t shard;               /* that gets the test */
    size_t number;              /* the caller's */
};

/* test_log_balance gives each test, the longest first, to the shard with the
 * least work. No shard takes longer than the mean of all shards plus its own
 * shortest test. The result does not depend on the order of the tests, which it
 * changes. -1 without memory.
 *
 * This is the rule "longest processing time first" of R. L. Graham, Bounds on
 * Multiprocessing Timing Anomalies, SIAM Journal on Applied Mathematics 17
 * (1969): at most 4/3 of the best possible. */
int test_log_balance(struct test_log_balanced *tests, size_t count,
                     size_t total);

/* test_log_shard_of returns the shard, of total shards, of a test when
 * durations do not matter; `place` is the test's place among the sorted
 * tests. */
size_t test_log_shard_of(const struct test_log_shard *, size_t place,
                         const char *name);

#endif
