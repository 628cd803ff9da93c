/* report_files.c: writes the reports of --report, and decides who writes to
 * stdout.
 *
 * The process that a person or CI started writes them, once, for all programs
 * of the run. A program that is a part of a run only adds JSON lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"

static const struct {
    const char *word;
    void (*put)(FILE *, const struct test_log_run *); /* NULL: as tests end */
} formats[] = {
#define TEST_LOG_X(name, word, put) {word, put},
    TEST_LOG_REPORTS(TEST_LOG_X)
#undef TEST_LOG_X
};

int test_log_report_add(struct test_log_output *output,
                        struct test_log_report report)
{
    if (!TRACE_ARRAY_RESERVE(output->reports, output->report_capacity,
                             output->report_count + 1))
        return -1;
    output->reports[output->report_count++] = report;
    return 0;
}

bool test_log_report_is_refused(const struct test_log_report *report)
{
    struct stat status;

    return report->of_file && !test_log_report_is_stdout(report->file) &&
           !lstat(report->file, &status) && S_ISLNK(status.st_mode);
}

bool test_log_report_is_stdout(const char *file)
{
    return !file || !strcmp(file, "-") || !strcmp(file, "/dev/stdout");
}

const char *test_log_report_name(const char *file)
{
    return test_log_report_is_stdout(file) ? "standard output" : file;
}

/* ---- Who writes to stdout ---- */

static int kept;       /* our original stdout, if moved; otherwise 0 */
static bool inherited; /* our parent passed it to us */

int test_log_reports_stdout(void)
{
    return kept ? kept : STDOUT_FILENO;
}

int test_log_reports_kept(void)
{
    return kept;
}

/* Takes the stdout that `testlog run` passed to us. */
static bool take_inherited(const struct test_log_run *run)
{
    int output = run->parent.output;

    if (run->role == TEST_LOG_ROLE_WHOLE || output <= STDERR_FILENO ||
        fcntl(output, F_SETFD, FD_CLOEXEC))
        return false;
    kept = output;
    return inherited = true;
}

/* Redirects stdout to stderr, because a report needs stdout. */
static void divert(bool several)
{
    int fd;

    fflush(stdout);
    fd = fcntl(STDOUT_FILENO, several ? F_DUPFD : F_DUPFD_CLOEXEC, 3);
    if (fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        kept = fd;
}

/* Failures are reported when the file is written. */
static void make_folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    char folder[PATH_MAX];

    if (slash && slash > file &&
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - file), file) <
            PATH_MAX)
        test_log_make_folders(folder);
}

void test_log_reports_begin(const struct test_log_run *run,
                            const struct test_log_output *output, bool several)
{
    bool wanted = test_log_github_wanted(run) && !several &&
                  !output->report_on_stdout; /* Criterion's */

    for (size_t i = 0; i < output->report_count; i++)
        if (test_log_report_is_stdout(output->reports[i].file))
            wanted = true;
        else
            make_folder_of(output->reports[i].file);
    if (!take_inherited(run) && wanted)
        divert(several);
    test_log_github_begin(run);
}

static void give_back(void)
{
    if (!kept)
        return;
    fflush(stdout);
    if (!inherited)
        dup2(kept, STDOUT_FILENO);
    close(kept);
    kept = 0;
    inherited = false;
}

/* ---- Writing ---- */

static int write_file(const struct test_log_run *run,
                      const struct test_log_report *report)
{
    struct trace_file file;

    if (trace_file_open(&file, report->file))
        return -1;
    formats[report->format].put(file.stream, run);
    return trace_file_commit(&file);
}

static int write_own(const struct test_log_run *run, const char *name)
{
    struct trace_file file;

    if (test_log_create(run, name, &file))
        return -1;
    test_log_put_tap(file.stream, run);
    return trace_file_commit(&file);
}

static int write_stdout(const struct test_log_run *run,
                        const struct test_log_report *report)
{
    formats[report->format].put(stdout, run);
    return fflush(stdout) || ferror(stdout) ? -1 : 0;
}

static void write_report(const struct test_log_run *run,
                         const struct test_log_report *report)
{
    if (!formats[report->format].put)
        return;
    if (test_log_report_is_refused(report)) { /* since the run began */
        test_log_notice(TEST_LOG_REPORT_REFUSED, report->origin, report->file);
        return;
    }
    if (test_log_report_is_stdout(report->file) ? write_stdout(run, report)
                                                : write_file(run, report))
        test_log_notice("cannot write %s (%s): %s; results are not affected",
                        test_log_report_name(report->file), report->origin,
                        strerror(errno));
}

void test_log_reports_write(const struct test_log_run *run,
                            const struct test_log_output *output)
{
    give_back();
    if (run->role != TEST_LOG_ROLE_WHOLE)
        return;
    if (run->path && write_own(run, "results.tap"))
        test_log_notice("cannot write results.tap: %s; results are not "
                        "affected",
                        strerror(errno));
    for (size_t i = 0; i < output->report_count; i++)
        write_report(run, &output->reports[i]);
}

void test_log_reports_apart(const struct test_log_output *output)
{
    for (size_t i = 0; i < output->report_count; i++) {
        const struct test_log_report *report = &output->reports[i];

        if (formats[report->format].put)
            test_log_notice("cannot write %s (%s): the run has no folder",
                            test_log_report_name(report->file), report->origin);
        else if (!test_log_report_is_stdout(report->file))
            unlink(report->file); /* programs will append */
    }
}
