/* read_run.c: reads the tests of a run however it ended.
 *
 * A run that goes on or was killed has no run.json, or a cut one. Its tests are
 * those that its programs have reported, and those of its other recordings.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* ---- Test by test ---- */

static bool is_wanted(const char *line, const char *part)
{
    static const char test[] = TEST_LOG_JSONL_TEST;

    return !strncmp(line, test, strlen(test)) && (!part || strstr(line, part));
}

bool runners_read_lines(const struct test_log_run *run, const char *part,
                        runners_take *take, void *context)
{
    int fd = test_log_open(run, "results.jsonl", O_RDONLY);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    struct stat status;
    size_t room = 0, count = 0;
    char *line = NULL;
    ssize_t size;
    bool more = true;

    if (!file || fstat(fd, &status) || status.st_size > RUNNERS_FILE_MOST)
        goto out;
    while (more && count++ < RUNNERS_TESTS_MOST &&
           (size = getline(&line, &room, file)) > 0) {
        cJSON *json = is_wanted(line, part)
                          ? runners_json_parse(line, (size_t)size)
                          : NULL;

        more = !json || take(context, json);
        cJSON_Delete(json);
    }
out:
    free(line);
    if (file)
        fclose(file);
    return more;
}

static bool take_all(struct run_file *file, runners_take *take, void *context)
{
    bool more = true;
    cJSON *test;

    while (more && (test = runners_run_file_next(file))) {
        more = take(context, test);
        cJSON_Delete(test);
    }
    return more;
}

bool runners_read_program_files(const struct test_log_run *run,
                                bool (*visit)(void *context, struct run_file *),
                                void *context)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    DIR *tests;
    bool more = true;

    if (test_log_local_path(run, "tests", path))
        return true;
    tests = opendir(path);
    while (more && tests && (entry = readdir(tests))) {
        struct run_file *file = NULL;

        if (snprintf(path, sizeof(path), "tests/%s/run.json", entry->d_name) <
            PATH_MAX)
            file = runners_run_file_open(run, path);
        if (file)
            more = visit(context, file);
        runners_run_file_close(file);
    }
    if (tests)
        closedir(tests);
    return more;
}

struct taking {
    runners_take *take;
    void *context;
};

static bool take_program(void *context, struct run_file *file)
{
    const struct taking *taking = context;

    return take_all(file, taking->take, taking->context);
}

/* The file of a program has more facts than its lines. */
static void take_reported(const struct test_log_run *run, runners_take *take,
                          void *context)
{
    struct taking taking = {take, context};

    if (runners_read_lines(run, NULL, take, context))
        runners_read_program_files(run, take_program, &taking);
}

bool runners_read_each(const struct test_log_run *run, runners_take *take,
                       void *context)
{
    struct run_file *file = runners_run_file_open(run, "run.json");
    bool more = !file || take_all(file, take, context);
    bool whole = file && runners_run_file_whole(file);

    runners_run_file_close(file);
    if (more && !whole)
        take_reported(run, take, context);
    return whole;
}

/* ---- Recordings of tests that were not reported ---- */

/* Returns the path of a recording in its run, "tests/PROGRAM/..."; NULL if it
 * is in none. */
static const char *place_of(const struct recording *recording)
{
    char part[PATH_MAX];
    const char *found = NULL;

    if (snprintf(part, sizeof(part), "/tests/%s/", recording->program) <
        PATH_MAX)
        for (const char *at = recording->path; (at = strstr(at, part)); at++)
            found = at + 1;
    return found;
}

char *runners_recording_folder(const struct recording *recording)
{
    const char *place = place_of(recording);
    size_t program = strlen("tests/") + strlen(recording->program);
    const char *file = place ? strrchr(place, '/') : NULL;
    bool is_part = file && strchr(file, '#');

    return file && !is_part && (size_t)(file - place) > program
               ? strndup(place, (size_t)(file - place))
               : NULL;
}

struct test_log_result *runners_run_add_recording(
    struct test_log_run *run, const struct recording *recording)
{
    const char *slash = strchr(recording->test, '/');
    const char *place = place_of(recording);
    struct test_log_result *result = test_log_run_add(run);

    if (!result)
        return NULL;
    result->program = strdup(recording->program);
    if (slash)
        result->suite =
            strndup(recording->test, (size_t)(slash - recording->test));
    result->test = strdup(slash ? slash + 1 : recording->test);
    result->folder = runners_recording_folder(recording);
    if (!result->folder && place) /* it is one for all tests */
        result->recording = strdup(place);
    return result;
}

struct reading {
    struct test_log_run *run;
    struct trace_table numbers; /* of results, by program and name */
    struct trace_table folders; /* the same, by their folders */
    uint64_t *began;            /* of each result: ns since 1970; 0: unknown */
    size_t capacity;
};

