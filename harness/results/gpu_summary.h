/* gpu_summary.h: what tests did on GPUs, in numbers. Private. */
#ifndef TESTLOG_GPU_SUMMARY_H
#define TESTLOG_GPU_SUMMARY_H

#include "harness/results/model.h"

/* test_log_gpu_summary_read stores in a result the summary of its recording,
 * unless it has one. */
void test_log_gpu_summary_read(struct test_log_result *, struct trace_reader *);

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
