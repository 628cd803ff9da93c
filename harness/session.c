/* session.c: what the runner tells its workers, one variable each. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/harness.h"

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define TEST_LOG_X(name) {#name, offsetof(struct test_log_session, name)},
    TEST_LOG_SESSION(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static void variable(char *to, size_t size, const char *name)
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

        variable(name, sizeof(name), fields[i].name);
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

        variable(name, sizeof(name), fields[i].name);
        text = getenv(name);
        *value = text ? strdup(text) : NULL;
        found &= *value != NULL;
        unsetenv(name);
    }
    return found;
}