static void note_folder(struct reading *reading, const char *folder,
                        size_t number)
{
    if (folder)
        trace_table_set(&reading->folders,
                        trace_hash_string(TRACE_HASH, folder), number);
}

static bool add_reported(void *context, const cJSON *test)
{
    struct reading *reading = context;
    const struct test_log_result *result;
    size_t number;

    if (!runners_json_add_test(reading->run, test))
        return false;
    number = test_log_run_settle(reading->run, &reading->numbers);
    if (number == SIZE_MAX)
        return false;
    result = &reading->run->results[number];
    note_folder(reading, result->folder, number);
    for (size_t i = 0; i < result->earlier_count; i++)
        note_folder(reading, result->earlier[i].folder, number);
    return true;
}

/* Finds or adds the result of a recording's test. A folder that was not
 * reported is that of a try which has not ended. */
static bool number_of(struct reading *reading,
                      const struct recording *recording, bool *reported,
                      uintptr_t *number)
{
    char *folder = runners_recording_folder(recording);

    *reported = folder &&
                trace_table_find(&reading->folders,
                                 trace_hash_string(TRACE_HASH, folder), number);
    free(folder);
    if (*reported ||
        trace_table_find(&reading->numbers,
                         test_log_key(recording->program, recording->test),
                         number))
        return true;
    *number = reading->run->count;
    return runners_run_add_recording(reading->run, recording);
}

/* Keeps the earlier of two moments, 0 if none is known. */
static void keep_first(uint64_t *first, uint64_t moment)
{
    if (moment && (!*first || moment < *first))
        *first = moment;
}

static void add_recording(struct reading *reading,
                          const struct recording *recording)
{
    struct trace_reader *reader = runners_open_beginning(recording->path);
    struct test_log_run *run = reading->run;
    struct trace_summary summary;
    uintptr_t number;
    bool reported;

    if (number_of(reading, recording, &reported, &number) && reader &&
        TRACE_ARRAY_RESERVE(reading->began, reading->capacity, run->count)) {
        summary = trace_reader_summary(reader);
        keep_first(&run->start.wall, summary.origin.wall);
        keep_first(&reading->began[number],
                   summary.origin.wall + summary.begin);
        run->results[number].running =
            !reported && !summary.ended && !runners_is_gone((int)summary.pid);
    }
    trace_reader_close(reader);
}

/* ---- Order ---- */

struct begun {
    uint64_t time; /* ns since 1970 */
    size_t number;
    struct test_log_result result;
};

static int by_time(const void *a, const void *b)
{
    const struct begun *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* New tests come last, and those without a recording after all. */
static void sort(struct reading *reading)
{
    struct test_log_run *run = reading->run;
    struct begun *all = calloc(run->count + 1, sizeof(*all));

    for (size_t i = 0; all && i < run->count; i++) {
        uint64_t began = i < reading->capacity ? reading->began[i] : 0;

        all[i] = (struct begun){began ? began : UINT64_MAX, i, run->results[i]};
    }
    if (all && run->count)
        qsort(all, run->count, sizeof(*all), by_time);
    for (size_t i = 0; all && i < run->count; i++)
        run->results[i] = all[i].result;
    free(all);
}

/* ---- The run ---- */

static void read_unfinished(struct test_log_run *run)
{
    struct reading reading = {.run = run};
    struct recordings found = {0};

    run->unfinished = true;
    while (run->count) /* of a run.json that was cut */
        test_log_run_drop(run);
    runners_read_each(run, add_reported, &reading);
    if (!runners_recordings_find(&found, run->path, NULL))
        for (size_t i = 0; i < found.count; i++)
            add_recording(&reading, &found.all[i]);
    sort(&reading);
    runners_recordings_free(&found);
    free(reading.began);
    trace_table_free(&reading.numbers);
    trace_table_free(&reading.folders);
}

static void read_head(struct test_log_run *run, const cJSON *head)
{
    run->command = runners_json_string(head, "command");
    run->start.wall = runners_json_moment(runners_json_text(head, "start"));
    run->whole = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(head, "whole"));
    runners_json_add_sources(run, head);
}

int runners_read_run(struct test_log_run *run, const char *path, cJSON **head)
{
    struct run_file *file;

    *head = NULL;
    run->path = strdup(path);
    if (!run->path)
        return -1;
    file = runners_run_file_open(run, "run.json");
    if (file) {
        *head = cJSON_Duplicate(runners_run_file_head(file), true);
        read_head(run, *head);
    }
    if (!file || runners_run_file_add(file, run))
        read_unfinished(run);
    return *head || run->count ? 0 : -1;
}
