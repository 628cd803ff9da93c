/* harness_run_order_test.c: the numbers of runs. */
#include "harness/machine/notice.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/run_order.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

TestSuite(harness_run_order, .init = runs_begin, .fini = runs_end,
          .timeout = 60);

static void save(const char *name, const char *text)
{
    test_save(runs_path(name), text, strlen(text));
}

/* Makes a run that has no number. */
static int make(int number)
{
    char tests[PATH_MAX];

    mkdir(runs_path(runs_name(number)), 0777);
    snprintf(tests, sizeof(tests), "%s/tests", runs_name(number));
    mkdir(runs_path(tests), 0777);
    return open(runs_path(runs_name(number)), O_PATH | O_DIRECTORY);
}

/* Begins a run and returns its number. */
static uint64_t take(int number)
{
    struct test_log_run run = {.path = (char *)"runs/new",
                               .folder = make(number)};
    uint64_t order;

    test_log_run_order_take(&run, runs_dir);
    fflush(test_log_out);
    order = test_log_run_order_of(run.folder);
    close(run.folder);
    return order;
}

/* Returns what a run with these bytes in its file has as its number. */
static uint64_t read_as(const char *text, size_t size)
{
    int folder = make(0);
    uint64_t order;
    char file[PATH_MAX];

    snprintf(file, sizeof(file), "%s/order", runs_name(0));
    test_save(runs_path(file), text, size);
    order = test_log_run_order_of(folder);
    close(folder);
    return order;
}

static void expect_latest_first(const int *numbers, size_t expected)
{
    size_t count;
    char **names = test_log_list_runs(runs_dir, true, &count);

    cr_assert_eq(count, expected);
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(names[i], runs_name(numbers[i]));
    test_log_free_names(names, count);
}

Test(harness_run_order, counts_runs)
{
    cr_expect_eq(take(9), 1);
    cr_expect_eq(take(3), 2);
    cr_expect_eq(take(5), 3);
    expect_latest_first((int[]){5, 3, 9}, 3);
    cr_expect_str_empty(runs_printed);
}

Test(harness_run_order, takes_runs_without_a_number_for_the_oldest)
{
    close(make(7));
    close(make(8));
    take(2);
    take(1);
    expect_latest_first((int[]){1, 2, 8, 7}, 4);
}

Test(harness_run_order, reads_only_what_it_writes)
{
    static const char *const bad[] = {
        "",
        "\n",
        "1",
        "0\n",
        "01\n",
        "-1\n",
        "+1\n",
        " 1\n",
        "1 \n",
        "1\n\n",
        "1\n2\n",
        "0x1\n",
        "1e3\n",
        "1\r\n",
        "one\n",
        "1000000000000000000\n",
        "18446744073709551615\n",
        "18446744073709551616\n",
        "99999999999999999999999999999999\n",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        cr_expect_eq(read_as(bad[i], strlen(bad[i])), 0, "%s", bad[i]);
    cr_expect_eq(read_as("1\0\n", 3), 0);
    cr_expect_eq(read_as("1\n", 2), 1);
    cr_expect_eq(read_as("999999999999999999\n", 19), 999999999999999999);
}

/* A FIFO would keep its reader waiting. */
Test(harness_run_order, follows_no_link_and_waits_for_no_fifo)
{
    char file[PATH_MAX];
    int folder = make(0);

    save("number", "5\n");
    snprintf(file, sizeof(file), "%s/order", runs_name(0));
    cr_assert_eq(symlinkat("../number", runs_dir, file), 0);
    cr_expect_eq(test_log_run_order_of(folder), 0);
    unlinkat(runs_dir, file, 0);
    cr_assert_eq(mkfifo(runs_path(file), 0666), 0);
    cr_expect_eq(test_log_run_order_of(folder), 0);
    unlinkat(runs_dir, file, 0);
    cr_assert_eq(mkdirat(runs_dir, file, 0777), 0);
    cr_expect_eq(test_log_run_order_of(folder), 0);
    close(folder);
}

Test(harness_run_order, goes_on_after_the_highest_if_the_counter_is_lost)
{
    static const char *const lost[] = {
        "", "0\n", "-3\n", "18446744073709551615\n", "3\n17\n", "3",
    };
    int number = 10;
    uint64_t last;

    take(--number);
    last = take(--number);
    for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
        save(".order", lost[i]);
        cr_expect_eq(take(--number), ++last, "%s", lost[i]);
    }
    cr_assert_eq(unlinkat(runs_dir, ".order", 0), 0);
    cr_expect_eq(take(--number), ++last);
    cr_expect_str_empty(runs_printed);
}

