/* session.c: what the runner and its workers share, except annotated tests. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/session.h"
#include "trace/base/globs.h"
#include "trace/base/strings.h"
#include "trace/read/reader.h"

#define VARIABLE "TESTLOG_SESSION"

/* Linux allows 128 KiB for a variable (MAX_ARG_STRLEN). */
enum { LONGEST = 128 * 1024 - sizeof(VARIABLE "=") };

static const struct field {
    const char *name;
    size_t at;
} fields[] = {
#define TEST_LOG_X(name) {#name, offsetof(struct test_log_session, name)},
    TEST_LOG_SESSION_PROGRAM(TEST_LOG_X) TEST_LOG_SESSION_WORKER(TEST_LOG_X)
        TEST_LOG_X(status) TEST_LOG_X(nested)
#undef TEST_LOG_X
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static const char **value_of(struct test_log_session *session,
                             const struct field *field)
{
    return (const char **)((char *)session + field->at);
}

/* The format is "name=5:value": with the size, values may contain anything. */
bool test_log_session_export(const struct test_log_session *session)
{
    struct test_log_session copy = *session;
    struct trace_text text = {0};
    bool done;

    for (size_t i = 0; i < FIELDS; i++) {
        const char *value = *value_of(&copy, &fields[i]);

        if (value)
            trace_text_printf(&text, "%s=%zu:%s", fields[i].name, strlen(value),
                              value);
    }
    errno = text.size < LONGEST ? ENOMEM : E2BIG;
    done = !text.failed && text.size < LONGEST &&
           (!text.size || !setenv(VARIABLE, text.data, 1));
    if (!done || !text.size)
        unsetenv(VARIABLE);
    trace_text_free(&text);
    return done;
}

static const struct field *field_of(const char *name, size_t size)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strlen(fields[i].name) == size &&
            !memcmp(fields[i].name, name, size))
            return &fields[i];
    return NULL;
}

/* Parses the fields in place: the end of each value becomes a zero. Stops at
 * anything malformed. */
static void parse(struct test_log_session *session, char *text)
{
    for (char *end = text + strlen(text); text < end;) {
        const struct field *field;
        char *value = strchr(text, '='), *colon;
        size_t size;

        field = value ? field_of(text, (size_t)(value - text)) : NULL;
        *text = '\0'; /* ends the value before this */
        if (!field)
            return;
        size = strtoul(value + 1, &colon, 10);
        if (*colon != ':' || size > (size_t)(end - colon - 1))
            return;
        *value_of(session, field) = colon + 1;
        text = colon + 1 + size;
    }
}

static struct test_log_session given;
static char *text_given; /* NULL: not parsed yet */
static bool borrowed;    /* it is the environment's */

const struct test_log_session *test_log_session(void)
{
    static char none[1];
    char *text = getenv(VARIABLE);

    if (text_given)
        return &given;
    text_given = strdup(text ? text : "");
    borrowed = !text_given;
    if (borrowed) /* without memory, in place: it outlives unsetenv */
        text_given = text ? text : none;
    parse(&given, text_given);
    test_log_session_export(&(struct test_log_session){.nested = given.nested});
    return &given;
}

void test_log_session_forget(void)
{
    if (!borrowed)
        free(text_given);
    text_given = NULL;
    given = (struct test_log_session){0};
}

bool test_log_session_is_worker(const struct test_log_session *session)
{
#define TEST_LOG_X(name) session->name &&
    return TEST_LOG_SESSION_WORKER(TEST_LOG_X) session->runner;
#undef TEST_LOG_X
}

bool test_log_session_from_parent(const struct test_log_session *session)
{
    return session->runner &&
           strtol(session->runner, NULL, 10) == (long)getppid();
}

/* ---- Moments ---- */

void test_log_anchor_text(const struct trace_anchor *anchor,
                          char text[TEST_LOG_ANCHOR_SIZE])
{
    snprintf(text, TEST_LOG_ANCHOR_SIZE, "%llu %llu %llu",
             (unsigned long long)anchor->ticks,
             (unsigned long long)anchor->monotonic,
             (unsigned long long)anchor->wall);
}

struct trace_anchor test_log_anchor_of(const char *text)
{
    unsigned long long ticks = 0, monotonic = 0, wall = 0;

    sscanf(text, "%llu %llu %llu", &ticks, &monotonic, &wall);
    return (struct trace_anchor){ticks, monotonic, wall};
}

/* ---- Status ---- */

