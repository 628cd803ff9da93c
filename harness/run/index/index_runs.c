/* index_runs.c: reads what the runs in a folder have left for its index.html.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/tsv.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/index/index.h"
#include "harness/run/past/flaky_tests.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

/* A run that is read. */
struct reading {
    struct test_log_index *index;
    size_t number; /* of the run */
    int dir;       /* that the runs are in */
};

/* Calls `take` with each line of a file of the run; false if there is none. */
static bool read_lines(struct reading *reading, const char *file, size_t most,
                       test_log_tsv_take *take)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s",
             reading->index->runs[reading->number].name, file);
    return test_log_tsv_each(trace_beneath(reading->dir, path, O_RDONLY), most,
                             take, reading);
}

/* ---- Tests ---- */

/* Finds a test or adds it; NULL without memory. */
static struct test_log_index_test *test_of(struct test_log_index *index,
                                           const char *program,
                                           const char *name)
{
    uint64_t key = test_log_key(program, name);
    size_t number = index->test_count;
    struct test_log_index_test *test;
    uintptr_t known;

    if (trace_table_find(&index->numbers, key, &known))
        return &index->tests[known];
    if (!TRACE_ARRAY_RESERVE(index->tests, index->test_capacity, number + 1))
        return NULL;
    test = &index->tests[number];
    *test = (struct test_log_index_test){.program = strdup(program),
                                         .name = strdup(name)};
    if (test->program && test->name &&
        trace_table_set(&index->numbers, key, number)) {
        index->test_count++;
        return test;
    }
    free(test->program);
    free(test->name);
    return NULL;
}

/* No duration has more bits. */
static uint64_t parse_time(const char *ns)
{
    uint64_t time = strtoull(ns, NULL, 10);

    return time < TEST_LOG_INDEX_LONGEST ? time : TEST_LOG_INDEX_LONGEST;
}

static unsigned severity(enum test_log_outcome outcome)
{
    return test_log_outcome_bad(outcome)         ? 3
           : outcome == TEST_LOG_OUTCOME_PASSED  ? 2
           : outcome == TEST_LOG_OUTCOME_SKIPPED ? 1
                                                 : 0;
}

/* Cuts the number of its repetition off a name, if it has one. */
static bool drop_repetition(char *name)
{
    size_t size = test_log_base_size(name);
    bool repeats = name[size];

    name[size] = '\0';
    return repeats;
}

/* Takes a line of results.tsv: outcome, ns, program, name. */
static void take_result(void *context, char **columns, size_t count)
{
    const struct reading *reading = context;
    struct test_log_index *index = reading->index;
    struct test_log_index_run *run = &index->runs[reading->number];
    enum test_log_outcome outcome = test_log_outcome_of(columns[0]);
    struct test_log_index_test *test;
    struct test_log_index_cell *cell;
    bool repeats;

    if (count < 4 || outcome == TEST_LOG_OUTCOME_NONE)
        return;
    if (!run->has_summary) {
        run->passed += outcome == TEST_LOG_OUTCOME_PASSED;
        run->failed += test_log_outcome_bad(outcome);
        run->skipped += outcome == TEST_LOG_OUTCOME_SKIPPED;
    }
    if (reading->number >= index->shown)
        return;
    repeats = drop_repetition(columns[3]);
    test = test_of(index, columns[2], columns[3]);
    if (!test)
        return;
    cell = &test->cells[reading->number];
    if (repeats) {
        cell->repetitions++;
        cell->passed += outcome == TEST_LOG_OUTCOME_PASSED;
    }
    if (severity(outcome) >= severity((enum test_log_outcome)cell->outcome))
        cell->outcome = outcome;
    test->flaky |= cell->passed &&
                   test_log_outcome_bad((enum test_log_outcome)cell->outcome);
    if (parse_time(columns[1]) > cell->duration)
        cell->duration = parse_time(columns[1]);
}

/* Takes a line of results.jsonl. Text in it has no quotes without a backslash.
 * A test is tried again if it has failed. */
