/* export.c: testlog export: writes a run as a trace for a viewer. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/results/stacks.h"
#include "harness/results/writers.h"
#include "harness/runner/options.h"
#include "run.h"
#include "runners.h"
#include "trace/strings.h"

static void usage(void)
{
    puts("Usage: testlog export [RUN] [TEST...] [--chrome] [-o FILE]\n\n"
         "Writes what the tests of a run recorded, or only the given tests, "
         "as one trace.\nRUN is the folder of a run or of a test, or a "
         "recording, or a name in\ntestlog list; the default is the latest "
         "run. The run may have been killed.\n\n"
         "      --chrome       Chrome's trace event format, the only one so "
         "far\n"
         "  -o, --output FILE  write to FILE instead of standard output");
}

/* ---- What is known about the tests ---- */

/* The results of a run, found by the folders of their tries. */
struct results {
    struct test_log_run run;
    struct trace_table by_folder; /* hash to index */
};

static void add_folder(struct results *results, const char *folder,
                       size_t number)
{
    if (folder)
        trace_table_set(&results->by_folder,
                        trace_hash_string(TRACE_HASH, folder), number);
}

/* A run that was killed has no results. */
static void read_results(struct results *results, const char *where)
{
    struct test_log_run *run = &results->run;
    const cJSON *test;
    cJSON *json;

    run->path = strdup(where);
    json = run->path ? runners_json_read(run, "run.json") : NULL;
    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(json, "tests"))
    {
        runners_json_add_test(run, test);
    }
    cJSON_Delete(json);
    for (size_t i = 0; i < run->count; i++) {
        add_folder(results, run->results[i].folder, i);
        for (size_t j = 0; j < run->results[i].earlier_count; j++)
            add_folder(results, run->results[i].earlier[j].folder, i);
    }
}

static void free_results(struct results *results)
{
    test_log_run_free(&results->run);
    trace_table_free(&results->by_folder);
}

static bool is_folder(const char *folder, const char *path, size_t size)
{
    return folder && strlen(folder) == size && !strncmp(folder, path, size);
}

/* Adds the test's stacks to a text. */
static struct trace_chrome_test test_of(const struct recording *recording,
                                        const struct results *results,
                                        struct trace_text *stacks)
{
    const char *path = recording->path + strlen(results->run.path);
    const char *slash = strrchr(path, '/');
    struct trace_chrome_test test;
    struct test_log_result result;
    size_t size;
    uintptr_t number;

    path += *path == '/';
    size = slash > path ? (size_t)(slash - path) : 0;
    if (!trace_table_find(&results->by_folder,
                          trace_hash(TRACE_HASH, path, size), &number))
        return (struct trace_chrome_test){.name = recording->test};
    result = results->run.results[number];
    for (size_t i = 0; i < result.earlier_count; i++)
        if (is_folder(result.earlier[i].folder, path, size))
            test_log_take_try(&result, i);
    test_log_stacks_text(stacks, &results->run, &result);
    test = test_log_trace_test(recording->test, &result);
    test.stacks = stacks->data;
    return test;
}

/* ---- Writing ---- */

static int add(struct trace_chrome *chrome, const struct recording *recording,
               const struct results *results, uint32_t pid)
{
    struct trace_reader *reader = runners_open(recording->path);
    struct trace_text title = {0}, stacks = {0};
    struct trace_chrome_test test = test_of(recording, results, &stacks);
    int result = -1;

    chrome->test = test.outcome && !test.begin ? NULL : &test;
    trace_text_printf(&title, "%s%s%s", recording->program,
                      *recording->program ? " " : "", recording->test);
    if (reader)
        result = trace_chrome_add(chrome, reader, pid,
                                  title.data ? title.data : recording->test);
    trace_text_free(&title);
    trace_text_free(&stacks);
    trace_reader_close(reader);
    return result;
}

static void write_all(const struct recordings *found,
                      const struct results *results, bool workers, FILE *stream)
{
    struct trace_chrome chrome;

    trace_chrome_begin(&chrome, stream);
    chrome.several = found->count > 1;
    for (size_t i = 0; i < found->count; i++)
        if (add(&chrome, &found->all[i], results, (uint32_t)i + 1) &&
            errno != EBADMSG)
            fprintf(stderr,
                    "testlog: export: cannot read %s: %s; the trace lacks "
                    "this test\n",
                    found->all[i].path, strerror(errno));
    if (workers)
        test_log_trace_workers(&chrome, &results->run);
    trace_chrome_end(&chrome, NULL);
}

static int export(const struct recordings *found, const struct results *results,
                  bool workers, const char *output)
{
    struct trace_file file;

    if (!output) {
        write_all(found, results, workers, stdout);
        if (!fflush(stdout) && !ferror(stdout))
            return TEST_LOG_PASSED;
    } else if (!trace_file_open(&file, output)) {
        write_all(found, results, workers, file.stream);
        if (!trace_file_commit(&file))
            return TEST_LOG_PASSED;
    }
    fprintf(stderr, "testlog: export: cannot write to %s: %s\n",
            output ? output : "standard output", strerror(errno));
    return TEST_LOG_FAILED;
}

int runners_export(int argc, char **argv)
{
    static const struct option options[] = {
        {"chrome", no_argument, NULL, 'C'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    struct recordings found = {0};
    struct results results = {.run = {.path = NULL}};
    const char *output = NULL, *where;
    int flag, code;

    opterr = 0;
    while ((flag = getopt_long(argc, argv, ":o:h", options, NULL)) >= 0) {
        if (flag == 'h') {
            usage();
            return TEST_LOG_PASSED;
        }
        if (flag == '?' || flag == ':')
            return runners_refuse_flag("export", flag, argv, options);
        if (flag == 'o')
            output = test_log_report_is_stdout(optarg) ? NULL : optarg;
    }
    argv += optind;
    where = runners_run_of(&argv);
    if (!where)
        return TEST_LOG_USAGE;
    if (runners_recordings_find(&found, where, argv) || !found.count)
        return runners_recordings_refuse("export", where, argv);
    read_results(&results, where);
    code = export(&found, &results, !*argv, output);
    free_results(&results);
    runners_recordings_free(&found);
    return code;
}
