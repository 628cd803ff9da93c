/* sigbus.h: mapped files that another process may truncate. Private. */
#ifndef TRACE_SIGBUS_H
#define TRACE_SIGBUS_H

#include <stdbool.h>
#include <stddef.h>

/* trace_sigbus_guard replaces the pages of a mapped file that are beyond its
 * end by zeros when they are accessed, until trace_sigbus_release, which comes
 * before munmap; trace_sigbus_shrink does before a part of it is unmapped.
 * Returns false with errno if too many mappings are guarded. */
bool trace_sigbus_guard(const void *base, size_t size);
void trace_sigbus_shrink(const void *base, size_t size);
void trace_sigbus_release(const void *base);

#endif
