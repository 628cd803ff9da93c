/* test_names.c: names and keys of tests, and whether a test ran. */
#include <string.h>

#include "merge.h"
#include "trace/base/strings.h"

uint64_t merge_test_key(uint64_t lane, const char *program, const char *name)
{
    return test_log_key(program, name) ^ lane;
}

void merge_name(char *name)
{
    enum { MOST = 150 }; /* a file name has 255 bytes at most */

    for (char *at = name; *at; at++)
        if (*at == '/' || (unsigned char)*at < ' ')
            *at = '_';
    if (name[0] == '.')
        name[0] = '_';
    if (strlen(name) > MOST)
        name[trace_utf8_boundary(name, MOST)] = '\0';
}

bool merge_did_run(const struct test_log_result *result)
{
    const char *reason = result->reason ? result->reason : "";

    switch (result->outcome) {
    case TEST_LOG_OUTCOME_NONE:
        return false;
    case TEST_LOG_OUTCOME_SKIPPED:
        return strcmp(reason, TEST_LOG_INTERRUPTED) != 0 &&
               strcmp(reason, TEST_LOG_CUT_SHORT) != 0;
    case TEST_LOG_OUTCOME_FAILED:
        return strncmp(reason, TEST_LOG_ENDED_AFTER,
                       strlen(TEST_LOG_ENDED_AFTER)) != 0;
    default:
        return true;
    }
}
