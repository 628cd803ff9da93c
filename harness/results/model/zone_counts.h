/* zone_counts.h: how many zones of kernels were recorded, and lost. Private. */
#ifndef TESTLOG_ZONE_COUNTS_H
#define TESTLOG_ZONE_COUNTS_H

#include <testlog/log.h>

#include "trace/read/reader.h"
#include "trace/record/zones.h"

/* The counts of a test or a run, which are added up. The zero value is that of
 * one without rings. */
struct test_log_zones {
    char *clock; /* of the first test with rings; NULL: there is none */
#define TEST_LOG_X(name) uint64_t name;
    TRACE_ZONE_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
};

/* test_log_zones_read reads the counts of a recording, to be freed. */
void test_log_zones_read(struct test_log_zones *, const struct trace_reader *);
void test_log_zones_add(struct test_log_zones *all,
                        const struct test_log_zones *one);
void test_log_zones_free(struct test_log_zones *);

/* test_log_zones_members adds members of a JSON object; the caller adds the
 * braces. */
void test_log_zones_members(struct trace_text *, const struct test_log_zones *);

#endif
