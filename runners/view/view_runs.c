/* view_runs.c: the runs of a folder, and their files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/run/folder/list_runs.h"
#include "harness/run/index/index.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"
#include "view.h"

/* ---- Lists ---- */

static const char *const states[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_INDEX_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* A run's name is when it started: "2026-11-23T15-35-01.077469". */
static const char *start_of(const struct test_log_index_run *run,
                            char start[32])
{
    if (run->start[0])
        return run->start;
    snprintf(start, 32, "%.26sZ", run->name);
    start[13] = start[16] = ':';
    return start;
}

static void add_known(cJSON *object, const char *name, const char *value)
{
    if (value[0])
        cJSON_AddStringToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

void view_add_run(cJSON *object, const struct test_log_index_run *run)
{
    char start[32];

    cJSON_AddStringToObject(object, "name", run->name);
    cJSON_AddStringToObject(object, "state", states[run->state]);
    cJSON_AddStringToObject(object, "start", start_of(run, start));
    add_known(object, "host", run->host);
    add_known(object, "commit", run->commit);
}

static cJSON *describe(const struct test_log_index_run *run)
{
    cJSON *object = cJSON_CreateObject();

    view_add_run(object, run);
    cJSON_AddNumberToObject(object, "passed", (double)run->passed);
    cJSON_AddNumberToObject(object, "failed", (double)run->failed);
    cJSON_AddNumberToObject(object, "skipped", (double)run->skipped);
    cJSON_AddNumberToObject(object, "duration_ns", (double)run->duration);
    return object;
}

view_result view_send_runs(const struct view_request *request)
{
    cJSON *document = cJSON_CreateObject(), *runs;
    struct test_log_index index;
    char *text;

    cJSON_AddNumberToObject(document, "schema", 1);
    runs = cJSON_AddArrayToObject(document, "runs");
    if (!test_log_index_read(&index, request->view->dir, SIZE_MAX, 0))
        for (size_t i = 0; i < index.run_count; i++)
            cJSON_AddItemToArray(runs, describe(&index.runs[i]));
    test_log_index_free(&index);
    text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    return view_answer_free(request, "application/json", text,
                            text ? strlen(text) : 0);
}

view_result view_send_index(const struct view_request *request)
{
    struct test_log_index index;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool put = false;

    if (out &&
        !test_log_index_read(&index, request->view->dir, TEST_LOG_INDEX_RUNS,
                             TEST_LOG_INDEX_SHOWN)) {
        for (size_t i = 0; i < index.run_count; i++)
            index.runs[i].has_report = true; /* it is made on demand */
        test_log_index_put_tables(&index, out);
        put = true;
    }
    if (out)
        test_log_index_free(&index);
    if (out && (fclose(out) || !put)) {
        free(text);
        text = NULL;
    }
    return view_answer_free(request, "text/html; charset=utf-8", text, size);
}

/* ---- Files ---- */

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".json", "application/json"},
        {".jsonl", "application/x-ndjson"},
        {".xml", "application/xml"},
        {".txt", "text/plain; charset=utf-8"},
        {".tsv", "text/plain; charset=utf-8"},
        {".tap", "text/plain; charset=utf-8"},
    };
    const char *suffix = strrchr(trace_base_name(path), '.');

    for (size_t i = 0; suffix && i < sizeof(types) / sizeof(*types); i++)
        if (!strcmp(suffix, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

/* Returns whether a path is that of a file in a run of the folder. */
static bool is_in_run(const char *path)
{
    const char *slash = strchr(path, '/');
    char name[NAME_MAX + 1];

    return slash && slash - path <= NAME_MAX &&
           snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path) >
               0 &&
           test_log_is_run_name(name);
}

/* A pack or an imported run can bring pages of its own. In a sandbox, their
 * scripts have no origin, and so not the user's rights here. */
view_result view_send_file(const struct view_request *request, const char *path)
{
    int fd = is_in_run(path) ? trace_beneath(request->view->dir, path, O_RDONLY)
                             : -1;
    const char *type = type_of(path);
    struct MHD_Response *response = NULL;
    struct stat status;

    if (fd < 0)
        return view_refuse(request, MHD_HTTP_NOT_FOUND);
    if (request->in_place && (strstr(type, "html") || strstr(type, "xml"))) {
        close(fd);
        return view_send_ticket(request, path);
    }
    if (!fstat(fd, &status))
        response =
            view_http.create_response_from_fd64((uint64_t)status.st_size, fd);
    if (!response) {
        close(fd);
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    }
    view_http.add_response_header(response, "Content-Security-Policy",
                                  VIEW_SANDBOX);
    return view_answer_response(request, MHD_HTTP_OK, type, response);
}
