/* calls.h: helpers of tests that record calls of functions. */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include "support.h"

/* test_record_calls begins a recording with that many bytes for calls, and lets
 * readers name functions. */
void test_record_calls(uint64_t limit);

/* test_filter_calls records those that the filter has. */
void test_filter_calls(const struct trace_function_filter *);

/* test_paths returns the spans and events below the call of a function, one a
 * line, with those around them: "outer/inner", which are kept. */
char *test_paths(struct trace_reader *, const char *root);

/* test_expect_paths ends the recording and compares these. */
void test_expect_paths(const char *root, const char *expected);

#endif
