/* valgrind_requests.h: requests to valgrind. Private.
 *
 * A request is a few instructions that do nothing unless valgrind executes
 * them.
 */
#ifndef TRACE_VALGRIND_REQUESTS_H
#define TRACE_VALGRIND_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

/* The names of <valgrind/valgrind.h> and of the tools' headers. */
enum trace_valgrind_request {
    TRACE_RUNNING_ON_VALGRIND = 0x1001,
    TRACE_COUNT_ERRORS = 0x1201,
    TRACE_MEMCHECK = 'M' << 24 | 'C' << 16,
    TRACE_HELGRIND = 'H' << 24 | 'G' << 16,
    TRACE_DRD = 'D' << 24 | 'R' << 16,
};

/* trace_valgrind_ask returns valgrind's answer, 0 without valgrind. */
uintptr_t trace_valgrind_ask(unsigned request, uintptr_t one, uintptr_t two,
                             uintptr_t three, uintptr_t four);

/* trace_untrack hides memory from helgrind and DRD, which do not understand
 * atomic accesses. trace_untrack_statics does so for all TRACE_UNTRACKED. */
void trace_untrack(const void *address, size_t size);
void trace_untrack_statics(void);

#define TRACE_UNTRACKED __attribute__((section("trace_untracked")))

#endif
