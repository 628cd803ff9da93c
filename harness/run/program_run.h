/* program_run.h: the run of one program, or its part of a run. Private. */
#ifndef TESTLOG_PROGRAM_RUN_H
#define TESTLOG_PROGRAM_RUN_H

#include "harness/options/options.h"

struct test_log_filters;

/* test_log_program_begin fills a run with what is known of the program when it
 * starts, and takes from the session what its parent has passed to it. `argv`
 * must stay valid. test_log_program_end finishes the run and prints the
 * summary; `any`: a test matched the filters. */
void test_log_program_begin(struct test_log_run *, char **argv);
void test_log_program_end(struct test_log_run *,
                          const struct test_log_options *,
                          const struct test_log_filters *,
                          const struct test_log_history *, bool any);

/* test_log_open_out opens what people read: stderr, whatever becomes of its
 * descriptor. */
void test_log_open_out(void);

#endif
