/* program_results.c: merges the results of one program into the run.
 *
 * The results come through a pipe. run.json is read only if nothing came: a
 * wrapper may have closed the pipe.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "run.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* Returns the index of a string in an array; -1 if it is not there. */
static int place_of(const cJSON *array, const char *text)
{
    const cJSON *item;
    int place = 0;

    cJSON_ArrayForEach(item, array)
    {
        if (cJSON_IsString(item) && !strcmp(item->valuestring, text))
            return place;
        place++;
    }
    return -1;
}

/* A directive counts as unmatched if no program has a call site for it. */
static void merge_unmatched(struct test_log_run *run, const cJSON *filters,
                            bool first)
{
    const cJSON *unmatched =
        cJSON_GetObjectItemCaseSensitive(filters, "unseen");
    const cJSON *meant = cJSON_GetObjectItemCaseSensitive(filters, "meant");
    size_t room = (size_t)cJSON_GetArraySize(unmatched) + 1, kept = 0;
    const cJSON *item;

    if (first) {
        run->unmatched = calloc(room, sizeof(*run->unmatched));
        run->meant = calloc(room, sizeof(*run->meant));
        cJSON_ArrayForEach(item, unmatched)
        {
            if (run->unmatched && run->meant && cJSON_IsString(item) &&
                strstr(item->valuestring, ": ") &&
                (run->unmatched[run->unmatched_count] =
                     strdup(item->valuestring)))
                run->unmatched_count++;
        }
    }
    for (size_t i = 0; i < run->unmatched_count; i++) {
        char *directive = run->unmatched[i], *own = run->meant[i];
        int place = place_of(unmatched, directive);

        run->meant[i] = NULL;
        if (place < 0) {
            free(directive);
            free(own);
            continue;
        }
        item = cJSON_GetArrayItem(meant, place);
        if (!own && cJSON_IsString(item)) /* one suggestion is enough */
            own = strdup(item->valuestring);
        run->unmatched[kept] = directive;
        run->meant[kept++] = own;
    }
    run->unmatched_count = kept;
}

/* A level exists if one program was built with it. */
static void merge_static_max(struct test_log_run *run, const cJSON *item)
{
    for (unsigned level = 0; cJSON_IsString(item) && level <= TRACE_LEVEL_TRACE;
         level++)
        if (!strcmp(item->valuestring, trace_level_word(level))) {
            run->annotated = true;
            if (level > run->static_max)
                run->static_max = level;
        }
}

/* Joins an array of words with commas, as in a recording. */
static char *list_of(const cJSON *array)
{
    const cJSON *item;
    struct trace_text text = {0};

    cJSON_ArrayForEach(item, array)
    {
        if (cJSON_IsString(item))
            trace_text_printf(&text, "%s%s", text.size ? "," : "",
                              item->valuestring);
    }
    return text.data;
}

static void read_member(void *value, const struct test_log_member *member,
                        const cJSON *json)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, member->name);
    const cJSON *device;

    switch (member->kind) {
    case TEST_LOG_STATE:
        test_log_member_state(member->words, cJSON_GetStringValue(item), value);
        break;
    case TEST_LOG_WORDS:
        *(char **)value = list_of(item);
        break;
    case TEST_LOG_FLAG:
        *(char **)value = cJSON_IsTrue(item) ? strdup("true") : NULL;
        break;
    case TEST_LOG_ANY:
        *(bool *)value = cJSON_IsTrue(item);
        break;
    case TEST_LOG_NAMES:
        cJSON_ArrayForEach(device, item)
        {
            test_log_device_name(value,
                                 (size_t)runners_json_number(device, "ordinal"),
                                 runners_json_text(device, "name"));
        }
        break;
    case TEST_LOG_COUNT:
        *(uint64_t *)value = runners_json_number(json, member->name);
        break;
    default:
        *(char **)value = runners_json_string(json, member->name);
    }
}

static void merge_devices(struct test_log_run *run, const cJSON *json)
{
    const struct test_log_member *members;
    struct test_log_run one = {.path = NULL};
    const char *name;
    void *all, *object;

    for (size_t i = 0;
         (object = test_log_devices_object(&one, i, &name, &members)); i++) {
        const cJSON *given = cJSON_GetObjectItemCaseSensitive(json, name);

        for (const struct test_log_member *member = members; member->name;
             member++)
            read_member((char *)object + member->at, member, given);
        all = test_log_devices_object(run, i, &name, &members);
        test_log_members_add(all, object, members);
    }
    test_log_devices_free(&one);
}

/* Ranks of a program have the same plan. */
static void merge_plan(struct test_log_run *run, const cJSON *plan)
{
    const cJSON *program;

    cJSON_ArrayForEach(program, plan)
    {
        char *text = cJSON_PrintUnformatted(program);
        bool known = text && run->plan.size && strstr(run->plan.data, text);

        if (text && !known)
            trace_text_printf(&run->plan, "%s%s", run->plan.size ? "," : "",
                              text);
        cJSON_free(text);
    }
}

void runners_merge_head(struct test_log_run *run, const cJSON *json,
                        bool *first)
{
    const cJSON *filters = cJSON_GetObjectItemCaseSensitive(json, "filters");

    merge_unmatched(run, filters, *first);
    merge_static_max(run,
                     cJSON_GetObjectItemCaseSensitive(filters, "static_max"));
    merge_devices(run, json);
    if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "flags")))
        run->flagless = true;
    *first = false;
}