Test(harness_run_order, goes_on_after_the_highest_if_there_can_be_no_counter)
{
    take(9);
    unlinkat(runs_dir, ".order", 0);
    save("elsewhere", "7\n");
    cr_assert_eq(symlinkat("elsewhere", runs_dir, ".order"), 0);
    cr_expect_eq(take(8), 2);
    unlinkat(runs_dir, ".order", 0);
    cr_assert_eq(mkfifo(runs_path(".order"), 0666), 0);
    cr_expect_eq(take(7), 3);
    unlinkat(runs_dir, ".order", 0);
    cr_assert_eq(mkdirat(runs_dir, ".order", 0777), 0);
    cr_expect_eq(take(6), 4);
    expect_latest_first((int[]){6, 7, 8, 9}, 4);
    cr_expect_str_empty(runs_printed);
}

/* Another user's run may have been unable to write the counter. */
Test(harness_run_order, goes_on_after_the_latest_run)
{
    take(9);
    take(8);
    save(".order", "1\n");
    cr_assert_eq(symlinkat(runs_name(8), runs_dir, "latest"), 0);
    cr_expect_eq(take(7), 3);
}

Test(harness_run_order, reads_no_number_outside_of_the_folder)
{
    mkdir(test_path("other"), 0777);
    test_save(test_path("other/order"), "70\n", 3);
    cr_assert_eq(symlinkat("../other", runs_dir, "latest"), 0);
    cr_expect_eq(take(9), 1);
    unlinkat(runs_dir, "latest", 0);
    cr_assert_eq(symlinkat("there", runs_dir, "latest"), 0);
    cr_assert_eq(symlinkat("../other", runs_dir, "there"), 0);
    cr_expect_eq(take(8), 2);
}

Test(harness_run_order, survives_the_highest_number)
{
    char file[PATH_MAX];

    close(make(1));
    snprintf(file, sizeof(file), "%s/order", runs_name(1));
    save(file, "999999999999999999\n");
    cr_expect_eq(take(2), 999999999999999999);
    cr_expect_eq(take(3), 999999999999999999);
    expect_latest_first((int[]){3, 2, 1}, 3);
}

Test(harness_run_order, reports_a_number_that_it_cannot_write)
{
    struct rlimit none = {0, RLIM_INFINITY};

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    cr_expect_eq(take(1), 0);
    cr_expect_str_eq(runs_printed,
                     "testlog: cannot write runs/new/order: File too large; "
                     "testlog list and --keep count this run among the "
                     "oldest\n");
}

static void take_for_ever(int from)
{
    for (int i = from;; i++)
        take(i);
}

/* A process that dies may lose its own number, and no other. */
Test(harness_run_order, gives_each_run_its_own_number_whoever_is_killed)
{
    enum { PROCESSES = 8, RUNS = 200 };
    pid_t pids[PROCESSES], killed = fork();
    size_t count;
    char **names;
    uint64_t last = UINT64_MAX;

    if (!killed)
        take_for_ever(900000);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i])
            continue;
        for (int j = 0; j < RUNS / PROCESSES; j++)
            take(i * RUNS + j);
        _exit(0);
    }
    waitpid(pids[0], NULL, 0);
    kill(killed, SIGKILL);
    waitpid(killed, NULL, 0);
    for (int i = 1; i < PROCESSES; i++)
        waitpid(pids[i], NULL, 0);
    names = test_log_list_runs(runs_dir, true, &count);
    cr_assert_geq(count, RUNS);
    for (size_t i = 0; i < count; i++) {
        int folder = openat(runs_dir, names[i], O_PATH | O_DIRECTORY);
        uint64_t number = test_log_run_order_of(folder);

        close(folder);
        cr_expect(number < last || (!number && !last), "%s", names[i]);
        last = number;
    }
    test_log_free_names(names, count);
}
