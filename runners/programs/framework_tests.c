/* framework_tests.c: chooses some tests of a program of another framework. */
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "harness/criterion/plan/balance.h"
#include "harness/criterion/plan/plan.h"
#include "harness/options/options.h"
#include "harness/run/past/history.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* Bytes of arguments that choose tests. Linux takes 128 KiB for one of them,
 * and 2 MiB for all. */
enum { ARGUMENT_MOST = 96 << 10, ARGUMENTS_MOST = 1 << 20 };

size_t runners_framework_twin(struct trace_table *counts, const char *name)
{
    uint64_t key = trace_hash_string(TRACE_HASH, name);
    uintptr_t count = 0;

    trace_table_find(counts, key, &count);
    trace_table_set(counts, key, count + 1);
    return (size_t)count + 1;
}

/* ---- Names ---- */

static bool begins_disabled(const char *name)
{
    static const char disabled[] = "DISABLED_";
    const char *slash = strrchr(name, '/');

    return !strncmp(name, disabled, strlen(disabled)) ||
           (slash && !strncmp(slash + 1, disabled, strlen(disabled)));
}

bool runners_framework_is_disabled(const char *suite, const char *test)
{
    return begins_disabled(suite) || begins_disabled(test);
}

/* The program's name is in place of a missing suite. */
char *runners_framework_title(const struct framework *framework,
                              const struct test_log_result *result)
{
    char *title = NULL;

    if (!result->suite || !runners_framework_reports(framework))
        return NULL;
    if (!framework->has_suites)
        return strdup(result->test);
    return framework->separator &&
                   asprintf(&title, "%s%s%s", result->suite,
                            framework->separator, result->test) >= 0
               ? title
               : NULL;
}

/* ---- Choosing ---- */

int runners_framework_tests_copy(struct framework_tests *to,
                                 const struct framework_tests *from)
{
    runners_framework_tests_free(to);
    for (size_t i = 0; i < from->count; i++) {
        struct framework_test test = from->all[i];

        test.name = strdup(test.name);
        test.own = strdup(test.own);
        test.file = NULL;
        if (!test.name || !test.own ||
            !TRACE_ARRAY_RESERVE(to->all, to->capacity, to->count + 1)) {
            runners_framework_test_free(&test);
            return -1;
        }
        to->all[to->count++] = test;
    }
    return 0;
}

void runners_framework_test_free(struct framework_test *test)
{
    free(test->name);
    free(test->own);
    free(test->file);
}

static bool failed_last(const struct test_log_history *history,
                        const char *program, const char *name)
{
    const struct test_log_past *past =
        test_log_history_of(history, program, name);

    return past && test_log_outcome_bad(past->outcome);
}

bool runners_framework_selects(const struct test_log_options *options,
                               const struct test_log_history *history,
                               const char *program, const char *name,
                               const char *title)
{
    return test_log_plan_selects(options, name, title) &&
           (!options->failed || !test_log_history_has(history, program) ||
            failed_last(history, program, name));
}

static bool has_test(const struct framework_tests *tests, const char *name)
{
    for (size_t i = 0; i < tests->count; i++)
        if (!strcmp(tests->all[i].name, name))
            return true;
    return false;
}

/* Whether the program failed outside of its tests: all of them may be why. */
static bool failed_outside(const struct framework_tests *tests,
                           const struct test_log_history *history,
                           const char *program)
{
    for (size_t i = 0; i < history->count; i++)
        if (test_log_outcome_bad(history->tests[i].outcome) &&
            !strcmp(history->tests[i].program, program) &&
            !has_test(tests, history->tests[i].name))
            return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct framework_test *)a)->name,
                  ((const struct framework_test *)b)->name);
}

