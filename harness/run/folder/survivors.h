/* survivors.h: processes that outlive the test that started them. Private. */
#ifndef TESTLOG_SURVIVORS_H
#define TESTLOG_SURVIVORS_H

#include "trace/read/reader.h"

/* test_log_survivors counts the live processes other than the test's own that
 * recorded, and adds their ids and names unless `names` is NULL. */
size_t test_log_survivors(struct trace_text *names,
                          const struct trace_reader *);

/* test_log_add_living adds the ids of those that are alive, each between
 * spaces; false if only the test's own process recorded. */
bool test_log_add_living(struct trace_text *ids, const struct trace_reader *);

#endif
