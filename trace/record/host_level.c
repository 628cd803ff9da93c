/* host_level.c: the option host_tracer_level, a filter of levels. */
#include <errno.h>

#include "profiler.h"
#include "recorder.h"

static unsigned most_verbose;

static unsigned interest(struct trace_site *site)
{
    return site->level <= most_verbose ? TRACE_ALWAYS : 0;
}

static const struct trace_subscriber host_level = {.interest = interest};

int trace_host_level_set(uint64_t level)
{
    static const unsigned levels[] = {TRACE_LEVEL_OFF, TRACE_LEVEL_INFO,
                                      TRACE_LEVEL_DEBUG, TRACE_LEVEL_TRACE};

    if (level == TRACE_HOST_LEVEL_UNSET)
        return 0;
    if (trace_subscriber && trace_subscriber != &host_level) {
        errno = EBUSY;
        return -1;
    }
    most_verbose = levels[level];
    trace_subscribe(&host_level);
    return 0;
}

void trace_host_level_unset(void)
{
    if (trace_subscriber == &host_level)
        trace_subscribe(NULL);
}
