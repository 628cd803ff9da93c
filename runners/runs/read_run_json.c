/* read_run_json.c: reads run.json, or a line of it that a program has sent, and
 * writes JSON. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "run_json.h"

enum { SHARDS_MOST = 1 << 20 };

static char *read_file(int fd)
{
    struct trace_text text = {0};
    char bytes[8192];
    ssize_t size;

    while ((size = read(fd, bytes, sizeof(bytes))) > 0 &&
           text.size < RUNNERS_FILE_MOST)
        trace_text_add(&text, bytes, (size_t)size);
    close(fd);
    if (text.failed || size)
        trace_text_free(&text);
    return text.data;
}

const char *runners_json_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

char *runners_json_string(const cJSON *object, const char *name)
{
    const char *text = runners_json_text(object, name);

    return text ? strdup(text) : NULL;
}

uint64_t runners_json_number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(item) && item->valuedouble > 0 &&
                   item->valuedouble < 0x1p64
               ? (uint64_t)item->valuedouble
               : 0;
}

/* ---- Members: see run_members.h ---- */

#define read_text        runners_json_string
#define read_some_text   runners_json_string
#define read_number      runners_json_number
#define read_some_number runners_json_number

static enum test_log_outcome read_outcome(const cJSON *object, const char *name)
{
    const char *word = runners_json_text(object, name);

    return test_log_outcome_of(word ? word : "");
}

/* Returns the folder of a test's files if it is inside the run: a program can
 * write any path. */
static char *read_folder(const cJSON *object, const char *name)
{
    const char *folder = runners_json_text(object, name);

    if (!folder || strncmp(folder, "tests/", strlen("tests/")) != 0 ||
        strstr(folder, "/../") || strstr(folder, "//"))
        return NULL;
    return strdup(folder);
}

