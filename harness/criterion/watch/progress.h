/* progress.h: the status line. Private. */
#ifndef TESTLOG_PROGRESS_H
#define TESTLOG_PROGRESS_H

#include "harness/options/other_programs.h"
#include "jobs.h"

/* test_log_progress_suits tells whether a status line can be shown at all;
 * test_log_progress_put shows one, cut to the width of the terminal. */
bool test_log_progress_suits(const struct test_log_options *);
void test_log_progress_put(const struct trace_text *line);

/* test_log_progress_begin decides whether there is a status line. The others do
 * nothing if there is none. */
void test_log_progress_begin(const struct test_log_runner *);
bool test_log_progress_shown(void);
void test_log_progress_paint(const struct test_log_runner *, uint64_t now);
void test_log_progress_erase(void);
void test_log_progress_end(void);

/* test_log_progress_line adds the status line, at most `width` columns of it.
 */
void test_log_progress_line(struct trace_text *, const struct test_log_runner *,
                            const struct test_log_others *, uint64_t now,
                            size_t width);

#endif
