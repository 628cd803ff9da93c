/* compare.c: compares the tests of a run with earlier runs in its folder.
 *
 * Each test is compared with the last run that has it: the run before this one
 * may have had a single test.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/tsv.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/page/report_html.h"
#include "trace/base/file.h"
#include "trace/base/text.h"

enum { RUNS_MOST = 20 /* earlier runs to read */ };

/* As for --durations, smaller differences are noise on a busy machine. */
static const uint64_t noise = 100000000; /* ns */

/* The result of a test in an earlier run. */
struct past {
    enum test_log_outcome outcome;
    uint64_t duration; /* ns */
};

struct comparison {
    const struct test_log_run *run;
    struct past *past;          /* of each test; NONE: unknown */
    struct trace_table numbers; /* of tests, by program and name */
    struct trace_table whole;   /* whether a program left results, by name */
    size_t unknown;
    const char *reading;         /* the run that is being read */
    char previous[NAME_MAX + 1]; /* the last run that has one of them */
    struct trace_text gone;      /* names of its tests that this run lacks */
};

/* ---- Earlier runs ---- */

/* Maps the program and name of a test, as in results.tsv, to its number. A
 * program that left no results may have any tests. */
static bool index_tests(struct comparison *comparison)
{
    const struct test_log_run *run = comparison->run;
    bool indexed = true;

    for (size_t i = 0; indexed && i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        struct trace_text text = {0}, name = {0};
        uintptr_t known = true;
        const char *program;
        uint64_t key;

        test_log_sanitize_line(&text, result->program);
        test_log_sanitize_line(&name, test_log_name(result));
        program = text.data ? text.data : "";
        key = trace_hash_string(TRACE_HASH, program);
        trace_table_find(&comparison->whole, key, &known);
        indexed =
            trace_table_set(&comparison->whole, key, known && result->suite) &&
            trace_table_set(&comparison->numbers,
                            test_log_key(program, name.data ? name.data : ""),
                            i);
        trace_text_free(&text);
        trace_text_free(&name);
    }
    return indexed;
}

/* Notes a test of an earlier run that this run lacks. */
static void note_gone(struct comparison *comparison, const char *program,
                      const char *name)
{
    const struct test_log_run *run = comparison->run;
    uintptr_t known = false;

    trace_table_find(&comparison->whole, trace_hash_string(TRACE_HASH, program),
                     &known);
    if (!known || !run->whole || run->interrupted || !strchr(name, '/'))
        return;
    if (comparison->gone.size)
        trace_text_char(&comparison->gone, ',');
    trace_json_string(&comparison->gone, name, strlen(name));
}

/* Takes a line of results.tsv: outcome, ns, program, name; the rest is of no
 * use here. */
static void take_line(void *context, char **columns, size_t count)
{
    struct comparison *comparison = context;
    const char *program = columns[2], *name = columns[3];
    enum test_log_outcome outcome = test_log_outcome_of(columns[0]);
    struct past *past;
    uintptr_t number;

    if (count < 4 || outcome == TEST_LOG_OUTCOME_NONE)
        return;
    if (!trace_table_find(&comparison->numbers, test_log_key(program, name),
                          &number)) {
        if (!comparison->previous[0] ||
            !strcmp(comparison->previous, comparison->reading))
            note_gone(comparison, program, name);
        return;
    }
    if (outcome == TEST_LOG_OUTCOME_SKIPPED)
        return;
    past = &comparison->past[number];
    if (past->outcome != TEST_LOG_OUTCOME_NONE)
        return;
    *past = (struct past){outcome, strtoull(columns[1], NULL, 10)};
    comparison->unknown--;
    if (!comparison->previous[0])
        snprintf(comparison->previous, sizeof(comparison->previous), "%s",
                 comparison->reading);
}

/* Reads the runs before this one, the latest first. A run that is not in the
 * list is newer than all. */
