/* gpu_summary.h: what tests did on GPUs, in numbers. Private. */
#ifndef TESTLOG_GPU_SUMMARY_H
#define TESTLOG_GPU_SUMMARY_H

#include "harness/run/model/model.h"

/* test_log_gpu_summary_read stores in a result the summary of its recording,
 * unless it has one. A process that died has leaked nothing. */
void test_log_gpu_summary_read(const struct test_log_run *,
                               struct test_log_result *, struct trace_reader *);

/* test_log_gpu_judge_leaks looks for memory of GPUs that a passing test has not
 * released, and keeps the test's summary. It returns the reason for which the
 * test `fails` then, to be freed; otherwise it prints a warning. NULL: there is
 * none. */
char *test_log_gpu_judge_leaks(const struct test_log_run *,
                               struct test_log_result *, bool fails);

/* test_log_gpu_lacks_records returns whether records of devices may be missing
 * in a recording. */
bool test_log_gpu_lacks_records(const struct trace_reader *);

/* test_log_gpu_summary_of_run adds up the tests; the caller frees the sum. NULL
 * if no test used a GPU. */
struct log_device_summary *test_log_gpu_summary_of_run(
    const struct test_log_run *);

/* test_log_gpu_summary_members adds members of a JSON object; the caller adds
 * the braces. */
void test_log_gpu_summary_members(struct trace_text *,
                                  const struct log_device_summary *);

/* test_log_gpu_summary_print prints one line about the run. */
void test_log_gpu_summary_print(const struct test_log_run *);

#endif
