/* plans.c: which tests each shard has, and which of them have no result. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "merge.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"

enum { NAMES_MOST = 5 /* in a message */ };

/* ---- Reading ---- */

/* Returns the next program of a plan, or its end. Quotes are escaped in
 * strings, so no name contains this. */
static const char *next_program(const char *plan)
{
    static const char begin[] = "{\"program\":";
    const char *next = *plan ? strstr(plan + 1, begin) : NULL;

    return next ? next : plan + strlen(plan);
}

static int refuse(const struct merge_plan *plan,
                  const struct merge_source *source, const char *program)
{
    const cJSON *counts =
        cJSON_GetObjectItemCaseSensitive(plan->json, "counts");
    size_t total = (size_t)cJSON_GetArraySize(counts);
    const struct test_log_merged_run *merged = &source->merged;

    if (total != source->merged.shard.total)
        test_log_notice("merge: %s is a shard of %zu and %s is one of %zu of "
                        "%s; merge the shards of one division",
                        plan->first->run, total, source->merged.run,
                        source->merged.shard.total, program);
    else if (test_log_shard_by_time(&merged->shard) &&
             merged->shard.history != plan->first->shard.history)
        test_log_notice("merge: %s and %s divide the tests of %s by different "
                        "durations; give all shards the same file by "
                        "--history",
                        plan->first->run, merged->run, program);
    else
        test_log_notice("merge: %s and %s divide the tests of %s in different "
                        "ways; merge shards of the same programs and filters",
                        plan->first->run, merged->run, program);
    return -1;
}

/* A plan equal to a known one is not parsed again. */
static int add_program(struct merge *merge, const struct merge_source *source,
                       const char *text, size_t size)
{
    const char *end = memmem(text, size, ",\"counts\"", strlen(",\"counts\""));
    uint64_t hash = trace_hash(TRACE_HASH, text, size), key;
    struct merge_plan *plan;
    uintptr_t number;

    if (!end)
        return 0;
    key = trace_hash(TRACE_HASH, text, (size_t)(end - text));
    if (trace_table_find(&merge->by_program, key, &number)) {
        plan = &merge->plans[number];
        return plan->hash == hash
                   ? 0
                   : refuse(plan, source,
                            runners_json_text(plan->json, "program"));
    }
    if (!TRACE_ARRAY_RESERVE(merge->plans, merge->plan_capacity,
                             merge->plan_count + 1))
        return 0;
    plan = &merge->plans[merge->plan_count];
    plan->json = cJSON_ParseWithLength(text, size);
    plan->hash = hash;
    plan->first = &source->merged;
    if (runners_json_text(plan->json, "program"))
        trace_table_set(&merge->by_program, key, merge->plan_count++);
    else
        cJSON_Delete(plan->json);
    return 0;
}

int merge_plan_add(struct merge *merge, const struct merge_source *source,
                   const char *plan)
{
    const char *from = next_program(plan);
    int status = 0;

    for (const char *to; *from && !status; from = to) {
        size_t size;

        to = next_program(from);
        size = (size_t)(to - from);
        while (size && from[size - 1] != '}')
            size--;
        status = add_program(merge, source, from, size);
    }
    return status;
}

/* ---- Asking ---- */

static const cJSON *names_of(const struct merge_plan *plan, size_t shard)
{
    return cJSON_GetArrayItem(
        cJSON_GetObjectItemCaseSensitive(plan->json, "tests"), (int)shard);
}

static size_t total_of(const struct merge_plan *plan)
{
    return (size_t)cJSON_GetArraySize(
        cJSON_GetObjectItemCaseSensitive(plan->json, "counts"));
}

