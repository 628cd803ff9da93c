/* unsteady.c: tests that pass only sometimes, and tests that never end. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <testlog/test_log.h>

/* Counts something in a file; returns how often it was counted. */
static long count(const char *name)
{
    FILE *file = fopen(name, "ae");
    long size;

    cr_assert_not_null(file);
    fputc('x', file);
    fflush(file);
    size = ftell(file);
    fclose(file);
    return size;
}

static void hang(void)
{
    for (;;)
        pause();
}

TEST_LOG(unsteady, passes)
{
    log_info("steady");
}

TEST_LOG(unsteady, second_try)
{
    log_info("one more");
    cr_assert_geq(count("tries"), 2, "too early");
}

TEST_LOG(unsteady, second_crash)
{
    if (count("crashes") < 2)
        raise(SIGKILL);
}

TEST_LOG(unsteady, never)
{
    cr_assert(0, "as always");
}

ParameterizedTestParameters(unsteady, sizes)
{
    static int sizes[] = {1, 2, 3};

    return cr_make_param_array(int, sizes, 3);
}

PARAMETERIZED_TEST_LOG(int *size, unsteady, sizes)
{
    cr_assert(*size != 2 || count("sizes") >= 2, "size %d", *size);
}

TEST_LOG(waits, for_ever)
{
    FILE *file = fopen("child", "we");
    pid_t child = fork();

    trace_span(INFO, "waiting", ("for", "Godot"));
    if (!child) {
        alarm(120); /* nobody kills it if SIGPROF ends its parent */
        hang();
    }
    fprintf(file, "%ld", (long)child);
    fclose(file);
    count("ready");
    hang();
}

TEST_LOG(waits, and_blocks_all_signals)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    hang();
}

Test(waits, unannotated)
{
    hang();
}

TEST_LOG(waits, never_begins)
{
    count("begun");
}
