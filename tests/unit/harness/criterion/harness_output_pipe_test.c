/* harness_output_pipe_test.c: moves a test's output through a FIFO into a
 * file. */
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/run/folder/run_folder.h"
#include "harness/worker/worker.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct test_log_run run;
static struct test_log_result result;
static struct test_log_job job = {.result = &result};
static char file[PATH_MAX];
static bool taken; /* the output file exists already */

/* Makes the pipe as a worker does, in this process; returns the write end. */
static int capture(const char *folder)
{
    int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO), fd;

    test_log_capture(folder, true);
    fd = dup(STDOUT_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    close(out);
    close(error);
    return fd;
}

/* Opens both ends in the test's folder; returns the worker's end. */
static int begin(void)
{
    static char folder[] = "/tmp/testlog-drain-XXXXXX";
    int fd;

    cr_assert_not_null(mkdtemp(folder));
    run.path = folder;
    result = (struct test_log_result){
        .suite = (char *)"drain", .test = (char *)"one", .folder = (char *)"."};
    snprintf(file, sizeof(file), "%s/output.txt", folder);
    fd = capture(folder);
    cr_assert_geq(fd, 0);
    if (taken)
        close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    test_log_output_pipe_open(&run, &job);
    cr_assert_not_null(job.pipe);
    return fd;
}

static void end(void)
{
    test_log_output_pipe_close(&job);
    cr_expect_null(job.pipe);
    unlink(file);
    rmdir(run.path);
}

TestSuite(harness_output_pipe, .fini = end);

static off_t size_of_file(void)
{
    struct stat status = {0};

    return stat(file, &status) ? -1 : status.st_size;
}

Test(harness_output_pipe, moves_printed_text_to_the_file)
{
    int fd = begin();

    cr_assert_eq(write(fd, "hello\n", 6), 6);
    cr_expect(test_log_output_pipe_pump(&job));
    cr_expect_eq(size_of_file(), 6);
    cr_assert_eq(write(fd, "more\n", 5), 5);
    close(fd);
    cr_expect_not(test_log_output_pipe_pump(&job));
    cr_expect_eq(size_of_file(), 11);
}

Test(harness_output_pipe, keeps_output_up_to_the_file_size_limit)
{
    struct rlimit limit = {10, 10};
    int fd = begin();

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_assert_eq(write(fd, "0123456789abc", 13), 13);
    test_log_output_pipe_pump(&job);
    cr_assert_eq(write(fd, "more", 4), 4);
    test_log_output_pipe_pump(&job);
    cr_expect_eq(size_of_file(), 10);
    cr_expect_eq(test_log_file_limit(), 10);
}

/* A test may have created a file with the name of the output. */
Test(harness_output_pipe, reports_why_output_is_not_kept)
{
    char text[256] = "";
    int fd, printed[2];

    taken = true;
    fd = begin();
    cr_assert_eq(write(fd, "hello\n", 6), 6);
    cr_assert_eq(pipe(printed), 0);
    dup2(printed[1], STDERR_FILENO);
    test_log_output_pipe_finish(&job);
    cr_assert_gt(read(printed[0], text, sizeof(text) - 1), 0);
    cr_expect_str_eq(text, "testlog: drain/one: cannot keep all of its output: "
                           "File exists\n");
    cr_expect_eq(size_of_file(), 0);
}

Test(harness_output_pipe, leaves_no_fifo_behind)
{
    char path[PATH_MAX];

    begin();
    snprintf(path, sizeof(path), "%s/output.pipe", run.path);
    cr_expect_neq(access(path, F_OK), 0);
}
