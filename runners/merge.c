/* merge.c: merges the results of one program into the run.
 *
 * The results come through a pipe. run.json is read only if nothing came: a
 * wrapper may have closed the pipe.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/results/run_folder.h"
#include "harness/results/writers.h"
#include "run.h"

enum { RUN_JSON_MOST = 1 << 30 }; /* bytes: a sparse file can have any size */

static char *read_file(int fd)
{
    struct trace_text text = {0};
    char bytes[8192];
    ssize_t size;

    while ((size = read(fd, bytes, sizeof(bytes))) > 0 &&
           text.size < RUN_JSON_MOST)
        trace_text_add(&text, bytes, (size_t)size);
    close(fd);
    if (text.failed || size)
        trace_text_free(&text);
    return text.data;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static char *string_of(const cJSON *object, const char *name)
{
    const char *text = text_of(object, name);

    return text ? strdup(text) : NULL;
}

static uint64_t number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(item) && item->valuedouble > 0
               ? (uint64_t)item->valuedouble
               : 0;
}

/* Splits "suite/test" into its parts. */
static void split_name(struct test_log_result *result, char *name)
{
    char *slash = name ? strchr(name, '/') : NULL;

    if (slash) {
        *slash = '\0';
        result->suite = strdup(name);
        result->test = strdup(slash + 1);
    } else {
        result->test = strdup(name ? name : "?");
    }
    free(name);
}

static enum test_log_outcome outcome_of(const cJSON *object)
{
    const char *word = text_of(object, "outcome");

    return test_log_outcome_of(word ? word : "");
}

/* Returns the folder of a test's files if it is inside the run: a program can
 * write any path. */
static char *folder_of(const cJSON *test)
{
    const char *folder = text_of(test, "folder");

    if (!folder || strncmp(folder, "tests/", strlen("tests/")) != 0 ||
        strstr(folder, "/../") || strstr(folder, "//"))
        return NULL;
    return strdup(folder);
}

static void add_tries(struct test_log_result *result, const cJSON *tries)
{
    const cJSON *before;

    result->earlier =
        calloc((size_t)cJSON_GetArraySize(tries) + 1, sizeof(*result->earlier));
    cJSON_ArrayForEach(before, tries)
    {
        if (result->earlier)
            result->earlier[result->earlier_count++] = (struct test_log_try){
                .outcome = outcome_of(before),
                .reason = string_of(before, "reason"),
                .folder = folder_of(before),
                .duration = number_of(before, "duration_ns")};
    }
}

static void add_losses(struct test_log_result *result, const cJSON *lost)
{
    for (int i = 0; i < TRACE_LOSS_COUNT; i++)
        result->lost[i] = number_of(lost, test_log_loss_word(i));
}

static struct log_device_work work_of(const cJSON *works, const char *name)
{
    const cJSON *work = cJSON_GetObjectItemCaseSensitive(works, name);

    return (struct log_device_work){number_of(work, "count"),
                                    number_of(work, "time_ns"),
                                    number_of(work, "bytes")};
}

static struct log_device_leaks leaks_of(const cJSON *leaks)
{
    const cJSON *largest = cJSON_GetObjectItemCaseSensitive(leaks, "largest");

    return (struct log_device_leaks){
        .count = number_of(leaks, "count"),
        .bytes = number_of(leaks, "bytes"),
        .async = number_of(leaks, "pool_bytes"),
        .largest = number_of(largest, "bytes"),
        .memory = string_of(largest, "memory"),
        .spans = string_of(largest, "spans"),
    };
}

/* Returns NULL if there is none, or without memory. */
static struct log_device_summary *gpu_summary_of(const cJSON *json)
{
    struct log_device_summary *summary =
        cJSON_IsObject(json) ? calloc(1, sizeof(*summary)) : NULL;
    const cJSON *copies = cJSON_GetObjectItemCaseSensitive(json, "copies");
    const cJSON *kernel =
        cJSON_GetObjectItemCaseSensitive(json, "longest_kernel");
    const cJSON *gap = cJSON_GetObjectItemCaseSensitive(json, "largest_gap");

