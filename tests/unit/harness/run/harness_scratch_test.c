/* harness_scratch_test.c: finds, copies and rescues scratch folders. */
#include "harness/machine/notice.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

TestSuite(harness_scratch, .init = runs_begin, .fini = runs_end);

#define RUN     "2026-11-21T02-08-30.000001"
#define SCRATCH "testlog-scratch-abcdef/" RUN

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool exists(const char *name)
{
    return !access(test_path(name), F_OK);
}

static const char *host(void)
{
    static struct utsname name;

    uname(&name);
    return name.nodename;
}

/* Makes a run that a machine records in a folder. */
static void make_run(const char *machine, const char *folder)
{
    char text[PATH_MAX];

    mkdir(test_path("runs/" RUN), 0777);
    snprintf(text, sizeof(text), "%s\n%s\n", machine, folder);
    test_save(test_path("runs/" RUN "/scratch"), text, strlen(text));
}

/* Makes such a run and its scratch folder, with a file. */
static void make_killed_run(void)
{
    mkdir(test_path("testlog-scratch-abcdef"), 0700);
    mkdir(test_path(SCRATCH), 0700);
    mkdir(test_path(SCRATCH "/tests"), 0700);
    test_save(test_path(SCRATCH "/tests/file"), "x", 1);
    make_run(host(), test_path(SCRATCH));
}

/* ---- Where a run is recorded ---- */

static enum test_log_scratch_place place_of(char text[TEST_LOG_SCRATCH_SIZE])
{
    int run = open_folder(test_path("runs/" RUN));
    enum test_log_scratch_place place = test_log_scratch_of(run, text);

    cr_expect_eq(test_log_scratch_in_use(run),
                 place == TEST_LOG_SCRATCH_HERE ||
                     place == TEST_LOG_SCRATCH_ELSEWHERE);
    close(run);
    return place;
}

Test(harness_scratch, finds_the_folder_of_a_run)
{
    char text[TEST_LOG_SCRATCH_SIZE];

    make_killed_run();
    cr_expect_eq(place_of(text), TEST_LOG_SCRATCH_HERE);
    cr_expect_str_eq(text, test_path(SCRATCH));
    unlink(test_path("runs/" RUN "/scratch"));
    cr_expect_eq(place_of(text), TEST_LOG_SCRATCH_NONE);
}

Test(harness_scratch, names_another_machine)
{
    char text[TEST_LOG_SCRATCH_SIZE];

    make_run("elsewhere", "/tmp/" SCRATCH);
    cr_expect_eq(place_of(text), TEST_LOG_SCRATCH_ELSEWHERE);
    cr_expect_str_eq(text, "elsewhere:/tmp/" SCRATCH);
}

/* Whoever can write to the shared folder may name any other folder. */
Test(harness_scratch, follows_only_scratch_folders)
{
    char text[TEST_LOG_SCRATCH_SIZE];

    make_run(host(), test_path("runs"));
    cr_expect_eq(place_of(text), TEST_LOG_SCRATCH_GONE);
    make_killed_run();
    cr_assert_eq(symlink(SCRATCH, test_path("testlog-scratch-link")), 0);
    make_run(host(), test_path("testlog-scratch-link"));
    cr_expect_eq(place_of(text), TEST_LOG_SCRATCH_GONE);
}

static const char *const damaged[] = {
    "", "\n", "host", "host\n", "host\n/path", "host\nrelative\n",
};

Test(harness_scratch, ignores_a_damaged_file)
{
    char text[TEST_LOG_SCRATCH_SIZE];

    make_run("", "");
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
        test_save(test_path("runs/" RUN "/scratch"), damaged[i],
                  strlen(damaged[i]));
        cr_expect_eq(place_of(text), TEST_LOG_SCRATCH_NONE, "%s", damaged[i]);
    }
}

/* ---- Old runs ---- */

Test(harness_scratch, keeps_a_run_whose_folder_is_in_use)
{
    make_killed_run();
    cr_expect_eq(test_log_old_runs_remove(runs_dir, RUN), -1);
    cr_expect_eq(errno, EBUSY);
    make_run("elsewhere", "/tmp/" SCRATCH);
    cr_expect(test_log_old_runs_in_progress(runs_dir, RUN));
    cr_expect_eq(test_log_old_runs_remove(runs_dir, RUN), -1);
    cr_expect_eq(errno, EBUSY);
    make_run(host(), "/tmp/testlog-scratch-gone/" RUN);
    cr_expect_not(test_log_old_runs_in_progress(runs_dir, RUN));
    cr_expect_eq(test_log_old_runs_remove(runs_dir, RUN), 0);
    cr_expect_not(exists("runs/" RUN));
}

