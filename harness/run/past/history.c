/* history.c: remembers tests from one run to the next, whatever ran in between:
 * which failed and have not passed since, and how long each takes. There is a
 * file for each program, beside the runs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/history.h"
#include "harness/run/past/outcomes.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* ---- Reading ---- */

static char *path_in(const char *dir)
{
    char *path;

    return asprintf(&path, "%s/.history", dir) < 0 ? NULL : path;
}

void test_log_history_open(struct test_log_history *history, const char *dir,
                           const char *path, const char *flavour)
{
    char *real = NULL;
    uid_t owner;

    *history = (struct test_log_history){.flavour = flavour};
    if (path)
        history->path = strdup(path);
    else if (dir)
        history->path = path_in(dir);
    /* The list of a user who is not trusted must not decide what runs. */
    if (history->path && test_log_trusts_folder(history->path, &owner))
        real = realpath(history->path, NULL);
    free(history->path);
    history->path = real;
}

static void add_time(uint64_t times[TEST_LOG_PAST_TIMES], uint64_t time)
{
    memmove(times + 1, times, (TEST_LOG_PAST_TIMES - 1) * sizeof(*times));
    times[0] = time ? time : 1;
}

/* Replaces the times of a program's tests by those of a flavour. */
static void take_times(struct test_log_history *history, const char *program,
                       const struct test_log_outcomes *outcomes)
{
    for (size_t i = 0; i < outcomes->try_count; i++) {
        const struct test_log_past_try *one = &outcomes->tries[i];
        const char *flavour = outcomes->runs[one->run].flavour;
        struct test_log_past *past;
        uintptr_t number;

        if (one->outcome != TEST_LOG_OUTCOME_PASSED || !one->duration ||
            strcmp(flavour, history->flavour) != 0 ||
            !trace_table_find(&history->numbers,
                              test_log_key(program, outcomes->tests[one->test]),
                              &number))
            continue;
        past = &history->tests[number];
        if (!past->seen) {
            memset(past->times, 0, sizeof(past->times));
            memset(past->occupied, 0, sizeof(past->occupied));
        }
        past->seen = true;
        add_time(past->times, one->duration);
    }
}

/* With only one flavour, the times are those of the history. */
static bool has_others(const struct test_log_outcomes *outcomes,
                       const char *flavour)
{
    for (size_t i = 0; i < outcomes->run_count; i++)
        if (strcmp(outcomes->runs[i].flavour, flavour) != 0)
            return true;
    return false;
}

void test_log_history_read(struct test_log_history *history,
                           const char *program)
{
    struct test_log_outcomes outcomes;

    if (!history->path)
        return;
    test_log_history_load(history, program, 0);
    if (!history->flavour ||
        test_log_outcomes_read(&outcomes, program, history->path, 0))
        return;
    if (has_others(&outcomes, history->flavour))
        take_times(history, program, &outcomes);
    test_log_outcomes_free(&outcomes);
}

static void free_past(struct test_log_past *past)
{
    free(past->program);
    free(past->name);
}

void test_log_history_free(struct test_log_history *history)
{
    for (size_t i = 0; i < history->count; i++)
        free_past(&history->tests[i]);
    free(history->tests);
    free(history->path);
    trace_table_free(&history->numbers);
    *history = (struct test_log_history){.path = NULL};
}

/* ---- Questions ---- */

bool test_log_history_failed(const struct test_log_history *history,
                             const char *program)
{
    for (size_t i = 0; i < history->count; i++)
        if (test_log_outcome_bad(history->tests[i].outcome) &&
            !strcmp(history->tests[i].program, program))
            return true;
    return false;
}

bool test_log_history_has(const struct test_log_history *history,
                          const char *program)
{
    for (size_t i = 0; i < history->count; i++)
        if (!strcmp(history->tests[i].program, program))
            return true;
    return false;
}

const struct test_log_past *test_log_history_of(
    const struct test_log_history *history, const char *program,
    const char *name)
{
    uintptr_t number;

    return trace_table_find(&history->numbers, test_log_key(program, name),
                            &number)
               ? &history->tests[number]
               : NULL;
}

/* ---- Adding a run ---- */

static void forget_unseen(struct test_log_history *history)
{
    size_t kept = 0;

    for (size_t i = 0; i < history->count; i++)
        if (history->tests[i].seen)
            history->tests[kept++] = history->tests[i];
        else
            free_past(&history->tests[i]);
    history->count = kept;
}

static int update_program(const struct test_log_run *run, const char *program,
                          const char *path, int folder, bool whole, bool failed)
{
    struct test_log_history history = {.path = strdup(path)};
    bool left_tests = false; /* the program left tests without results */
    bool ran_others = false; /* than the tests that had failed */
    int status = -1;

    if (test_log_history_load(&history, program, folder) && errno != ENOENT)
        goto out;
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        enum test_log_outcome outcome = result->outcome;
        struct test_log_past *past;
        char name[512];

        if (strcmp(result->program, program) != 0)
            continue;
        /* Repetitions are one test, which passes if all of them do. */
        snprintf(name, sizeof(name), "%s", test_log_name(result));
        if (!strchr(name, '/'))
            left_tests = true;
        else if (!result->title || run->repeat > 1) /* others may have a # */
            name[test_log_base_size(name)] = '\0';
        past = (struct test_log_past *)test_log_history_of(&history, program,
                                                           name);
        if (!past)
            past = test_log_history_add(&history, program, name);
        if (!past || outcome == TEST_LOG_OUTCOME_NONE)
            continue;
        if (!past->seen && !test_log_outcome_bad(past->outcome))
            ran_others = true;
        past->seen = true;
        if (outcome == TEST_LOG_OUTCOME_SKIPPED)
            continue;
        /* --failed leaves out known failures. */
        outcome = test_log_counted_outcome(result);
        /* Other shards may start later, and must read the same durations. */
        if (outcome == TEST_LOG_OUTCOME_PASSED &&
            !test_log_shard_by_time(&run->shard)) {
            add_time(past->times, result->duration);
            if (result->occupied)
                add_time(past->occupied, result->occupied);
        }
        if (!past->ran || test_log_outcome_bad(outcome)) {
            past->outcome = outcome;
            past->duration = result->duration;
        }
        past->ran = true;
    }
    if (whole && !left_tests && (!failed || ran_others))
        forget_unseen(&history);
    status = test_log_history_save(&history, program, folder);
out:
    test_log_history_free(&history);
    return status;
}

static bool is_first_of_program(const struct test_log_run *run, size_t number)
{
    for (size_t i = number; i-- > 0;)
        if (!strcmp(run->results[i].program, run->results[number].program))
            return false;
    return true;
}

static int update_all(const struct test_log_run *run, const char *path,
                      bool whole, bool failed)
{
    int status = 0, folder;

    if (mkdir(path, 0777) && errno != EEXIST)
        return -1;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -1;
    test_log_lock(folder);
    for (size_t i = 0; i < run->count; i++)
        if (is_first_of_program(run, i))
            status |= update_program(run, run->results[i].program, path, folder,
                                     whole, failed) |
                      test_log_outcomes_append(run, run->results[i].program,
                                               path, folder);
    close(folder);
    return status;
}

void test_log_history_update(const struct test_log_run *run, const char *dir,
                             bool whole, bool failed)
{
    char *path;

    if (run->parent.nested || run->refused)
        return;
    path = path_in(dir);
    if (!path || update_all(run, path, whole, failed))
        test_log_notice("cannot write %s: %s; --failed will not consider this "
                        "run",
                        path ? path : dir, strerror(errno));
    free(path);
}
