/* profiler.c: parses the options of a recording. */
#include "profiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct trace_profiler_option trace_profiler_options[] = {
#define TRACE_X(name, value, ...)                                              \
    {.key = #name,                                                             \
     .initial = value,                                                         \
     .offset = offsetof(struct trace_profiler, name),                          \
     __VA_ARGS__},
    TRACE_PROFILER_OPTIONS(TRACE_X)
#undef TRACE_X
        {.key = NULL},
};

const struct trace_profiler trace_profiler_default = {
#define TRACE_X(name, value, ...) .name = value,
    TRACE_PROFILER_OPTIONS(TRACE_X)
#undef TRACE_X
};

static uint64_t *field(struct trace_profiler *profiler,
                       const struct trace_profiler_option *option)
{
    return (uint64_t *)((char *)profiler + option->offset);
}

/* ---- Words ---- */

/* Finds a word of "off|warn|fail". */
static bool find_word(const char *words, const char *word, uint64_t *number)
{
    size_t length = strlen(word);

    for (*number = 0; *words; ++*number) {
        size_t size = strcspn(words, "|");

        if (size == length && !strncasecmp(words, word, size))
            return true;
        words += size + (words[size] == '|');
    }
    return false;
}

/* Returns the words for 0, 1, ...; NULL if values are no words. */
static const char *words_of(const struct trace_profiler_option *option)
{
    return option->type == TRACE_PROFILER_SWITCH ? "false|true" : option->words;
}

/* ---- Values ---- */

/* Writes bytes as trace_parse_size parses them, "256M". */
static int put_size(char *text, size_t room, uint64_t bytes)
{
    static const char units[] = "GMK";
    int shift = 30;

    for (const char *unit = units; *unit; unit++, shift -= 10)
        if (bytes && bytes % (UINT64_C(1) << shift) == 0)
            return snprintf(text, room, "%llu%c",
                            (unsigned long long)(bytes >> shift), *unit);
    return snprintf(text, room, "%llu", (unsigned long long)bytes);
}

void trace_profiler_values(const struct trace_profiler_option *option,
                           char text[TRACE_PROFILER_VALUE_SIZE])
{
    unsigned long long least = option->least, most = option->most;
    char from[TRACE_PROFILER_VALUE_SIZE / 2 - 2];
    char to[TRACE_PROFILER_VALUE_SIZE / 2];

    if (option->type == TRACE_PROFILER_NUMBER) {
        snprintf(text, TRACE_PROFILER_VALUE_SIZE, "%llu%s%llu", least,
                 most - least == 1 ? "|" : "..", most);
    } else if (option->type == TRACE_PROFILER_SIZE) {
        put_size(from, sizeof(from), least);
        put_size(to, sizeof(to), most);
        snprintf(text, TRACE_PROFILER_VALUE_SIZE, "%s..%s", from, to);
    } else {
        snprintf(text, TRACE_PROFILER_VALUE_SIZE, "%s",
                 words_of(option) ? words_of(option) : "");
    }
}

void trace_profiler_value(const struct trace_profiler_option *option,
                          uint64_t value, char text[TRACE_PROFILER_VALUE_SIZE])
{
    const char *word = words_of(option);

    text[0] = '\0';
    if (option->type == TRACE_PROFILER_NAMES)
        return;
    for (; word && value; value--)
        word += strcspn(word, "|") + 1;
    if (word)
        snprintf(text, TRACE_PROFILER_VALUE_SIZE, "%.*s",
                 (int)strcspn(word, "|"), word);
    else if (option->type == TRACE_PROFILER_SIZE)
        put_size(text, TRACE_PROFILER_VALUE_SIZE, value);
    else
        snprintf(text, TRACE_PROFILER_VALUE_SIZE, "%llu",
                 (unsigned long long)value);
}

static bool is_within(const struct trace_profiler_option *option,
                      uint64_t number)
{
    return number >= option->least && number <= option->most;
}

/* Writes "A+B" for A+B or "A,B", with or without quotes. Returns false if it is
 * no list of names, or too long. */
static bool read_names(const char *text, char names[TRACE_COUNTERS_ROOM])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    size_t size = strlen(text), used = 0;
    bool quoted = size > 1 && text[0] == '"' && text[size - 1] == '"';
    const char *end = text + size - quoted;

    for (text += quoted; text < end;) {
        size_t length = strspn(text, letters);
        bool more = text + length < end;

        if (!length || used + length + more >= TRACE_COUNTERS_ROOM ||
            (more && !strchr("+,", text[length])) || text + length + 1 == end)
            return false;
        used += (size_t)snprintf(names + used, TRACE_COUNTERS_ROOM - used,
                                 "%.*s%s", (int)length, text, more ? "+" : "");
        text += length + more;
    }
    names[used] = '\0';
    return true;
}

static bool read_value(struct trace_profiler *profiler,
                       const struct trace_profiler_option *option,
                       const char *text, uint64_t *value)
{
    switch (option->type) {
    case TRACE_PROFILER_SWITCH:
        if (!find_word("false|true|0|1|off|on", text, value))
            return false;
        *value %= 2;
        return true;
    case TRACE_PROFILER_WORD:
        return find_word(option->words, text, value);
    case TRACE_PROFILER_SIZE:
        return trace_parse_size(text, value) && is_within(option, *value);
    case TRACE_PROFILER_NAMES:
        if (!read_names(text, profiler->counters))
            return false;
        *value = profiler->counters[0] != '\0';
        return true;
    default:
        errno = 0;
        *value = strtoull(text, NULL, 10);
        return *text && !text[strspn(text, "0123456789")] && !errno &&
               is_within(option, *value);
    }
}

