/* ops.h: a table of what a program did on devices, with a row for each
 * operation. Private to the project.
 *
 * It is modelled on the op report that tt-metal makes of Tracy's traces.
 */
#ifndef TRACE_OPS_H
#define TRACE_OPS_H

#include "trace/read/reader.h"

/* The zero value is ready. */
struct trace_ops {
    uint64_t rows; /* so far */
};

/* trace_ops_begin writes the names of the columns; errors are the stream's. */
void trace_ops_begin(FILE *);

/* trace_ops_add writes a row for each operation and each signpost of a
 * recording in order of time; `test` is the test's name. Rows of kind "dropped"
 * tell what is missing: `losses`, unless it is NULL. Returns -1 with errno if
 * the recording cannot be read or memory is exhausted. */
int trace_ops_add(struct trace_ops *, struct trace_reader *, const char *test,
                  const char *losses, FILE *);

#endif
