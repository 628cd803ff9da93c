/* sampling.h: takes samples of the processes that this one starts. Private. */
#ifndef TESTLOG_SAMPLING_H
#define TESTLOG_SAMPLING_H

#include "harness/run/model/model.h"

/* test_log_sampling_begin begins to sample the processes that this thread
 * starts, `hz` times a second; 0: not at all. `unwinds`: stacks of code without
 * frame pointers are found, too. If the kernel refuses, it prints
 * why, and the processes sample themselves. test_log_sampling_end ends it. */
void test_log_sampling_begin(size_t hz, bool unwinds);
void test_log_sampling_end(void);

/* test_log_sampling_put appends the samples of a process that this one has
 * started, once it has ended, to the recording of a result. */
void test_log_sampling_put(const struct test_log_run *,
                           const struct test_log_result *, uint32_t pid);

/* test_log_sampling_first returns a process that was started and has samples
 * that were not put yet; 0: there is none. */
uint32_t test_log_sampling_first(void);

#endif
