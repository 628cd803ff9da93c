/* usage.h: what a test uses of the processor, memory and files. Private. */
#ifndef TEST_LOG_USAGE_H
#define TEST_LOG_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* X(FIELD, member of run.json): children that have ended are included. */
#define TEST_LOG_USAGE_MEMBERS(X)                                              \
    X(cpu, "cpu_ns")                                                           \
    X(voluntary, "voluntary_switches")                                         \
    X(involuntary, "involuntary_switches")                                     \
    X(peak, "peak_rss_bytes")                                                  \
    X(read, "read_bytes")                                                      \
    X(written, "written_bytes")                                                \
    X(minor, "minor_faults")                                                   \
    X(major, "major_faults")

struct test_log_usage {
#define TEST_LOG_X(field, member) uint64_t field;
    TEST_LOG_USAGE_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
    uint64_t instructions; /* in user space; 0: they were not counted */
    uint32_t counter;      /* enum test_log_counter */
};

/* X(NAME, word in run.json): how they were counted. */
#define TEST_LOG_COUNTERS(X)                                                   \
    X(NONE, "none")                                                            \
    X(KERNEL, "kernel")                                                        \
    X(CALLGRIND, "callgrind")

enum test_log_counter {
#define TEST_LOG_X(name, word) TEST_LOG_COUNTER_##name,
    TEST_LOG_COUNTERS(TEST_LOG_X)
#undef TEST_LOG_X
        TEST_LOG_COUNTERS_COUNT
};
extern const char *const test_log_counter_words[TEST_LOG_COUNTERS_COUNT];

/* test_log_usage_begin lets the peak of this process's memory begin anew, and
 * returns what it has used so far; test_log_usage_now does the latter. A
 * value that cannot be read is 0. Both keep errno. */
struct test_log_usage test_log_usage_begin(void);
struct test_log_usage test_log_usage_now(void);

/* test_log_usage_of reads what another process has used, whose processor time
 * may be a multiple of 10 ms. False if it is gone. */
bool test_log_usage_of(pid_t, struct test_log_usage *);

/* test_log_usage_since returns what was used since `before`. */
struct test_log_usage test_log_usage_since(const struct test_log_usage *now,
                                           const struct test_log_usage *before);

#endif
