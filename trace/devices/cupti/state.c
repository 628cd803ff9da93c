/* state.c: whether CUPTI is tracing, and why not. */
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "cupti.h"

struct cupti cupti;

uint64_t cupti_clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void cupti_note(const char *name, const char *format, ...)
{
    char value[512];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    cupti.host->note(name, value);
}

const char *cupti_result_name(int result)
{
    const char *word = NULL;

    return cupti.result_string && !cupti.result_string(result, &word) && word
               ? word
               : "?";
}

bool cupti_is_on(void)
{
    return __atomic_load_n(&cupti.on, __ATOMIC_ACQUIRE) &&
           cupti.pid == (uint32_t)getpid();
}

void cupti_fail(const char *now, const char *format, ...)
{
    va_list args;

    cupti.state = now;
    va_start(args, format);
    vsnprintf(cupti.notice, sizeof(cupti.notice), format, args);
    va_end(args);
}

void cupti_note_state(void)
{
    cupti.host->note("gpu.state", cupti.state);
    if (cupti.notice[0])
        cupti.host->note("gpu.notice", cupti.notice);
    if (cupti.refused.size)
        cupti.host->note("gpu.refused", cupti.refused.data);
}

void cupti_disable_all(void)
{
    static const uint16_t kinds[] = {
#define TRACE_X(name, number, must, word) number,
        CUPTI_KINDS(TRACE_X)
#undef TRACE_X
    };

    for (size_t i = sizeof(kinds) / sizeof(*kinds); i-- > 0;)
        if (cupti.enabled[kinds[i]]) {
            cupti.disable(kinds[i]);
            cupti.enabled[kinds[i]] = false;
        }
}

void cupti_stop(const char *now, const char *why)
{
    __atomic_store_n(&cupti.on, false, __ATOMIC_RELEASE);
    cupti_fail(now, "%s", why);
    cupti_note_state();
}

bool cupti_join(pthread_t one)
{
    enum { PATIENCE_S = 5 };
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    return !pthread_clockjoin_np(one, NULL, CLOCK_MONOTONIC, &until);
}
