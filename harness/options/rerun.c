/* rerun.c: --failed runs only the tests that failed and have not passed since;
 * --failed-first runs them first. */
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/past/history.h"
#include "harness/session.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

const char *test_log_rerun_name(const char *program)
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
    options->only[count] = strdup(name);
    options->only[count + 1] = NULL;
    return options->only[count];
}

static void forget_names(struct test_log_options *options)
{
    for (char **each = options->only; each && *each; each++)
        free(*each);
    free(options->only);
    options->only = NULL;
    options->only_capacity = 0;
}

/* Collects all names or none, because no test must be left out. */
static void collect(struct test_log_options *options,
                    const struct test_log_history *history, const char *name)
{
    options->only = calloc(1, sizeof(*options->only));
    for (size_t i = 0; options->only && i < history->count; i++) {
        const char *test = history->tests[i].name;

        if (!test_log_outcome_bad(history->tests[i].outcome) ||
            strcmp(history->tests[i].program, name) != 0)
            continue;
        /* All tests run if the program left no results: it has no test to
         * name. */
        if (!strchr(test, '/') || !add_name(options, test))
            forget_names(options);
    }
}

bool test_log_rerun_choose(struct test_log_options *options,
                           const struct test_log_history *history,
                           const char *program)
{
    const char *name = test_log_rerun_name(program);

    if (options->failed && !history->path) {
        if (!test_log_variable("TESTLOG_RUN")) /* testlog run prints it */
            test_log_notice("--failed: no test has run in %s before; all "
                            "tests run",
                            options->dir);
        return true;
    }
    if (options->failed && !test_log_history_has(history, name)) {
        test_log_notice("--failed: no test of %s has run before; all its "
                        "tests run",
                        name);
        return true;
    }
    if (!test_log_history_failed(history, name))
        return !options->failed;
    if (options->failed || options->failed_first)
        collect(options, history, name);
    return true;
}

struct deciding {
    struct trace_text *text;
    bool debugs;
};

static void add_deciding(void *context, const struct test_log_flag *flag,
                         const char *value)
{
    struct deciding *deciding = context;
    struct trace_text word = {0};

    if (!flag->decides || (deciding->debugs && flag->alone))
        return;
    trace_text_printf(&word, "%s%s%s", flag->name, value ? "=" : "",
                      value ? value : "");
    trace_text_char(deciding->text, ' ');
    test_log_add_word(deciding->text, word.data ? word.data : flag->name);
    trace_text_free(&word);
}

void test_log_add_deciding(struct trace_text *text, char **argv, bool debugs)
{
    test_log_flags_each(&test_log_program, argv, add_deciding,
                        &(struct deciding){text, debugs});
}
