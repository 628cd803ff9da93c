/* test_rows.c: rows of tests that ran one after another, as a worker runs them.
 *
 * Which worker ran a test is not recorded: a test is in the row that was idle
 * for the shortest time when it began. Tests come by when they began, so rows
 * become idle in the order of their ends. Busy rows are a heap, with the one
 * that ends first on top; idle rows are a stack, with the one that ended last
 * on top.
 */
#include <stdlib.h>

#include "reader.h"
#include "test_rows.h"
#include "trace/base/containers.h"

/* Of rows that end together, the first comes to the top of the stack. */
static bool is_before(const struct trace_test_rows *rows, size_t a, size_t b)
{
    return rows->ends[a] != rows->ends[b] ? rows->ends[a] < rows->ends[b]
                                          : a > b;
}

static bool swap_if_before(struct trace_test_rows *rows, size_t below,
                           size_t above)
{
    size_t row = rows->busy[below];

    if (!is_before(rows, row, rows->busy[above]))
        return false;
    rows->busy[below] = rows->busy[above];
    rows->busy[above] = row;
    return true;
}

static void add_busy(struct trace_test_rows *rows, size_t row)
{
    size_t at = rows->busy_count++;

    rows->busy[at] = row;
    while (at && swap_if_before(rows, at, (at - 1) / 2))
        at = (at - 1) / 2;
}

/* Moves the row that ends first to the stack. */
static void release(struct trace_test_rows *rows)
{
    size_t at = 0, next;

    rows->idle[rows->count - rows->busy_count] = rows->busy[0];
    rows->busy[0] = rows->busy[--rows->busy_count];
    while ((next = 2 * at + 1) < rows->busy_count) {
        if (next + 1 < rows->busy_count &&
            is_before(rows, rows->busy[next + 1], rows->busy[next]))
            next++;
        if (!swap_if_before(rows, next, at))
            break;
        at = next;
    }
}

static bool reserve(struct trace_test_rows *rows)
{
    size_t count = rows->count + 1;

    return TRACE_ARRAY_RESERVE(rows->ends, rows->capacity, count) &&
           TRACE_ARRAY_RESERVE(rows->busy, rows->busy_capacity, count) &&
           TRACE_ARRAY_RESERVE(rows->idle, rows->idle_capacity, count);
}

size_t trace_test_rows_add(struct trace_test_rows *rows, uint64_t begin,
                           uint64_t end, uint64_t *idle_since)
{
    size_t row;

    while (rows->busy_count && rows->ends[rows->busy[0]] <= begin)
        release(rows);
    if (rows->busy_count < rows->count)
        row = rows->idle[rows->count - rows->busy_count - 1];
    else if (reserve(rows))
        row = rows->count++;
    else
        return SIZE_MAX;
    *idle_since = rows->ends[row];
    if (end > rows->ends[row])
        rows->ends[row] = end;
    add_busy(rows, row);
    return row;
}

void trace_test_rows_free(struct trace_test_rows *rows)
{
    free(rows->ends);
    free(rows->busy);
    free(rows->idle);
    *rows = (struct trace_test_rows){.count = 0};
}
