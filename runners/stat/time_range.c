/* time_range.c: parts of a test's time, as --from and --to give them. */
#include "harness/machine/notice.h"
#include "stat.h"
#include "trace/recording.h"

int runners_read_time(const char *flag, const char *text, int64_t *time)
{
    uint64_t ns = trace_parse_time(text + (*text == '-'));

    if (ns == UINT64_MAX) {
        test_log_notice("stat: %s=%s is not a time; write one such as 0, "
                        "250us, 1.2ms or 3s, from the test's beginning",
                        flag, text);
        return -1;
    }
    *time = *text == '-' ? -(int64_t)ns : (int64_t)ns;
    return 0;
}

static uint64_t after(uint64_t zero, int64_t time)
{
    return time < 0 ? trace_between((uint64_t)-time, zero)
                    : zero + (uint64_t)time;
}

struct stat_window runners_window_of(const struct stat_range *range,
                                     uint64_t zero)
{
    return (struct stat_window){range->starts ? after(zero, range->from) : 0,
                                range->ends ? after(zero, range->to)
                                            : UINT64_MAX};
}

bool runners_window_clip(struct stat_window window, uint64_t *begin,
                         uint64_t *end)
{
    bool is_moment = *begin == *end;

    if (*begin < window.from)
        *begin = window.from;
    if (*end > window.to)
        *end = window.to;
    return is_moment ? *begin == *end && *begin < window.to : *begin < *end;
}
