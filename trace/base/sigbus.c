/* sigbus.c: keeps mapped files usable while another process may truncate them.
 * A page beyond the new end is replaced by zeros instead of raising SIGBUS.
 *
 * Otherwise each reader would need a copy as large as the recording, and a
 * program that is captured would depend on who has its recording.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sigbus.h"
#include "trace/trace.h"

enum { RANGES = 64 }; /* mappings at the same time */

static struct range {
    uintptr_t begin; /* atomic, 0: free */
    size_t size;
} ranges[RANGES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken;
static struct sigaction before;
static uintptr_t page;

static bool is_guarded(uintptr_t address)
{
    for (size_t i = 0; i < RANGES; i++) {
        uintptr_t begin = __atomic_load_n(&ranges[i].begin, __ATOMIC_ACQUIRE);

        if (begin && address >= begin &&
            address - begin <
                __atomic_load_n(&ranges[i].size, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

/* The last address without a guard at which the thread faulted. */
static _Thread_local uintptr_t unguarded TRACE_TLS_;

/* Returns whether an access may succeed now: another thread may have replaced
 * the mapping and released its guard since the fault. */
static bool may_repeat(uintptr_t address)
{
    bool repeats = address != unguarded;

    unguarded = address;
    return repeats;
}

/* Replaces a page that is gone by zeros. Any other fault goes to the previous
 * handler, by repeating the access. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    bool ours = info->si_code == BUS_ADRERR;
    int error = errno;

    (void)context;
    if (ours && !is_guarded(address) && may_repeat(address))
        return;
    if (!ours || !is_guarded(address) ||
        mmap((void *)(address & ~(page - 1)), page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        sigaction(number, &before, NULL);
        if (info->si_code <= 0) /* sent with kill */
            raise(number);
    }
    errno = error;
}

static void install(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    action.sa_sigaction = on_sigbus;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

static void uninstall(void)
{
    struct sigaction now;

    if (!sigaction(SIGBUS, NULL, &now) && now.sa_sigaction == on_sigbus)
        sigaction(SIGBUS, &before, NULL);
}

static struct range *find(const void *base)
{
    for (size_t i = 0; base && i < RANGES; i++)
        if (ranges[i].begin == (uintptr_t)base)
            return &ranges[i];
    return NULL;
}

bool trace_sigbus_guard(const void *base, size_t size)
{
    struct range *range;

    pthread_mutex_lock(&lock);
    range = find(base);
    for (size_t i = 0; i < RANGES && !range; i++)
        if (!ranges[i].begin)
            range = &ranges[i];
    if (range) {
        range->size = size;
        if (!range->begin && !taken++)
            install();
        __atomic_store_n(&range->begin, (uintptr_t)base, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    errno = EMFILE;
    return range;
}

void trace_sigbus_shrink(const void *base, size_t size)
{
    struct range *range;

    pthread_mutex_lock(&lock);
    range = find(base);
    if (range)
        __atomic_store_n(&range->size, size, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void trace_sigbus_release(const void *base)
{
    struct range *range;

    pthread_mutex_lock(&lock);
    range = find(base);
    if (range) {
        __atomic_store_n(&range->begin, 0, __ATOMIC_RELEASE);
        if (!--taken)
            uninstall();
    }
    pthread_mutex_unlock(&lock);
}
