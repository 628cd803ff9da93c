/* clock.c: the recording's clock. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#    include <cpuid.h>
#    include <x86intrin.h>
#endif

#include "internal.h"

static enum trace_clock chosen;

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
/* Whether the kernel itself keeps time by the counter. */
static bool kernel_trusts_tsc(void)
{
    char name[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/"
                  "current_clocksource",
                  O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;

    ssize_t size = read(fd, name, sizeof(name) - 1);

    close(fd);
    return size >= 3 && !memcmp(name, "tsc", 3);
}

/* Intel SDM vol. 2, CPUID leaf 80000007H: EDX bit 8, invariant TSC. */
static bool counter_usable(void)
{
    unsigned a, b, c, d;

    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return false;
    return kernel_trusts_tsc();
}

static uint64_t counter(void)
{
    return __rdtsc();
}
#elif defined(__aarch64__)
static bool counter_usable(void)
{
    return true;
}

static uint64_t counter(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
static bool counter_usable(void)
{
    return false;
}

static uint64_t counter(void)
{
    return 0;
}
#endif

enum trace_clock trace_clock_choose(void)
{
    static bool known;

    if (known)
        return chosen;
    known = true;
    chosen = counter_usable() ? TRACE_CLOCK_COUNTER : TRACE_CLOCK_MONOTONIC;
    return chosen;
}

uint64_t trace_clock_now(void)
{
    return chosen == TRACE_CLOCK_COUNTER ? counter()
                                         : nanoseconds(CLOCK_MONOTONIC);
}

/* The closest of a few tries: an interruption between the readings would bend
 * every time stamp of the recording. */
struct trace_anchor trace_anchor_now(void)
{
    struct trace_anchor best = {0, 0, 0};
    uint64_t least = UINT64_MAX;

    trace_clock_choose();
    for (int i = 0; i < 4; i++) {
        uint64_t before = trace_clock_now();
        uint64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
        uint64_t after = trace_clock_now();

        if (after - before < least) {
            least = after - before;
            best.ticks = before + (after - before) / 2;
            best.monotonic = monotonic;
        }
    }
    best.wall = nanoseconds(CLOCK_REALTIME) -
                (nanoseconds(CLOCK_MONOTONIC) - best.monotonic);
    return best;
}
