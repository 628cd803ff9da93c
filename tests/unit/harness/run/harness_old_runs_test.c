/* harness_old_runs_test.c: which runs are removed, and which never are. */
#include "harness/machine/notice.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

TestSuite(harness_old_runs, .init = runs_begin, .fini = runs_end);

static void save(const char *name, const char *text)
{
    test_save(runs_path(name), text, strlen(text));
}

/* Makes a run with a test; `failed` < 0: it was killed. */
static const char *make(int number, int failed)
{
    const char *name = runs_name(number);
    char file[PATH_MAX], text[256];

    mkdir(runs_path(name), 0777);
    snprintf(file, sizeof(file), "%s/tests", name);
    mkdir(runs_path(file), 0777);
    snprintf(file, sizeof(file), "%s/tests/program", name);
    mkdir(runs_path(file), 0777);
    snprintf(file, sizeof(file), "%s/tests/program/output.txt", name);
    save(file, "output\n");
    snprintf(file, sizeof(file), "%s/run.json", name);
    snprintf(text, sizeof(text),
             "{\"schema\":1,\n\"command\":\"\\\"passed\\\":0\",\n"
             "\"passed\":7,\"failed\":%d,\"skipped\":0,\n\"tests\":[\n]}\n",
             failed);
    if (failed >= 0)
        save(file, text);
    return name;
}

static bool exists(int number)
{
    return !faccessat(runs_dir, runs_name(number), F_OK, AT_SYMLINK_NOFOLLOW);
}

static void prune(size_t keep)
{
    struct test_log_run run = {.path = (char *)runs_path(runs_name(99))};

    for (int i = 0; i < 10;
         i++) /* it takes two seconds of a slow disk at most */
        test_log_old_runs_prune(&run, test_path("runs"), keep);
    fflush(test_log_out);
}

Test(harness_old_runs, lists_the_latest_run_first)
{
    size_t count;
    char **names;

    make(2, 0);
    make(1, -1);
    make(3, 1);
    save("notes.txt", "");
    names = test_log_list_runs(runs_dir, true, &count);
    cr_assert_eq(count, 3);
    cr_expect_str_eq(names[0], runs_name(3));
    cr_expect_str_eq(names[1], runs_name(2));
    cr_expect_str_eq(names[2], runs_name(1));
    test_log_free_names(names, count);
}

Test(harness_old_runs, lists_no_runs_of_an_empty_folder)
{
    size_t count = 1;
    char **names = test_log_list_runs(runs_dir, true, &count);

    cr_assert(names);
    cr_expect_eq(count, 0);
    test_log_free_names(names, count);
}

Test(harness_old_runs, tells_failed_runs)
{
    cr_expect_not(test_log_old_runs_failed(runs_dir, make(1, 0)));
    cr_expect(test_log_old_runs_failed(runs_dir, make(2, 1)));
    cr_expect(test_log_old_runs_failed(runs_dir, make(3, -1)), "it was killed");
}

Test(harness_old_runs, keeps_the_last_runs)
{
    for (int i = 1; i <= 8; i++)
        make(i, 0);
    prune(3);
    for (int i = 1; i <= 8; i++)
        cr_expect_eq(exists(i), i > 5, "run %d", i);
    cr_expect_str_empty(runs_printed);
}

Test(harness_old_runs, keeps_older_runs_that_failed)
{
    for (int i = 1; i <= 20; i++)
        make(i, i % 2 ? 1 : 0);
    prune(2);
    for (int i = 1; i <= 20; i++)
        cr_expect_eq(exists(i), i > 18 || (i % 2 && i > 8), "run %d", i);
}

Test(harness_old_runs, keeps_all_with_0)
{
    for (int i = 1; i <= 30; i++)
        make(i, 0);
    prune(0);
    for (int i = 1; i <= 30; i++)
        cr_expect(exists(i));
}

Test(harness_old_runs, keeps_the_run_that_latest_names)
{
    make(1, 0);
    make(2, 0);
    make(3, 0);
    cr_assert_eq(symlinkat(runs_name(1), runs_dir, "latest"), 0);
    prune(1);
    cr_expect(exists(1));
    cr_expect_not(exists(2));
    cr_expect(exists(3));
}

