/* framework_tests.c: lists the tests of a program of another framework, and
 * chooses some of them. */
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "harness/results/history/history.h"
#include "harness/runner/options/options.h"
#include "harness/runner/plan/balance.h"
#include "harness/runner/plan/plan.h"
#include "runners/find/command_output.h"
#include "trace/base/containers.h"

/* ---- Lists ---- */

static int add(struct framework_tests *tests, const char *suite,
               const char *test, const char *dot)
{
    struct framework_test one = {.name = NULL};

    if (asprintf(&one.name, "%s/%s", suite, test) < 0)
        one.name = NULL;
    if (asprintf(&one.own, "%s%s%s", dot ? suite : "", dot ? dot : "", test) <
        0)
        one.own = NULL;
    if (!one.name || !one.own ||
        !TRACE_ARRAY_RESERVE(tests->all, tests->capacity, tests->count + 1)) {
        free(one.name);
        free(one.own);
        return -1;
    }
    tests->all[tests->count++] = one;
    return 0;
}

/* GoogleTest lists the tests that it leaves out, too. */
static bool is_disabled(const char *name)
{
    static const char disabled[] = "DISABLED_";
    const char *slash = strrchr(name, '/');

    return !strncmp(name, disabled, strlen(disabled)) ||
           (slash && !strncmp(slash + 1, disabled, strlen(disabled)));
}

/* Reads "Suite.  # about it" or "  Test  # about it". Lines that main prints
 * are neither. */
static int read_suite_line(struct framework_tests *tests, char *line,
                           char suite[1024])
{
    char *about = strstr(line, "  # ");
    size_t size;

    if (about)
        *about = '\0';
    size = strlen(line);
    if (!strncmp(line, "  ", 2)) {
        char *test = line + 2 + strspn(line + 2, " ");

        return *suite && !is_disabled(suite) && !is_disabled(test)
                   ? add(tests, suite, test, ".")
                   : 0;
    }
    suite[0] = '\0';
    if (size && line[size - 1] == '.' && !strchr(line, ' '))
        snprintf(suite, 1024, "%.*s", (int)size - 1, line);
    return 0;
}

/* Makes the name of a test the one in reports: XML normalizes blanks in
 * attributes, Catch2 drops those at the ends and escapes a DEL. */
static int report_name(struct framework_test *test, const char *program)
{
    const char *from = test->own + strspn(test->own, " \t");
    struct trace_text name = {0};

    trace_text_printf(&name, "%s/", program);
    for (; *from; from++)
        if (*from == 0x7f)
            trace_text_string(&name, "\\x7F");
        else
            trace_text_char(&name, *from == '\t' ? ' ' : *from);
    while (!name.failed && name.data[name.size - 1] == ' ')
        name.data[--name.size] = '\0';
    if (name.failed)
        return -1;
    free(test->name);
    test->name = name.data;
    return 0;
}

static int add_name(struct framework_tests *tests, const char *program,
                    const char *name)
{
    return add(tests, program, name, NULL)
               ? -1
               : report_name(&tests->all[tests->count - 1], program);
}

/* Catch2 quotes names that begin with #. */
static char *without_quotes(char *line, size_t size)
{
    if (size < 3 || strncmp(line, "\"#", 2) != 0 || line[size - 1] != '"')
        return line;
    line[size - 1] = '\0';
    return line + 1;
}

int runners_framework_read_list(struct framework_tests *tests,
                                const struct framework *framework, FILE *in,
                                const char *program)
{
    char *line = NULL, suite[1024] = "";
    size_t room = 0;
    ssize_t size;
    int status = 0;

    while (!status && (size = getline(&line, &room, in)) > 0) {
        size_t end = (size_t)size;

        while (end && (line[end - 1] == '\n' || line[end - 1] == '\r'))
            line[--end] = '\0';
        if (framework->form == FRAMEWORK_LIST_SUITES)
            status = read_suite_line(tests, line, suite);
        else if (end)
            status = add_name(tests, program, without_quotes(line, end));
    }
    free(line);
    return status;
}

/* Catch2's exit code is how many tests there are. */
static bool list(struct framework_tests *tests,
                 const struct framework *framework, char **argv,
                 const char *program)
{
    int ended;
    FILE *in = runners_command_output(argv, true, &ended);
    int status =
        in ? runners_framework_read_list(tests, framework, in, program) : -1;

    if (in)
        fclose(in);
    return !status && tests->count;
}

int runners_framework_list(struct framework_tests *tests,
                           const struct framework *framework, const char *path,
                           const char *arguments, const char *program)
{
    bool listed = false;

    for (size_t i = 0; framework->list[i] && !listed; i++) {
        struct framework_start start = {.argument_count = 0};

        if (!runners_framework_argument(&start, path, NULL) &&
            !runners_framework_words(&start, arguments) &&
            !runners_framework_words(&start, framework->list[i]))
            listed = list(tests, framework, start.arguments, program);
        runners_framework_start_free(&start);
    }
    return listed ? 0 : -1;
}

/* ---- Choosing ---- */

void runners_framework_test_free(struct framework_test *test)
{
    free(test->name);
    free(test->own);
}

static bool failed_last(const struct test_log_history *history,
                        const char *program, const char *name)
{
    const struct test_log_past *past =
        test_log_history_of(history, program, name);

    return past && test_log_outcome_bad(past->outcome);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct framework_test *)a)->name,
                  ((const struct framework_test *)b)->name);
}

void runners_framework_select(struct framework_tests *tests,
                              const struct test_log_options *options,
                              const struct test_log_history *history,
                              const char *program)
{
    const struct test_log_shard *shard = &options->shard;
    bool failed = options->failed && test_log_history_has(history, program);
    size_t kept = 0, place = 0;

    if (shard->total && tests->count)
        qsort(tests->all, tests->count, sizeof(*tests->all), compare_names);
    for (size_t i = 0; i < tests->count; i++) {
        struct framework_test test = tests->all[i];
        bool wanted = test_log_plan_selects(options, test.name) &&
                      (!failed || failed_last(history, program, test.name));

        if (wanted && shard->total)
            wanted =
                test_log_shard_of(shard, place++, test.name) == shard->index;
        if (wanted)
            tests->all[kept++] = test;
        else
            runners_framework_test_free(&test);
    }
    tests->count = kept;
}

static void put_quoted(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++) {
        if (strchr("\"\\,[", *name))
            fputc('\\', out);
        fputc(*name, out);
    }
    fputs("\"\n", out);
}

int runners_framework_write(const struct framework_tests *tests,
                            const struct framework *framework, FILE *out)
{
    bool by_suites = framework->form == FRAMEWORK_LIST_SUITES;

    if (by_suites)
        fputs("--gtest_filter=", out);
    for (size_t i = 0; i < tests->count; i++) {
        if (by_suites)
            fprintf(out, "%s%s", i ? ":" : "", tests->all[i].own);
        else
            put_quoted(out, tests->all[i].own);
    }
    if (by_suites)
        fputc('\n', out);
    return fflush(out) || ferror(out) ? -1 : 0;
}

void runners_framework_tests_free(struct framework_tests *tests)
{
    for (size_t i = 0; i < tests->count; i++)
        runners_framework_test_free(&tests->all[i]);
    free(tests->all);
    *tests = (struct framework_tests){.count = 0};
}
