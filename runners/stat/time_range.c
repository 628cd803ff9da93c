/* time_range.c: parts of a test's time, as --from and --to give them. */
#include <ctype.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "stat.h"

static const struct {
    const char *word;
    uint64_t ns;
} units[] = {
    {"ns", 1},           {"us", 1000},      {"µs", 1000},
    {"ms", 1000 * 1000}, {"s", 1000000000},
};

/* Ten days; longer times would be mistakes. */
#define NS_MOST (UINT64_C(864000) * 1000000000)

/* Returns the ns of a unit, 0 if there is no such unit. */
static uint64_t unit_of(const char *word)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(units[i].word, word))
            return units[i].ns;
    return 0;
}

/* Returns the ns of a fraction's digits; less than 1 ns is cut off. */
static uint64_t fraction_of(const char *digits, uint64_t unit)
{
    uint64_t ns = 0;

    for (; isdigit((unsigned char)*digits) && unit > 1; digits++) {
        unit /= 10;
        ns += (uint64_t)(*digits - '0') * unit;
    }
    return ns;
}

/* Parses a time without a sign; UINT64_MAX if it is none. */
static uint64_t parse(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    size_t fraction =
        text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;
    const char *word = text + digits + (fraction ? fraction + 1 : 0);
    uint64_t unit = unit_of(word), ns = 0;

    if (!strcmp(text, "0"))
        return 0;
    if (!digits || !unit)
        return UINT64_MAX;
    for (size_t i = 0; i < digits; i++) {
        ns = ns * 10 + (uint64_t)(text[i] - '0') * unit;
        if (ns > NS_MOST)
            return UINT64_MAX;
    }
    return ns + (fraction ? fraction_of(text + digits + 1, unit) : 0);
}

int runners_read_time(const char *flag, const char *text, int64_t *time)
{
    uint64_t ns = parse(text + (*text == '-'));

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
