/* attempts.h: the blocks of tests in a report, and the one at the end. Private.
 */
#ifndef TESTLOG_ATTEMPTS_H
#define TESTLOG_ATTEMPTS_H

#include "harness/run/page/recorded.h"
#include "harness/run/page/report_html.h"

/* One try of a test. */
struct test_log_attempt {
    const struct test_log_result *result;
    size_t number;                  /* of the test */
    size_t attempt;                 /* from 1; 0: the last */
    const char *folder, *recording; /* as a result's */
    enum test_log_outcome outcome;
};

/* ---- attempts.c ---- */

/* test_log_attempt_of finds try `which` of a test; false if there is none, or
 * it has no recording. */
bool test_log_attempt_of(struct test_log_attempt *, const struct test_log_run *,
                         size_t number, size_t which);

/* test_log_attempt_offset returns the ns from the start of the run to a
 * recording's time zero, which programs of one run do not share. */
uint64_t test_log_attempt_offset(const struct test_log_run *,
                                 const struct trace_reader *);

/* test_log_attempt_members adds the members of a block that tell which try it
 * is. */
void test_log_attempt_members(struct trace_text *, const struct test_log_page *,
                              const struct test_log_attempt *,
                              const struct trace_reader *);

/* test_log_attempt_zero returns the moment from which the times of a try count:
 * ns since the recording's own time zero. The reader may be rewound. */
uint64_t test_log_attempt_zero(const struct test_log_run *,
                               const struct test_log_attempt *,
                               struct trace_reader *);

/* test_log_attempt_block adds the block of a try, and counts its recording; -1
 * without memory. */
int test_log_attempt_block(struct trace_text *, const struct test_log_page *,
                           const struct test_log_attempt *,
                           struct trace_reader *, struct test_log_counts *);

/* ---- end_block.c ---- */

extern const struct test_log_table_kind test_log_count_kind,
    test_log_left_out_kind;

struct test_log_end_block {
    struct test_log_strings strings;
    struct test_log_table counts, left_out;
    struct trace_text blocks; /* their ids, quoted, with commas */
};

#define TEST_LOG_END_BLOCK                                                     \
    {                                                                          \
        .counts = {.kind = &test_log_count_kind}, .left_out = {                \
            .kind = &test_log_left_out_kind                                    \
        }                                                                      \
    }

/* test_log_end_leave_out notes why a try has no block, and, if `can_write`,
 * which command writes it. test_log_end_count notes the counts of a try.
 * test_log_end_put adds the block. */
void test_log_end_leave_out(struct test_log_end_block *,
                            const struct test_log_page *,
                            const struct test_log_attempt *, const char *why,
                            bool can_write);
void test_log_end_count(struct test_log_end_block *,
                        const struct test_log_page *,
                        const struct test_log_attempt *,
                        const struct trace_reader *,
                        const struct test_log_counts *);
void test_log_end_put(struct trace_text *, const struct test_log_end_block *,
                      const struct test_log_page *);
void test_log_end_free(struct test_log_end_block *);

#endif
