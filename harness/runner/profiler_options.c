/* profiler_options.c: parses TRACE_OPTIONS and --trace-options. */
#include <stdlib.h>
#include <string.h>

#include "harness/runner/options.h"

static const struct option {
    const char *key;
    unsigned most;
    bool gpu;
    size_t offset;
} options[] = {
#define TEST_LOG_X(key, usual, most, gpu)                                      \
    {#key, most, gpu, offsetof(struct test_log_profiler, key)},
    TEST_LOG_PROFILER_OPTIONS(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { OPTIONS = sizeof(options) / sizeof(*options) };

const struct test_log_profiler test_log_profiler_default = {
#define TEST_LOG_X(key, usual, most, gpu) .key = usual,
    TEST_LOG_PROFILER_OPTIONS(TEST_LOG_X)
#undef TEST_LOG_X
};

static int refuse_key(const char *name, const char *key)
{
    const char *keys[OPTIONS + 1] = {NULL}, *near;

    for (size_t i = 0; i < OPTIONS; i++)
        keys[i] = options[i].key;
    near = log_nearest(key, keys);
    fprintf(stderr, "testlog: %s: unknown option \"%s\"; %s ", name, key,
            near ? "did you mean" : "write");
    if (near)
        fprintf(stderr, "%s?\n", near);
    else
        test_log_print_words(keys);
    return -1;
}

static int refuse_value(const char *name, const struct option *option,
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
    const struct option *option = options;
    unsigned long number;
    char *end;

    while (option < options + OPTIONS && strcmp(option->key, key) != 0)
        option++;
    if (option == options + OPTIONS)
        return refuse_key(name, key);
    number = strtoul(value, &end, 10);
    if (strspn(value, "0123456789") != strlen(value) || end == value ||
        number > option->most)
        return refuse_value(name, option, value);
    *(unsigned *)((char *)profiler + option->offset) = (unsigned)number;
    profiler->given |= option->gpu;
    return 0;
}

/* Without the blanks around it. */
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
