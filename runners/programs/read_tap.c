/* read_tap.c: reads Check's reports in TAP.
 *
 *  ok 1 - file.c:group:test: Passed
 *  not ok 2 - file.c:group:test: 1 == 3
 *  1..2
 */
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"

static enum test_log_outcome outcome_of(const char *message)
{
    static const struct {
        const char *begin;
        enum test_log_outcome outcome;
    } messages[] = {{"Received signal", TEST_LOG_OUTCOME_CRASHED},
                    {"Test timeout", TEST_LOG_OUTCOME_TIMEOUT}};

    for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
        if (!strncmp(message, messages[i].begin, strlen(messages[i].begin)))
            return messages[i].outcome;
    return TEST_LOG_OUTCOME_FAILED;
}

/* Reads "file.c:group:test: message". */
static void add(struct test_log_run *run, char *name, bool passed,
                const char *program)
{
    struct test_log_result *result = test_log_run_add(run);
    char *message = strstr(name, ": "), *colon;

    if (!result)
        return;
    if (message) {
        *message = '\0';
        message += 2;
    }
    colon = strrchr(name, ':');
    result->program = strdup(program);
    result->suite = strdup(program);
    result->test = strdup(colon ? colon + 1 : name);
    result->outcome =
        passed ? TEST_LOG_OUTCOME_PASSED : outcome_of(message ? message : "");
    if (!passed && message && *message)
        result->reason = strdup(message);
}

bool runners_framework_read_tap(struct test_log_run *run, FILE *in,
                                const char *program)
{
    char *line = NULL;
    size_t room = 0;
    long number, count = 0; /* of tests since a report began */
    ssize_t size;
    bool whole = false;

    while ((size = getline(&line, &room, in)) > 0) {
        bool passed = !strncmp(line, "ok ", 3);

        line[size - (line[size - 1] == '\n')] = '\0';
        if (sscanf(line, "1..%ld", &number) == 1) {
            whole = number == count;
            count = 0;
        } else if (passed || !strncmp(line, "not ok ", 7)) {
            char *name = line + strcspn(line, "-");

            name += strspn(name, "- ");
            add(run, name, passed, program);
            whole = false;
            count++;
        }
    }
    free(line);
    return whole;
}
