/* option_values.c: parses the values of flags and variables: words, numbers and
 * profiler options.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/runner/options.h"

/* ---- Words ---- */

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

/* Parses words separated by commas. */
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

/* ---- Numbers ---- */

/* Writes "64k" with the capital letter that it needs; false if the result is
 * not a size either. */
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
            stderr, "testlog: %s: \"%s\" is not a size; write %s\n", name, text,
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
    fprintf(stderr, "testlog: %s: \"%s\" is not a %s; write 0 to %.0f\n", name,
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

/* ---- Profiler options ---- */

static const struct profiler_option {
    const char *key;
    unsigned most;
    bool gpu;
    size_t offset;
} profiler_options[] = {
#define TEST_LOG_X(key, value, most, gpu)                                      \
    {#key, most, gpu, offsetof(struct test_log_profiler, key)},
    TEST_LOG_PROFILER_OPTIONS(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { OPTIONS = sizeof(profiler_options) / sizeof(*profiler_options) };

const struct test_log_profiler test_log_profiler_default = {
#define TEST_LOG_X(key, value, most, gpu) .key = value,
    TEST_LOG_PROFILER_OPTIONS(TEST_LOG_X)
#undef TEST_LOG_X
};

static int refuse_key(const char *name, const char *key)
{
    const char *keys[OPTIONS + 1] = {NULL}, *suggestion;

    for (size_t i = 0; i < OPTIONS; i++)
        keys[i] = profiler_options[i].key;
    suggestion = log_nearest(key, keys);
    fprintf(stderr, "testlog: %s: unknown option \"%s\"; %s ", name, key,
            suggestion ? "did you mean" : "write");
    if (suggestion)
        fprintf(stderr, "%s?\n", suggestion);
    else
        test_log_print_words(keys);
    return -1;
}

static int refuse_option(const char *name, const struct profiler_option *option,
                         const char *value)
{
    fprintf(stderr, "testlog: %s: %s: unknown value \"%s\"; write 0 %s %u\n",
            name, option->key, value, option->most > 1 ? "to" : "or",
            option->most);
    return -1;
}

static int take(struct test_log_profiler *profiler, const char *name,
                const char *key, const char *value)
{
    const struct profiler_option *option = profiler_options;
    unsigned long number;
    char *end;

    while (option < profiler_options + OPTIONS && strcmp(option->key, key) != 0)
        option++;
    if (option == profiler_options + OPTIONS)
        return refuse_key(name, key);
    number = strtoul(value, &end, 10);
    if (strspn(value, "0123456789") != strlen(value) || end == value ||
        number > option->most)
        return refuse_option(name, option, value);
    *(unsigned *)((char *)profiler + option->offset) = (unsigned)number;
    profiler->given |= option->gpu;
    return 0;
}

/* Removes the blanks around a text. */
static char *strip(char *text)
{
    static const char blanks[] = " \t\n";
    size_t size;

    text += strspn(text, blanks);
    size = strlen(text);
    while (size && strchr(blanks, text[size - 1]))
        size--;
    text[size] = '\0';
    return text;
}

int test_log_profiler_read(struct test_log_profiler *profiler, const char *name,
                           const char *text)
{
    char *copy = strdup(text), *rest = copy, *key;
    int status = copy ? 0 : -1;

    if (!copy)
        fprintf(stderr, "testlog: %s: out of memory\n", name);
    while (!status && (key = strsep(&rest, ","))) {
        char *value = strchr(key, '=');

        if (value)
            *value++ = '\0';
        status =
            take(profiler, name, strip(key), value ? strip(value) : (char *)"");
    }
    free(copy);
    return status;
}

/* ---- --help ---- */

void test_log_option_form(const char *name, const char *argument, char *text,
                          size_t size)
{
    bool optional = argument && argument[0] == '[';
    const char *value = argument ? argument + optional : "";
    size_t length = strlen(value);

    length -= length && value[length - 1] == '|';
    snprintf(text, size, "%s%s%s%.*s%s", name, optional ? "[" : "",
             argument ? "=" : "", (int)length, value, optional ? "]" : "");
}

void test_log_print_option(char letter, const char *name, const char *argument,
                           const char *help, const char *variable)
{
    enum { COLUMN = 30 };
    char form[128], short_name[5] = "    ";
    bool wide;

    test_log_option_form(name, argument, form, sizeof(form));
    if (letter)
        snprintf(short_name, sizeof(short_name), "-%c, ", letter);
    wide = strlen(form) >= COLUMN;
    printf("  %s%-*s%s%*s%s", short_name, wide ? 0 : COLUMN, form,
           wide ? "\n" : "", wide ? COLUMN + 6 : 0, "", help);
    if (variable)
        printf(" (%s)", variable);
    putchar('\n');
}
