/* view_trend.c: a test over all runs of a folder: its outcomes and durations,
 * when they changed, and the lines of its last failure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/run/index/index.h"
#include "harness/run/page/report_html.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/text.h"
#include "view.h"
#include "view_changes.h"

enum {
    RUNS_MOST = 1000,  /* that are read */
    HIDDEN_LINES = 20, /* of the last failure */
};

struct test {
    char *program, *name;
};

/* The result of the test in a run; results.jsonl has a line for each try, the
 * last of which has them all. */
struct past_run {
    const struct test_log_index_run *known;
    struct test_log_run run;
};

struct trend {
    const struct test *test;
    struct test_log_index index;
    struct past_run *runs; /* that have the test, the latest first */
    size_t count;
};

/* ---- Reading ---- */

struct reading {
    const struct test *test;
    struct test_log_run *run;
};

static bool is_text(const cJSON *json, const char *member, const char *text)
{
    const char *value = runners_json_text(json, member);

    return value && !strcmp(value, text);
}

static bool take_result(void *context, const cJSON *json)
{
    struct reading *reading = context;

    if (is_text(json, "program", reading->test->program) &&
        is_text(json, "name", reading->test->name) &&
        runners_json_add_test(reading->run, json) && reading->run->count > 1)
        test_log_run_replace(reading->run, 0);
    return true;
}

/* The hosts of a merged run are in the head of its run.json. */
static void read_hosts(struct test_log_run *run)
{
    struct run_file *file =
        run->results[0].source ? runners_run_file_open(run, "run.json") : NULL;

    if (file)
        runners_json_add_sources(run, runners_run_file_head(file));
    runners_run_file_close(file);
}

/* Reads the test's results; -1 with errno, ENOENT if there are none. */
static int read_trend(struct trend *trend, const struct view *view)
{
    const char *name = trend->test->name;
    size_t plain = trace_plain(name, strlen(name));
    struct trace_text part = {0}; /* of the line of JSON about the test */
    char path[PATH_MAX];

    if (test_log_index_read(&trend->index, view->dir, RUNS_MOST, 0))
        return -1;
    /* Versions differ in what they escape. */
    trace_text_literal(&part, "\"name\":\"");
    trace_text_add(&part, name, plain);
    if (!name[plain])
        trace_text_literal(&part, "\"");
    trend->runs = calloc(trend->index.run_count + 1, sizeof(*trend->runs));
    for (size_t i = 0; trend->runs && i < trend->index.run_count; i++) {
        const struct test_log_index_run *known = &trend->index.runs[i];
        struct past_run *past = &trend->runs[trend->count];
        struct reading reading = {trend->test, &past->run};

        if (!view_find_run(view, known->name, path))
            continue;
        *past =
            (struct past_run){.known = known, .run = {.path = strdup(path)}};
        if (past->run.path)
            runners_read_lines(&past->run, part.data, take_result, &reading);
        if (!past->run.count) {
            test_log_run_free(&past->run);
            continue;
        }
        read_hosts(&past->run);
        trend->count++;
    }
    trace_text_free(&part);
    errno = trend->runs ? ENOENT : ENOMEM;
    return trend->count ? 0 : -1;
}

/* ---- JSON ---- */

static cJSON *describe(const struct past_run *past)
{
    const struct test_log_result *result = past->run.results;
    const char *host = test_log_host(&past->run, result->source);
    cJSON *object = cJSON_CreateObject();

    view_add_run(object, past->known);
    if (host) {
        cJSON_DeleteItemFromObjectCaseSensitive(object, "host");
        runners_json_add_text(object, "host", host);
    }
    cJSON_AddStringToObject(object, "outcome",
                            test_log_outcome_word(result->outcome));
    cJSON_AddBoolToObject(object, "flaky", test_log_flaky(result));
    cJSON_AddNumberToObject(object, "duration_ns", (double)result->duration);
    runners_json_add_text(object, "reason", result->reason);
    return object;
}

/* The latest first; of one run, the outcome first. */
static int compare_changes(const void *a, const void *b)
{
    const struct view_change *x = a, *y = b;

    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return x->after < y->after ? -1 : x->after > y->after;
}

