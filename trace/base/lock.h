/* lock.h: a lock that race detectors do not see. Private.
 *
 * helgrind and DRD take a mutex for an order of the program's threads: where
 * each thread records, they would miss the races between what it did before
 * and what others do after. What the lock guards is TRACE_UNTRACKED.
 */
#ifndef TRACE_LOCK_H
#define TRACE_LOCK_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct trace_lock {
    uint32_t state; /* atomic: enum trace_lock_state */
};

enum trace_lock_state {
    TRACE_LOCK_FREE,
    TRACE_LOCK_HELD,
    TRACE_LOCK_WAITED_FOR,
};

static inline void trace_lock_futex(struct trace_lock *lock, int operation,
                                    uint32_t value)
{
    int error = errno;

    syscall(SYS_futex, &lock->state, operation, value, NULL, NULL, 0);
    errno = error;
}

static inline void trace_lock(struct trace_lock *lock)
{
    uint32_t state = TRACE_LOCK_FREE;

    if (__atomic_compare_exchange_n(&lock->state, &state, TRACE_LOCK_HELD,
                                    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&lock->state, TRACE_LOCK_WAITED_FOR,
                               __ATOMIC_ACQUIRE) != TRACE_LOCK_FREE)
        trace_lock_futex(lock, FUTEX_WAIT_PRIVATE, TRACE_LOCK_WAITED_FOR);
}

static inline void trace_unlock(struct trace_lock *lock)
{
    if (__atomic_exchange_n(&lock->state, TRACE_LOCK_FREE, __ATOMIC_RELEASE) ==
        TRACE_LOCK_WAITED_FOR)
        trace_lock_futex(lock, FUTEX_WAKE_PRIVATE, 1);
}

#endif
