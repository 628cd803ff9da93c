/* harness_run_folder_test.c: the folders of a run. */
#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_run run;
static char printed[4096];

static void begin(void)
{
    test_folder();
    test_log_out = fmemopen(printed, sizeof(printed), "w");
    run.start = trace_anchor_now();
}

static void end(void)
{
    fclose(test_log_out);
    test_log_run_free(&run);
}

TestSuite(harness_run_folder, .init = begin, .fini = end);

static bool exists(const char *path)
{
    return !access(path, F_OK);
}

static void close_run(void)
{
    test_log_run_free(&run);
    run.start = trace_anchor_now();
}

Test(harness_run_folder, creates_folders_with_their_parents)
{
    cr_expect_eq(test_log_make_folders(test_path("a/b/c")), 0);
    cr_expect(exists(test_path("a/b/c")));
    cr_expect_eq(test_log_make_folders(test_path("a/b/c")), 0);
    cr_expect_eq(test_log_make_folders(test_path("a/b/d/")), 0);
    cr_expect(exists(test_path("a/b/d")));
}

Test(harness_run_folder, cannot_create_a_folder_below_a_file)
{
    char path[PATH_MAX + 2];

    test_save(test_path("file"), "", 0);
    cr_expect_eq(test_log_make_folders(test_path("file/below")), -1);
    cr_expect_eq(errno, ENOTDIR);
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    cr_expect_eq(test_log_make_folders(path), -1);
    cr_expect_eq(errno, ENAMETOOLONG);
}

/* Fills the stack with bytes, as an earlier call may. */
static __attribute__((noinline)) void fill_stack(void)
{
    volatile char bytes[4 * PATH_MAX];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 'x';
}

/* AddressSanitizer notices a read beyond the buffer. */
Test(harness_run_folder, refuses_a_folder_without_a_name)
{
    fill_stack();
    cr_expect_eq(test_log_make_folders(""), -1);
    cr_expect_eq(errno, ENOENT);
}

Test(harness_run_folder, joins_paths_up_to_the_limit)
{
    char path[PATH_MAX], name[PATH_MAX];

    run.path = strdup("/runs/one");
    cr_assert_eq(test_log_path(&run, "run.json", path), 0);
    cr_expect_str_eq(path, "/runs/one/run.json");
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cr_expect_eq(test_log_path(&run, name, path), -1);
    cr_expect_eq(errno, ENAMETOOLONG);
}

Test(harness_run_folder, finds_a_tests_files_in_its_folder)
{
    char folder[] = "tests/p/s.t", path[PATH_MAX];
    struct test_log_result result = {.folder = folder}, none = {0};

    run.path = strdup("/runs/one");
    cr_assert_eq(test_log_file(&run, &result, "log.txt", path), 0);
    cr_expect_str_eq(path, "/runs/one/tests/p/s.t/log.txt");
    cr_expect_eq(test_log_file(&run, &none, "log.txt", path), -1);
}

Test(harness_run_folder, names_a_run_by_its_start_in_utc)
{
    char latest[PATH_MAX] = "";
    const char *name;

    run.start.wall = UINT64_C(1234567890123456789);
    setenv("TZ", "Asia/Tokyo", 1);
    cr_assert_eq(test_log_run_open(&run, test_path("runs"), NULL), 0);
    name = strrchr(run.path, '/') + 1;
    cr_expect_str_eq(name, "2009-02-13T23-31-30.123456");
    cr_expect_gt(readlink(test_path("runs/latest"), latest, PATH_MAX - 1), 0);
    cr_expect_str_eq(latest, name);
    cr_expect_not(test_log_is_part(&run));
    cr_expect_null(run.program);
}

Test(harness_run_folder, separates_runs_of_the_same_microsecond)
{
    struct test_log_run other = {.start = run.start};

    cr_assert_eq(test_log_run_open(&run, test_path("runs"), NULL), 0);
    cr_assert_eq(test_log_run_open(&other, test_path("runs"), NULL), 0);
    cr_expect_str_neq(run.path, other.path);
    cr_expect(exists(run.path) && exists(other.path));
    test_log_run_free(&other);
}

Test(harness_run_folder, leaves_latest_alone_inside_a_test)
{
    run.parent.nested = true;
    cr_assert_eq(test_log_run_open(&run, test_path("runs"), NULL), 0);
    cr_expect_not(exists(test_path("runs/latest")));
}

Test(harness_run_folder, names_a_programs_folder_by_its_base_name)
{
    char path[PATH_MAX];

    cr_assert_eq(test_log_run_open(&run, test_path("runs"), "a/b/some_test"),
                 0);
    cr_expect_str_eq(run.program, "some_test");
    cr_assert_eq(test_log_path(&run, "tests/some_test", path), 0);
    cr_expect(exists(path));
}