void runners_merge_json(struct test_log_run *run, const cJSON *json,
                        bool *first)
{
    const cJSON *test;

    runners_merge_head(run, json, first);
    merge_plan(run, cJSON_GetObjectItemCaseSensitive(json, "plan"));
    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(json, "tests"))
    {
        runners_json_add_test(run, test);
    }
}

/* Returns the end of a line, or NULL if it was cut off. */
static const char *end_of(const struct trace_text *text, size_t from)
{
    return memchr(text->data + from, '\n', text->size - from);
}

/* Whether it is the run's: testlog's own line has no event. */
static bool is_run(const cJSON *json)
{
    const char *event = runners_json_text(json, "event");

    return json && (!event || !strcmp(event, "run"));
}

/* Parses the line of the run; NULL if the program did not write it. */
static cJSON *find_run(const struct trace_text *text)
{
    size_t at = 0;

    for (const char *end; at < text->size && (end = end_of(text, at));
         at = (size_t)(end + 1 - text->data)) {
        cJSON *json;

        if (runners_handover_is_test(text->data + at))
            continue;
        json = cJSON_ParseWithLength(text->data + at,
                                     (size_t)(end - text->data) - at);
        if (is_run(json))
            return json;
        cJSON_Delete(json);
    }
    return NULL;
}

/* The lines of a program while they are read. */
struct lines {
    struct test_log_run *run;
    const char *folder;
    struct trace_table numbers; /* of results, by their names */
    size_t unknown, nameless;   /* outcomes, tests */
};

/* A sender of another language may have words of its own. */
static void check_outcome(struct lines *lines, struct test_log_result *result,
                          const cJSON *test)
{
    const char *word = runners_json_text(test, "outcome");

    if (result->outcome != TEST_LOG_OUTCOME_NONE ||
        (word && !strcmp(word, test_log_outcome_word(result->outcome))))
        return;
    if (!lines->unknown++)
        test_log_notice(
            "%s: %s has the outcome %s%s%s, which counts as failed; "
            "write passed, failed, crashed, timeout or skipped",
            lines->folder, test_log_name(result), word ? "\"" : "",
            word ? word : "null", word ? "\"" : "");
    result->outcome = TEST_LOG_OUTCOME_FAILED;
}

/* The program of a test has a folder of its name. */
static bool is_folder_name(const char *name)
{
    return name && *name && *name != '.' && !strchr(name, '/') &&
           strlen(name) <= NAME_MAX;
}

/* A test that was retried, or got a worse outcome, has another line later. Two
 * tests may have one name. */
static bool is_again(const struct test_log_result *result,
                     const struct test_log_result *before)
{
    return result->earlier_count ||
           (result->began && result->began == before->began);
}

static void add_line(struct lines *lines, const cJSON *test)
{
    const char *name = runners_json_text(test, "name");
    struct test_log_result *result = NULL;
    uintptr_t number;
    uint64_t key;

    if (name && *name)
        result = runners_json_add_test(lines->run, test);
    else if (!lines->nameless++)
        test_log_notice("%s sent a test without a name, which does not count",
                        lines->folder);
    if (!result)
        return;
    if (!is_folder_name(runners_json_text(test, "program"))) {
        free(result->program);
        result->program = strdup(lines->folder);
    }
    check_outcome(lines, result, test);
    key = trace_hash_string(TRACE_HASH, test_log_name(result));
    if (trace_table_find(&lines->numbers, key, &number) &&
        is_again(result, &lines->run->results[number]))
        test_log_run_replace(lines->run, number);
    else
        trace_table_set(&lines->numbers, key, lines->run->count - 1);
}

static enum told merge_lines(struct test_log_run *run, const char *folder,
                             const struct trace_text *text)
{
    struct lines lines = {.run = run, .folder = folder};
    char reason[64] = "sent a line that is no JSON";
    size_t broken = 0;
    size_t from = run->count, at = 0;

    for (const char *end; at < text->size && (end = end_of(text, at));
         at = (size_t)(end + 1 - text->data)) {
        cJSON *test;

        if (!runners_handover_is_test(text->data + at))
            continue;
        test = cJSON_ParseWithLength(text->data + at,
                                     (size_t)(end - text->data) - at);
        broken += !test;
        if (test)
            add_line(&lines, test);
        cJSON_Delete(test);
    }
    if (broken > 1)
        snprintf(reason, sizeof(reason), "sent %zu lines that are no JSON",
                 broken);
    if (broken) /* each may be of a test that failed */
        runners_framework_itself(run, folder, TEST_LOG_OUTCOME_CRASHED, reason);
    runners_framework_number_twins(run, from);
    trace_table_free(&lines.numbers);
    return run->count > from ? TOLD_PARTLY : TOLD_NOTHING;
}

enum told runners_merge(struct test_log_run *run, const char *folder,
                        const char *process, const struct handover *handover,
                        bool *first)
{
    char part[PATH_MAX];
    cJSON *json = NULL;

    if (handover->text.size)
        json = find_run(&handover->text);
    else if (snprintf(part, sizeof(part), "tests/%s/run.json", process) <
             PATH_MAX)
        json = runners_json_read(run, part);
    if (!json)
        return merge_lines(run, folder, &handover->text);
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "tests")))
        merge_lines(run, folder, &handover->text);
    runners_merge_json(run, json, first);
    cJSON_Delete(json);
    return TOLD_ALL;
}