static bool read_unless(const cJSON *object, const char *name)
{
    return cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* Splits "suite/test" into its parts. A suite of GoogleTest may have a slash,
 * too; then the title has another character between the parts. */
static void read_name(struct test_log_result *result, const cJSON *test,
                      const char *member)
{
    char *name = runners_json_string(test, member);
    const char *title = runners_json_text(test, "title");
    char *slash = name ? strchr(name, '/') : NULL;

    if (slash && title && strlen(title) == strlen(name))
        for (char *at = slash; (at = strchr(at, '/')); at++)
            if (title[at - name] != '/')
                slash = at;

    if (slash) {
        *slash = '\0';
        result->suite = strdup(name);
        result->test = strdup(slash + 1);
    } else {
        result->test = strdup(name ? name : "?");
    }
    free(name);
}

static void read_usage(struct test_log_result *result, const cJSON *test,
                       const char *member)
{
    const cJSON *usage = cJSON_GetObjectItemCaseSensitive(test, member);

#define TEST_LOG_X(field, member)                                              \
    result->usage.field = runners_json_number(usage, member);
    TEST_LOG_USAGE_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
    result->usage.instructions = runners_json_number(usage, "instructions");
    test_log_member_state(test_log_counter_words,
                          runners_json_text(usage, "counted_by"),
                          &result->usage.counter);
}

static void read_earlier(struct test_log_result *result, const cJSON *test,
                         const char *member)
{
    const cJSON *tries = cJSON_GetObjectItemCaseSensitive(test, member);
    const cJSON *before;

    result->earlier =
        calloc((size_t)cJSON_GetArraySize(tries) + 1, sizeof(*result->earlier));
    cJSON_ArrayForEach(before, tries)
    {
        if (result->earlier && result->earlier_count < RUNNERS_TRIES_MOST)
            result->earlier[result->earlier_count++] = (struct test_log_try){
#define TEST_LOG_X(kind, name, field) .field = read_##kind(before, name),
                TEST_LOG_TRY_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
            };
    }
}

static void read_lost(struct test_log_result *result, const cJSON *test,
                      const char *member)
{
    const cJSON *lost = cJSON_GetObjectItemCaseSensitive(test, member);

    for (int i = 0; i < TRACE_LOSS_COUNT; i++)
        result->lost[i] = runners_json_number(lost, test_log_loss_word(i));
}

/* ---- What devices did ---- */

static struct log_device_work work_of(const cJSON *works, const char *name)
{
    const cJSON *work = cJSON_GetObjectItemCaseSensitive(works, name);

    return (struct log_device_work){runners_json_number(work, "count"),
                                    runners_json_number(work, "time_ns"),
                                    runners_json_number(work, "bytes")};
}

static struct log_device_leaks leaks_of(const cJSON *leaks)
{
    const cJSON *largest = cJSON_GetObjectItemCaseSensitive(leaks, "largest");

    return (struct log_device_leaks){
        .count = runners_json_number(leaks, "count"),
        .bytes = runners_json_number(leaks, "bytes"),
        .async = runners_json_number(leaks, "pool_bytes"),
        .largest = runners_json_number(largest, "bytes"),
        .memory = runners_json_string(largest, "memory"),
        .spans = runners_json_string(largest, "spans"),
    };
}

static struct log_device_fault fault_of(const cJSON *fault)
{
    return (struct log_device_fault){
        .launches = runners_json_number(fault, "launches"),
        .error = runners_json_string(fault, "error"),
        .call = runners_json_string(fault, "call"),
        .spans = runners_json_string(fault, "spans"),
    };
}

static double real_of(const cJSON *object, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

static struct log_device_counters counters_of(const cJSON *list)
{
    struct log_device_counters counters = {.count = 0};
    const cJSON *one;

    cJSON_ArrayForEach(one, list)
    {
        char *name = runners_json_string(one, "name");
        struct log_device_counter counter = {
            .name = name,
            .most = real_of(one, "most"),
            .sum = real_of(one, "mean") * real_of(one, "time_ns"),
            .time = real_of(one, "time_ns"),
            .count = runners_json_number(one, "samples")};

        if (name &&
            !log_counters_merge(&counters,
                                &(struct log_device_counters){&counter, 1, 1}))
            break;
        free(name);
    }
    return counters;
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
    summary->longest = runners_json_number(kernel, "time_ns");
    summary->longest_name = runners_json_string(kernel, "name");
    summary->busy = runners_json_number(json, "busy_ns");
    summary->span = runners_json_number(json, "span_ns");
    summary->gap = runners_json_number(gap, "time_ns");
    summary->gap_before = runners_json_string(gap, "before");
    summary->leaks = leaks_of(cJSON_GetObjectItemCaseSensitive(json, "leaks"));
    summary->fault = fault_of(cJSON_GetObjectItemCaseSensitive(json, "fault"));
    summary->counters =
        counters_of(cJSON_GetObjectItemCaseSensitive(json, "counters"));
    return summary;
}

#define READ_FIELD(kind, name, field) result->field = read_##kind(test, name);
#define READ_WHOLE(kind, name)        read_##kind(result, test, name);
#define READ_NOTHING(kind, name)

struct test_log_result *runners_json_add_test(struct test_log_run *run,
                                              const cJSON *test)
{
    struct test_log_result *result = test_log_run_add(run);

    if (result) {
        TEST_LOG_RESULT_MEMBERS(READ_FIELD, READ_WHOLE, READ_NOTHING)
        TEST_LOG_RECORDED_MEMBERS(READ_FIELD, READ_WHOLE, READ_NOTHING)
        if (!result->program)
            result->program = strdup("?");
        test_log_gpu_state_of(runners_json_text(test, "gpu"), &result->gpu);
        result->gpu_lost = runners_json_number(test, "gpu_lost");
        for (size_t i = 1; i < TRACE_BACKEND_COUNT; i++)
            test_log_member_state(
                test_log_device_states,
                runners_json_text(test, trace_backends[i].member),
                &result->devices[i]);
        result->gpu_summary = gpu_summary_of(
            cJSON_GetObjectItemCaseSensitive(test, "gpu_summary"));
    }
    return result;
}

/* ---- The head of run.json ---- */

uint64_t runners_json_moment(const char *text)
{
    struct tm parts = {0};
    const char *rest =
        text ? strptime(text, "%Y-%m-%dT%H:%M:%S.", &parts) : NULL;
    time_t seconds = rest ? timegm(&parts) : 0;

    return seconds > 0 ? (uint64_t)seconds * 1000000000 +
                             strtoull(rest, NULL, 10) * 1000
                       : 0;
}

static struct test_log_shard read_shard(const cJSON *object, const char *name)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(object, name);
    const char *by = runners_json_text(json, "by");
    struct test_log_shard shard = {
        .index = (size_t)runners_json_number(json, "index"),
        .total = (size_t)runners_json_number(json, "total")};

    for (size_t i = 0; by && test_log_shard_ways[i]; i++)
        if (!strcmp(by, test_log_shard_ways[i]))
            shard.way = (enum test_log_shard_way)i;
    if (shard.index >= shard.total || shard.total > SHARDS_MOST)
        shard = (struct test_log_shard){0};
    shard.durations = (size_t)runners_json_number(json, "durations");
    if (runners_json_text(json, "history"))
        shard.history = strtoull(runners_json_text(json, "history"), NULL, 16);
    return shard;
}

static enum test_log_end read_end(const cJSON *object, const char *name)
{
    return test_log_end_of(runners_json_text(object, name));
}

struct test_log_shard runners_json_shard(const cJSON *head)
{
    return read_shard(head, "shard");
}

static uint64_t read_moment(const cJSON *object, const char *name)
{
    return runners_json_moment(runners_json_text(object, name));
}

static int64_t read_offset(const cJSON *object, const char *name)
{
    const cJSON *offset = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(offset) && fabs(offset->valuedouble) < 0x1p62
               ? (int64_t)offset->valuedouble
               : 0;
}

/* Returns UINT64_MAX for null. */
static uint64_t read_known(const cJSON *object, const char *name)
{
    return cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(object, name))
               ? runners_json_number(object, name)
               : UINT64_MAX;
}

