/* diff_json.c: prints what differs between two sides as JSON. */
#include <cjson/cJSON.h>

#include "diff.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "runners/table/table_printer.h"

/* `judgement` is that of a row; `frequent` is 0, or how many times as many
 * calls there are, which is no judgement. */
#define JUDGEMENT_MEMBERS(X)                                                   \
    X(NULL, "verdict", SOME_TEXT, verdict_of(!frequent, judgement))            \
    X(NULL, "ratio", RATIO, frequent ? frequent : judgement->ratio)            \
    X(NULL, "noise", SOME_RATIO, judgement->noise)                             \
    X(NULL, "more_runs", SOME_COUNT, judgement->more_runs)

#define SIDE_MEMBERS(X)                                                        \
    X(NULL, "outcome", TEXT, test_log_outcome_word(result->outcome))           \
    X(NULL, "reason", TEXT, result->reason)                                    \
    X(NULL, "duration_ns", TIME, result->duration)

#define CHANGE_MEMBERS(X)                                                      \
    X(NULL, "change", TEXT, runners_change_kinds[change->kind].word)           \
    X(NULL, "program", TEXT, result->program)                                  \
    X(NULL, "name", TEXT, test_log_name(result))                               \
    X(NULL, "old", OBJECT, json_of_side(change->before))                       \
    X(NULL, "new", OBJECT, json_of_side(change->after))                        \
    X(NULL, "bound_ns", SOME_TIME, timed ? change->bound : 0)                  \
    X(NULL, "bound", SOME_COUNT, timed ? 0 : change->bound)                    \
    X(NULL, "verdict", SOME_TEXT,                                              \
      verdict_of(change->judged, &change->judgement))

#define TEST_MEMBERS(X)                                                        \
    X(NULL, "program", TEXT, result->program)                                  \
    X(NULL, "name", TEXT, test_log_name(result))                               \
    X(NULL, "old_median", COUNT, judgement->medians[0])                        \
    X(NULL, "new_median", COUNT, judgement->medians[1])                        \
    JUDGEMENT_MEMBERS(X)

#define CALLS_MEMBERS(X)                                                       \
    X(NULL, "count", COUNT, durations->count)                                  \
    X(NULL, "average_ns", SOME_TIME, timed ? durations->mean : 0)              \
    X(NULL, "median_ns", SOME_TIME, timed ? median : 0)                        \
    X(NULL, "average", SOME_COUNT, timed ? 0 : durations->mean)                \
    X(NULL, "median", SOME_COUNT, timed ? 0 : median)

#define SLOWDOWN_MEMBERS(X)                                                    \
    X(NULL, "change", TEXT, change_of(one))                                    \
    X(NULL, "name", TEXT, one->after->texts[STAT_NAME])                        \
    X(NULL, "grid", SOME_TEXT, one->after->texts[STAT_GRID])                   \
    X(NULL, "block", SOME_TEXT, one->after->texts[STAT_BLOCK])                 \
    X(NULL, "old", OBJECT, json_of_calls(&one->before->durations, timed))      \
    X(NULL, "new", OBJECT, json_of_calls(&one->after->durations, timed))       \
    JUDGEMENT_MEMBERS(X)

static const char *verdict_of(bool judged, const struct judgement *judgement)
{
    return judged ? runners_verdict_words[judgement->verdict] : NULL;
}

static const char *change_of(const struct slowdown *one)
{
    if (one->frequent)
        return "more-frequent";
    return one->judgement.verdict == VERDICT_SLOWER ? "slower" : "unchanged";
}

/* Others are counts, or bytes. */
static bool is_time(enum measure by)
{
    return by == MEASURE_TIME || by == MEASURE_CPU;
}

static cJSON *json_of_side(const struct test_log_result *result)
{
    return result ? RUNNERS_ROW_OBJECT(SIDE_MEMBERS) : NULL;
}