/* ---- Refusals ---- */

/* Writes "off, warn or fail" for "off|warn|fail", and "0 to 3" for "0..3". */
static void put_choice(struct trace_text *text, const char *values)
{
    const char *range = strstr(values, "..");

    if (range) {
        trace_text_printf(text, "%.*s to %s", (int)(range - values), values,
                          range + 2);
        return;
    }
    while (*values) {
        size_t size = strcspn(values, "|");
        const char *next = values + size + (values[size] == '|');

        trace_text_add(text, values, size);
        if (*next)
            trace_text_string(text, strchr(next, '|') ? ", " : " or ");
        values = next;
    }
}

static int refuse_value(const struct trace_profiler_option *option,
                        const char *value, struct trace_profiler_error *error)
{
    char values[TRACE_PROFILER_VALUE_SIZE];
    struct trace_text choice = {0};

    trace_profiler_values(option, values);
    put_choice(&choice, values);
    snprintf(error->why, sizeof(error->why),
             "%s: unknown value \"%.64s\"; write %s", option->key, value,
             choice.data ? choice.data : "another one");
    trace_text_free(&choice);
    return -1;
}

static int refuse_key(const char *key, struct trace_profiler_error *error)
{
    static const char tpu[] = "tpu_";

    if (!strncmp(key, tpu, sizeof(tpu) - 1))
        snprintf(error->why, sizeof(error->why),
                 "%s is not supported: testlog traces no TPU; leave it out",
                 error->key);
    else if (strstr(key, "__")) /* as in every name of a counter */
        snprintf(error->why, sizeof(error->why),
                 "%s is no option; write + between the names of counters",
                 error->key);
    return -1;
}

/* ---- Parsing ---- */

static const struct trace_profiler_option *find(const char *key,
                                                enum trace_profiler_user user)
{
    const struct trace_profiler_option *option = trace_profiler_options;

    while (option->key && strcmp(option->key, key) != 0)
        option++;
    return option->key && (!user || !option->only || option->only == user)
               ? option
               : NULL;
}

static int take(struct trace_profiler *profiler, const char *key,
                const char *text, enum trace_profiler_user user,
                struct trace_profiler_error *error)
{
    const struct trace_profiler_option *option = find(key, user);
    uint64_t value;

    snprintf(error->key, sizeof(error->key), "%s", key);
    if (!option)
        return refuse_key(key, error);
    if (!read_value(profiler, option, text, &value))
        return refuse_value(option, text, error);
    if (option->missing && value != option->initial) {
        snprintf(error->why, sizeof(error->why),
                 "%s=%.64s is not supported: %s; leave it out", option->key,
                 text, option->missing);
        return -1;
    }
    *field(profiler, option) = value;
    profiler->asks_gpu |= option->gpu;
    return 0;
}

/* Splits off the text before the first comma that is not within quotes. */
static char *split(char **rest)
{
    char *begin = *rest, *at = begin;
    bool quoted = false;

    if (!begin)
        return NULL;
    for (; *at && (quoted || *at != ','); at++)
        quoted ^= *at == '"';
    *rest = *at ? at + 1 : NULL;
    *at = '\0';
    return begin;
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

int trace_profiler_read(struct trace_profiler *profiler, const char *text,
                        enum trace_profiler_user user,
                        struct trace_profiler_error *error)
{
    char *copy = strdup(text), *rest = copy, *key;
    struct trace_profiler read = *profiler;
    int status = copy ? 0 : -1;

    *error = (struct trace_profiler_error){.why = ""};
    if (!copy)
        snprintf(error->why, sizeof(error->why), "out of memory");
    while (!status && (key = split(&rest))) {
        char *value = strchr(key, '=');

        if (value)
            *value++ = '\0';
        status = take(&read, strip(key), value ? strip(value) : (char *)"",
                      user, error);
    }
    free(copy);
    if (!status)
        *profiler = read;
    return status;
}

/* ---- Passing options on ---- */

void trace_profiler_text(const struct trace_profiler *profiler,
                         struct trace_text *text)
{
    struct trace_profiler copy = *profiler;
    const struct trace_profiler_option *option = trace_profiler_options;

    for (; option->key; option++) {
        char value[TRACE_PROFILER_VALUE_SIZE];

        if (*field(&copy, option) == option->initial)
            continue;
        trace_profiler_value(option, *field(&copy, option), value);
        trace_text_printf(text, "%s%s=%s", text->size ? "," : "", option->key,
                          option->type == TRACE_PROFILER_NAMES ? copy.counters
                                                               : value);
    }
}

struct trace_profiler trace_profiler_of(const char *text)
{
    struct trace_profiler profiler = trace_profiler_default;
    struct trace_profiler_error error;

    if (text && *text)
        trace_profiler_read(&profiler, text, TRACE_PROFILER_OF_US, &error);
    return profiler;
}

unsigned trace_profiler_meters(const struct trace_profiler *profiler)
{
    unsigned meters = 0;

#define TRACE_X(name, key, field)                                              \
    meters |= (profiler->key != 0) << TRACE_METER_##name;
    TRACE_METERS(TRACE_X)
#undef TRACE_X
    return meters;
}
