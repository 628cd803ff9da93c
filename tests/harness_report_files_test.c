/* harness_report_files_test.c: which results are written, where and by whom. */
#include "harness/results/notice.h"
#include "harness/results/writers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support.h"

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
    struct test_log_report output = {format, file, "--report"};

    cr_assert_eq(test_log_report_add(&options, output), 0);
}

static void expect_begins(const char *name, const char *begins)
{
    char *text = test_load(test_path(name), NULL);

    cr_expect(!strncmp(text, begins, strlen(begins)), "%s: %s", name, text);
    free(text);
}

static bool is_there(const char *name)
{
    return !access(test_path(name), F_OK);
}

Test(harness_report_files, every_run_has_its_tap)
{
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("results.tap", "TAP version 14\n1..0");
}

Test(harness_report_files, files_are_written_as_they_were_asked_for)
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

Test(harness_report_files, without_a_folder_they_are_written_too)
{
    free(run.path);
    run.path = NULL;
    add(TEST_LOG_REPORT_TAP, test_path("a"));
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("a", "TAP version 14\n");
}

Test(harness_report_files, part_of_a_run_writes_none)
{
    add(TEST_LOG_REPORT_TAP, test_path("a"));
    run.parent.part = true;
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    cr_expect_not(is_there("a") || is_there("results.tap"));
}

Test(harness_report_files, file_that_cannot_be_written_is_named)
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

Test(harness_report_files, full_disk_is_said)
{
    if (access("/dev/full", W_OK))
        cr_skip_test("/dev/full is not here");
    add(TEST_LOG_REPORT_TAP, "/dev/full");
    test_log_reports_begin(&run, &options, false);
    test_log_reports_write(&run, &options);
    expect_begins("out", "testlog: cannot write /dev/full (--report): No space "
                         "left on device");
}

Test(harness_report_files, pipe_is_written_to_and_stays_a_pipe)
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

/* In a child, for it is Criterion's stdout too. */
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

Test(harness_report_files, stdout_is_for_the_report_while_tests_run)
{
    cr_assert_eq(test_child(report_on_stdout), 0);
    expect_begins("stderr", "of a test\n");
    expect_begins("stdout", "TAP version 14\n1..0 # SKIP no test ran\n# run: ");

    char *text = test_load(test_path("stdout"), NULL);

    cr_expect_not_null(strstr(text, "\nclosing\n"));
    free(text);
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

Test(harness_report_files, programs_are_lent_the_stdout_that_scripts_lack)
{
    cr_assert_eq(test_child(lend), 7 << 8);
    expect_begins("stderr", "script\n");
    expect_begins("stdout", "program\n");
}

static void borrow(void)
{
    to_file("stderr", STDOUT_FILENO);
    run.parent.output = to_file("stdout", 9);
    run.parent.part = true;
    add(TEST_LOG_REPORT_JSONL, "-");
    test_log_reports_begin(&run, &options, false);
    if (test_log_reports_stdout() != 9 || !(fcntl(9, F_GETFD) & FD_CLOEXEC))
        _exit(1);
    test_log_reports_write(&run, &options);
    print("closing\n");
    _exit(test_log_reports_stdout() == STDOUT_FILENO ? 0 : 2);
}

Test(harness_report_files, program_gives_back_what_it_was_lent)
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

/* Two streams have no order, so commands could not be kept apart. */
Test(harness_report_files, github_gets_what_tests_print_on_one_stream)
{
    cr_assert_eq(test_child(github), 0);
    expect_begins("stderr", "of a test\n");
    expect_begins("stdout", "closing\n");
}

Test(harness_report_files, programs_apart_are_told_and_so_is_who_misses_a_file)
{
    add(TEST_LOG_REPORT_TAP, "a.tap");
    add(TEST_LOG_REPORT_JSONL, "-");
    test_log_reports_apart(&options);
    expect_begins("out", "testlog: without a folder for the run there is no "
                         "a.tap (--report)\n");
}
