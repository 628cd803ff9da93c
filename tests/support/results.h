/* results.h: results of tests, for tests of what is made of them. */
#ifndef TESTS_RESULTS_H
#define TESTS_RESULTS_H

#include "harness/run/model/model.h"

/* test_add_result adds the result of the test "suite/NAME" to a run; the reason
 * may be NULL. */
struct test_log_result *test_add_result(struct test_log_run *,
                                        const char *program, const char *name,
                                        enum test_log_outcome,
                                        const char *reason);

#endif