static cJSON *json_of_changes(const struct changes *changes)
{
    bool timed = is_time(changes->by);
    struct runners_table table;

    runners_table_begin(&table, RUNNERS_COLUMNS(CHANGE_MEMBERS),
                        RUNNERS_AS_JSON);
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->all[i];
        const struct test_log_result *result =
            change->after ? change->after : change->before;

        if (change->kind != CHANGE_UNCHANGED)
            runners_table_add(&table, RUNNERS_CELLS(CHANGE_MEMBERS));
    }
    return table.rows;
}

/* Those that passed on both sides. */
static cJSON *json_of_tests(const struct changes *changes)
{
    const double frequent = 0;
    struct runners_table table;

    runners_table_begin(&table, RUNNERS_COLUMNS(TEST_MEMBERS), RUNNERS_AS_JSON);
    for (size_t i = 0; i < changes->count; i++) {
        const struct test_log_result *result = changes->all[i].after;
        const struct judgement *judgement = &changes->all[i].judgement;

        if (changes->all[i].judged)
            runners_table_add(&table, RUNNERS_CELLS(TEST_MEMBERS));
    }
    return table.rows;
}

static cJSON *json_of_calls(const struct percentiles *durations, bool timed)
{
    uint64_t median = runners_percentiles_quantile(durations, 0.5);

    return RUNNERS_ROW_OBJECT(CALLS_MEMBERS);
}

static cJSON *json_of_slowdowns(const struct slowdowns *slowdowns)
{
    bool timed = is_time(slowdowns->by);
    struct runners_table table;

    runners_table_begin(&table, RUNNERS_COLUMNS(SLOWDOWN_MEMBERS),
                        RUNNERS_AS_JSON);
    for (size_t i = 0; i < slowdowns->count; i++) {
        const struct slowdown *one = &slowdowns->all[i];
        const struct judgement *judgement = &one->judgement;
        const double frequent = one->times;

        runners_table_add(&table, RUNNERS_CELLS(SLOWDOWN_MEMBERS));
    }
    return table.rows;
}

/* The worst verdict of all. */
static enum verdict worst_of(const struct compared *compared)
{
    const size_t *counts[] = {compared->changes.verdicts,
                              compared->spans.counts, compared->kernels.counts};
    enum verdict worst = VERDICT_NOT_SLOWER;

    for (int i = 0; i < 3; i++)
        for (int verdict = worst; verdict < VERDICTS; verdict++)
            if (counts[i][verdict])
                worst = (enum verdict)verdict;
    return worst;
}

static cJSON *json_of_runs(const struct run_paths *paths)
{
    cJSON *names = cJSON_CreateArray();

    for (size_t i = 0; i < paths->count; i++)
        cJSON_AddItemToArray(
            names, cJSON_CreateString(runners_name_of(paths->all[i])));
    return names;
}

static void add_side(cJSON *document, const char *member, const char *all,
                     const struct run_paths *paths)
{
    runners_json_add_text(document, member,
                          runners_name_of(paths->all[paths->count - 1]));
    if (paths->count > 1)
        cJSON_AddItemToObject(document, all, json_of_runs(paths));
}

void runners_diff_put_json(const struct compared *compared,
                           const struct recorded_runs *runs)
{
    cJSON *document = cJSON_CreateObject();

    cJSON_AddNumberToObject(document, "schema", 1);
    add_side(document, "old", "old_runs", &runs->sides[0]);
    add_side(document, "new", "new_runs", &runs->sides[1]);
    runners_json_add_text(document, "by", runners_measure_words[runs->by]);
    runners_json_add_text(document, "verdict",
                          runners_verdict_words[worst_of(compared)]);
    cJSON_AddItemToObject(document, "changes",
                          json_of_changes(&compared->changes));
    cJSON_AddItemToObject(document, "tests", json_of_tests(&compared->changes));
    cJSON_AddItemToObject(document, "spans",
                          json_of_slowdowns(&compared->spans));
    cJSON_AddItemToObject(document, "kernels",
                          json_of_slowdowns(&compared->kernels));
    runners_json_print(document);
    cJSON_Delete(document);
}