static void add_changes(cJSON *document, const struct trend *trend)
{
    cJSON *array = cJSON_AddArrayToObject(document, "changes");
    struct view_past *past = calloc(trend->count, sizeof(*past));
    struct view_change *changes = NULL;
    size_t last = trend->count - 1, count = 0;

    for (size_t i = 0; past && i < trend->count; i++) {
        const struct test_log_result *result =
            trend->runs[last - i].run.results;

        past[i] = (struct view_past){result->outcome, result->duration};
    }
    if (past)
        count = view_find_changes(past, trend->count, &changes);
    if (count)
        qsort(changes, count, sizeof(*changes), compare_changes);
    for (size_t i = 0; i < count; i++) {
        const struct view_change *change = &changes[i];
        const struct past_run *run = &trend->runs[last - change->at];
        cJSON *object = cJSON_CreateObject();

        cJSON_AddItemToArray(array, object);
        cJSON_AddStringToObject(object, "run", run->known->name);
        if (change->after) {
            cJSON_AddNumberToObject(object, "before_ns",
                                    (double)change->before);
            cJSON_AddNumberToObject(object, "after_ns", (double)change->after);
        } else {
            cJSON_AddStringToObject(
                object, "outcome",
                test_log_outcome_word(run->run.results->outcome));
        }
    }
    free(changes);
    free(past);
}

/* Adds the last failure, with its last lines. */
static void add_failure(cJSON *document, const struct trend *trend)
{
    struct trace_text shown = {0}, hidden = {0};
    struct trace_reader *reader = NULL;
    const struct past_run *past;
    cJSON *failure;
    size_t i = 0;

    while (i < trend->count &&
           !test_log_outcome_bad(trend->runs[i].run.results->outcome))
        i++;
    if (i == trend->count) {
        cJSON_AddNullToObject(document, "failure");
        return;
    }
    past = &trend->runs[i];
    failure = cJSON_AddObjectToObject(document, "failure");
    cJSON_AddStringToObject(failure, "run", past->known->name);
    if (past->run.results->folder)
        reader = runners_open_own(&past->run, past->run.results->folder);
    if (reader)
        test_log_failure_lines(&shown, &hidden, HIDDEN_LINES, reader);
    trace_reader_close(reader);
    runners_json_add_text(failure, "shown", shown.data);
    runners_json_add_text(failure, "hidden", hidden.data);
    trace_text_free(&shown);
    trace_text_free(&hidden);
}

static void put_trend(const struct trend *trend, FILE *out)
{
    cJSON *document = cJSON_CreateObject(), *runs;
    char *text;

    cJSON_AddNumberToObject(document, "schema", 1);
    runners_json_add_text(document, "program", trend->test->program);
    runners_json_add_text(document, "test", trend->test->name);
    cJSON_AddNumberToObject(document, "without",
                            (double)(trend->index.run_count - trend->count));
    cJSON_AddNumberToObject(document, "unread", (double)trend->index.more);
    runs = cJSON_AddArrayToObject(document, "runs");
    for (size_t i = 0; i < trend->count; i++)
        cJSON_AddItemToArray(runs, describe(&trend->runs[i]));
    add_changes(document, trend);
    add_failure(document, trend);
    text = cJSON_PrintUnformatted(document);
    fputs(text ? text : "{}", out);
    cJSON_free(text);
    cJSON_Delete(document);
}

static int write_trend(const struct view *view, const void *context, FILE *out)
{
    struct trend trend = {.test = context};
    int status = read_trend(&trend, view), error = errno;

    if (!status)
        put_trend(&trend, out);
    for (size_t i = 0; i < trend.count; i++)
        test_log_run_free(&trend.runs[i].run);
    free(trend.runs);
    test_log_index_free(&trend.index);
    errno = error;
    return status;
}

view_result view_send_trend(const struct view_request *request)
{
    struct test test = {view_argument(request, "program"),
                        view_argument(request, "test")};
    view_result result;

    if (test.program && test.program[0] && test.name && test.name[0])
        result = view_render(request,
                             &(struct view_source){.write = write_trend,
                                                   .context = &test,
                                                   .type = "application/json"});
    else
        result = view_refuse(request, MHD_HTTP_BAD_REQUEST);
    free(test.program);
    free(test.name);
    return result;
}
