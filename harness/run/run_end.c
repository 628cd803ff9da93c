/* run_end.c: what a program does at the end of its run: it writes the run's
 * files and prints the summary. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/criterion/main/runner.h"
#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/options/filters.h"
#include "harness/options/options.h"
#include "harness/options/other_programs.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/compress.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/scratch.h"
#include "harness/run/index/index.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/page/report_html.h"
#include "harness/run/past/history.h"
#include "harness/run/terminal/terminal.h"
#include "harness/session.h"

/* ---- Files ---- */

static bool write_failed(const char *name, int status)
{
    if (status)
        test_log_notice("cannot write %s: %s; the results below are complete",
                        name, strerror(errno));
    return status != 0;
}

/* `testlog run` reads this file only if no results came through the pipe. */
static void write_part(const struct test_log_run *run)
{
    bool handed_over = !test_log_handover_run(run);
    char name[PATH_MAX], rank[32] = "run";

    if (!run->path || (handed_over && run->parent.joined))
        return;
    if (run->parent.launched)
        snprintf(rank, sizeof(rank), "rank%zu", run->rank.index);
    snprintf(name, sizeof(name), "tests/%s/%s.json", run->program, rank);
    if (handed_over)
        write_failed(name, test_log_write_run_json(run, name));
    else if (test_log_write_run_json(run, name))
        test_log_notice("cannot write %s: %s; its results are only in the "
                        "exit status",
                        name, strerror(errno));
}

/* Returns the command that runs the program, to be freed. */
static char *rerun_of(const struct test_log_run *run)
{
    struct trace_text text = {0};

    if (!run->flagless)
        test_log_add_word(&text, run->executable);
    return text.data;
}

static void write_page(const struct test_log_run *run,
                       const struct test_log_options *options)
{
    char *rerun = rerun_of(run);

    test_log_page_write(&(struct test_log_page){
        .run = run, .rerun = rerun, .fail_log = options->output.fail_log});
    free(rerun);
}

void test_log_run_write(const struct test_log_run *run,
                        const struct test_log_options *options)
{
    if (run->foreign)
        write_part(run);
    if (run->foreign || !run->path)
        return;
    if (!write_failed("run.json", test_log_write_run_json(run, "run.json")) &&
        !write_failed("results.tsv",
                      test_log_write_results(run, "results.tsv")) &&
        !write_failed("summary.tsv",
                      test_log_write_summary(run, "summary.tsv")) &&
        !write_failed("junit.xml", test_log_write_junit(run, "junit.xml")))
        write_failed("trace.json", test_log_write_trace(run, "trace.json"));
    write_page(run, options);
}

/* ---- The summary ---- */

static void print_summary(const struct test_log_run *run)
{
    char *rerun = rerun_of(run);

    test_log_print_summary(run, rerun, rerun);
    free(rerun);
}

static void print(const struct test_log_run *run,
                  const struct test_log_options *options,
                  const struct test_log_history *history, bool any)
{
    if (any)
        test_log_print_empty_shard(run);
    test_log_print_unmatched(run);
    if (!test_log_devices_without_cuda(run))
        test_log_gpu_print(&run->gpu);
    test_log_devices_print(run);
    test_log_gpu_summary_print(run);
    test_log_print_slow(run, &options->output);
    test_log_print_times(run, &options->output, history);
    print_summary(run);
    test_log_show_page(run, &options->output);
    test_log_github_summary(run);
    test_log_github_end(run);
    test_log_print_closing(run, &options->output);
}

/* ---- The end ---- */

static void compress(const struct test_log_run *run,
                     const struct test_log_options *options)
{
    if (!run->foreign && !run->interrupted && options->profiler.compress)
        test_log_compress_with_gzip(run);
}

/* Otherwise it is compressed later, because that takes time. */
static bool end_scratch(struct test_log_run *run,
                        const struct test_log_options *options)
{
    if (run->scratch)
        compress(run, options);
    return test_log_scratch_end(run);
}

void test_log_run_end(struct test_log_run *run,
                      const struct test_log_options *options,
                      const struct test_log_filters *filters,
                      const struct test_log_history *history, bool any)
{
    if (!run->foreign && !run->commit)
        run->commit = test_log_commit();
    test_log_run_write(run, options);
    test_log_reports_write(run, &options->output);
    if (end_scratch(run, options) && !run->foreign)
        test_log_remember(run, options);
    test_log_old_runs_prune(run, options->dir, options->keep);
    test_log_index_write(run);
    if (any && !run->foreign)
        test_log_filters_print_compiled_out(filters, run);
    if (!run->foreign) /* `testlog run` prints all of this */
        print(run, options, history, any);
    compress(run, options);
}

/* ---- The beginning ---- */

static int number_of(const char *text)
{
    return text ? atoi(text) : 0;
}

struct test_log_parent test_log_parent_of(
    const struct test_log_session *session)
{
    struct test_log_parent parent = {
        .folder = test_log_variable("TESTLOG_RUN"),
        .token = session->token,
        .output = number_of(session->output),
        .nested = session->nested,
        .beside = test_log_others_given().count > 1,
    };

    parent.part = parent.folder || session->part;
    parent.shown = parent.folder ? session->run : NULL;
    if (test_log_session_from_parent(session)) {
        parent.program = session->program;
        parent.results = number_of(session->results);
        parent.joined =
            parent.folder ? (unsigned)number_of(session->joined) : 0;
    }
    if (parent.folder && session->test) { /* a launcher is between us */
        parent.program = session->program;
        parent.launched = true;
    }
    return parent;
}

char *test_log_command_of(char **argv)
{
    struct trace_text text = {0};

    test_log_add_words(&text, argv);
    return text.data;
}

void test_log_open_out(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

    test_log_out = fd < 0 ? stderr : fdopen(fd, "w");
    if (!test_log_out)
        test_log_out = stderr;
}
