/* unfinished_run.c: reads a run that goes on or was killed: the results that
 * its programs have reported, and the recordings of its other tests. Tests are
 * in the order in which they began, so that new ones come last.
 */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "runners/commands/report_page.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

struct unfinished {
    struct test_log_run *run;
    struct trace_table numbers; /* of results, by program and name */
    struct trace_table folders; /* the same, by their folders */
    uint64_t *began;            /* of each result: ns since 1970; 0: unknown */
    size_t capacity;
};

/* ---- Results ---- */

static void note_folder(struct unfinished *unfinished, const char *folder,
                        size_t number)
{
    if (folder)
        trace_table_set(&unfinished->folders,
                        trace_hash_string(TRACE_HASH, folder), number);
}

static void note_folders(struct unfinished *unfinished, size_t number)
{
    const struct test_log_result *result = &unfinished->run->results[number];

    note_folder(unfinished, result->folder, number);
    for (size_t i = 0; i < result->earlier_count; i++)
        note_folder(unfinished, result->earlier[i].folder, number);
}

/* Adds a result that was reported. The last try of a test has them all. */
static bool add_line(void *context, const cJSON *test)
{
    struct unfinished *unfinished = context;
    struct test_log_run *run = unfinished->run;
    struct test_log_result *result = runners_json_add_test(run, test);
    uintptr_t number;
    uint64_t key;

    if (!result)
        return false;
    key = test_log_result_key(result);
    if (trace_table_find(&unfinished->numbers, key, &number))
        test_log_run_replace(run, number);
    else
        number = run->count - 1;
    note_folders(unfinished, number);
    return trace_table_set(&unfinished->numbers, key, number);
}

/* ---- Recordings ---- */

/* Returns a test's folder in its run: "tests/PROGRAM/TEST". */
static char *folder_of(const struct recording *recording)
{
    const char *folder = strstr(recording->path, "/tests/");

    for (const char *next; folder && (next = strstr(folder + 1, "/tests/"));)
        folder = next;
    return folder ? strndup(folder + 1,
                            (size_t)(strrchr(folder, '/') - (folder + 1)))
                  : NULL;
}

/* Adds a test that was not reported, and takes its folder. */
static bool add_test(struct test_log_run *run,
                     const struct recording *recording, char *folder)
{
    const char *slash = strchr(recording->test, '/');
    struct test_log_result *result = test_log_run_add(run);

    if (!result) {
        free(folder);
        return false;
    }
    result->program = strdup(recording->program);
    if (slash)
        result->suite =
            strndup(recording->test, (size_t)(slash - recording->test));
    result->test = strdup(slash ? slash + 1 : recording->test);
    result->folder = folder;
    return true;
}

/* Finds or adds the result of a recording's test. A folder that was not
 * reported is that of a try which has not ended. */
static bool number_of(struct unfinished *unfinished,
                      const struct recording *recording, bool *reported,
                      uintptr_t *number)
{
    char *folder = folder_of(recording);

    *reported = folder &&
                trace_table_find(&unfinished->folders,
                                 trace_hash_string(TRACE_HASH, folder), number);
    if (*reported ||
        trace_table_find(&unfinished->numbers,
                         test_log_key(recording->program, recording->test),
                         number)) {
        free(folder);
        return true;
    }
    *number = unfinished->run->count;
    return add_test(unfinished->run, recording, folder);
}

/* Keeps the earlier of two moments, 0 if none is known. */
static void keep_first(uint64_t *first, uint64_t moment)
{
    if (moment && (!*first || moment < *first))
        *first = moment;
}

static void add_recording(struct unfinished *unfinished,
                          const struct recording *recording)
{
    struct trace_reader *reader = runners_open_beginning(recording->path);
    struct test_log_run *run = unfinished->run;
    struct trace_summary summary;
    uintptr_t number;
    bool reported;

    if (number_of(unfinished, recording, &reported, &number) && reader &&
        TRACE_ARRAY_RESERVE(unfinished->began, unfinished->capacity,
                            run->count)) {
        summary = trace_reader_summary(reader);
        keep_first(&run->start.wall, summary.origin.wall);
        keep_first(&unfinished->began[number],
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

/* Tests without a recording come last. */
static void sort(struct unfinished *unfinished)
{
    struct test_log_run *run = unfinished->run;
    struct begun *all = calloc(run->count + 1, sizeof(*all));

    for (size_t i = 0; all && i < run->count; i++) {
        uint64_t began = i < unfinished->capacity ? unfinished->began[i] : 0;

        all[i] = (struct begun){began ? began : UINT64_MAX, i, run->results[i]};
    }
    if (all && run->count)
        qsort(all, run->count, sizeof(*all), by_time);
    for (size_t i = 0; all && i < run->count; i++)
        run->results[i] = all[i].result;
    free(all);
}

int runners_page_read_unfinished(struct test_log_run *run)
{
    struct unfinished unfinished = {.run = run};
    struct recordings found = {0};

    run->unfinished = true;
    runners_result_lines(run, NULL, add_line, &unfinished);
    if (!runners_recordings_find(&found, run->path, NULL))
        for (size_t i = 0; i < found.count; i++)
            add_recording(&unfinished, &found.all[i]);
    sort(&unfinished);
    runners_recordings_free(&found);
    free(unfinished.began);
    trace_table_free(&unfinished.numbers);
    trace_table_free(&unfinished.folders);
    return run->count ? 0 : -1;
}
