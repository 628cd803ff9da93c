/* changes.c: compares the results of two runs. */
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "harness/run/model/model.h"
#include "runners/runs/find.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

const struct change_words runners_change_kinds[] = {
#define RUNNERS_X(name, word, text) {word, text},
    RUNNERS_CHANGES(RUNNERS_X)
#undef RUNNERS_X
};

/* ---- The tests of a run ---- */

static uint64_t key_of(const struct test_log_result *result)
{
    return runners_test_key(result->program, test_log_name(result));
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

/* Runs that do not name their flavour were made before there were any. */
static bool same_flavour(const struct test_log_result *before,
                         const struct test_log_result *after)
{
    return !before->flavour || !after->flavour ||
           !strcmp(before->flavour, after->flavour);
}

static bool is_timed(const struct changes *changes, const struct change *change)
{
    return change->kind == CHANGE_UNCHANGED && !changes->untimed &&
           change->after->outcome == TEST_LOG_OUTCOME_PASSED &&
           (changes->any_flavour ||
            same_flavour(change->before, change->after));
}

/* A shift that is too small is none. */
static void judge(struct change *change, struct test_times *times,
                  const struct judge_rules *rules)
{
    struct measured_runs *old = &times->sides[0], *new = &times->sides[1];
    struct judgement *judgement = &change->judgement;
    double excess, least = runners_excess_least(rules->by, true);

    change->judged = true;
    *judgement = runners_judge(old, new, rules);
    excess = judgement->medians[1] - judgement->medians[0];
    if (judgement->verdict == VERDICT_SLOWER && excess >= least) {
        change->kind = CHANGE_SLOWER;
        change->bound = times->most[0];
    } else if (-excess >= least &&
               runners_judge(new, old, rules).verdict == VERDICT_SLOWER) {
        change->kind = CHANGE_FASTER;
        change->bound = times->least[0];
    } else if (judgement->verdict == VERDICT_SLOWER) {
        judgement->verdict = VERDICT_NOT_SLOWER;
    }
}

/* Judges the tests that passed on both sides. */
static void judge_all(struct changes *changes, const struct pass_times *times,
                      double over)
{
    struct judge_rules rules = {.by = times->by, .over = over};

    for (size_t i = 0; i < changes->count; i++)
        rules.comparisons += is_timed(changes, &changes->all[i]);
    for (size_t i = 0; i < changes->count; i++) {
        struct change *change = &changes->all[i];
        struct test_times *test = runners_pass_times_of(
            times, key_of(change->after ? change->after : change->before));

        if (test && test->sides[0].count && test->sides[1].count &&
            is_timed(changes, change))
            judge(change, test, &rules);
    }
}

/* ---- Counting ---- */

static void count(struct changes *changes)
{
    memset(changes->counts, 0, sizeof(changes->counts));
    memset(changes->verdicts, 0, sizeof(changes->verdicts));
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->all[i];

        changes->counts[change->kind]++;
        if (change->judged)
            changes->verdicts[change->judgement.verdict]++;
    }
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

static int add(struct changes *changes, const struct test_log_result *before,
               const struct test_log_result *after)
{
    struct change change = {.kind = compare_outcomes(before, after),
                            .before = before,
                            .after = after};

    if (!TRACE_ARRAY_RESERVE(changes->all, changes->capacity,
                             changes->count + 1))
        return -1;
    changes->all[changes->count++] = change;
    return 0;
}

static int add_all(struct changes *changes, const struct test_log_run *before,
                   const struct trace_table *old,
                   const struct test_log_run *after,
                   const struct trace_table *new)
{
    for (size_t i = 0; i < after->count; i++) {
        const struct test_log_result *result = &after->results[i];
        uint64_t key = key_of(result);

        if (find(after, new, key) == result &&
            add(changes, find(before, old, key), result))
            return -1;
    }
    for (size_t i = 0; i < before->count; i++) {
        const struct test_log_result *result = &before->results[i];
        uint64_t key = key_of(result);

        if (find(before, old, key) == result && !find(after, new, key) &&
            add(changes, result, NULL))
            return -1;
    }
    return 0;
}

int runners_changes_find(struct changes *changes,
                         const struct test_log_run *before,
                         const struct test_log_run *after,
                         const struct pass_times *times, double over)
{
    struct trace_table old = {0}, new = {0};
    int status = -1;

    *changes = (struct changes){.any_flavour = changes->any_flavour,
                                .untimed = changes->untimed,
                                .by = times->by};
    if (!index_tests(before, &old) && !index_tests(after, &new))
        status = add_all(changes, before, &old, after, &new);
    if (!status)
        judge_all(changes, times, over);
    count(changes);
    trace_table_free(&old);
    trace_table_free(&new);
    return status;
}

static const char *name_of(const struct change *change)
{
    return test_log_name(change->after ? change->after : change->before);
}

static const char *title_of(const struct change *change)
{
    return (change->after ? change->after : change->before)->title;
}

static void keep_selected(struct changes *changes,
                          const struct selectable *tests)
{
    size_t kept = 0;

    for (size_t i = 0; i < changes->count; i++)
        if (tests[i].selected)
            changes->all[kept++] = changes->all[i];
    changes->count = kept;
    count(changes);
}

/* test_log_name returns a text that later calls replace. */
int runners_changes_select(struct changes *changes, char **patterns)
{
    size_t count = changes->count;
    struct selectable *tests = calloc(count + 1, sizeof(*tests));
    bool copied = tests;

    for (size_t i = 0; copied && i < count; i++)
        copied = (tests[i].name = strdup(name_of(&changes->all[i])));
    for (size_t i = 0; copied && i < count; i++)
        tests[i].title = title_of(&changes->all[i]);
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
