/* github_summary.c: GitHub's job summary: tables of the failed, flaky and
 * slowest tests, in Markdown, added to the file that GITHUB_STEP_SUMMARY names.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/flaky_tests.h"

/* GitHub refuses summaries of more than 1 MiB, and each cell is short. */
enum { FAILED_MAX = 100, FLAKY_MAX = 20, SLOWEST = 10, CELL_MAX = 300 };

/* Adds the first line of a text. Character references keep it from being
 * Markdown or HTML. */
static void add_cell(struct trace_text *out, const char *text)
{
    struct trace_text clean = {0};
    size_t size = strcspn(text, "\r\n");

    test_log_sanitize(&clean, text,
                      size > CELL_MAX ? trace_utf8_boundary(text, CELL_MAX)
                                      : size);
    for (size_t i = 0; i < clean.size; i++) {
        char c = clean.data[i];

        if (strchr("|<>&`*_[]\\~@#:", c))
            trace_text_printf(out, "&#%d;", c);
        else
            trace_text_char(out, c == '\t' ? ' ' : c);
    }
    trace_text_free(&clean);
}

static void add_failed(struct trace_text *out, const struct test_log_run *run,
                       size_t failed)
{
    size_t count = 0;

    if (!failed)
        return;
    trace_text_string(out, "\n| failed test | outcome | reason |\n"
                           "| --- | --- | --- |\n");
    for (size_t i = 0; i < run->count && count < FAILED_MAX; i++) {
        const struct test_log_result *result = &run->results[i];

        if (!test_log_failed(result))
            continue;
        count++;
        trace_text_string(out, "| ");
        add_cell(out, test_log_title(result));
        trace_text_printf(out, " | %s | ",
                          test_log_outcome_text(result->outcome));
        add_cell(out, result->reason ? result->reason : "");
        trace_text_string(out, " |\n");
    }
    if (failed > count)
        trace_text_printf(out, "\n%zu more tests failed.\n", failed - count);
}

static bool is_slower(const struct test_log_result *result,
                      const struct test_log_result *other)
{
    return result->duration > other->duration ||
           (result->duration == other->duration && result < other);
}

/* Returns the slowest test that is faster than `last`, NULL if there is none.
 */
static const struct test_log_result *next_slowest(
    const struct test_log_run *run, const struct test_log_result *last)
{
    const struct test_log_result *found = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->duration && (!last || is_slower(last, result)) &&
            (!found || is_slower(result, found)))
            found = result;
    }
    return found;
}

static void add_slowest(struct trace_text *out, const struct test_log_run *run)
{
    const struct test_log_result *result = next_slowest(run, NULL);

    if (result)
        trace_text_string(out, "\n| slowest test | seconds |\n"
                               "| --- | ---: |\n");
    for (size_t i = 0; result && i < SLOWEST; i++) {
        uint64_t ms = result->duration / 1000000;

        trace_text_string(out, "| ");
        add_cell(out, test_log_title(result));
        trace_text_printf(out, " | %" PRIu64 ".%03" PRIu64 " |\n", ms / 1000,
                          ms % 1000);
        result = next_slowest(run, result);
    }
}

/* ---- Flaky tests ---- */

static const struct test_log_result *find_result(const struct test_log_run *run,
                                                 const char *program,
                                                 const char *name)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        const char *its = test_log_name(result);

        if (!strcmp(result->program, program) &&
            !strncmp(its, name, strlen(name)) && strchr("#", its[strlen(name)]))
            return result;
    }
    return NULL;
}

static void add_flaky_test(struct trace_text *out,
                           const struct test_log_flaky_test *test)
{
    bool known = strcmp(test->first->commit, "-") != 0;

    trace_text_string(out, "| ");
    add_cell(out, test->name);
    trace_text_printf(out, " | %zu of %zu | %zu | ", test->failures, test->runs,
                      test->flips);
    add_cell(out, known ? test->first->commit : test->first->name);
    trace_text_string(out, " |\n");
}

/* Adds the flaky tests of a program that are in the run. */
static void add_flaky_of(struct trace_text *out, const struct test_log_run *run,
                         const char *program, const char *history,
                         size_t *count)
{
    struct test_log_flaky_tests tests = {0};
    struct test_log_outcomes outcomes;

    if (test_log_outcomes_read(&outcomes, program, history, 0))
        return;
    test_log_flaky_find(&tests, &outcomes, 0);
    for (size_t i = 0; i < tests.count && *count < FLAKY_MAX; i++) {
        if (!find_result(run, program, tests.all[i].name))
            continue;
        if (!(*count)++)
            trace_text_string(out,
                              "\n| flaky test | failed first tries | flips | "
                              "since |\n| --- | --- | --- | --- |\n");
        add_flaky_test(out, &tests.all[i]);
    }
    free(tests.all);
    test_log_outcomes_free(&outcomes);
}

/* The history lies beside the run. */
static void add_flaky(struct trace_text *out, const struct test_log_run *run)
{
    char history[PATH_MAX];
    size_t count = 0;

    if (!run->path || snprintf(history, sizeof(history), "%s/../.history",
                               run->path) >= PATH_MAX)
        return;
    for (size_t i = 0; i < run->count; i++)
        if (!i || strcmp(run->results[i - 1].program, run->results[i].program))
            add_flaky_of(out, run, run->results[i].program, history, &count);
}

/* CI keeps the page if it uploads the folder of the run. */
static void add_page(struct trace_text *out, const struct test_log_run *run)
{
    char path[PATH_MAX], buffer[PATH_MAX];

    if (!run->path || test_log_path(run, "report.html", path) ||
        access(path, R_OK))
        return;
    trace_text_string(out, "\nThe page of this run: ");
    add_cell(out, test_log_shown_path(path, buffer));
    trace_text_char(out, '\n');
}

void test_log_github_summary(const struct test_log_run *run)
{
    const char *path = test_log_variable("GITHUB_STEP_SUMMARY");
    struct test_log_sums sums = test_log_run_sums(run);
    struct trace_text text = {0};
    FILE *out;

    if (!path || !run->count || run->role != TEST_LOG_ROLE_WHOLE ||
        !test_log_github_wanted(run))
        return;
    trace_text_printf(&text, "### %zu passed, %zu failed, %zu skipped\n",
                      sums.passed, sums.failed, sums.skipped);
    if (run->interrupted)
        trace_text_printf(&text,
                          "\n**The run was interrupted by %s, so tests may be "
                          "missing.**\n",
                          test_log_signal(run->interrupted));
    add_failed(&text, run, sums.failed);
    add_flaky(&text, run);
    add_slowest(&text, run);
    add_page(&text, run);
    trace_text_char(&text, '\n');
    errno = ENOMEM;
    out = text.failed ? NULL : fopen(path, "ae");
    if (out)
        fwrite(text.data, 1, text.size, out);
    if (!out || fclose(out))
        test_log_notice("cannot write GitHub's job summary to %s: %s", path,
                        strerror(errno));
    trace_text_free(&text);
}