struct test_log_shard merge_plan_shard_of(const struct merge *merge,
                                          const char *program, const char *test)
{
    for (size_t i = 0; i < merge->plan_count; i++) {
        const struct merge_plan *plan = &merge->plans[i];
        size_t total = total_of(plan);
        const cJSON *name;

        if (strcmp(runners_json_text(plan->json, "program"), program) != 0)
            continue;
        for (size_t shard = 0; shard < total; shard++)
            cJSON_ArrayForEach(name, names_of(plan, shard))
            {
                if (cJSON_IsString(name) && !strcmp(name->valuestring, test))
                    return (struct test_log_shard){.index = shard,
                                                   .total = total};
            }
    }
    return (struct test_log_shard){.total = 0};
}

/* ---- Missing tests ---- */

/* The tests of a shard that have no result. */
struct missing {
    struct merge *merge;
    size_t index, total;
    uint64_t lane;
    bool there;            /* a run of it is */
    enum test_log_end end; /* of its last run */
    size_t count;
    size_t named;
    struct trace_text names;
};

static const char *state_of(const struct missing *missing)
{
    if (!missing->there)
        return "missing";
    switch (missing->end) {
    case TEST_LOG_END_KILLED:
        return "cut off";
    case TEST_LOG_END_INTERRUPTED:
        return "interrupted";
    default:
        return "incomplete";
    }
}

static void add_unknown(struct missing *missing, const char *program,
                        const char *name)
{
    struct test_log_result *result = test_log_run_add(&missing->merge->run);
    const char *slash = strchr(name, '/');

    if (!result)
        return;
    result->program = strdup(program);
    result->suite = slash ? strndup(name, (size_t)(slash - name)) : strdup("");
    result->test = strdup(slash ? slash + 1 : name);
    merge_name(result->program);
    if (asprintf(&result->reason, "shard %zu of %zu is %s", missing->index + 1,
                 missing->total, state_of(missing)) < 0)
        result->reason = NULL;
}

static void check_names(struct missing *missing, const struct merge_plan *plan)
{
    const char *program = runners_json_text(plan->json, "program");
    const struct test_log_run *run = &missing->merge->run;
    const cJSON *name;

    cJSON_ArrayForEach(name, names_of(plan, missing->index))
    {
        uintptr_t number;
        bool known;

        if (!cJSON_IsString(name))
            continue;
        known = trace_table_find(
            &missing->merge->by_test,
            merge_test_key(missing->lane, program, name->valuestring), &number);
        if (known && merge_did_run(&run->results[number]))
            continue;
        missing->count++;
        if (++missing->named <= NAMES_MOST)
            trace_text_printf(&missing->names, "%s%s",
                              missing->names.size ? ", " : "",
                              name->valuestring);
        else if (missing->named == NAMES_MOST + 1)
            trace_text_string(&missing->names, ", ...");
        if (!known)
            add_unknown(missing, program, name->valuestring);
    }
}

/* Counts the results of a shard, for a plan without names. */
static void check_counts(struct missing *missing, const struct merge_plan *plan,
                         const size_t *ran)
{
    const cJSON *count = cJSON_GetArrayItem(
        cJSON_GetObjectItemCaseSensitive(plan->json, "counts"),
        (int)missing->index);
    double planned = cJSON_IsNumber(count) ? count->valuedouble : 0;
    size_t some = ran[missing->index];

    if (planned > (double)some && planned < 1e9)
        missing->count += (size_t)planned - some;
}

/* Counts the tests of a program that ran, by shard. */
static size_t *count_results(const struct merge *merge,
                             const struct merge_plan *plan)
{
    const char *program = runners_json_text(plan->json, "program");
    const struct test_log_run *run = &merge->run;
    size_t *ran = calloc(total_of(plan) + 1, sizeof(*ran));

    for (size_t i = 0; ran && i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        const struct test_log_shard *shard =
            result->source ? &run->sources[result->source - 1].shard : NULL;

        if (shard && shard->total == total_of(plan) && merge_did_run(result) &&
            !strcmp(result->program, program))
            ran[shard->index]++;
    }
    return ran;
}