    if (!summary)
        return NULL;
    for (int i = 0; i < LOG_DEVICE_WORK_COUNT; i++)
        summary->works[i] = work_of(json, log_device_work_keys[i]);
    for (int i = 0; i < LOG_DEVICE_COPY_COUNT; i++)
        summary->copies[i] = work_of(copies, log_device_directions[i]);
    summary->longest = number_of(kernel, "time_ns");
    summary->longest_name = string_of(kernel, "name");
    summary->busy = number_of(json, "busy_ns");
    summary->span = number_of(json, "span_ns");
    summary->gap = number_of(gap, "time_ns");
    summary->gap_before = string_of(gap, "before");
    summary->leaks = leaks_of(cJSON_GetObjectItemCaseSensitive(json, "leaks"));
    return summary;
}

static void add_test(struct test_log_run *run, const cJSON *test)
{
    struct test_log_result *result = test_log_run_add(run);

    if (result) {
        split_name(result, string_of(test, "name"));
        result->program = string_of(test, "program");
        if (!result->program)
            result->program = strdup("?");
        result->outcome = outcome_of(test);
        result->reason = string_of(test, "reason");
        result->file = string_of(test, "file");
        result->line = (unsigned)number_of(test, "line");
        result->duration = number_of(test, "duration_ns");
        result->unrendered =
            cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(test, "rendered"));
        add_losses(result, cJSON_GetObjectItemCaseSensitive(test, "lost"));
        result->unjudged = (size_t)number_of(test, "unjudged");
        test_log_gpu_state_of(text_of(test, "gpu"), &result->gpu);
        result->gpu_lost = number_of(test, "gpu_lost");
        result->gpu_summary = gpu_summary_of(
            cJSON_GetObjectItemCaseSensitive(test, "gpu_summary"));
        result->folder = folder_of(test);
        add_tries(result, cJSON_GetObjectItemCaseSensitive(test, "earlier"));
    }
}

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

/* One program's suggestion is enough. */
static void merge_meant(char **meant, const cJSON *item)
{
    if (!*meant && cJSON_IsString(item))
        *meant = strdup(item->valuestring);
}

static void start_unseen(struct test_log_run *run, const cJSON *unseen)
{
    size_t room = (size_t)cJSON_GetArraySize(unseen) + 1;
    const cJSON *item;

    run->unseen = calloc(room, sizeof(*run->unseen));
    run->meant = calloc(room, sizeof(*run->meant));
    cJSON_ArrayForEach(item, unseen)
    {
        if (run->unseen && run->meant && cJSON_IsString(item) &&
            strstr(item->valuestring, ": ") &&
            (run->unseen[run->unseen_count] = strdup(item->valuestring)))
            run->unseen_count++;
    }
}

/* A directive is unseen if no program has a call site for it. */
static void merge_unseen(struct test_log_run *run, const cJSON *filters,
                         bool first)
{
    const cJSON *unseen = cJSON_GetObjectItemCaseSensitive(filters, "unseen");
    const cJSON *meant = cJSON_GetObjectItemCaseSensitive(filters, "meant");
    size_t kept = 0;

    if (first)
        start_unseen(run, unseen);
    for (size_t i = 0; i < run->unseen_count; i++) {
        char *directive = run->unseen[i], *own = run->meant[i];
        int place = place_of(unseen, directive);

        run->meant[i] = NULL;
        if (place < 0) {
            free(directive);
            free(own);
            continue;
        }
        merge_meant(&own, cJSON_GetArrayItem(meant, place));
        run->unseen[kept] = directive;
        run->meant[kept++] = own;
    }
    run->unseen_count = kept;
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
static char *list_of(const cJSON *object, const char *name)
{
    const cJSON *item, *array = cJSON_GetObjectItemCaseSensitive(object, name);
    struct trace_text text = {0};

    cJSON_ArrayForEach(item, array)
    {
        if (cJSON_IsString(item))
            trace_text_printf(&text, "%s%s", text.size ? "," : "",
                              item->valuestring);
    }
    return text.data;
}

static void merge_gpu(struct test_log_run *run, const cJSON *json)
{
    struct test_log_gpu gpu = {.state = TEST_LOG_GPU_UNUSED};
    const cJSON *device;

    test_log_gpu_state_of(text_of(json, "state"), &gpu.state);
#define TEST_LOG_X(name) gpu.name = string_of(json, #name);
    TEST_LOG_GPU_TEXTS(TEST_LOG_X)
#undef TEST_LOG_X
#define TEST_LOG_X(name) gpu.name = number_of(json, #name);
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    free(gpu.kinds);
    gpu.kinds = list_of(json, "kinds");
    gpu.cuda = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "cuda"));
    cJSON_ArrayForEach(device,
                       cJSON_GetObjectItemCaseSensitive(json, "devices"))
    {
        test_log_gpu_device(&gpu, (size_t)number_of(device, "ordinal"),
                            text_of(device, "name"));
    }
    test_log_gpu_add(&run->gpu, &gpu);
    test_log_gpu_free(&gpu);
}

