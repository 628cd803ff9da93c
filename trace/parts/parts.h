/* parts.h: copies and finds the parts of a file. Private to the project. */
#ifndef TRACE_PARTS_H
#define TRACE_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/format.h"

/* trace_part_size returns the bytes of a part that is not compact, 0 if it is
 * none. */
uint64_t trace_part_size(int file, uint64_t offset);

/* trace_copy_part appends the part at an offset to a stream, in which `at`
 * bytes are, compact if it is short. It updates `at`, and stores the offset of
 * the copy. -1 with errno. */
int trace_copy_part(int from, uint64_t *offset, FILE *to, uint64_t *at);

/* trace_next_part moves the offset of a part to that of the next one; false if
 * there is none. The first is at 0. */
bool trace_next_part(int file, uint64_t *offset);

/* trace_has_parts tells whether a file must be read part by part. */
bool trace_has_parts(int file);

#endif
