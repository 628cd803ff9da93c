/* level.c: compares words, and parses levels and white space. */
#include <stdlib.h>
#include <string.h>

#include "filter.h"

bool log_same_word(const char *a, const char *b)
{
    return trace_same_bytes(a, b, strlen(a) + 1);
}

bool log_level_of(const char *text, unsigned *level)
{
    const char *digits = text[0] == '+' ? text + 1 : text;

    if (*digits && strspn(digits, "0123456789") == strlen(digits)) {
        unsigned long number = strtoul(digits, NULL, 10);

        if (number > TRACE_LEVEL_TRACE)
            return false;
        *level = (unsigned)number;
        return true;
    }
    for (unsigned i = 0; i <= TRACE_LEVEL_TRACE; i++)
        if (log_same_word(text, trace_level_word(i))) {
            *level = i;
            return true;
        }
    return false;
}

/* Unicode's white space beyond ASCII. */
static const char *const wide_spaces[] = {
    "\xc2\x85", "\xc2\xa0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
    "\u2004",   "\u2005",   "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u2028",   "\u2029",   "\u202f", "\u205f", "\u3000",
};

size_t log_space(const char *text)
{
    if ((*text >= '\t' && *text <= '\r') || *text == ' ')
        return 1;
    if ((unsigned char)*text < 0x80)
        return 0;
    for (size_t i = 0; i < sizeof(wide_spaces) / sizeof(*wide_spaces); i++) {
        size_t size = strlen(wide_spaces[i]);

        if (!strncmp(text, wide_spaces[i], size))
            return size;
    }
    return 0;
}

char *log_trim(char *text)
{
    char *end, *last;
    size_t size;

    while ((size = log_space(text)))
        text += size;
    end = last = text;
    while (*end) {
        size = log_space(end);
        end += size ? size : 1;
        if (!size)
            last = end;
    }
    *last = '\0';
    return text;
}
