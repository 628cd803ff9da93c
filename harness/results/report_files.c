/* report_files.c: the reports of --report, and who owns stdout.
 *
 * Whoever was started by a person or by CI writes them, once, for all programs
 * of the run: a program that is a part of one only adds to its JSON lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/results/run_folder.h"
#include "harness/results/writers.h"

#define STDOUT_VARIABLE "TESTLOG_STDOUT"

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
    void *grown = realloc(output->reports, (output->report_count + 1) *
                                               sizeof(*output->reports));

    if (!grown)
        return -1;
    output->reports = grown;
    output->reports[output->report_count++] = report;
    return 0;
}

bool test_log_report_is_stdout(const char *file)
{
    return !file || !strcmp(file, "-") || !strcmp(file, "/dev/stdout");
}

const char *test_log_report_name(const char *file)
{
    return test_log_report_is_stdout(file) ? "standard output" : file;
}

/* ---- Whose stdout is ---- */

static bool part;
static int kept = -1; /* the stdout that we were started with */
static bool lent;     /* and that our parent keeps for us */

bool test_log_reports_part(void)
{
    return part || test_log_variable("TESTLOG_RUN") ||
           test_log_variable("TESTLOG_PART");
}

int test_log_reports_stdout(void)
{
    return kept < 0 ? STDOUT_FILENO : kept;
}

/* Takes the stdout that `testlog run` keeps for us. */
static bool take_lent(void)
{
    const char *number = test_log_variable(STDOUT_VARIABLE);
    int fd = number ? atoi(number) : -1;

    unsetenv(STDOUT_VARIABLE);
    if (!part || fd <= STDERR_FILENO || fcntl(fd, F_SETFD, FD_CLOEXEC))
        return false;
    kept = fd;
    return lent = true;
}

/* Puts stderr in the place of stdout, which is for a report. */
static void divert(bool several)
{
    char number[16];

    fflush(stdout);
    kept = fcntl(STDOUT_FILENO, several ? F_DUPFD : F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return;
    if (several) {
        snprintf(number, sizeof(number), "%d", kept);
        setenv(STDOUT_VARIABLE, number, 1);
    }
}

/* What then cannot be written is told when it is. */
static void make_folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    char folder[PATH_MAX];

    if (slash && slash > file &&
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - file), file) <
            PATH_MAX)
        test_log_make_folders(folder);
}

void test_log_reports_begin(const struct test_log_output *output, bool several)
{
    bool wanted = test_log_github_wanted() && !several &&
                  !output->report_on_stdout; /* Criterion's */

    part = test_log_reports_part();
    unsetenv("TESTLOG_PART");
    for (size_t i = 0; i < output->report_count; i++)
        if (test_log_report_is_stdout(output->reports[i].file))
            wanted = true;
        else
            make_folder_of(output->reports[i].file);
    if (!take_lent() && wanted)
        divert(several);
    test_log_github_begin(several);
}

static void give_back(void)
{
    if (kept < 0)
        return;
    fflush(stdout);
    if (!lent)
        dup2(kept, STDOUT_FILENO);
    close(kept);
    kept = -1;
    lent = false;
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
    if (part)
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
    setenv("TESTLOG_PART", "1", 1);
    for (size_t i = 0; output && i < output->report_count; i++) {
        const struct test_log_report *report = &output->reports[i];

        if (formats[report->format].put)
            test_log_notice("without a folder for the run there is no %s (%s)",
                            test_log_report_name(report->file), report->origin);
        else if (!test_log_report_is_stdout(report->file))
            unlink(report->file); /* programs will append */
    }
}
