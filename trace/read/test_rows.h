/* test_rows.h: the rows in which tests are drawn. Private to the project. */
#ifndef TRACE_TEST_ROWS_H
#define TRACE_TEST_ROWS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of tests, each of which begins after the one before it has ended. The
 * zero value has none. */
struct trace_test_rows {
    uint64_t *ends;      /* of the last test of each */
    size_t *busy, *idle; /* numbers of rows; see test_rows.c */
    size_t count, busy_count;
    size_t capacity, busy_capacity, idle_capacity;
};

/* trace_test_rows_add returns the row of a test, which may be a new one;
 * SIZE_MAX without memory. *idle_since is when the test before it in that row
 * ended; 0: it is the first. Tests come by when they began. */
size_t trace_test_rows_add(struct trace_test_rows *, uint64_t begin,
                           uint64_t end, uint64_t *idle_since);
void trace_test_rows_free(struct trace_test_rows *);

#ifdef __cplusplus
}
#endif

#endif
