/* crashes.h: the crashes that a recording has. Private to the project. */
#ifndef TRACE_CRASHES_H
#define TRACE_CRASHES_H

#include "trace/crash.h"
#include "trace/read/reader.h"

/* trace_reader_crashes returns how many processes left a crash or tried to.
 * trace_reader_crash visits those that are recorded: start with a cursor of 0.
 * `*stack` is followed by the mappings. */
size_t trace_reader_crashes(const struct trace_reader *);
bool trace_reader_crash(const struct trace_reader *, size_t *cursor,
                        struct trace_crash *, const unsigned char **stack);

/* trace_erase_stacks overwrites the copied stacks, which may hold secrets. */
int trace_erase_stacks_beneath(int folder, const char *name);

#endif
