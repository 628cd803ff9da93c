/* harness_capture_test.c: where a test's output goes. */
#include "harness/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

TestSuite(harness_capture, .init = test_folder, .timeout = 60);

static int out, error; /* what they are without capture */

/* Captures into a folder while `print` runs. Assertions need the old stderr. */
static void capture(const char *folder, bool piped, void (*print)(void))
{
    fflush(NULL);
    out = dup(STDOUT_FILENO);
    error = dup(STDERR_FILENO);
    test_log_capture(folder, piped);
    print();
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
}

static bool same_file(int one, int other)
{
    struct stat a, b;

    return !fstat(one, &a) && !fstat(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static bool unchanged;

static void compare(void)
{
    unchanged =
        same_file(out, STDOUT_FILENO) && same_file(error, STDERR_FILENO);
}

static void print_both(void)
{
    printf("first\n");
    fflush(stdout);
    fprintf(stderr, "second\n");
    printf("third\n");
}

static void expect_text(const char *name, const char *text)
{
    cr_expect_str_eq(test_load(test_path(name), NULL), text);
}

Test(harness_capture, both_streams_go_to_one_file_in_order)
{
    capture(test_path(""), false, print_both);
    expect_text("output.txt", "first\nsecond\nthird\n");
}

/* stdout and stderr share an offset that programs may set back. */
static void print_from_the_beginning(void)
{
    dprintf(STDOUT_FILENO, "first\n");
    lseek(STDERR_FILENO, 0, SEEK_SET);
    dprintf(STDERR_FILENO, "second\n");
}

Test(harness_capture, output_never_overwrites_output)
{
    capture(test_path(""), false, print_from_the_beginning);
    expect_text("output.txt", "first\nsecond\n");
}

Test(harness_capture, earlier_output_stays_outside)
{
    int kept = dup(STDOUT_FILENO);
    int file = open(test_path("before"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    cr_assert_geq(file, 0);
    fflush(NULL);
    dup2(file, STDOUT_FILENO);
    printf("buffered\n");
    test_log_capture(test_path(""), false);
    dup2(kept, STDOUT_FILENO);
    expect_text("before", "buffered\n");
    expect_text("output.txt", "");
}

Test(harness_capture, missing_folder_changes_nothing)
{
    capture(test_path("missing"), false, compare);
    cr_expect(unchanged);
    capture(test_path("missing"), true, compare);
    cr_expect(unchanged);
}

/* Another test may have put it there. */
Test(harness_capture, never_writes_to_a_file_that_exists)
{
    test_save(test_path("output.txt"), "other\n", 6);
    capture(test_path(""), false, compare);
    cr_expect(unchanged);
    expect_text("output.txt", "other\n");
}

Test(harness_capture, follows_no_link)
{
    cr_assert_eq(symlink(test_path("target"), test_path("output.txt")), 0);
    cr_assert_eq(mkdir(test_path("folder"), 0700), 0);
    cr_assert_eq(symlink(test_path("folder"), test_path("link")), 0);
    capture(test_path(""), false, compare);
    cr_expect(unchanged);
    capture(test_path("link"), false, compare);
    cr_expect(unchanged);
    cr_expect_neq(access(test_path("target"), F_OK), 0);
    cr_expect_neq(access(test_path("folder/output.txt"), F_OK), 0);
}

static int reader;

static void print_to_the_pipe(void)
{
    reader = open(test_path(TEST_LOG_OUTPUT_PIPE),
                  O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    print_both();
}

Test(harness_capture, pipe_carries_the_output_to_a_reader)
{
    char text[64] = "";

    capture(test_path(""), true, print_to_the_pipe);
    cr_assert_geq(reader, 0);
    cr_expect_eq(read(reader, text, sizeof(text) - 1), 19);
    cr_expect_str_eq(text, "first\nsecond\nthird\n");
    cr_expect_eq(read(reader, text, sizeof(text)), 0, "nobody else writes");
    cr_expect_neq(access(test_path("output.txt"), F_OK), 0);
}

static bool waits;

static void see_whether_writing_waits(void)
{
    waits = !(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK);
}

Test(harness_capture, writing_to_the_pipe_waits_for_room)
{
    capture(test_path(""), true, see_whether_writing_waits);
    cr_expect(waits);
}

Test(harness_capture, pipe_that_exists_is_not_used)
{
    cr_assert_eq(mkfifo(test_path(TEST_LOG_OUTPUT_PIPE), 0600), 0);
    capture(test_path(""), true, compare);
    cr_expect(unchanged);
}

Test(harness_capture, lines_go_to_a_copy_of_stderr)
{
    int fd = test_log_line_output();

    cr_expect_geq(fd, 200);
    cr_expect(same_file(fd, STDERR_FILENO));
    cr_expect_neq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

Test(harness_capture, lines_go_to_stderr_without_a_free_descriptor)
{
    struct rlimit before, limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 100;
    setrlimit(RLIMIT_NOFILE, &limit);
    cr_expect_eq(test_log_line_output(), STDERR_FILENO);
    setrlimit(RLIMIT_NOFILE, &before);
}