_Static_assert(sizeof(struct test_log_note) == TEST_LOG_NOTE_SIZE,
               "a note must not cross a page");

struct test_log_note *test_log_status_note(struct test_log_status *status,
                                           size_t number)
{
    char *notes = (char *)status + TEST_LOG_STATUS_PAGE;

    return (struct test_log_note *)notes + number;
}

size_t test_log_status_size(size_t notes)
{
    const size_t page = TEST_LOG_STATUS_PAGE;

    return page + (notes * TEST_LOG_NOTE_SIZE + page - 1) / page * page;
}

/* ---- Filters ---- */

char *test_log_filter_of(const char *show, const char *origin, const char *own)
{
    struct log_filter *filter;
    char *both = NULL;
    bool adds;

    if (!own)
        return strdup(show);
    if (!strcmp(origin, "default"))
        return strdup(own);
    filter = log_filter_parse(show, NULL, origin, NULL);
    adds = !filter || log_filter_adds(filter);
    log_filter_free(filter);
    if (adds)
        return strdup(show);
    return asprintf(&both, "%s,%s", own, show) < 0 ? NULL : both;
}

/* ---- Filters of single tests ---- */

bool test_log_pattern_matches(const char *pattern, const char *suite,
                              const char *test)
{
    size_t group = strlen(suite) + 1 + strcspn(test, "[");
    char name[512];

    snprintf(name, sizeof(name), "%s/%s", suite, test);
    if (!fnmatch(pattern, name, FNM_EXTMATCH))
        return true;
    if (group >= strlen(name))
        return false;
    /* A parameterized test's name matches all its instances. */
    name[group] = '\0';
    return !fnmatch(pattern, name, FNM_EXTMATCH);
}

/* Returns the filter of the last line whose pattern matches, and its size. */
static const char *find_filter(const char *filters, const char *suite,
                               const char *test, size_t *size)
{
    const char *found = NULL;

    for (const char *line = filters; line && *line;) {
        const char *tab = strchr(line, '\t'), *end = strchr(line, '\n');
        char pattern[512];

        if (!tab || !end)
            break;
        snprintf(pattern, sizeof(pattern), "%.*s", (int)(tab - line), line);
        if (test_log_pattern_matches(pattern, suite, test)) {
            found = tab + 1;
            *size = (size_t)(end - found);
        }
        line = end + 1;
    }
    return found;
}

/* The project's filter for one test beats its filter for all tests. The origin
 * of that one is a place in a file, the only origin with a colon. */
char *test_log_filter_for(const struct test_log_session *session,
                          const char *suite, const char *test, const char *own)
{
    const char *origin = session->show_origin;
    size_t size = 0;
    const char *found = find_filter(session->test_filters, suite, test, &size);
    char *copy, *filter;

    if (!found)
        return test_log_filter_of(session->show, origin, own);
    copy = strndup(found, size);
    if (strchr(origin, ':'))
        origin = "default";
    filter = copy ? test_log_filter_of(session->show, origin, copy) : NULL;
    free(copy);
    return filter;
}

/* ---- Preloading ---- */

static const char preload_variable[] = "LD_PRELOAD";

void test_log_preload_hide(void)
{
    const char *ours = test_log_session()->preload;
    const char *list = getenv(preload_variable);
    size_t size = ours ? strlen(ours) : 0;

    if (!size || !list || strncmp(list, ours, size) != 0)
        return;
    if (list[size] == ':')
        setenv(preload_variable, list + size + 1, 1);
    else if (!list[size])
        unsetenv(preload_variable);
}

char **test_log_tool_environment(void)
{
    size_t count = 0, size = strlen(preload_variable);
    bool preloads = test_log_session()->preload;
    char **copy;

    while (environ && environ[count])
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0, kept = 0; copy && i < count; i++)
        if (!preloads || strncmp(environ[i], preload_variable, size) != 0 ||
            environ[i][size] != '=')
            copy[kept++] = environ[i];
    return copy;
}

/* ---- GPU ---- */

/* The library is the last in a list, or alone. */
void test_log_gpu_hide(void)
{
    static const char variable[] = "LD_AUDIT";
    char *list = getenv(variable), *last, *rest;

    if (!list)
        return;
    last = strrchr(list, ':');
    if (strcmp(trace_base_name(last ? last + 1 : list),
               "libtestlog-audit.so") != 0)
        return;
    rest = last ? strndup(list, (size_t)(last - list)) : NULL;
    if (rest)
        setenv(variable, rest, 1);
    else
        unsetenv(variable);
    free(rest);
}
