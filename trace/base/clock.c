/* clock.c: chooses the recording's clock. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#    include <cpuid.h>
#endif

#include "clock.h"

enum trace_clock trace_clock_chosen;

#if defined(__x86_64__) || defined(__i386__)
/* Returns whether the kernel itself uses the counter. */
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
#elif defined(__aarch64__)
static bool counter_usable(void)
{
    return true;
}
#else
static bool counter_usable(void)
{
    return false;
}
#endif

enum trace_clock trace_clock_choose(void)
{
    static bool known;

    if (known)
        return trace_clock_chosen;
    known = true;
    trace_clock_chosen =
        counter_usable() ? TRACE_CLOCK_COUNTER : TRACE_CLOCK_MONOTONIC;
    return trace_clock_chosen;
}

/* Takes the closest of a few tries: an interruption between the readings would
 * skew every time stamp of the recording. Equal clocks give equal times. */
struct trace_anchor trace_anchor_now(void)
{
    struct trace_anchor best = {0, 0, 0};
    uint64_t least = UINT64_MAX;

    trace_clock_choose();
    for (int i = 0; i < 4; i++) {
        uint64_t before = trace_clock_now();
        uint64_t monotonic = trace_clock_ns(CLOCK_MONOTONIC);
        uint64_t after = trace_clock_now();
        bool stepped = after < before; /* any other try is better */
        uint64_t width = stepped ? UINT64_MAX - 1 : after - before;

        if (width < least) {
            least = width;
            best.ticks = stepped ? after : before + width / 2;
            best.monotonic = monotonic;
        }
    }
    if (trace_clock_chosen == TRACE_CLOCK_MONOTONIC)
        best.ticks = best.monotonic;
    best.wall = trace_clock_ns(CLOCK_REALTIME) -
                (trace_clock_ns(CLOCK_MONOTONIC) - best.monotonic);
    return best;
}