Test(harness_old_runs, keeps_runs_in_progress)
{
    struct test_log_run run = {.start = {.wall = 1000}};

    make(1, 0);
    cr_assert_eq(test_log_run_open(&run, test_path("runs"), "/bin/program"), 0);
    make(2, 0);
    make(3, 0);
    prune(1);
    cr_expect_eq(access(run.path, F_OK), 0, "it has no run.json yet");
    cr_expect_eq(test_log_old_runs_remove(runs_dir, trace_base_name(run.path)),
                 -1);
    cr_expect_eq(errno, EBUSY);
    cr_expect_not(exists(1));

    char *path = strdup(run.path);

    test_log_run_free(&run);
    cr_expect_eq(test_log_old_runs_remove(runs_dir, trace_base_name(path)), 0);
    cr_expect_eq(access(path, F_OK), -1);
    free(path);
}

Test(harness_old_runs, keeps_a_run_that_another_program_joined)
{
    struct test_log_run run = {.parent = {.folder = runs_path(make(1, 0))}};

    cr_assert_eq(test_log_run_open(&run, test_path("runs"), "/bin/program"), 0);
    cr_expect_eq(test_log_old_runs_remove(runs_dir, runs_name(1)), -1);
    cr_expect_eq(errno, EBUSY);
    test_log_run_free(&run);
}

/* Entries of a folder that only resemble a run. */
Test(harness_old_runs, leaves_foreign_files)
{
    mkdir(test_path("other"), 0777);
    mkdir(test_path("other/tests"), 0777);
    test_save(test_path("other/run.json"), "", 0);
    cr_assert_eq(symlinkat("../other", runs_dir, runs_name(1)), 0);
    save(runs_name(2), "a file");
    mkdir(runs_path(runs_name(3)), 0777); /* empty: it begins now */
    mkdir(runs_path("2026-11-21"), 0777);
    mkdir(runs_path("2026-11-21/tests"), 0777);
    mkdir(runs_path("2026-11-21T02-08-30.000004.old"), 0777);
    mkdir(runs_path("2026-11-21T02-08-30.000004.old/tests"), 0777);
    make(5, 0);
    make(6, 0);
    prune(1);
    for (int i = 1; i <= 3; i++)
        cr_expect(exists(i), "%d", i);
    cr_expect_eq(access(test_path("other/run.json"), F_OK), 0);
    cr_expect_eq(access(runs_path("2026-11-21/tests"), F_OK), 0);
    cr_expect_eq(
        access(runs_path("2026-11-21T02-08-30.000004.old/tests"), F_OK), 0);
    cr_expect_not(exists(5));
    cr_expect_eq(test_log_old_runs_remove(runs_dir, runs_name(1)), -1);
    cr_expect_eq(test_log_old_runs_remove(runs_dir, "../other"), -1);
    cr_expect_eq(errno, EINVAL);
}

Test(harness_old_runs, removes_links_in_a_run_but_not_their_targets)
{
    char link[PATH_MAX];

    mkdir(test_path("other"), 0777);
    test_save(test_path("other/file"), "", 0);
    make(2, 0);
    snprintf(link, sizeof(link), "%s/tests/program/link", make(1, 0));
    cr_assert_eq(symlink(test_path("other"), runs_path(link)), 0);
    prune(1);
    cr_expect_not(exists(1));
    cr_expect_eq(access(test_path("other/file"), F_OK), 0);
}

Test(harness_old_runs, finishes_removals_that_were_interrupted)
{
    char aside[PATH_MAX];

    snprintf(aside, sizeof(aside), ".removing-%s", make(1, 0));
    cr_assert_eq(renameat(runs_dir, runs_name(1), runs_dir, aside), 0);
    prune(20);
    cr_expect_eq(access(runs_path(aside), F_OK), -1);
}

Test(harness_old_runs, prints_the_first_failure)
{
    char folder[PATH_MAX];
    int size = snprintf(folder, sizeof(folder), "%s/tests/program", make(1, 0));

    for (int i = 0; i < 70; i++) {
        size += snprintf(folder + size, sizeof(folder) - (size_t)size, "/a");
        cr_assert_eq(mkdir(runs_path(folder), 0777), 0);
    }
    make(2, 0);
    prune(1);
    cr_expect_not(exists(1), "it is not listed any more");
    cr_expect(strstr(runs_printed, "cannot remove the old run "));
    cr_expect(strstr(runs_printed, runs_name(1)));
    cr_expect(strstr(runs_printed, "; remove it yourself\n"));
}

Test(harness_old_runs, does_not_prune_for_parts_and_temporary_runs)
{
    struct test_log_run run = {.path = (char *)runs_path(runs_name(99)),
                               .role = TEST_LOG_ROLE_PART};

    make(1, 0);
    make(2, 0);
    test_log_old_runs_prune(&run, test_path("runs"), 1);
    run = (struct test_log_run){.path = (char *)"/tmp/testlog-abcdef"};
    test_log_old_runs_prune(&run, test_path("runs"), 1);
    cr_expect(exists(1));
}
