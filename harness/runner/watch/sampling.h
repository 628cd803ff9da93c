/* sampling.h: takes samples of tests. Private. */
#ifndef TESTLOG_SAMPLING_H
#define TESTLOG_SAMPLING_H

#include "jobs.h"

/* test_log_sampling_begin begins to sample the workers that this thread starts,
 * if the options ask for it. If the kernel refuses, it prints why, and nothing
 * is sampled. test_log_sampling_end ends it. */
void test_log_sampling_begin(const struct test_log_options *);
void test_log_sampling_end(void);

/* test_log_sampling_put appends a test's samples to its recording, once its
 * process has ended. */
void test_log_sampling_put(const struct test_log_runner *,
                           const struct test_log_job *);

#endif
