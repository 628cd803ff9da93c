/* asan_report.h: what a report of AddressSanitizer says. Private. */
#ifndef TESTLOG_ASAN_REPORT_H
#define TESTLOG_ASAN_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* test_log_asan_reason writes why a test failed, such as "AddressSanitizer:
 * double-free in sum /src/list.c:9". The kind of the error is in the summary at
 * the end of the report, or else in `summary`. False if it is in neither. It
 * allocates no memory. */
bool test_log_asan_reason(const char *report, const char *summary, char *reason,
                          size_t size);

#endif
