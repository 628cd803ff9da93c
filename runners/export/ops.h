/* ops.h: a table of what a program did on devices, with a row for each
 * operation. Private to the project.
 *
 * It is modelled on the op report that tt-metal makes of Tracy's traces.
 */
#ifndef RUNNERS_OPS_H
#define RUNNERS_OPS_H

#include "trace/read/reader.h"

/* The zero value is ready. */
struct runners_ops {
    uint64_t rows; /* so far */
};

/* runners_ops_begin writes the names of the columns; errors are the stream's.
 */
void runners_ops_begin(FILE *);

/* runners_ops_add writes a row for each operation and each signpost of a
 * recording in order of time; `test` is the test's name. Rows of kind "dropped"
 * tell what is missing: `losses`, unless it is NULL. Returns -1 with errno if
 * the recording cannot be read or memory is exhausted. */
int runners_ops_add(struct runners_ops *, struct trace_reader *,
                    const char *test, const char *losses, FILE *);

#endif
