/* finish_run.c: the end of a run: its files, its place among the others, and
 * what is printed. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "finish_run.h"
#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/compress.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "harness/run/index/index.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/past/history.h"

/* `testlog run` reads this file only if no results came through the pipe. */
static void write_part(const struct test_log_run *run)
{
    bool handed_over = !test_log_handover_run(run);
    char name[PATH_MAX], rank[32] = "run";

    if (!run->path || (handed_over && run->parent.share))
        return;
    if (run->role == TEST_LOG_ROLE_RANK)
        snprintf(rank, sizeof(rank), "rank%zu", run->rank.index);
    snprintf(name, sizeof(name), "tests/%s/%s.json",
             test_log_process_folder(run), rank);
    if (test_log_make_program_folder(run, test_log_process_folder(run)) ||
        test_log_write_run_json(run, name))
        test_log_notice("cannot write %s: %s; %s", name, strerror(errno),
                        handed_over ? "the results below are complete"
                                    : "its results are only in the exit "
                                      "status");
}

static bool takes(const struct test_log_finish *finish, enum test_log_step step)
{
    return !(finish->without & 1u << step);
}

static int write_files(const struct test_log_run *run,
                       const struct test_log_finish *finish)
{
    static const struct {
        const char *name;
        int (*write)(const struct test_log_run *, const char *name);
        enum test_log_step step;
    } files[] = {
        {"run.json", test_log_write_run_json, TEST_LOG_STEP_RUN_JSON},
        {"results.tsv", test_log_write_results, TEST_LOG_STEP_FILES},
        {"summary.tsv", test_log_write_summary, TEST_LOG_STEP_FILES},
        {"junit.xml", test_log_write_junit, TEST_LOG_STEP_FILES},
        {"trace.json", test_log_write_trace, TEST_LOG_STEP_FILES},
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        int error;

        if (!takes(finish, files[i].step) ||
            !files[i].write(run, files[i].name))
            continue;
        error = errno;
        test_log_notice("cannot write %s: %s; %s", files[i].name,
                        strerror(error),
                        finish->otherwise ? finish->otherwise
                                          : "the results below are complete");
        errno = error;
        return -1;
    }
    return 0;
}

static void write_page(const struct test_log_run *run,
                       const struct test_log_finish *finish)
{
    struct test_log_page page = finish->page;

    page.run = run;
    page.fail_log = finish->options->output.fail_log;
    test_log_page_write(&page);
}

void test_log_run_compress(const struct test_log_run *run,
                           const struct test_log_options *options,
                           int (*stopped)(void))
{
    if (options->profiler.compress && !run->interrupted)
        test_log_compress(run, stopped);
}

int test_log_run_finish(struct test_log_run *run,
                        const struct test_log_finish *finish)
{
    const struct test_log_options *options = finish->options;
    int status = 0, error = 0;
    bool in_place, among_runs;

    if (test_log_is_part(run)) {
        write_part(run);
        test_log_reports_write(run, &options->output);
        return 0;
    }
    if (!run->commit)
        run->commit = test_log_commit();
    if (takes(finish, TEST_LOG_STEP_LINES)) {
        test_log_jsonl_open(run, &options->output);
        test_log_jsonl_close(run);
    }
    if (run->path) {
        status = write_files(run, finish);
        error = errno;
        if (takes(finish, TEST_LOG_STEP_PAGE))
            write_page(run, finish);
    }
    if (takes(finish, TEST_LOG_STEP_REPORTS))
        test_log_reports_write(run, &options->output);
    if (run->scratch && takes(finish, TEST_LOG_STEP_COMPRESS))
        test_log_run_compress(run, options, finish->stopped);
    in_place = test_log_scratch_end(run);
    among_runs = test_log_run_is_in(run, options->dir);
    if (among_runs && in_place && takes(finish, TEST_LOG_STEP_PAST))
        test_log_history_update(run, options->dir,
                                finish->all && !run->interrupted,
                                options->failed);
    if (among_runs && takes(finish, TEST_LOG_STEP_PRUNE))
        test_log_old_runs_prune(run, options->dir, options->keep);
    if (among_runs && takes(finish, TEST_LOG_STEP_INDEX))
        test_log_index_write(run);
    errno = error;
    return status;
}

void test_log_run_print(const struct test_log_run *run,
                        const struct test_log_options *options,
                        const struct test_log_history *history,
                        const char *rerun, const char *debug)
{
    const struct test_log_output *output = &options->output;

    test_log_print_unmatched(run);
    if (!test_log_devices_without_cuda(run))
        test_log_gpu_print(&run->gpu);
    test_log_devices_print(run);
    test_log_gpu_summary_print(run);
    test_log_print_slow(run, output);
    test_log_print_times(run, output, history);
    test_log_print_summary(run, rerun, debug);
    test_log_show_page(run, output);
    test_log_github_summary(run);
    test_log_github_end(run);
    test_log_print_closing(run, output);
}
