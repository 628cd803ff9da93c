/* tests.c: reads the tests of all runs that are merged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "merge.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"

/* ---- Tries of one test ---- */

/* Joins the last result with an earlier one of its lane. A program of the same
 * run has a line for each try, the last of which has them all. */
static bool join(struct test_log_run *run, size_t number)
{
    struct test_log_result *earlier = &run->results[number];
    struct test_log_result *later = &run->results[run->count - 1];
    struct test_log_result kept;
    bool joined = true;

    if (merge_did_run(later) && merge_did_run(earlier) &&
        earlier->source != later->source)
        joined = test_log_add_try(later, earlier);
    if (merge_did_run(earlier) && !merge_did_run(later)) {
        kept = *earlier;
        *earlier = *later;
        *later = kept;
    }
    test_log_run_replace(run, number);
    return joined;
}

/* ---- Reading ---- */

struct reading {
    struct merge *merge;
    size_t source;
    bool failed;
};

/* A plan has the names of tests without repetitions and ranks. */
static bool add_base_name(struct reading *reading, size_t number)
{
    struct merge *merge = reading->merge;
    const struct test_log_result *result = &merge->run.results[number];
    char name[512];
    uintptr_t known;
    uint64_t key;

    snprintf(name, sizeof(name), "%s", test_log_name(result));
    name[test_log_base_size(name)] = '\0';
    key = merge_test_key(merge->sources[reading->source - 1].lane,
                         result->program, name);
    return trace_table_find(&merge->by_test, key, &known) ||
           trace_table_set(&merge->by_test, key, number);
}

/* Adds the last result of the run to its lane. */
static void add_result(struct reading *reading)
{
    struct merge *merge = reading->merge;
    struct test_log_run *run = &merge->run;
    struct test_log_result *result = &run->results[run->count - 1];
    uint64_t key;
    uintptr_t number;

    result->source = reading->source;
    for (size_t i = 0; i < result->earlier_count; i++)
        result->earlier[i].source = reading->source;
    if (result->folder && strstr(result->folder, "/.."))
        result->folder[0] = '\0';
    free(result->recording); /* what tests share is not merged */
    result->recording = NULL;
    if (!result->program || !result->test) {
        reading->failed = true;
        return;
    }
    merge_name(result->program);
    key = merge_test_key(merge->sources[reading->source - 1].lane,
                         result->program, test_log_name(result));
    if (trace_table_find(&merge->by_test, key, &number))
        reading->failed |= !join(run, number);
    else
        reading->failed |=
            !trace_table_set(&merge->by_test, key, run->count - 1) ||
            !add_base_name(reading, run->count - 1);
}

static bool add(void *context, const cJSON *test)
{
    struct reading *reading = context;

    if (runners_json_add_test(&reading->merge->run, test))
        add_result(reading);
    else
        reading->failed = true;
    return !reading->failed;
}

/* Adds the tests that were running when their run was killed. */
static void add_recordings(struct reading *reading,
                           const struct merge_source *source)
{
    struct recordings found = {0};
    struct test_log_result *result;
    uintptr_t number;

    runners_recordings_find(&found, source->path, NULL);
    for (size_t i = 0; i < found.count && !reading->failed; i++) {
        if (trace_table_find(&reading->merge->by_test,
                             merge_test_key(source->lane, found.all[i].program,
                                            found.all[i].test),
                             &number))
            continue;
        result = runners_run_add_recording(&reading->merge->run, &found.all[i]);
        reading->failed = !result;
        if (!result)
            break;
        result->reason = strdup("its run was cut off");
        add_result(reading);
    }
    runners_recordings_free(&found);
}

/* ---- Names that tell tests apart ---- */

/* Finds programs with a test in several lanes. */
static bool find_clashes(const struct merge *merge, struct trace_table *clashes)
{
    const struct test_log_run *run = &merge->run;
    struct trace_table lanes = {0};
    bool found = true;

    for (size_t i = 0; found && i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        uint64_t key =
            merge_test_key(0, result->program, test_log_name(result));
        uintptr_t first;

        if (!result->source)
            continue;
        if (!trace_table_find(&lanes, key, &first))
            found = trace_table_set(&lanes, key, result->source);
        else if (merge->sources[first - 1].lane !=
                 merge->sources[result->source - 1].lane)
            found = trace_table_set(
                clashes, trace_hash_string(TRACE_HASH, result->program), 0);
    }
    trace_table_free(&lanes);
    return found;
}