static void merge_run(struct test_log_run *run, const cJSON *json, bool *first)
{
    const cJSON *test,
        *filters = cJSON_GetObjectItemCaseSensitive(json, "filters");

    merge_unseen(run, filters, *first);
    merge_static_max(run,
                     cJSON_GetObjectItemCaseSensitive(filters, "static_max"));
    merge_gpu(run, cJSON_GetObjectItemCaseSensitive(json, "gpu"));
    *first = false;
    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(json, "tests"))
    {
        add_test(run, test);
    }
}

static cJSON *read_part(const struct test_log_run *run, const char *folder)
{
    char part[PATH_MAX], *text = NULL;
    cJSON *json = NULL;
    int fd = -1;

    if (snprintf(part, sizeof(part), "tests/%s/run.json", folder) < PATH_MAX)
        fd = test_log_open(run, part, O_RDONLY);
    if (fd >= 0)
        text = read_file(fd);
    if (text)
        json = cJSON_Parse(text);
    free(text);
    return json;
}

/* Returns the end of a line, or NULL if it was cut off. */
static const char *end_of(const struct trace_text *text, size_t from)
{
    return memchr(text->data + from, '\n', text->size - from);
}

/* Parses the last line, the run's; NULL if the program did not write it. */
static cJSON *find_run(const struct trace_text *text)
{
    size_t at = 0;

    for (const char *end; at < text->size && (end = end_of(text, at));
         at = (size_t)(end + 1 - text->data))
        if (!runners_handover_is_test(text->data + at))
            return cJSON_ParseWithLength(text->data + at,
                                         (size_t)(end - text->data) - at);
    return NULL;
}

/* A test that was retried, or got a worse outcome, has another line later. */
static void add_line(struct test_log_run *run, size_t from, const cJSON *test)
{
    size_t last = run->count;

    add_test(run, test);
    for (size_t i = from; i < last && last < run->count; i++)
        if (!strcmp(test_log_name(&run->results[i]),
                    test_log_name(&run->results[last])))
            test_log_run_replace(run, i);
}

static enum told merge_lines(struct test_log_run *run,
                             const struct trace_text *text)
{
    size_t from = run->count, at = 0;

    for (const char *end; at < text->size && (end = end_of(text, at));
         at = (size_t)(end + 1 - text->data)) {
        cJSON *test = cJSON_ParseWithLength(text->data + at,
                                            (size_t)(end - text->data) - at);

        if (test)
            add_line(run, from, test);
        cJSON_Delete(test);
    }
    return run->count > from ? TOLD_PARTLY : TOLD_NOTHING;
}

enum told runners_merge(struct test_log_run *run, const char *folder,
                        const struct handover *handover, bool *first)
{
    cJSON *json = handover->text.size ? find_run(&handover->text)
                                      : read_part(run, folder);

    if (!json)
        return merge_lines(run, &handover->text);
    merge_run(run, json, first);
    cJSON_Delete(json);
    return TOLD_ALL;
}
