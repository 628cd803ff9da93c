/* harness_survivors_test.c: finds processes that outlive their test. */
#include "tests/support/support.h" /* defines TRACING */

#include "harness/run/folder/survivors.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct trace_text names;

static void begin(void)
{
    test_folder();
    test_record();
    trace_event(INFO, "parent");
}

static void end(void)
{
    trace_text_free(&names);
}

TestSuite(harness_survivors, .init = begin, .fini = end, .timeout = 60);

static void *record(void *name)
{
    trace_event(INFO, "of a thread");
    return name;
}

/* Starts a process called `name` that records on two threads and dies with
 * us. */
static pid_t start(const char *name)
{
    pid_t pid, parent = getpid();
    int ready[2];
    char byte;

    cr_assert_eq(pipe(ready), 0);
    pid = fork();
    cr_assert_geq(pid, 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, name);
        trace_event(INFO, "child");
        test_thread(record, NULL);
        if (getppid() != parent || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    return pid;
}

static void expect_survivors(size_t count, const char *text)
{
    struct trace_reader *reader = test_read();

    cr_expect_eq(test_log_survivors(&names, reader), count);
    cr_expect_str_eq(names.data ? names.data : "", text);
    cr_expect_eq(test_log_survivors(NULL, reader), count);
}

Test(harness_survivors, own_process_is_none)
{
    expect_survivors(0, "");
}

Test(harness_survivors, names_a_living_process_once)
{
    char text[64];

    snprintf(text, sizeof(text), "%d (daemon)", (int)start("daemon"));
    expect_survivors(1, text);
}

Test(harness_survivors, finds_a_process_with_a_confusing_name)
{
    char text[64];

    snprintf(text, sizeof(text), "%d (a) Z 1 (b)", (int)start("a) Z 1 (b"));
    expect_survivors(1, text);
}

Test(harness_survivors, leaves_out_dead_processes)
{
    pid_t pid = start("dead");

    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    expect_survivors(0, "");
}

/* Names may look like the fields of /proc/PID/stat. */
Test(harness_survivors, leaves_out_zombies_of_any_name)
{
    pid_t pid = start("a) S 1 (b");
    siginfo_t info;

    kill(pid, SIGKILL);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    expect_survivors(0, "");
}

Test(harness_survivors, counts_a_stopped_process)
{
    pid_t pid = start("stopped");
    char text[64];
    int status;

    kill(pid, SIGSTOP);
    cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
    snprintf(text, sizeof(text), "%d (stopped)", (int)pid);
    expect_survivors(1, text);
}

Test(harness_survivors, names_three_and_counts_the_others)
{
    char text[256];
    pid_t pids[5];

    for (size_t i = 0; i < 5; i++)
        pids[i] = start("daemon");
    snprintf(text, sizeof(text),
             "%d (daemon), %d (daemon), %d (daemon) and 2 more", (int)pids[0],
             (int)pids[1], (int)pids[2]);
    expect_survivors(5, text);
}
