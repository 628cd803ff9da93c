/* pending_output.h: what a process has printed to stdout, but not written yet,
 * because the line is not complete. Private to the project. */
#ifndef TRACE_PENDING_OUTPUT_H
#define TRACE_PENDING_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* trace_write_pending writes it with write(2). Only a signal handler of a
 * process that dies may call it: the text is still pending then. */
void trace_write_pending(void);

/* trace_pending_at returns an address that trace_read_pending, in another
 * process that may trace this one, finds the text by. It stores up to `size`
 * bytes and returns how many there are; 0 if none can be read. */
uint64_t trace_pending_at(void);
size_t trace_read_pending(pid_t process, uint64_t at, char *bytes, size_t size);

#endif
