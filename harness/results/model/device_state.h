/* device_state.h: what was recorded about OpenCL. Private. */
#ifndef TESTLOG_DEVICE_STATE_H
#define TESTLOG_DEVICE_STATE_H

#include <testlog/log.h>

#include "harness/results/model/gpu_state.h"
#include "trace/read/reader.h"

/* X(NAME, word): in a run, a later state replaces an earlier one. */
#define TEST_LOG_OPENCL_STATES(X)                                              \
    X(UNUSED, "unused") X(ON, "on") X(NOT_LOADED, "not-loaded")

enum test_log_opencl_state {
#define TEST_LOG_X(name, word) TEST_LOG_OPENCL_##name,
    TEST_LOG_OPENCL_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* X(name in the recording, after "opencl.", and in run.json): they are added
 * up. */
#define TEST_LOG_OPENCL_COUNTS(X)                                              \
    X(launches) X(launched) X(unfinished) X(lost) X(pending) X(bad_times)

/* The state of a test or a run. The notice of a run comes from the first test
 * with the run's state, its clock from the first that has one. */
struct test_log_opencl {
    enum test_log_opencl_state state;
    char *notice; /* NULL: none */
    char *clock;  /* of the first device, and its error; NULL: none */
#define TEST_LOG_X(name) uint64_t name;
    TEST_LOG_OPENCL_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
};

const char *test_log_opencl_word(enum test_log_opencl_state);

/* test_log_opencl_state_of finds the state for a word; UNUSED if the word is
 * NULL or unknown. */
enum test_log_opencl_state test_log_opencl_state_of(const char *word);

/* test_log_opencl_read reads what a recording contains about OpenCL, to be
 * freed. */
void test_log_opencl_read(struct test_log_opencl *,
                          const struct trace_reader *);
void test_log_opencl_add(struct test_log_opencl *all,
                         const struct test_log_opencl *one);
void test_log_opencl_free(struct test_log_opencl *);

/* test_log_opencl_members adds members of a JSON object; the caller adds the
 * braces. */
void test_log_opencl_members(struct trace_text *,
                             const struct test_log_opencl *);

/* test_log_opencl_only returns whether OpenCL was recorded and no program uses
 * CUDA: why that was not recorded is then of no interest. */
bool test_log_opencl_only(const struct test_log_opencl *,
                          const struct test_log_gpu *);

/* test_log_opencl_print prints why nothing was recorded of OpenCL, if it was
 * used. */
void test_log_opencl_print(const struct test_log_opencl *);

#endif
