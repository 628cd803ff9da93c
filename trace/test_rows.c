/* test_rows.c: rows of tests that ran one after another, as a worker runs them.
 *
 * Which worker ran a test is not recorded: a test is in the row that was idle
 * for the shortest time when it began.
 */
#include <stdlib.h>

#include "containers.h"
#include "reader.h"

size_t trace_test_rows_find(struct trace_test_rows *rows, uint64_t begin)
{
    size_t found = rows->count;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->ends[i] <= begin &&
            (found == rows->count || rows->ends[i] > rows->ends[found]))
            found = i;
    if (found < rows->count)
        return found;
    if (!TRACE_ARRAY_RESERVE(rows->ends, rows->capacity, rows->count + 1))
        return SIZE_MAX;
    return rows->count++;
}

void trace_test_rows_take(struct trace_test_rows *rows, size_t row,
                          uint64_t end)
{
    if (end > rows->ends[row])
        rows->ends[row] = end;
}

void trace_test_rows_free(struct trace_test_rows *rows)
{
    free(rows->ends);
    *rows = (struct trace_test_rows){.count = 0};
}
