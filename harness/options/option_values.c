/* option_values.c: parses the values of flags and variables: words, numbers and
 * profiler options.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"

/* ---- Words ---- */

#define FORMAT_WORD(id, text, layout) text "|"
#define WORD(id, text)                text "|"
#define EVENT_WORD(id, text, bits)    text "|"
#define DETAIL_WORD(text, bits)       text "|"

const char test_log_format_words[] = LOG_FORMATS(FORMAT_WORD);
const char test_log_time_words[] = LOG_TIMES(WORD);
const char test_log_span_event_words[] = LOG_SPAN_EVENTS(EVENT_WORD);
const char test_log_detail_words[] = LOG_DETAILS(DETAIL_WORD);

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

int test_log_read_switch(const char *name, const char *word, bool *on)
{
    static const char *const words[] = {"0",    "1",   "no", "yes", "false",
                                        "true", "off", "on", NULL};

    for (unsigned i = 0; words[i]; i++)
        if (log_same_word(words[i], word)) {
            *on = i % 2;
            return 0;
        }
    fprintf(stderr, "testlog: %s: unknown value \"%s\"; write 0 or 1\n", name,
            word);
    return -1;
}

int test_log_read_format(const char *name, const char *word,
                         enum log_format *format)
{
    static const char *const words[] = {
#define LOG_X(id, text, layout) text,
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

/* Parses words separated by commas, and joins the bits of each. */
static int read_words(const char *name, const char *text,
                      const char *const *words, const unsigned *bits_of,
                      unsigned *bits)
{
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
    *bits = all;
    return 0;
}

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

    return read_words(name, text, words, bits_of, events);
}

int test_log_read_details(const char *name, const char *text, unsigned *details)
{
    static const char *const words[] = {
#define LOG_X(text, bits) text,
        LOG_DETAILS(LOG_X)
#undef LOG_X
            NULL};
    static const unsigned bits_of[] = {
#define LOG_X(text, bits) bits,
        LOG_DETAILS(LOG_X)
#undef LOG_X
    };

    return read_words(name, text, words, bits_of, details);
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

/* The console of Linux prints the addresses; CI keeps the bytes in a log. */
bool test_log_links(bool color, FILE *stream)
{
    const char *term = test_log_variable("TERM");

    return color && isatty(fileno(stream)) && term && strcmp(term, "dumb") &&
           strcmp(term, "linux") && !test_log_variable("CI");
}

/* ---- Numbers ---- */

/* Writes "64k" with a capital letter, as a size needs it; false if the result
 * is not a size either. */
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

static int refuse_key(const char *name, const char *key)
{
    const char *keys[64] = {NULL}, *suggestion;
    const struct trace_profiler_option *option = trace_profiler_options;

    for (size_t count = 0; option->key && count < 63; option++)
        if (option->only != TRACE_PROFILER_OF_START)
            keys[count++] = option->key;
    suggestion = log_nearest(key, keys);
    fprintf(stderr, "testlog: %s: unknown option \"%s\"; %s%s%s\n", name, key,
            suggestion ? "did you mean " : "testlog-flags(7) lists all",
            suggestion ? suggestion : "", suggestion ? "?" : "");
    return -1;
}

int test_log_profiler_read(struct trace_profiler *profiler, const char *name,
                           const char *text)
{
    struct trace_profiler_error error;

    if (!trace_profiler_read(profiler, text, TRACE_PROFILER_OF_TESTS, &error))
        return 0;
    if (!error.why[0])
        return refuse_key(name, error.key);
    fprintf(stderr, "testlog: %s: %s\n", name, error.why);
    return -1;
}

/* ---- Patterns ---- */

/* Criterion's extglob is bash's; these are the mistakes that it reports. */
const char *test_log_pattern_fault(const char *pattern)
{
    int depth = 0;

    for (const char *at = pattern; *at; at++) {
        bool opens = at > pattern && strchr("!?@*+", at[-1]);

        if (*at == '\\' && at[1])
            at++;
        else if (*at == '[' && !(at = strchr(at, ']')))
            return "a [ without a ]";
        else if (*at == '(' && !opens)
            return "a ( without one of ! ? @ * + before it";
        else if (*at == '(')
            depth++;
        else if (*at == ')' && depth-- == 0)
            return "a ) without a (";
        else if (*at == '|' && !depth)
            return "a | outside of ( )";
    }
    return depth ? "a ( without a )" : NULL;
}