/* Adds a result that fails, unless missing shards are allowed. */
static void add_result(struct merge *merge, const char *name,
                       const struct trace_text *reason)
{
    struct test_log_result *result = test_log_run_add(&merge->run);

    if (!result)
        return;
    result->program = strdup(name);
    result->test = strdup(name);
    result->outcome = merge->allow_missing ? TEST_LOG_OUTCOME_SKIPPED
                                           : TEST_LOG_OUTCOME_FAILED;
    result->reason = strdup(reason->data ? reason->data : "missing");
}

/* Checks all programs that are divided among `total` shards. `ran` is of each
 * plan. Only programs of Criterion have plans, so that tests of others may be
 * missing in a run that did not end. */
static void check_shard(struct merge *merge, size_t index, size_t total,
                        size_t **ran)
{
    struct missing missing = {.merge = merge, .index = index, .total = total};
    struct trace_text reason = {0};
    bool planned = false, cut;
    char name[64];

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_source *source = &merge->sources[i];

        if (source->merged.shard.total != total ||
            source->merged.shard.index != index)
            continue;
        missing.there = true;
        missing.end = source->merged.end;
        missing.lane = source->lane;
    }
    for (size_t i = 0; i < merge->plan_count; i++) {
        const struct merge_plan *plan = &merge->plans[i];

        if (total_of(plan) != total)
            continue;
        planned = true;
        if (cJSON_HasObjectItem(plan->json, "tests"))
            check_names(&missing, plan);
        else if (ran[i])
            check_counts(&missing, plan, ran[i]);
    }
    cut = missing.there && missing.end != TEST_LOG_END_FINISHED;
    if (missing.count || cut || (!planned && !missing.there)) {
        snprintf(name, sizeof(name), "shard %zu of %zu", index + 1, total);
        trace_text_string(&reason, state_of(&missing));
        if (missing.count)
            trace_text_printf(&reason, ": %zu %s unknown", missing.count,
                              missing.count == 1 ? "test is" : "tests are");
        if (missing.names.size)
            trace_text_printf(&reason, ": %s", missing.names.data);
        add_result(merge, name, &reason);
    }
    trace_text_free(&reason);
    trace_text_free(&missing.names);
}

/* A run without shards can only show that it did not end. */
static void check_others(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        const struct test_log_merged_run *merged = &merge->sources[i].merged;
        struct trace_text name = {0}, reason = {0};

        if (merged->shard.total || merged->end == TEST_LOG_END_FINISHED)
            continue;
        trace_text_string(&name, "run ");
        test_log_sanitize_line(&name, trace_base_name(merge->sources[i].path));
        trace_text_string(&reason, merged->end == TEST_LOG_END_KILLED
                                       ? "cut off: it has no whole run.json"
                                       : "interrupted");
        add_result(merge, name.data ? name.data : "a run", &reason);
        trace_text_free(&name);
        trace_text_free(&reason);
    }
}

/* How many shards the sources are divided into; usually all have the same
 * number. */
static bool is_first_of_total(const struct merge *merge, size_t number)
{
    size_t total = merge->sources[number].merged.shard.total;

    for (size_t i = 0; i < number; i++)
        if (merge->sources[i].merged.shard.total == total)
            return false;
    return total;
}

void merge_plan_find_missing(struct merge *merge)
{
    size_t **ran = calloc(merge->plan_count + 1, sizeof(*ran));

    for (size_t i = 0; ran && i < merge->plan_count; i++)
        if (!cJSON_HasObjectItem(merge->plans[i].json, "tests"))
            ran[i] = count_results(merge, &merge->plans[i]);
    for (size_t i = 0; ran && i < merge->count; i++) {
        size_t total = merge->sources[i].merged.shard.total;

        if (is_first_of_total(merge, i))
            for (size_t shard = 0; shard < total; shard++)
                check_shard(merge, shard, total, ran);
    }
    check_others(merge);
    for (size_t i = 0; ran && i < merge->plan_count; i++)
        free(ran[i]);
    free(ran);
}
