/* test_zero.c: finds the zero of a test's time. For recordings without phases,
 * it reads what the runner noted in run.json.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "find.h"
#include "harness/run/model/model.h"
#include "run_json.h"
#include "trace/base/strings.h"

#define TESTS "/tests/"

/* Returns "tests/PROGRAM/TEST" in the path of a test's recording, whose run is
 * before it; NULL if it is in no run. */
static const char *folder_of(const char *path)
{
    const char *at = path + strlen(path);

    for (int slashes = 0; at > path && slashes < 4;)
        slashes += *--at == '/';
    return at > path && !strncmp(at, TESTS, strlen(TESTS)) ? at + 1 : NULL;
}

/* ---- run.json ---- */

static uint64_t key_of(const char *folder, size_t size)
{
    return trace_hash(TRACE_HASH, folder, size);
}

static void note(struct noted_times *times, const char *folder, uint64_t began,
                 uint64_t duration)
{
    if (!folder || !began ||
        !TRACE_ARRAY_RESERVE(times->all, times->capacity, times->count + 1) ||
        !trace_table_set(&times->by_folder, key_of(folder, strlen(folder)),
                         times->count))
        return;
    times->all[times->count++] =
        (struct trace_noted){times->start + began, duration};
}

static void note_test(struct noted_times *times,
                      const struct test_log_result *result)
{
    note(times, result->folder, result->began, result->duration);
    for (size_t i = 0; i < result->earlier_count; i++)
        note(times, result->earlier[i].folder, result->earlier[i].began,
             result->earlier[i].duration);
}

static void read_run(struct noted_times *times, const char *path, size_t size)
{
    struct test_log_run run = {.path = strndup(path, size)};
    struct run_file *file =
        run.path ? runners_run_file_open(&run, "run.json") : NULL;
    struct cJSON *test;

    times->read = true;
    if (file)
        times->start = runners_json_moment(
            runners_json_text(runners_run_file_head(file), "start"));
    while (file && (test = runners_run_file_next(file))) {
        const struct test_log_result *result =
            runners_json_add_test(&run, test);

        if (result)
            note_test(times, result);
        cJSON_Delete(test);
    }
    runners_run_file_close(file);
    test_log_run_free(&run);
}

/* Returns what the runner noted; nothing if that is unknown. */
static struct trace_noted noted_of(struct noted_times *times, const char *path,
                                   const struct trace_reader *reader)
{
    const char *folder = folder_of(path);
    uint64_t origin = trace_reader_summary(reader).origin.wall;
    struct trace_noted noted = {0};
    uintptr_t number;

    if (folder && !times->read)
        read_run(times, path, (size_t)(folder - path));
    if (!folder ||
        !trace_table_find(&times->by_folder,
                          key_of(folder, strlen(folder) - strlen("/recording")),
                          &number))
        return noted;
    noted = times->all[number];
    noted.began = trace_between(origin, noted.began) + 1;
    return noted;
}

/* ---- The zero ---- */

uint64_t runners_zero_of(struct noted_times *times,
                         const struct recording *recording,
                         struct trace_reader *reader)
{
    struct trace_phases phases = trace_reader_phases(reader);
    struct trace_noted noted = {0};

    if (!phases.setup && !phases.body)
        noted = noted_of(times, recording->path, reader);
    return trace_reader_zero(reader, noted);
}

void runners_noted_free(struct noted_times *times)
{
    free(times->all);
    trace_table_free(&times->by_folder);
    *times = (struct noted_times){.count = 0};
}