static void take_try(void *context, char **line, size_t columns)
{
    const struct reading *reading = context;
    struct test_log_index_run *run = &reading->index->runs[reading->number];
    static const char key[] = ",\"outcome\":\"", tries[] = ",\"tries\":";
    char *word = strstr(line[0], key), *count = strstr(line[0], tries);
    enum test_log_outcome outcome;

    if (!columns || !word || !count)
        return;
    if (strtoul(count + strlen(tries), NULL, 10) > 1 && run->failed)
        run->failed--;
    word += strlen(key);
    word[strcspn(word, "\"")] = '\0';
    outcome = test_log_outcome_of(word);
    run->passed += outcome == TEST_LOG_OUTCOME_PASSED;
    run->failed += test_log_outcome_bad(outcome);
    run->skipped += outcome == TEST_LOG_OUTCOME_SKIPPED;
}

/* ---- A run's summary ---- */

static void take_command(struct test_log_index_run *run, const char *command)
{
    size_t size = strlen(command), most = sizeof(run->command) - 1;

    snprintf(run->command, sizeof(run->command), "%.*s",
             (int)(size > most ? trace_utf8_boundary(command, most) : size),
             command);
}

static void take_member(void *context, char **columns, size_t count)
{
    const struct reading *reading = context;
    struct test_log_index *index = reading->index;
    struct test_log_index_run *run = &index->runs[reading->number];
    const char *key = columns[0], *value = columns[1];
    struct test_log_index_test *test = NULL;

    if (count > 2 && !strcmp(key, "flaky"))
        drop_repetition(columns[2]);
    if (count > 2 && !strcmp(key, "flaky") && reading->number < index->shown)
        test = test_of(index, value, columns[2]);
    if (test) {
        test->flaky = true;
        test->cells[reading->number].flaky = true;
    }
    if (!strcmp(key, "end") && !strcmp(value, "interrupted"))
        run->state = TEST_LOG_INDEX_INTERRUPTED;
    else if (!strcmp(key, "duration_ns"))
        run->duration = strtoull(value, NULL, 10);
    else if (!strcmp(key, "passed"))
        run->passed = strtoull(value, NULL, 10);
    else if (!strcmp(key, "failed"))
        run->failed = strtoull(value, NULL, 10);
    else if (!strcmp(key, "skipped"))
        run->skipped = strtoull(value, NULL, 10);
    else if (!strcmp(key, "start"))
        snprintf(run->start, sizeof(run->start), "%s", value);
    else if (!strcmp(key, "host"))
        snprintf(run->host, sizeof(run->host), "%s", value);
    else if (!strcmp(key, "commit"))
        snprintf(run->commit, sizeof(run->commit), "%s", value);
    else if (!strcmp(key, "command"))
        take_command(run, value);
}

/* ---- Runs ---- */

static bool has(int dir, const char *run, const char *file)
{
    char path[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof(path), "%s/%s", run, file);
    return !fstatat(dir, path, &status, AT_SYMLINK_NOFOLLOW) &&
           S_ISREG(status.st_mode);
}

static void read_run(struct test_log_index *index, int dir, size_t number)
{
    struct test_log_index_run *run = &index->runs[number];
    struct reading reading = {index, number, dir};
    bool ended;

    run->has_summary = read_lines(&reading, "summary.tsv", 3, take_member);
    ended = run->has_summary || has(dir, run->name, "run.json");
    if (number < index->shown || !run->has_summary)
        read_lines(&reading, "results.tsv", 5, take_result);
    run->has_report = has(dir, run->name, "report.html");
    if (!ended) {
        read_lines(&reading, "results.jsonl", 1, take_try);
        run->state = test_log_old_runs_in_progress(dir, run->name)
                         ? TEST_LOG_INDEX_RUNNING
                         : TEST_LOG_INDEX_UNFINISHED;
    } else if (run->state != TEST_LOG_INDEX_INTERRUPTED && run->failed)
        run->state = TEST_LOG_INDEX_FAILED;
}

/* ---- Flaky tests ---- */

/* Returns whether some runs differ. */
static bool has_changed(const struct test_log_index_test *test)
{
    bool passed = false, failed = false;

    for (size_t i = 0; i < TEST_LOG_INDEX_SHOWN; i++) {
        passed |= test->cells[i].outcome == TEST_LOG_OUTCOME_PASSED;
        failed |= test_log_outcome_bad(test->cells[i].outcome);
    }
    return passed && failed;
}

