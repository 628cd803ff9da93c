/* words.c: the words of levels, and which word was probably meant. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

static const char *const level_words[] = {
    "off",
#define TRACE_X(name, number, word) word,
    TRACE_LEVELS(TRACE_X)
#undef TRACE_X
        NULL,
};

/* Levenshtein's distance, of words of at most 31 bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], n = strlen(b);

    if (n > 31)
        return 99;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t same = corner + (tolower((unsigned char)a[i - 1]) !=
                                    tolower((unsigned char)b[j - 1]));
            size_t least = row[j] + 1 < row[j - 1] + 1 ? row[j] : row[j - 1];

            corner = row[j];
            row[j] = same < least + 1 ? same : least + 1;
        }
    }
    return row[n];
}

const char *log_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t least = strlen(word) / 2 + 1;

    for (; *words; words++) {
        size_t d = distance(word, *words);

        if (!strncasecmp(word, *words, strlen(*words)) && d > 1)
            d = 1; /* "warning" */
        if (d < least) {
            least = d;
            nearest = *words;
        }
    }
    return nearest;
}

const char *log_nearest_level(const char *word)
{
    return log_nearest(word, level_words);
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
    for (unsigned i = 0; level_words[i]; i++)
        if (!strcasecmp(text, level_words[i])) {
            *level = i;
            return true;
        }
    return false;
}

/* The characters beyond ASCII that Unicode calls white space. */
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