static void read_runs(struct comparison *comparison, const char *path)
{
    const char *name = trace_base_name(path);
    char parent[PATH_MAX], file[PATH_MAX];
    size_t count = 0, from = 0;
    char **runs = NULL;
    int dir;

    snprintf(parent, sizeof(parent), "%.*s", (int)(name - path), path);
    dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (dir >= 0)
        runs = test_log_list_runs(dir, true, &count);
    for (size_t i = 0; i < count && !from; i++)
        if (!strcmp(runs[i], name))
            from = i + 1;
    for (size_t i = from;
         i < count && i < from + RUNS_MOST && comparison->unknown; i++) {
        snprintf(file, sizeof(file), "%s/results.tsv", runs[i]);
        comparison->reading = runs[i];
        test_log_tsv_each(trace_beneath(dir, file, O_RDONLY), 5, take_line,
                          comparison);
        if (!comparison->previous[0])
            trace_text_clear(&comparison->gone);
    }
    test_log_free_names(runs, count);
    if (dir >= 0)
        close(dir);
}

/* ---- Differences ---- */

/* A known failure counts as skipped, in results.tsv, too. */
static bool newly_fails(const struct past *past,
                        const struct test_log_result *result)
{
    return past->outcome == TEST_LOG_OUTCOME_PASSED && test_log_failed(result);
}

static bool newly_passes(const struct past *past,
                         const struct test_log_result *result)
{
    return test_log_outcome_bad(past->outcome) &&
           result->outcome == TEST_LOG_OUTCOME_PASSED;
}

static bool is_new(const struct past *past,
                   const struct test_log_result *result)
{
    return past->outcome == TEST_LOG_OUTCOME_NONE &&
           test_log_counted_outcome(result) != TEST_LOG_OUTCOME_SKIPPED;
}

static bool is_slower(const struct past *past,
                      const struct test_log_result *result)
{
    return past->outcome == TEST_LOG_OUTCOME_PASSED &&
           result->outcome == TEST_LOG_OUTCOME_PASSED &&
           result->duration > past->duration + past->duration / 2 &&
           result->duration > past->duration + noise;
}

/* Adds the numbers of the tests that differ in one way. */
static void put_numbers(struct trace_text *out,
                        const struct comparison *comparison, const char *name,
                        bool (*differs)(const struct past *,
                                        const struct test_log_result *))
{
    bool some = false;

    trace_text_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < comparison->run->count; i++) {
        if (!differs(&comparison->past[i], &comparison->run->results[i]))
            continue;
        trace_text_printf(out, "%s%zu", some ? "," : "", i);
        some = true;
    }
    trace_text_char(out, ']');
}

/* Adds [number, ns before, ns now] for each slower test. */
static void put_slower(struct trace_text *out,
                       const struct comparison *comparison)
{
    bool some = false;

    trace_text_literal(out, ",\"slower\":[");
    for (size_t i = 0; i < comparison->run->count; i++) {
        const struct test_log_result *result = &comparison->run->results[i];

        if (!is_slower(&comparison->past[i], result))
            continue;
        trace_text_printf(out, "%s[%zu,%llu,%llu]", some ? "," : "", i,
                          (unsigned long long)comparison->past[i].duration,
                          (unsigned long long)result->duration);
        some = true;
    }
    trace_text_char(out, ']');
}

static void put_comparison(struct trace_text *out,
                           const struct comparison *comparison)
{
    if (!comparison->previous[0]) {
        trace_text_literal(out, "null");
        return;
    }
    trace_text_literal(out, "{\"run\":");
    trace_json_string(out, comparison->previous, strlen(comparison->previous));
    put_numbers(out, comparison, "newly_failing", newly_fails);
    put_numbers(out, comparison, "newly_passing", newly_passes);
    put_numbers(out, comparison, "new", is_new);
    put_slower(out, comparison);
    trace_text_printf(out, ",\"gone\":[%s]}",
                      comparison->gone.data ? comparison->gone.data : "");
}

void test_log_compare(struct trace_text *out, const struct test_log_run *run)
{
    struct comparison comparison = {.run = run, .unknown = run->count};
    char path[PATH_MAX];

    comparison.past = calloc(run->count + 1, sizeof(*comparison.past));
    if (comparison.past && index_tests(&comparison) && run->path &&
        realpath(run->path, path))
        read_runs(&comparison, path);
    trace_text_literal(out, "\"previous\":");
    put_comparison(out, &comparison);
    trace_text_char(out, ',');
    free(comparison.past);
    trace_table_free(&comparison.numbers);
    trace_table_free(&comparison.whole);
    trace_text_free(&comparison.gone);
}
