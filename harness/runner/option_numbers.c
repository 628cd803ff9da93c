/* option_numbers.c: parses flags and variables whose values are numbers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/runner/options.h"

/* "64k" as it is to be written; false if that is no size either. */
static bool capital_size(const char *text, char *size, size_t room)
{
    uint64_t bytes;
    size_t length = strlen(text);
    const char *unit = length ? strchr("kmg", text[length - 1]) : NULL;

    if (!unit || length >= room)
        return false;
    memcpy(size, text, length + 1);
    size[length - 1] = *unit == 'k' ? 'K' : *unit == 'm' ? 'M' : 'G';
    return trace_parse_size(size, &bytes);
}

int test_log_read_limit(const char *name, const char *text, uint64_t *limit)
{
    char capital[32];
    uint64_t bytes;

    if (!trace_parse_size(text, &bytes)) {
        fprintf(
            stderr, "testlog: %s: \"%s\" is no size; write %s\n", name, text,
            capital_size(text, capital, sizeof(capital)) ? capital
                                                         : "bytes, as in 64M");
        return -1;
    }
    if (bytes < TRACE_LIMIT_LEAST || bytes > TRACE_LIMIT_MOST) {
        fprintf(stderr,
                "testlog: %s: \"%s\" is out of range; write 256K to 64G\n",
                name, text);
        return -1;
    }
    *limit = bytes;
    return 0;
}

static int refuse(const char *name, const char *text, const char *what,
                  double most)
{
    fprintf(stderr, "testlog: %s: \"%s\" is no %s; write 0 to %.0f\n", name,
            text, what, most);
    return -1;
}

int test_log_read_number(const char *name, const char *text, const char *what,
                         double most, double *number)
{
    char *end;

    errno = 0;
    *number = strtod(text, &end);
    if (end == text || *end || errno || !(*number >= 0) || *number > most)
        return refuse(name, text, what, most);
    return 0;
}

int test_log_read_count(const char *name, const char *text, const char *what,
                        size_t *count)
{
    const double most = 10000;
    double number;

    /* "1e1" would be 10 to us and 1 to Criterion. */
    if (text[strspn(text, "0123456789")])
        return refuse(name, text, what, most);
    if (test_log_read_number(name, text, what, most, &number))
        return -1;
    *count = (size_t)number;
    return 0;
}
