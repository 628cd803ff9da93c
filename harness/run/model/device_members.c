/* device_members.c: reads, adds up and writes what recordings contain about
 * devices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/model/device_members.h"

/* ---- Members of a struct ---- */

#define AT(type, object, offset) ((type *)((uintptr_t)(object) + (offset)))

static bool is_text(const struct test_log_member *member)
{
    return member->kind >= TEST_LOG_TEXT && member->kind <= TEST_LOG_LAST;
}

bool test_log_member_state(const char *const *words, const char *word,
                           unsigned *state)
{
    for (unsigned i = 0; word && words[i]; i++)
        if (!strcmp(words[i], word)) {
            *state = i;
            return true;
        }
    return false;
}

/* ---- Recordings ---- */

char *test_log_meta_text(const struct trace_reader *reader, const char *name)
{
    const char *text = trace_reader_meta(reader, name);

    return text && *text ? strdup(text) : NULL;
}

static void read_member(void *object, const struct test_log_member *member,
                        const struct trace_reader *reader, const char *name)
{
    const char *text = trace_reader_meta(reader, name);

    switch (member->kind) {
    case TEST_LOG_STATE:
        test_log_member_state(member->words, text,
                              AT(unsigned, object, member->at));
        break;
    case TEST_LOG_ANY:
    case TEST_LOG_NAMES:
        break;
    case TEST_LOG_COUNT:
        *AT(uint64_t, object, member->at) = text ? strtoull(text, NULL, 10) : 0;
        break;
    default:
        *AT(char *, object, member->at) = test_log_meta_text(reader, name);
    }
}

void test_log_members_read(void *object, const struct test_log_member *member,
                           const struct trace_reader *reader,
                           const char *prefix)
{
    char name[64];

    for (; member->name; member++) {
        snprintf(name, sizeof(name), "%s.%s", prefix, member->name);
        read_member(object, member, reader, name);
    }
}

/* ---- Sums ---- */

void test_log_device_name(char **names, size_t number, const char *name)
{
    if (number < TEST_LOG_DEVICE_NAMES && name && !names[number])
        names[number] = strdup(name);
}

static void replace(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
}

static void add_names(char **all, char **one)
{
    for (size_t i = 0; i < TEST_LOG_DEVICE_NAMES; i++)
        test_log_device_name(all, i, one[i]);
}

static void add_text(char **all, const char *one,
                     const struct test_log_member *member, bool newer)
{
    if (member->kind == TEST_LOG_FIRST  ? !*all
        : member->kind == TEST_LOG_LAST ? one != NULL
                                        : newer)
        replace(all, one);
}

static void add_member(void *all, const void *one,
                       const struct test_log_member *member)
{
    switch (member->kind) {
    case TEST_LOG_STATE:
        break;
    case TEST_LOG_ANY:
        *AT(bool, all, member->at) |= *AT(bool, one, member->at);
        break;
    case TEST_LOG_NAMES:
        add_names(AT(char *, all, member->at), AT(char *, one, member->at));
        break;
    case TEST_LOG_COUNT:
        *AT(uint64_t, all, member->at) += *AT(uint64_t, one, member->at);
        break;
    default:
        add_text(AT(char *, all, member->at), *AT(char *, one, member->at),
                 member,
                 *AT(unsigned, one, member->state) >
                     *AT(unsigned, all, member->state));
    }
}

static void add_state(void *all, const void *one,
                      const struct test_log_member *member)
{
    unsigned *state = AT(unsigned, all, member->at);
    unsigned other = *AT(unsigned, one, member->at);

    if (other > *state)
        *state = other;
}

/* Texts are chosen by the states, so these come last. */
void test_log_members_add(void *all, const void *one,
                          const struct test_log_member *members)
{
    for (size_t i = 0; members[i].name; i++)
        add_member(all, one, &members[i]);
    for (size_t i = 0; members[i].name; i++)
        if (members[i].kind == TEST_LOG_STATE)
            add_state(all, one, &members[i]);
}

void test_log_members_free(void *object, const struct test_log_member *member)
{
    for (; member->name; member++) {
        char **text = AT(char *, object, member->at);

        if (is_text(member))
            free(*text);
        for (size_t i = 0;
             member->kind == TEST_LOG_NAMES && i < TEST_LOG_DEVICE_NAMES; i++)
            free(text[i]);
    }
}

/* ---- JSON ---- */

static void put_string(struct trace_text *text, const char *value)
{
    trace_json_string(text, value, strlen(value));
}

/* Puts "kernel,memcpy" as an array. */
static void put_words(struct trace_text *text, const char *words)
{
    trace_text_char(text, '[');
    for (;;) {
        size_t size = strcspn(words, ",");

        trace_json_string(text, words, size);
        words += size;
        if (!*words++)
            break;
        trace_text_char(text, ',');
    }
    trace_text_char(text, ']');
}

static void put_names(struct trace_text *text, char **names)
{
    const char *comma = "";

    trace_text_char(text, '[');
    for (unsigned i = 0; i < TEST_LOG_DEVICE_NAMES; i++) {
        if (!names[i])
            continue;
        trace_text_printf(text, "%s{\"ordinal\":%u,\"name\":", comma, i);
        put_string(text, names[i]);
        trace_text_char(text, '}');
        comma = ",";
    }
    trace_text_char(text, ']');
}

static void put_value(struct trace_text *text, const void *object,
                      const struct test_log_member *member)
{
    switch (member->kind) {
    case TEST_LOG_STATE:
        put_string(text, member->words[*AT(unsigned, object, member->at)]);
        break;
    case TEST_LOG_WORDS:
        put_words(text, *AT(char *, object, member->at));
        break;
    case TEST_LOG_FLAG:
        trace_text_string(text, "true");
        break;
    case TEST_LOG_ANY:
        trace_text_string(text,
                          *AT(bool, object, member->at) ? "true" : "false");
        break;
    case TEST_LOG_NAMES:
        put_names(text, AT(char *, object, member->at));
        break;
    case TEST_LOG_COUNT:
        trace_text_printf(text, "%" PRIu64, *AT(uint64_t, object, member->at));
        break;
    default:
        put_string(text, *AT(char *, object, member->at));
    }
}

void test_log_members_put(struct trace_text *text, const void *object,
                          const struct test_log_member *member)
{
    const char *comma = "";

    for (; member->name; member++) {
        if (is_text(member) && !*AT(char *, object, member->at))
            continue;
        trace_text_printf(text, "%s\"%s\":", comma, member->name);
        put_value(text, object, member);
        comma = ",";
    }
}
