/* gpu_summary.h: what tests did on GPUs, in numbers. Private. */
#ifndef TESTLOG_GPU_SUMMARY_H
#define TESTLOG_GPU_SUMMARY_H

#include "harness/run/model/model.h"

/* test_log_gpu_summary_read stores in a result the summary of its recording,
 * unless it has one. A process that died has leaked nothing. */
void test_log_gpu_summary_read(const struct test_log_run *,
                               struct test_log_result *, struct trace_reader *);

enum test_log_gpu_leaks {
    TEST_LOG_GPU_LEAKS_NONE,
    TEST_LOG_GPU_LEAKS_FOUND,
    TEST_LOG_GPU_LEAKS_UNKNOWN, /* records of releases may be missing */
};

/* test_log_gpu_find_leaks looks for memory of GPUs that a test has not
 * released, describes it in `text`, and keeps the test's summary. */
enum test_log_gpu_leaks test_log_gpu_find_leaks(const struct test_log_run *,
                                                struct test_log_result *,
                                                struct trace_text *text);

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
