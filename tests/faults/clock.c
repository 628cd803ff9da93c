/* clock.c: preloaded: makes the monotonic clock step forward and back by up to
 * CLOCK_STEP milliseconds.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;

/* Marsaglia's xorshift64. Races between threads do no harm. */
static uint64_t draw(void)
{
    uint64_t x = state ? state : (uint64_t)getpid() * 2654435769u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return state = x;
}

static int64_t offset(void)
{
    static int64_t ms;
    const char *step = getenv("CLOCK_STEP");

    if (step && draw() % 4 == 0)
        ms = (int64_t)(draw() % (2 * strtoull(step, NULL, 10)));
    return ms * 1000000;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    int64_t ns;

    if (result || clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        return result;
    ns = time->tv_sec * INT64_C(1000000000) + time->tv_nsec + offset();
    time->tv_sec = ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
    return 0;
}