/* Returns the first of the runs with outcomes that is shown. */
static size_t first_shown(const struct test_log_index *index,
                          const struct test_log_outcomes *outcomes)
{
    size_t i = 0;

    for (; i < outcomes->run_count; i++)
        for (size_t j = 0; j < index->shown; j++)
            if (!strcmp(outcomes->runs[i].name, index->runs[j].name))
                return i;
    return i;
}

/* Marks the flaky tests of a program. */
static void judge_program(struct test_log_index *index, int history,
                          const char *program)
{
    struct test_log_flaky_tests tests = {.count = 0};
    struct test_log_outcomes outcomes;
    uintptr_t number;

    if (test_log_outcomes_read(&outcomes, program, ".history", history))
        return;
    test_log_flaky_find(&tests, &outcomes, first_shown(index, &outcomes));
    for (size_t i = 0; i < tests.count; i++)
        if (trace_table_find(&index->numbers,
                             test_log_key(program, tests.all[i].name), &number))
            index->tests[number].flaky = true;
    free(tests.all);
    test_log_outcomes_free(&outcomes);
}

/* Asks what is remembered of programs, if any of their tests has changed. */
static void judge_programs(struct test_log_index *index, int dir)
{
    int history = openat(dir, ".history",
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    struct trace_table judged = {0};
    uintptr_t unused;

    for (size_t i = 0; history > 0 && i < index->test_count; i++) {
        const char *program = index->tests[i].program;
        uint64_t key = trace_hash_string(TRACE_HASH, program);

        if (!has_changed(&index->tests[i]) ||
            trace_table_find(&judged, key, &unused))
            continue;
        judge_program(index, history, program);
        if (!trace_table_set(&judged, key, 1))
            break;
    }
    trace_table_free(&judged);
    if (history >= 0)
        close(history);
}

/* ---- What is notable ---- */

static enum test_log_index_note note_of(const struct test_log_index_test *test)
{
    enum test_log_outcome last = TEST_LOG_OUTCOME_NONE, before = last;

    for (size_t i = TEST_LOG_INDEX_SHOWN; i-- > 0;) {
        enum test_log_outcome outcome = test->cells[i].outcome;

        if (outcome != TEST_LOG_OUTCOME_PASSED &&
            !test_log_outcome_bad(outcome))
            continue;
        before = last;
        last = outcome;
    }
    if (test->flaky)
        return TEST_LOG_INDEX_FLAKY;
    if (!test_log_outcome_bad(last))
        return TEST_LOG_INDEX_NONE;
    return before == TEST_LOG_OUTCOME_PASSED ? TEST_LOG_INDEX_NEWLY_FAILING
                                             : TEST_LOG_INDEX_FAILING;
}

static int by_note(const void *a, const void *b)
{
    const struct test_log_index_test *x = a, *y = b;
    int order;

    if (x->note != y->note)
        return x->note < y->note ? -1 : 1;
    order = strcmp(x->program, y->program);
    return order ? order : strcmp(x->name, y->name);
}

int test_log_index_read(struct test_log_index *index, int dir, size_t most,
                        size_t shown)
{
    size_t count = 0, listed;
    char **names = test_log_list_runs(dir, false, &count);

    *index = (struct test_log_index){.shown = shown};
    if (!names)
        return -1;
    listed = count < most ? count : most;
    if (index->shown > listed)
        index->shown = listed;
    index->more = count - listed;
    index->runs = calloc(listed + 1, sizeof(*index->runs));
    for (size_t i = 0; index->runs && i < listed; i++) {
        index->runs[i].name = names[i];
        names[i] = NULL;
        index->run_count++;
        read_run(index, dir, i);
    }
    test_log_free_names(names, count);
    judge_programs(index, dir);
    for (size_t i = 0; i < index->test_count; i++)
        index->tests[i].note = note_of(&index->tests[i]);
    if (index->test_count)
        qsort(index->tests, index->test_count, sizeof(*index->tests), by_note);
    return index->runs ? 0 : -1;
}

void test_log_index_free(struct test_log_index *index)
{
    for (size_t i = 0; i < index->run_count; i++)
        free(index->runs[i].name);
    for (size_t i = 0; i < index->test_count; i++) {
        free(index->tests[i].program);
        free(index->tests[i].name);
    }
    free(index->runs);
    free(index->tests);
    trace_table_free(&index->numbers);
}
