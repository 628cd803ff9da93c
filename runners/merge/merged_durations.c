/* merged_durations.c: writes how long the merged tests took, which balances the
 * shards of the next run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/past/durations.h"
#include "merge.h"
#include "trace/base/file.h"

int merge_durations_read(struct merge *merge)
{
    if (!merge->history || (access(merge->history, F_OK) && errno == ENOENT))
        return 0;
    return test_log_durations_read(&merge->before, merge->history, "--history");
}

/* Returns the program's own name, without the suffix that distinguishes it. */
static char *program_of(const struct merge *merge,
                        const struct test_log_result *result)
{
    const char *label = merge->sources[result->source - 1].label;
    size_t size = strlen(result->program), end = label ? strlen(label) + 1 : 0;

    if (end && end < size && result->program[size - end] == '@' &&
        !strcmp(result->program + size - end + 1, label))
        size -= end;
    return strndup(result->program, size);
}

/* Whether no merged run has a test. */
static bool is_missing(const struct test_log_duration *test, const void *merged)
{
    return !test_log_durations_of(merged, test->program, test->name);
}

/* Collects how long the merged tests took, and for the others what the file has
 * had. */
static int collect(struct test_log_durations *durations, struct merge *merge)
{
    for (size_t i = 0; i < merge->run.count; i++) {
        const struct test_log_result *result = &merge->run.results[i];
        struct test_log_duration test;
        int status;

        if (!result->source || !result->suite ||
            result->outcome == TEST_LOG_OUTCOME_NONE ||
            result->outcome == TEST_LOG_OUTCOME_SKIPPED)
            continue;
        test = (struct test_log_duration){
            program_of(merge, result), (char *)test_log_name(result),
            result->occupied ? result->occupied : result->duration,
            result->outcome};
        status = test.program ? test_log_durations_add(durations, &test) : -1;
        free(test.program);
        if (status)
            return -1;
    }
    test_log_durations_sort(durations);
    test_log_durations_keep(&merge->before, is_missing, durations);
    for (size_t i = 0; i < merge->before.count; i++)
        if (test_log_durations_add(durations, &merge->before.tests[i]))
            return -1;
    test_log_durations_sort(durations);
    return 0;
}

int merge_durations_write(struct merge *merge)
{
    struct test_log_durations durations = {.count = 0};
    struct trace_file file;
    int status = -1;

    if (!merge->history)
        return 0;
    if (!collect(&durations, merge) &&
        !trace_file_open(&file, merge->history)) {
        test_log_durations_put(&durations, file.stream);
        status = trace_file_commit(&file);
    }
    if (status)
        test_log_notice("merge: cannot write %s: %s; the new run is complete",
                        merge->history, strerror(errno));
    test_log_durations_free(&durations);
    return status;
}
