/* changes.c: compares the results of two runs. */
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "harness/results/history/history.h"
#include "harness/results/terminal/terminal.h"
#include "runners/find/find.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

const struct change_words runners_change_kinds[] = {
#define RUNNERS_X(name, word, text) {word, text},
    RUNNERS_CHANGES(RUNNERS_X)
#undef RUNNERS_X
};

/* ---- The tests of a run ---- */

/* Repetitions, "name#1", are one test. */
static uint64_t key_of(const struct test_log_result *result)
{
    const char *name = test_log_name(result);
    uint64_t hash = trace_hash_string(TRACE_HASH, result->program);

    hash = trace_hash(hash, "", 1);
    return trace_hash(hash, name, strcspn(name, "#"));
}

static const struct test_log_result *find(const struct test_log_run *run,
                                          const struct trace_table *places,
                                          uint64_t key)
{
    uintptr_t place;

    return trace_table_find(places, key, &place) ? &run->results[place] : NULL;
}

/* If a repetition failed, its result counts for all repetitions. */
static int index_tests(const struct test_log_run *run,
                       struct trace_table *places)
{
    for (size_t i = 0; i < run->count; i++) {
        uint64_t key = key_of(&run->results[i]);
        const struct test_log_result *first = find(run, places, key);

        if (first && (test_log_outcome_bad(first->outcome) ||
                      !test_log_outcome_bad(run->results[i].outcome)))
            continue;
        if (!trace_table_set(places, key, i))
            return -1;
    }
    return 0;
}

/* ---- Durations ---- */

/* The shortest and the longest of times. */
struct range {
    uint64_t least, most;
};

static void widen(struct range *range, uint64_t time)
{
    if (time < range->least)
        range->least = time;
    if (time > range->most)
        range->most = time;
}

/* Returns the times of the passes before `after`: that of `before` and, if
 * `after` is one of the last passes, those before it in the history. */
static struct range earlier_times(const struct test_log_history *history,
                                  const struct test_log_result *before,
                                  const struct test_log_result *after)
{
    const struct test_log_past *past =
        test_log_history_of(history, after->program, test_log_name(after));
    struct range range = {before->duration, before->duration};
    size_t i = 0;

    while (past && i < TEST_LOG_PAST_TIMES && past->times[i] != after->duration)
        i++;
    while (past && ++i < TEST_LOG_PAST_TIMES && past->times[i])
        widen(&range, past->times[i]);
    return range;
}

static struct change compare_times(const struct test_log_history *history,
                                   const struct test_log_result *before,
                                   const struct test_log_result *after)
{
    struct range range = earlier_times(history, before, after);
    struct change change = {CHANGE_UNCHANGED, before, after, 0};

    if (test_log_is_longer(after->duration, range.most)) {
        change.kind = CHANGE_SLOWER;
        change.bound = range.most;
    } else if (test_log_is_longer(range.least, after->duration)) {
        change.kind = CHANGE_FASTER;
        change.bound = range.least;
    }
    return change;
}

/* ---- Tests ---- */

/* Either result may be NULL. */
static enum change_kind compare_outcomes(const struct test_log_result *before,
                                         const struct test_log_result *after)
{
    bool failed_before = before && test_log_failed(before);

    if (!after)
        return CHANGE_GONE;
    if (!failed_before && test_log_failed(after))
        return CHANGE_NEWLY_FAILING;
    if (!before)
        return CHANGE_ADDED;
    if (failed_before && after->outcome == TEST_LOG_OUTCOME_PASSED)
        return CHANGE_NEWLY_PASSING;
    return before->outcome == after->outcome ? CHANGE_UNCHANGED
                                             : CHANGE_OTHER_OUTCOME;
}

/* Runs that do not name their flavour were made before there were any. */
static bool same_flavour(const struct test_log_result *before,
                         const struct test_log_result *after)
{
    return !before->flavour || !after->flavour ||
           !strcmp(before->flavour, after->flavour);
}

static int add(struct changes *changes, const struct test_log_history *history,
               const struct test_log_result *before,
               const struct test_log_result *after)
{
    struct change change = {.kind = compare_outcomes(before, after),
                            .before = before,
                            .after = after};

    if (change.kind == CHANGE_UNCHANGED &&
        after->outcome == TEST_LOG_OUTCOME_PASSED &&
        (changes->any_flavour || same_flavour(before, after)))
        change = compare_times(history, before, after);
    if (!TRACE_ARRAY_RESERVE(changes->all, changes->capacity,
                             changes->count + 1))
        return -1;
    changes->all[changes->count++] = change;
    changes->counts[change.kind]++;
    return 0;
}

static int add_all(struct changes *changes,
                   const struct test_log_history *history,
                   const struct test_log_run *before,
                   const struct trace_table *old,
                   const struct test_log_run *after,
                   const struct trace_table *new)
{
    for (size_t i = 0; i < after->count; i++) {
        const struct test_log_result *result = &after->results[i];
        uint64_t key = key_of(result);

        if (find(after, new, key) == result &&
            add(changes, history, find(before, old, key), result))
            return -1;
    }
    for (size_t i = 0; i < before->count; i++) {
        const struct test_log_result *result = &before->results[i];
        uint64_t key = key_of(result);

        if (find(before, old, key) == result && !find(after, new, key) &&
            add(changes, history, result, NULL))
            return -1;
    }
    return 0;
}

int runners_changes_find(struct changes *changes,
                         const struct test_log_run *before,
                         const struct test_log_run *after,
                         const struct test_log_history *history)
{
    struct trace_table old = {0}, new = {0};
    int status = -1;

    *changes = (struct changes){.any_flavour = changes->any_flavour};
    if (!index_tests(before, &old) && !index_tests(after, &new))
        status = add_all(changes, history, before, &old, after, &new);
    trace_table_free(&old);
    trace_table_free(&new);
    return status;
}

static const char *name_of(const struct change *change)
{
    return test_log_name(change->after ? change->after : change->before);
}

static void keep_selected(struct changes *changes,
                          const struct selectable *tests)
{
    size_t count = changes->count;

    changes->count = 0;
    memset(changes->counts, 0, sizeof(changes->counts));
    for (size_t i = 0; i < count; i++)
        if (tests[i].selected) {
            changes->all[changes->count++] = changes->all[i];
            changes->counts[changes->all[i].kind]++;
        }
}

/* test_log_name returns a text that later calls replace. */
int runners_changes_select(struct changes *changes, char **patterns)
{
    size_t count = changes->count;
    struct selectable *tests = calloc(count + 1, sizeof(*tests));
    bool copied = tests;

    for (size_t i = 0; copied && i < count; i++)
        copied = (tests[i].name = strdup(name_of(&changes->all[i])));
    if (copied) {
        runners_select_tests(patterns, tests, count);
        keep_selected(changes, tests);
    }
    for (size_t i = 0; tests && i < count; i++)
        free((char *)tests[i].name);
    free(tests);
    return copied ? 0 : -1;
}

void runners_changes_free(struct changes *changes)
{
    free(changes->all);
    *changes = (struct changes){.count = 0};
}