Test(harness_run_folder, joins_a_given_run)
{
    static const char *const names[] = {"some_test", "some_test~2",
                                        "some_test~3"};
    char *folder = strdup(test_path(""));

    for (size_t i = 0; i < 3; i++) {
        run.parent.folder = folder;
        cr_assert_eq(test_log_run_open(&run, test_path("runs"), "./some_test"),
                     0);
        cr_expect(test_log_is_part(&run));
        cr_expect_str_eq(run.program, names[i]);
        close_run();
    }
    cr_expect(exists(test_path("tests/some_test~3")));
    cr_expect_not(exists(test_path("runs")));
    cr_expect_not(exists(test_path("latest")));
    free(folder);
}

Test(harness_run_folder, finds_the_first_free_folder)
{
    char *name;

    run.path = strdup(test_path(""));
    name = test_log_program_folder(&run, "/bin/p");
    cr_expect_str_eq(name, "p");
    free(name);
    test_log_make_folders(test_path("tests/p"));
    test_log_make_folders(test_path("tests/p~3"));
    name = test_log_program_folder(&run, "p");
    cr_expect_str_eq(name, "p~2");
    free(name);
}

Test(harness_run_folder, finds_a_free_number_after_thousands)
{
    char name[64], path[PATH_MAX];

    run.path = strdup(test_path(""));
    for (int i = 1; i <= 12345; i++) {
        snprintf(name, sizeof(name), i > 1 ? "p~%d" : "p", i);
        cr_assert_eq(test_log_local_path(&run, name, path), 0);
        cr_assert_eq(mkdir(path, 0777), 0);
    }
    cr_expect_eq(test_log_free_number(&run, "p"), 12346);
    memset(path, 'x', PATH_MAX - 1);
    path[PATH_MAX - 1] = '\0';
    cr_expect_eq(test_log_free_number(&run, path), 1);
}

Test(harness_run_folder, replaces_and_reports_an_unwritable_folder)
{
    test_save(test_path("file"), "", 0);
    test_log_make_folders(test_path("temporary"));
    setenv("TMPDIR", test_path("temporary"), 1);
    cr_assert_eq(test_log_run_open(&run, test_path("file/runs"), "p"), 0);
    cr_expect_eq(strncmp(run.path, test_path("temporary/testlog-"),
                         strlen(test_path("temporary/testlog-"))),
                 0, "%s", run.path);
    cr_expect(exists(run.path));
    fflush(test_log_out);
    cr_expect_not_null(strstr(printed, "testlog: cannot write to "), "%s",
                       printed);
    cr_expect_not_null(strstr(printed, "/file/runs: Not a directory; "), "%s",
                       printed);
    cr_expect_eq(strchr(printed, '\n'), printed + strlen(printed) - 1, "%s",
                 printed);
}

Test(harness_run_folder, fails_and_reports_if_no_folder_is_writable)
{
    test_save(test_path("file"), "", 0);
    setenv("TMPDIR", test_path("nothing"), 1);
    cr_expect_eq(test_log_run_open(&run, test_path("file/runs"), "p"), -1);
    fflush(test_log_out);
    cr_expect_not_null(strstr(printed, "this run keeps no logs and traces\n"),
                       "%s", printed);
}

static bool is_in(const char *path, const char *folder)
{
    char at[PATH_MAX], in[PATH_MAX];
    struct test_log_run one = {.path = at};

    snprintf(at, sizeof(at), "%s/%s", test_path("."), path);
    snprintf(in, sizeof(in), "%s/%s", test_path("."), folder);
    return test_log_run_is_in(&one, in);
}

/* Only such runs are remembered, removed and listed in index.html. */
Test(harness_run_folder, tells_whether_a_run_is_in_a_folder)
{
    const struct test_log_run nowhere = {.path = NULL};

    cr_assert_eq(mkdir(test_path("runs"), 0777), 0);
    cr_assert_eq(mkdir(test_path("other"), 0777), 0);
    cr_assert_eq(symlink("runs", test_path("link")), 0);
    cr_expect(is_in("runs/a", "runs"));
    cr_expect(is_in("runs/a/", "runs/"));
    cr_expect(is_in("other/../runs//a", "link"));
    cr_expect_not(is_in("other/a", "runs"));
    cr_expect_not(is_in("runs/a/b", "runs"));
    cr_expect_not(is_in("runs", "runs"));
    cr_expect_not(is_in("gone/a", "gone"));
    cr_expect_not(test_log_run_is_in(&nowhere, "."));
    cr_expect(
        test_log_run_is_in(&(struct test_log_run){.path = (char *)"a"}, "."));
    cr_expect(
        test_log_run_is_in(&(struct test_log_run){.path = (char *)"/a"}, "/"));
}
