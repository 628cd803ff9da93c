/* callgrind.h: counts instructions with valgrind's callgrind. Private.
 *
 * No request of callgrind returns a count. One writes the count since the last
 * dump to a file.
 */
#ifndef TRACE_CALLGRIND_H
#define TRACE_CALLGRIND_H

#include <stdbool.h>
#include <stdint.h>

/* trace_callgrind_begin makes callgrind count from now on. It writes to files
 * called "counts." and the process in `folder`, which must outlive the calls.
 */
void trace_callgrind_begin(const char *folder);

/* trace_callgrind_counts tells whether that was called. */
bool trace_callgrind_counts(void);

/* trace_callgrind_count returns how many instructions all threads have executed
 * since the beginning; 0 if callgrind does not run. */
uint64_t trace_callgrind_count(void);

#endif
