/* called.c: a function call that compiler hooks record. With HOOKS, the hooks
 * are ours: two reads of the counter and two records in memory. Without, they
 * are those of the tracer that runs the program (uftrace).
 */
#include <stdint.h>
#if defined(__x86_64__) || defined(__i386__)
#    include <x86intrin.h>
#endif

#include "peer.h"

#define BARE __attribute__((no_instrument_function))

#ifdef HOOKS

static struct record {
    uint64_t time, what, of, unused;
} ring[16 * 1024];

static size_t at;

BARE static inline void record(void *function, uint64_t what)
{
#    if defined(__x86_64__) || defined(__i386__)
    uint64_t time = __rdtsc();
#    else
    uint64_t time = (uint64_t)now_ns();
#    endif

    ring[at++ % (16 * 1024)] =
        (struct record){time, what, (uint64_t)(uintptr_t)function, 0};
}

BARE void __cyg_profile_func_enter(void *function, void *caller);
BARE void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    record(function, 1);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    record(function, 2);
}

#endif

__attribute__((noinline)) static void called(size_t i)
{
    keep(i);
}

BARE static double span(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        called(i);
    return (now_ns() - from) / (double)count;
}

BARE int main(void)
{
    static const struct work works[] = {{"span", span}};

    return serve(works, 1);
}
