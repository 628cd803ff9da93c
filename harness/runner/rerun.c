/* rerun.c: --failed, which runs what failed in the last run again. */
#include <stdlib.h>
#include <string.h>

#include "harness/results/history.h"
#include "harness/results/notice.h"
#include "harness/runner/plan.h"
#include "harness/session.h"
#include "trace/containers.h"
#include "trace/strings.h"

/* The name of a program in the last run. */
static const char *name_of(const char *program)
{
    const char *given = test_log_session()->program;

    return given ? given : trace_base_name(program);
}

static bool add_name(struct test_log_options *options, const char *name)
{
    size_t count = 0;

    while (options->only[count])
        count++;
    if (!TRACE_ARRAY_RESERVE(options->only, options->only_capacity, count + 2))
        return false;
    /* Repetitions are one test. */
    options->only[count] = strndup(name, strcspn(name, "#"));
    options->only[count + 1] = NULL;
    return options->only[count];
}

bool test_log_rerun_choose(struct test_log_options *options,
                           const struct test_log_history *history,
                           const char *program)
{
    const char *name = name_of(program);

    if (!history->path || !history->count) {
        if (!test_log_variable("TESTLOG_RUN")) /* testlog run prints it */
            test_log_notice("--failed: no results of a last run in %s; all "
                            "tests run",
                            options->dir);
        return true;
    }
    if (!test_log_history_has(history, name)) {
        test_log_notice("--failed: the last run, %s, has no test of %s; all "
                        "its tests run",
                        history->path, name);
        return true;
    }
    if (!test_log_history_failed(history, name))
        return false;
    options->only = calloc(1, sizeof(*options->only));
    for (size_t i = 0; options->only && i < history->count; i++) {
        const char *test = history->tests[i].name;

        if (!test_log_outcome_bad(history->tests[i].outcome) ||
            strcmp(history->tests[i].program, name) != 0)
            continue;
        /* A program that left no results has no test to name. */
        if (strchr(test, '/') && add_name(options, test))
            continue;
        for (char **each = options->only; *each; each++)
            free(*each);
        free(options->only);
        options->only = NULL;
        options->only_capacity = 0;
    }
    return true;
}