static void add_source(struct test_log_run *run, const cJSON *json)
{
    if (!TRACE_ARRAY_RESERVE(run->sources, run->source_capacity,
                             run->source_count + 1))
        return;
    run->sources[run->source_count++] = (struct test_log_merged_run){
#define TEST_LOG_X(kind, name, field) .field = read_##kind(json, name),
        TEST_LOG_SOURCE_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
    };
}

void runners_json_add_sources(struct test_log_run *run, const cJSON *head)
{
    const cJSON *source;

    cJSON_ArrayForEach(source, cJSON_GetObjectItemCaseSensitive(head, "merged"))
    {
        add_source(run, source);
    }
    test_log_merged_runs_complete(run);
}

/* Counts the values of a text of JSON. */
static size_t count_values(const char *text, size_t size)
{
    size_t count = 1;
    bool quoted = false;

    for (size_t i = 0; i < size; i++)
        if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            count += text[i] == ',' || text[i] == '[' || text[i] == '{';
        else
            i += text[i] == '\\';
    return count;
}

cJSON *runners_json_parse(const char *text, size_t size)
{
    return count_values(text, size) > RUNNERS_VALUES_MOST
               ? NULL
               : cJSON_ParseWithLength(text, size);
}

cJSON *runners_json_read(const struct test_log_run *run, const char *name)
{
    int fd = test_log_open(run, name, O_RDONLY);
    char *text = fd < 0 ? NULL : read_file(fd);
    cJSON *json = text ? runners_json_parse(text, strlen(text)) : NULL;

    free(text);
    if (fd >= 0 && !json)
        errno = EBADMSG;
    return json;
}

/* ---- Writing ---- */

void runners_json_add_text(cJSON *object, const char *name, const char *text)
{
    struct trace_text valid = {0};

    test_log_sanitize(&valid, text ? text : "", text ? strlen(text) : 0);
    if (text)
        cJSON_AddStringToObject(object, name, valid.data ? valid.data : "");
    else
        cJSON_AddNullToObject(object, name);
    trace_text_free(&valid);
}

void runners_json_print(const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);

    puts(text ? text : "{}");
    cJSON_free(text);
}
