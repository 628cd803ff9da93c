/* session.c: what the runner and its workers share, apart from annotated tests.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/session.h"

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define TEST_LOG_X(name) {#name, offsetof(struct test_log_session, name)},
    TEST_LOG_SESSION(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static void name_variable(char *to, size_t size, const char *name)
{
    snprintf(to, size, "TESTLOG_SESSION_%s", name);
    for (; *to; to++)
        *to = (char)toupper((unsigned char)*to);
}

void test_log_session_export(const struct test_log_session *session)
{
    char name[64];

    for (size_t i = 0; i < FIELDS; i++) {
        char *value =
            *(char *const *)((const char *)session + fields[i].offset);

        name_variable(name, sizeof(name), fields[i].name);
        setenv(name, value ? value : "", 1);
    }
}

bool test_log_session_import(struct test_log_session *session)
{
    bool found = true;
    char name[64];

    for (size_t i = 0; i < FIELDS; i++) {
        char **value = (char **)((char *)session + fields[i].offset);
        const char *text;

        name_variable(name, sizeof(name), fields[i].name);
        text = getenv(name);
        *value = text ? strdup(text) : NULL;
        found &= *value != NULL;
        unsetenv(name);
    }
    return found;
}

/* ---- Status ---- */

_Static_assert(sizeof(struct test_log_note) == TEST_LOG_NOTE_SIZE,
               "a note crosses no page");

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

/* ---- GPU ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* It is the last of a list, or all of it. */
void test_log_gpu_hide(void)
{
    static const char variable[] = "LD_AUDIT";
    char *list = getenv(variable), *last, *rest;

    if (!list)
        return;
    last = strrchr(list, ':');
    if (strcmp(base_of(last ? last + 1 : list), "libtestlog-audit.so") != 0)
        return;
    rest = last ? strndup(list, (size_t)(last - list)) : NULL;
    if (rest)
        setenv(variable, rest, 1);
    else
        unsetenv(variable);
    free(rest);
}