bool runners_framework_select(struct framework_tests *tests,
                              const struct test_log_options *options,
                              const struct test_log_history *history,
                              const char *program)
{
    const struct test_log_shard *shard = &options->shard;
    bool all = options->failed && failed_outside(tests, history, program);
    size_t kept = 0, place = 0;

    if (shard->total && tests->count)
        qsort(tests->all, tests->count, sizeof(*tests->all), compare_names);
    for (size_t i = 0; i < tests->count; i++) {
        struct framework_test test = tests->all[i];
        bool wanted = all ? test_log_plan_selects(options, test.name, test.own)
                          : runners_framework_selects(options, history, program,
                                                      test.name, test.own);
        place += wanted;
        if (wanted && shard->total)
            wanted =
                test_log_shard_of(shard, place - 1, test.name) == shard->index;
        if (wanted)
            tests->all[kept++] = test;
        else
            runners_framework_test_free(&test);
    }
    tests->count = kept;
    return place > kept;
}

/* ---- For a process ---- */

/* "exclude:" would exclude the rest of a name. */
static void put_quoted(FILE *out, const char *name)
{
    fputc('"', out);
    if (!strncmp(name, "exclude:", strlen("exclude:"))) {
        fputc('*', out);
        name++;
    }
    for (; *name; name++) {
        if (strchr("\"\\,[", *name))
            fputc('\\', out);
        fputc(*name, out);
    }
    fputs("\"\n", out);
}

int runners_framework_write(const struct framework_tests *tests, size_t count,
                            const struct framework *framework, FILE *out)
{
    bool by_suites = framework->form == FRAMEWORK_LIST_SUITES;

    if (by_suites)
        fputs("--gtest_filter=", out);
    for (size_t i = 0; i < count; i++) {
        if (by_suites)
            fprintf(out, "%s%s", i ? ":" : "", tests->all[i].own);
        else
            put_quoted(out, tests->all[i].own);
    }
    if (by_suites)
        fputc('\n', out);
    return fflush(out) || ferror(out) ? -1 : 0;
}

/* Adds a name as a pattern: doctest separates patterns with commas, Boost.Test
 * has more signs, and a "*" only at the end of a part. */
static void put_pattern(struct trace_text *text,
                        const struct framework *framework, const char *name)
{
    while (*name) {
        size_t size = strcspn(name, "/"), plain = strcspn(name, ",:!@+*/");

        if (framework->choice == FRAMEWORK_TOGETHER) {
            trace_text_char(text, strchr(",\\", *name) ? '?' : *name);
            name++;
            continue;
        }
        trace_text_add(text, name, plain);
        if (plain < size)
            trace_text_char(text, '*');
        name += size;
        if (*name)
            trace_text_char(text, *name++);
    }
}

size_t runners_framework_arguments(struct framework_start *start,
                                   const struct framework_tests *tests,
                                   size_t count,
                                   const struct framework *framework)
{
    bool together = framework->choice == FRAMEWORK_TOGETHER;
    size_t i, size = 0, most = together ? ARGUMENT_MOST : ARGUMENTS_MOST;
    struct trace_text text = {0};
    int status = 0;

    for (i = 0; i < count && !status && size + text.size < most; i++) {
        if (together && i)
            trace_text_char(&text, ',');
        put_pattern(&text, framework, tests->all[i].own);
        if (together)
            continue;
        status = text.data ? runners_framework_argument(
                                 start, framework->chosen[0], text.data)
                           : -1;
        size += text.size + strlen(framework->chosen[0]);
        trace_text_clear(&text);
    }
    for (size_t n = 0; together && !status && framework->chosen[n]; n++)
        status = runners_framework_argument(start, framework->chosen[n],
                                            text.data ? text.data : "");
    status |= text.failed;
    trace_text_free(&text);
    return status ? 0 : i;
}

void runners_framework_tests_free(struct framework_tests *tests)
{
    for (size_t i = 0; i < tests->count; i++)
        runners_framework_test_free(&tests->all[i]);
    free(tests->all);
    *tests = (struct framework_tests){.count = 0};
}
