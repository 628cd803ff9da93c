/* growing.h: a recording as blocks of tables while processes write it. Private.
 */
#ifndef TESTLOG_GROWING_H
#define TESTLOG_GROWING_H

#include "trace/read/reader.h"

struct test_log_growing;

/* test_log_growing_new prepares the blocks of a recording that `reader`
 * follows. `filter` is the one that chose its lines. The reader must outlive
 * it. NULL without memory. */
struct test_log_growing *test_log_growing_new(struct trace_reader *reader,
                                              const char *filter);

/* test_log_growing_add takes the entries that the last trace_reader_look has
 * found, and returns whether there is something for the next block. */
bool test_log_growing_add(struct test_log_growing *);

/* test_log_growing_put adds a block with what was taken since the last one, as
 * format.md describes it. `members` are as for test_log_block_put. */
void test_log_growing_put(struct trace_text *out, const char *members,
                          struct test_log_growing *);
void test_log_growing_free(struct test_log_growing *);

#endif