/* Several runs with all tests may be intended, as in a matrix, or may be shards
 * that found no scheduler's variable. */
static void print_repeated(const struct merge *merge)
{
    const char *program = NULL;
    size_t count = 0;

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_source *source = &merge->sources[i];

        if (!source->labelled || source->merged.shard.total ||
            source->merged.end == TEST_LOG_END_KILLED)
            continue;
        program = source->labelled;
        count++;
    }
    if (count > 1)
        test_log_notice("merge: %zu runs that are not shards have the same "
                        "tests, which count once for each run, as in %s; set "
                        "TEST_SHARD to divide tests",
                        count, program);
}

static bool tell_apart(struct merge *merge)
{
    struct test_log_run *run = &merge->run;
    struct trace_table clashes = {0};
    bool told = find_clashes(merge, &clashes);
    uintptr_t unused;

    for (size_t i = 0; told && i < run->count; i++) {
        struct test_log_result *result = &run->results[i];
        struct merge_source *source;
        char *name;

        if (!result->source ||
            !trace_table_find(&clashes,
                              trace_hash_string(TRACE_HASH, result->program),
                              &unused))
            continue;
        source = &merge->sources[result->source - 1];
        told = asprintf(&name, "%s@%s", result->program,
                        source->label ? source->label : "?") >= 0;
        if (!told)
            break;
        free(result->program);
        source->labelled = result->program = name;
    }
    trace_table_free(&clashes);
    print_repeated(merge);
    return told;
}

/* ---- All ---- */

/* The merged run gets the filter of its runs if they have the same. */
static void merge_filter(char **own, const cJSON *head, const char *name,
                         bool first)
{
    const cJSON *filters = cJSON_GetObjectItemCaseSensitive(head, "filters");
    const char *text = runners_json_text(filters, name);

    if (first) {
        *own = text ? strdup(text) : NULL;
    } else if (*own && (!text || strcmp(*own, text) != 0)) {
        free(*own);
        *own = NULL;
    }
}

static void read_source(struct reading *reading, struct merge_source *source)
{
    const struct test_log_run run = merge_source_files(source);
    struct test_log_run *merged = &reading->merge->run;
    struct run_file *file = runners_run_file_open(&run, "run.json");

    if (file) {
        const cJSON *head = runners_run_file_head(file);

#define TEST_LOG_X(name, field)                                                \
    merge_filter(&merged->field, head, name, reading->merge->first);
        TEST_LOG_FILTER_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
        runners_merge_head(merged, head, &reading->merge->first);
    }
    runners_run_file_close(file);
    if (runners_read_each(&run, add, reading))
        return;
    merged->sources[reading->source - 1].end = source->merged.end =
        TEST_LOG_END_KILLED;
    add_recordings(reading, source);
}

int merge_tests_read(struct merge *merge)
{
    struct reading reading = {.merge = merge};

    merge->first = true;
    for (size_t i = 0; i < merge->count && !reading.failed; i++) {
        reading.source = i + 1;
        read_source(&reading, &merge->sources[i]);
    }
    for (size_t i = 0; i < merge->run.count; i++)
        merge->run.sources[merge->run.results[i].source - 1].tests++;
    errno = ENOMEM;
    merge_plan_find_missing(merge);
    return !reading.failed && tell_apart(merge) ? 0 : -1;
}

static int by_name(const void *a, const void *b)
{
    const struct test_log_result *x = a, *y = b;
    int order = strcmp(x->program, y->program);

    if (!order)
        order = strcmp(x->suite ? x->suite : "", y->suite ? y->suite : "");
    return order ? order : strcmp(x->test, y->test);
}

void merge_tests_sort(struct merge *merge)
{
    if (merge->run.count)
        qsort(merge->run.results, merge->run.count, sizeof(*merge->run.results),
              by_name);
}
