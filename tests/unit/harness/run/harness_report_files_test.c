/* harness_report_files_test.c: which reports are written, where, and by which
 * process. */
#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_output options;

static void begin(void)
{
    test_folder();
    test_log_out = fopen(test_path("out"), "we");
    cr_assert_not_null(test_log_out);
    unsetenv("GITHUB_ACTIONS");
    run.path = strdup(test_path("."));
}

static void end(void)
{
    test_log_run_free(&run);
    free(options.reports);
    fclose(test_log_out);
}

TestSuite(harness_report_files, .init = begin, .fini = end);

static void add(enum test_log_report_format format, const char *file)
{
    struct test_log_report output = {format, file, "--report", false};

    cr_assert_eq(test_log_report_add(&options, output), 0);
}

static void expect_begins(const char *name, const char *begins)
{
    char *text = test_load(test_path(name), NULL);

    cr_expect(!strncmp(text, begins, strlen(begins)), "%s: %s", name, text);
}

static bool is_there(const char *name)
{
    return !access(test_path(name), F_OK);
}

Test(harness_report_files, writes_tap_for_every_run)
{
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("results.tap", "TAP version 14\n1..0");
}

Test(harness_report_files, writes_the_requested_files)
{
    add(TEST_LOG_REPORT_TAP, test_path("a"));
    add(TEST_LOG_REPORT_JUNIT, test_path("b"));
    add(TEST_LOG_REPORT_TAP, test_path("c"));
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("a", "TAP version 14\n");
    expect_begins("b", "<?xml version=\"1.0\"");
    expect_begins("c", "TAP version 14\n");
    expect_begins("out", "");
}

Test(harness_report_files, writes_requested_files_without_a_folder)
{
    free(run.path);
    run.path = NULL;
    add(TEST_LOG_REPORT_TAP, test_path("a"));
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("a", "TAP version 14\n");
}

Test(harness_report_files, writes_nothing_as_a_part_of_a_run)
{
    add(TEST_LOG_REPORT_TAP, test_path("a"));
    run.role = TEST_LOG_ROLE_APART;
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    cr_expect_not(is_there("a") || is_there("results.tap"));
}

Test(harness_report_files, names_a_file_that_cannot_be_written)
{
    add(TEST_LOG_REPORT_TAP, "/dev/null/at/all");
    add(TEST_LOG_REPORT_JUNIT, test_path("b"));
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("out",
                  "testlog: cannot write /dev/null/at/all (--report): Not "
                  "a directory; results are not affected\n");
    expect_begins("b", "<?xml");
}

Test(harness_report_files, reports_a_full_disk)
{
    if (access("/dev/full", W_OK))
        cr_skip_test("no /dev/full");
    add(TEST_LOG_REPORT_TAP, "/dev/full");
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("out", "testlog: cannot write /dev/full (--report): No space "
                         "left on device");
}

Test(harness_report_files, writes_to_a_pipe_without_replacing_it)
{
    char bytes[16] = "";
    struct stat status;
    int fd;

    cr_assert_eq(mkfifo(test_path("pipe"), 0666), 0);
    fd = open(test_path("pipe"), O_RDWR | O_CLOEXEC);
    add(TEST_LOG_REPORT_TAP, test_path("pipe"));
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    cr_expect_eq(read(fd, bytes, 14), 14);
    cr_expect_str_eq(bytes, "TAP version 14");
    cr_expect_eq(stat(test_path("pipe"), &status), 0);
    cr_expect(S_ISFIFO(status.st_mode));
    close(fd);
}

/* ---- stdout ---- */

static int to_file(const char *name, int fd)
{
    int file =
        open(test_path(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    return dup2(file, fd);
}

static void print(const char *text)
{
    cr_assert_eq(write(STDOUT_FILENO, text, strlen(text)),
                 (ssize_t)strlen(text));
}

/* Runs in a child, because Criterion uses stdout, too. */
static void report_on_stdout(void)
{
    to_file("stdout", STDOUT_FILENO);
    to_file("stderr", STDERR_FILENO);
    add(TEST_LOG_REPORT_TAP, "-");
    test_log_reports_begin(&run, &options, false);
    print("of a test\n");
    test_log_reports_write(&run, &options);
    print("closing\n");
    _exit(0);
}

Test(harness_report_files, keeps_stdout_for_the_report_while_tests_run)
{
    cr_assert_eq(test_child(report_on_stdout), 0);
    expect_begins("stderr", "of a test\n");
    expect_begins("stdout", "TAP version 14\n1..0 # SKIP no test ran\n# run: ");

    cr_expect_not_null(
        strstr(test_load(test_path("stdout"), NULL), "\nclosing\n"));
}

static void lend(void)
{
    char command[64];

    to_file("stdout", STDOUT_FILENO);
    to_file("stderr", STDERR_FILENO);
    add(TEST_LOG_REPORT_JSONL, "-");
    test_log_reports_begin(&run, &options, true);
    snprintf(command, sizeof(command),
             "echo script; echo program >/dev/fd/%d; exit 7",
             test_log_reports_kept());
    execlp("sh", "sh", "-c", command, NULL);
}

Test(harness_report_files, lends_stdout_to_programs_but_not_scripts)
{
    cr_assert_eq(test_child(lend), 7 << 8);
    expect_begins("stderr", "script\n");
    expect_begins("stdout", "program\n");
}

static void borrow(void)
{
    to_file("stderr", STDOUT_FILENO);
    run.parent.output = to_file("stdout", 9);
    run.role = TEST_LOG_ROLE_APART;
    add(TEST_LOG_REPORT_JSONL, "-");
    test_log_reports_begin(&run, &options, false);
    if (test_log_reports_stdout() != 9 || !(fcntl(9, F_GETFD) & FD_CLOEXEC))
        _exit(1);
    test_log_reports_write(&run, &options);
    print("closing\n");
    _exit(test_log_reports_stdout() == STDOUT_FILENO ? 0 : 2);
}

Test(harness_report_files, returns_a_borrowed_stdout)
{
    cr_assert_eq(test_child(borrow), 0);
    expect_begins("stderr", "closing\n");
    expect_begins("stdout", "");
}

static void github(void)
{
    to_file("stdout", STDOUT_FILENO);
    to_file("stderr", STDERR_FILENO);
    setenv("GITHUB_ACTIONS", "true", 1);
    test_log_reports_begin(&run, &options, false);
    print("of a test\n");
    test_log_reports_write(&run, &options);
    print("closing\n");
    _exit(0);
}

/* Two streams have no common order, so commands could not be told apart. */
Test(harness_report_files, prints_test_output_on_one_stream_for_github)
{
    cr_assert_eq(test_child(github), 0);
    expect_begins("stderr", "of a test\n");
    expect_begins("stdout", "closing\n");
}

Test(harness_report_files, reports_files_that_need_the_runs_folder)
{
    add(TEST_LOG_REPORT_TAP, "a.tap");
    add(TEST_LOG_REPORT_JSONL, "-");
    test_log_reports_apart(&options);
    expect_begins("out", "testlog: cannot write a.tap (--report): the run has "
                         "no folder\n");
}
