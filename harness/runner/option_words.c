/* option_words.c: parses flags and variables whose values are words. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/runner/options.h"

void test_log_print_words(const char *const *words)
{
    for (unsigned i = 0; words[i]; i++)
        fprintf(stderr, "%s%s", i ? words[i + 1] ? ", " : " or " : "",
                words[i]);
    fputc('\n', stderr);
}

int test_log_read_word(const char *name, const char *word,
                       const char *const *words, unsigned *choice)
{
    for (*choice = 0; words[*choice]; ++*choice)
        if (log_same_word(words[*choice], word))
            return 0;
    fprintf(stderr, "testlog: %s: unknown value \"%s\"; write ", name, word);
    test_log_print_words(words);
    return -1;
}

int test_log_read_format(const char *name, const char *word,
                         enum log_format *format)
{
    static const char *const words[] = {
#define LOG_X(id, text) text,
        LOG_FORMATS(LOG_X)
#undef LOG_X
            NULL};
    unsigned choice;

    if (test_log_read_word(name, word, words, &choice))
        return -1;
    *format = (enum log_format)choice;
    return 0;
}

int test_log_read_time(const char *name, const char *word, enum log_time *time)
{
    static const char *const words[] = {
#define LOG_X(id, text) text,
        LOG_TIMES(LOG_X)
#undef LOG_X
            NULL};
    unsigned choice;

    if (test_log_read_word(name, word, words, &choice))
        return -1;
    *time = (enum log_time)choice;
    return 0;
}

/* Several words between commas. */
int test_log_read_span_events(const char *name, const char *text,
                              unsigned *events)
{
    static const char *const words[] = {
#define LOG_X(id, text, bits) text,
        LOG_SPAN_EVENTS(LOG_X)
#undef LOG_X
            NULL};
    static const unsigned bits_of[] = {
#define LOG_X(id, text, bits) bits,
        LOG_SPAN_EVENTS(LOG_X)
#undef LOG_X
    };
    unsigned all = 0, choice;

    for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
        char word[64];
        size_t size;

        end = at + strcspn(at, ",");
        at += strspn(at, " \t");
        for (size = at < end ? (size_t)(end - at) : 0;
             size && (at[size - 1] == ' ' || at[size - 1] == '\t');)
            size--;
        snprintf(word, sizeof(word), "%.*s", (int)size, at);
        if (test_log_read_word(name, word, words, &choice))
            return -1;
        all |= bits_of[choice];
    }
    *events = all;
    return 0;
}

int test_log_read_color(const char *name, const char *word, const char **color)
{
    static const char *const words[] = {"auto", "always", "never", NULL};
    unsigned choice;

    if (test_log_read_word(name, word ? word : "always", words, &choice))
        return -1;
    *color = words[choice];
    return 0;
}

const char *test_log_suggest_flag(const char *word, const struct option *flags)
{
    const char *names[64] = {NULL};
    char name[32];

    for (size_t i = 0; flags[i].name && i + 1 < 64; i++)
        names[i] = flags[i].name;
    word += strspn(word, "-");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    return log_nearest(name, names);
}

bool test_log_color(const char *flag, FILE *stream)
{
    const char *force = test_log_variable("FORCE_COLOR");
    const char *cli = test_log_variable("CLICOLOR_FORCE");
    const char *term = test_log_variable("TERM");

    if (flag && strcmp(flag, "auto"))
        return !strcmp(flag, "always");
    if (test_log_variable("NO_COLOR"))
        return false;
    if ((force && strcmp(force, "0")) || (cli && strcmp(cli, "0")))
        return true;
    return isatty(fileno(stream)) && term && strcmp(term, "dumb");
}