Test(harness_scratch, rescues_a_run_that_was_killed)
{
    make_killed_run();
    test_log_scratch_rescue(runs_dir, "runs");
    fflush(test_log_out);
    cr_expect_not_null(strstr(runs_printed,
                              "runs/" RUN " was killed; it has been "
                              "moved there from "),
                       "%s", runs_printed);
    cr_expect(exists("runs/" RUN "/tests/file"));
    cr_expect_not(exists("runs/" RUN "/scratch"));
    cr_expect_not(exists("testlog-scratch-abcdef"));
}

Test(harness_scratch, rescues_no_run_in_progress)
{
    struct test_log_run run = {.path = NULL};

    make_killed_run();
    run.folder = open_folder(test_path("runs/" RUN));
    test_log_old_runs_hold(&run);
    test_log_scratch_rescue(runs_dir, "runs");
    cr_expect(exists(SCRATCH "/tests/file"));
    cr_expect(exists("runs/" RUN "/scratch"));
    test_log_run_free(&run);
}

/* A program of testlog run may live a little longer than that. */
Test(harness_scratch, rescues_no_run_that_a_program_writes_to)
{
    struct test_log_run run = {.path = NULL};

    make_killed_run();
    run.folder = open_folder(test_path(SCRATCH));
    test_log_old_runs_hold(&run);
    test_log_scratch_rescue(runs_dir, "runs");
    cr_expect(exists(SCRATCH "/tests/file"));
    test_log_run_free(&run);
    test_log_scratch_rescue(runs_dir, "runs");
    cr_expect(exists("runs/" RUN "/tests/file"));
}

/* ---- Copying ---- */

enum { LARGE = 64 << 20, AT = 32 << 20 };

/* A recording that was killed has large holes. */
Test(harness_scratch, copies_files_with_holes)
{
    int from = open_folder(test_path(".")), to, fd;
    struct stat status;
    char *text;
    size_t size;

    mkdir(test_path("to"), 0700);
    to = open_folder(test_path("to"));
    fd = open(test_path("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_eq(ftruncate(fd, LARGE), 0);
    cr_assert_eq(pwrite(fd, "text", 4, AT), 4);
    close(fd);
    cr_assert_eq(test_log_copy_file(from, to, "file"), 0);
    cr_assert_eq(stat(test_path("to/file"), &status), 0);
    cr_expect_eq(status.st_size, LARGE);
    cr_expect_lt(status.st_blocks, 1024, "%ld", (long)status.st_blocks);
    text = test_load(test_path("to/file"), &size);
    cr_expect_str_eq(text + AT, "text");
    close(from);
    close(to);
}

Test(harness_scratch, copies_no_links_and_devices)
{
    struct test_log_left left = {.count = 0};
    int from, to;

    mkdir(test_path("from"), 0700);
    mkdir(test_path("from/below"), 0700);
    mkdir(test_path("to"), 0700);
    from = open_folder(test_path("from"));
    to = open_folder(test_path("to"));
    test_save(test_path("from/below/file"), "x", 1);
    test_save(test_path("from/last"), "x", 1);
    cr_assert_eq(symlink("/etc/passwd", test_path("from/below/link")), 0);
    cr_assert_eq(mkfifo(test_path("from/pipe"), 0600), 0);
    cr_assert_eq(test_log_copy_tree(from, to, "last", &left), 0);
    cr_expect_eq(left.count, 2);
    cr_expect(!strcmp(left.first, "link") || !strcmp(left.first, "pipe"));
    cr_expect(exists("to/below/file"));
    cr_expect(exists("to/last"));
    cr_expect_not(exists("to/below/link"));
    cr_expect_not(exists("to/pipe"));
    close(from);
    close(to);
}

Test(harness_scratch, calls_the_temporary_folder_local)
{
    int folder = open_folder(test_path("."));
    const char *kind = test_log_shared_kind(folder);

    if (kind)
        cr_skip_test("the temporary folder is on %s", kind);
    cr_expect_not(exists(".testlog-probe"));
    cr_expect_not_null(test_log_shared_local());
    close(folder);
}
