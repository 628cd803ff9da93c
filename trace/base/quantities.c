/* quantities.c: parses sizes and times with units. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording.h"

bool trace_parse_size(const char *text, uint64_t *bytes)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;

    errno = 0;

    unsigned long long number = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;

    if (shift)
        end++;
    if (errno || *end || number > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)number << shift;
    return true;
}

/* ---- Times ---- */

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

uint64_t trace_parse_time(const char *text)
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
