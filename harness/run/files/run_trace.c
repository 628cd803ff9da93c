/* run_trace.c: writes the trace of a whole run: its tests, each as a process,
 * and its workers.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/chrome/chrome.h"

enum { LARGE = 4 << 20 }; /* bytes of a trace */

struct trace_chrome_test test_log_trace_test(const char *name,
                                             const struct test_log_run *run,
                                             const struct test_log_result *test)
{
    return (struct trace_chrome_test){
        .name = name,
        .outcome = test_log_outcome_word(test->outcome),
        .reason = test->reason,
        .file = test->file,
        .line = test->line,
        .duration = test->duration,
        .begin = test->began,
        .end = test->began + test->duration,
        .host = test_log_host(run, test->source),
        .host_number = test_log_host_number(run, test->source),
    };
}

void test_log_take_try(struct test_log_result *result, size_t number)
{
    const struct test_log_try *before = &result->earlier[number];

    result->outcome = before->outcome;
    result->reason = before->reason;
    result->began = before->began;
    result->duration = before->duration;
    result->source = before->source;
    result->folder = before->folder;
}

/* ---- Workers ---- */

/* Every try of every test is on one. */
void test_log_trace_workers(struct trace_chrome *chrome,
                            const struct test_log_run *run)
{
    struct trace_chrome_test *tests = NULL;
    char **names = NULL;
    size_t count = 0, capacity = 0, name_capacity = 0;

    for (size_t i = 0; i < run->count; i++) {
        size_t earlier = run->results[i].earlier_count;

        for (size_t number = 0; number <= earlier; number++) {
            struct test_log_result one = run->results[i];
            struct trace_text name = {0};

            if (number < earlier)
                test_log_take_try(&one, number);
            if (!one.began ||
                !TRACE_ARRAY_RESERVE(tests, capacity, count + 1) ||
                !TRACE_ARRAY_RESERVE(names, name_capacity, count + 1))
                continue;
            trace_text_string(&name, test_log_title(&one));
            if (number < earlier)
                trace_text_printf(&name, ", try %zu", number + 1);
            names[count] = name.data;
            tests[count++] =
                test_log_trace_test(name.data ? name.data : "?", run, &one);
        }
    }
    trace_chrome_workers(chrome, tests, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(tests);
}

/* ---- Tests ---- */

void test_log_export_hint(struct trace_text *text,
                          const struct test_log_run *run,
                          const struct test_log_result *result,
                          const char *command)
{
    trace_text_printf(text, "testlog %s ", command);
    test_log_add_word(text, run->path);
    trace_text_char(text, ' ');
    test_log_add_word(text, test_log_title(result));
}

/* Adds a test, or counts instead if it was not rendered. */
static void add_to_trace(struct trace_chrome *chrome,
                         const struct test_log_run *run,
                         const struct test_log_result *result,
                         struct trace_reader *reader, uint32_t pid)
{
    struct trace_chrome_test test =
        test_log_trace_test(test_log_title(result), run, result);
    struct trace_text hint = {0}, stacks = {0};
    char title[1024];

    snprintf(title, sizeof(title), "%s%s%s %s", test.host ? test.host : "",
             test.host ? ": " : "", result->program, test_log_title(result));
    test_log_stacks_text(&stacks, run, result);
    test.stacks = stacks.data;
    chrome->test = result->began ? &test : NULL;
    if (result->unrendered) {
        test_log_export_hint(&hint, run, result, "export");
        trace_chrome_add_counts(chrome, reader, pid, title,
                                hint.data ? hint.data : "");
    } else {
        trace_chrome_add(chrome, reader, pid, title);
    }
    chrome->test = NULL;
    trace_text_free(&hint);
    trace_text_free(&stacks);
}

/* A large trace is written once: that of the run's only test is the run's, too.
 */
static bool link_trace(const struct test_log_run *run, const char *name)
{
    const struct test_log_result *only = run->results;
    char from[PATH_MAX], to[PATH_MAX], path[PATH_MAX];
    struct stat status;

    return run->count == 1 && only->folder && !only->unrendered &&
           snprintf(path, sizeof(path), "%s/trace.json", only->folder) <
               PATH_MAX &&
           !test_log_path(run, path, from) && !test_log_path(run, name, to) &&
           !lstat(from, &status) && S_ISREG(status.st_mode) &&
           status.st_size > LARGE && (!unlink(to) || errno == ENOENT) &&
           !link(from, to);
}

int test_log_write_trace(const struct test_log_run *run, const char *name)
{
    struct trace_chrome chrome;
    struct trace_file file;
    uint32_t pid = 0;

    if (link_trace(run, name))
        return 0;
    if (test_log_create(run, name, &file))
        return -1;
    trace_chrome_begin(&chrome, file.stream);
    chrome.several = run->count > 1;
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        bool left_out = result->unrendered && !result->folder;
        struct trace_reader *reader =
            left_out ? NULL : test_log_recording(run, result);

        if (!reader)
            continue;
        add_to_trace(&chrome, run, result, reader, ++pid);
        trace_reader_close(reader);
    }
    test_log_trace_workers(&chrome, run);
    trace_chrome_end(&chrome, NULL);
    return trace_file_commit(&file);
}
