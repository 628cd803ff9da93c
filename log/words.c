/* words.c: the words of levels, and which word was probably meant. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const char *const level_words[] = {
    "off",
#define TRACE_X(name, number, word) word,
    TRACE_LEVELS(TRACE_X)
#undef TRACE_X
        NULL,
};

/* Letters of ASCII, whatever the locale: a Turkish one has other pairs. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the first `size` bytes of two words are the same in any case. */
static bool same(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
        else if (!a[i])
            return true;
    return true;
}

bool log_same_word(const char *a, const char *b)
{
    return same(a, b, strlen(a) + 1);
}

size_t log_distance(const char *a, size_t m, const char *b, size_t n)
{
    size_t row[64];

    if (n >= sizeof(row) / sizeof(*row))
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t changed = corner + (lower(a[i - 1]) != lower(b[j - 1]));
            size_t least = row[j] < row[j - 1] ? row[j] : row[j - 1];

            corner = row[j];
            row[j] = changed < least + 1 ? changed : least + 1;
        }
    }
    return row[n];
}

/* The nearest one that is nearer than `least`. */
static const char *nearest_within(const char *word, const char *const *words,
                                  size_t least)
{
    const char *nearest = NULL;
    size_t size = strlen(word);

    for (; *words; words++) {
        size_t length = strlen(*words);
        size_t d = log_distance(word, size, *words, length);

        if (d > 1 && same(word, *words, size < length ? size : length))
            d = 1; /* "warning", "err" */
        if (d < least) {
            least = d;
            nearest = *words;
        }
    }
    return nearest;
}

const char *log_nearest(const char *word, const char *const *words)
{
    return nearest_within(word, words, strlen(word) / 2 + 1);
}

/* What other programs call their levels. */
static const char *const synonyms[][2] = {
    {"all", "trace"},   {"verbose", "trace"}, {"*", "trace"},
    {"dbg", "debug"},   {"notice", "info"},   {"critical", "error"},
    {"fatal", "error"}, {"none", "off"},      {"false", "off"},
};

static const char *nearest_level(const char *word, size_t least)
{
    for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
        if (log_same_word(word, synonyms[i][0]))
            return synonyms[i][1];
    return nearest_within(word, level_words, least);
}

const char *log_nearest_level(const char *word)
{
    return nearest_level(word, strlen(word) / 2 + 1);
}

const char *log_mistyped_level(const char *word)
{
    size_t least = strlen(word) / 2 + 1;

    return nearest_level(word, least < 3 ? least : 3);
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
        if (log_same_word(text, level_words[i])) {
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
