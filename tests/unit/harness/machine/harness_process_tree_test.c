/* harness_process_tree_test.c: which processes a test has started. */
#include "harness/machine/process_tree.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_tree tree;
static struct test_log_run run;
static pid_t worker;
static int ready[2];

static void live(const char *name)
{
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_PDEATHSIG, 0);
    if (write(ready[1], "x", 1) != 1)
        _exit(1);
    alarm(60);
    for (;;)
        pause();
}

static void be_worker(void)
{
    siginfo_t end;
    pid_t zombie;

    setpgid(0, 0);
    if (!fork())
        live("child");
    zombie = fork();
    if (!zombie)
        _exit(0);
    waitid(P_PID, (id_t)zombie, &end, WEXITED | WNOWAIT);
    if (!fork()) {
        if (!fork())
            live("grandchild");
        live("child");
    }
    live("worker");
}

static void await(size_t count)
{
    char byte;

    while (count--)
        cr_assert_eq(read(ready[0], &byte, 1), 1);
}

static void begin(void)
{
    cr_assert_eq(pipe(ready), 0);
    worker = fork();
    if (!worker)
        be_worker();
    await(4);
    test_log_tree_begin(&tree, &run, worker);
    tree.boxfort[0] = '\0'; /* our own worker has the same */
}

static void end(void)
{
    kill(-worker, SIGKILL);
    waitpid(worker, NULL, 0);
    test_log_tree_free(&tree);
}

TestSuite(harness_process_tree, .init = begin, .fini = end, .timeout = 60);

Test(harness_process_tree, finds_children_and_theirs)
{
    struct trace_text names = {0};

    test_log_tree_find(&tree);
    test_log_tree_names(&names, &tree);
    cr_expect_eq(tree.count, 3, "%s", names.data);
    cr_expect(strstr(names.data, " (child)"), "%s", names.data);
    cr_expect(strstr(names.data, " (grandchild)"), "%s", names.data);
    trace_text_free(&names);
}

Test(harness_process_tree, finds_orphans)
{
    test_log_tree_find(&tree);
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    test_log_tree_find(&tree);
    cr_expect_eq(tree.count, 3);
    kill(tree.all[0].pid, SIGKILL);
    for (int i = 0; i < 1000 && tree.count > 2; i++) {
        usleep(10000);
        test_log_tree_find(&tree);
    }
    cr_expect_eq(tree.count, 2);
}

/* Another process has the worker's id. */
Test(harness_process_tree, trusts_no_id_that_was_reused)
{
    tree.worker.started--;
    test_log_tree_find(&tree);
    cr_expect_eq(tree.count, 0);
}

Test(harness_process_tree, spares_a_debugger)
{
    test_log_tree_find(&tree);
    tree.debugger = tree.all[0].pid;
    test_log_tree_find(&tree);
    cr_expect_leq(tree.count, 2);
}

Test(harness_process_tree, names_at_most_three)
{
    struct test_log_process all[5] = {{1, 0, "a"}, {2, 0, "b"}, {3, 0, "c"}};
    struct test_log_tree large = {.all = all, .count = 5};
    struct trace_text names = {0};

    test_log_tree_names(&names, &large);
    cr_expect_str_eq(names.data, "1 (a), 2 (b), 3 (c) and 2 more");
    trace_text_free(&names);
}

/* One ignores SIGTERM. */
Test(harness_process_tree, ends_all_once_the_worker_is_dead)
{
    int status = 0;
    pid_t stubborn = fork();

    if (!stubborn) {
        setpgid(0, worker);
        signal(SIGTERM, SIG_IGN);
        live("stubborn");
    }
    await(1);
    test_log_tree_end(&tree, "s/test");
    tree = (struct test_log_tree){.count = 0};
    test_log_trees_check(1);
    cr_expect_eq(waitpid(stubborn, &status, WNOHANG), 0);
    kill(worker, SIGKILL);
    test_log_trees_finish();
    cr_expect_eq(waitpid(stubborn, &status, 0), stubborn);
    cr_expect_eq(WTERMSIG(status), SIGKILL);
}
