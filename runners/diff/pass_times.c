/* pass_times.c: collects how long the passes of tests took. */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/model/model.h"
#include "harness/run/past/history.h"
#include "harness/run/past/outcomes.h"
#include "pass_times.h"
#include "trace/base/strings.h"

uint64_t runners_test_key(const char *program, const char *name)
{
    uint64_t hash = trace_hash_string(TRACE_HASH, program);

    hash = trace_hash(hash, "", 1);
    return trace_hash(hash, name, test_log_base_size(name));
}

struct test_times *runners_pass_times_of(const struct pass_times *times,
                                         uint64_t key)
{
    uintptr_t place;

    return trace_table_find(&times->by_key, key, &place) ? &times->all[place]
                                                         : NULL;
}

static struct test_times *find(struct pass_times *times, uint64_t key)
{
    struct test_times *test = runners_pass_times_of(times, key);

    if (test ||
        !TRACE_ARRAY_RESERVE(times->all, times->capacity, times->count + 1) ||
        !trace_table_set(&times->by_key, key, times->count))
        return test;
    return &times->all[times->count++];
}

int runners_pass_times_add(struct pass_times *times, int side, size_t group,
                           uint64_t key, uint64_t duration)
{
    struct test_times *test = find(times, key);

    if (!test)
        return -1;
    if (!test->sides[side].count || duration < test->least[side])
        test->least[side] = duration;
    if (duration > test->most[side])
        test->most[side] = duration;
    return runners_measure_value(&test->sides[side], group, (double)duration);
}

/* Returns 0 if it is unknown. */
static uint64_t measured(const struct pass_times *times,
                         const struct test_log_result *result)
{
    if (times->by == MEASURE_TIME)
        return result->duration + !result->duration;
    if (times->by == MEASURE_INSTRUCTIONS)
        return result->usage.instructions;
    if (times->by == MEASURE_MEMORY)
        return result->usage.peak;
    return result->usage.peak ? result->usage.cpu : 0;
}

int runners_pass_times_add_run(struct pass_times *times, int side,
                               const struct test_log_run *run, size_t first)
{
    size_t group = times->groups++;
    int status = 0;

    for (size_t i = first; i < run->count && !status; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->outcome == TEST_LOG_OUTCOME_PASSED &&
            measured(times, result))
            status = runners_pass_times_add(
                times, side, group,
                runners_test_key(result->program, test_log_name(result)),
                measured(times, result));
    }
    return status;
}

/* ---- Remembered passes ---- */

/* Tells whether a run's name is a time before that of all `names`. A name that
 * is no time is left out. */
static bool is_before(const char *run, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strspn(names[i], "0123456789") == 4 && strcmp(run, names[i]) >= 0)
            return false;
    return true;
}

static int add_outcomes(struct pass_times *times, const char *program,
                        const char *flavour,
                        const struct test_log_outcomes *outcomes,
                        const char *const *names, size_t count)
{
    int status = 0;

    for (size_t i = 0; i < outcomes->try_count && !status; i++) {
        const struct test_log_past_try *try = &outcomes->tries[i];
        const struct test_log_past_run *run = &outcomes->runs[try->run];

        if (try->outcome == TEST_LOG_OUTCOME_PASSED && try->duration &&
            (!flavour || !strcmp(run->flavour, flavour)) &&
            is_before(run->name, names, count))
            status = runners_pass_times_add(
                times, 0, times->groups + try->run,
                runners_test_key(program, outcomes->tests[try->test]),
                try->duration);
    }
    times->groups += outcomes->run_count;
    return status;
}

int runners_pass_times_remember(struct pass_times *times,
                                const struct test_log_run *run,
                                const char *const *names, size_t count)
{
    char real[PATH_MAX],
        *dir = realpath(run->path, real) ? dirname(real) : NULL;
    struct trace_table programs = {.slots = NULL};
    struct test_log_history history;
    uintptr_t unused;
    int status = 0;

    if (times->by != MEASURE_TIME)
        return 0; /* the history has times alone */
    test_log_history_open(&history, dir, NULL, NULL);
    for (size_t i = 0; history.path && i < run->count && !status; i++) {
        const struct test_log_result *result = &run->results[i];
        uint64_t key = trace_hash_string(TRACE_HASH, result->program);
        struct test_log_outcomes outcomes = {.whole = 0};

        if (trace_table_find(&programs, key, &unused))
            continue;
        status = trace_table_set(&programs, key, 0) ? 0 : -1;
        if (!status && !test_log_outcomes_read(&outcomes, result->program,
                                               history.path, 0))
            status = add_outcomes(times, result->program, result->flavour,
                                  &outcomes, names, count);
        test_log_outcomes_free(&outcomes);
    }
    trace_table_free(&programs);
    test_log_history_free(&history);
    return status;
}

void runners_pass_times_free(struct pass_times *times)
{
    for (size_t i = 0; i < times->count; i++)
        for (int side = 0; side < 2; side++)
            free(times->all[i].sides[side].all);
    free(times->all);
    trace_table_free(&times->by_key);
    *times = (struct pass_times){.count = 0};
}
