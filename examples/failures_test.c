/* failures_test.c: tests that fail, crash and hang on purpose.
 *
 * `make demo-failures` runs them. Every test is named after what it does. The
 * run shows its log lines and the spans that it was in, however it ended.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "pool.h"
#include "store.h"

TEST_LOG(failures, passes)
{
    log_info("nothing to see here");
}

TEST_LOG(failures, passes_in_a_span)
{
    trace_span(INFO, "calm");

    cr_assert(true);
}

static void assert_red(struct store *store, const char *key)
{
    trace_function(INFO, (key));

    char *value = store_get(store, key);

    log_debug("%s is %s", key, value);
    cr_assert_str_eq(value, "red", "a %s should be red", key);
    free(value);
}

TEST_LOG(failures, assert_fails_in_nested_spans)
{
    struct store *store = store_new(2);

    trace_span(INFO, "outer", ("pairs", 2));
    store_put(store, "fox", "red");
    store_put(store, "bear", "brown");
    assert_red(store, "fox");
    assert_red(store, "bear");
    log_error("never reached");
}

TEST_LOG(failures, expect_fails_and_goes_on)
{
    cr_expect_eq(1 + 1, 3);
    log_info("still here");
    cr_expect_str_eq("red", "blue");
}

static int *volatile nowhere;

static void write_nowhere(void)
{
    trace_function(WARN, ("address", nowhere));

    *nowhere = 1;
}

TEST_LOG(failures, segfaults_with_unflushed_output)
{
    trace_span(INFO, "outer");

    printf("a line of output\nand one that never ended");
    write_nowhere();
}

TEST_LOG(failures, aborts)
{
    trace_span(INFO, "inner");

    fprintf(stderr, "giving up\n");
    abort();
}

static void hang(void *unused)
{
    trace_function(INFO, (unused));

    log_warn("this takes forever");
    for (;;)
        pause();
}

TEST_LOG(failures, hangs_in_a_span, .timeout = 1)
{
    hang(NULL);
}

TEST_LOG(failures, hangs_in_a_thread, .timeout = 1)
{
    struct pool *pool = pool_new(2);

    trace_span(INFO, "waiting for Godot");
    pool_submit(pool, hang, NULL);
    pool_wait(pool);
}

TEST_LOG(failures, exits_with_3)
{
    printf("left to exit to flush");
    exit(3);
}

TEST_LOG(failures, exits_at_once_with_4)
{
    trace_span(INFO, "leaving");

    printf("still in the buffer\n"); /* if stdout were a file */
    _exit(4);
}

TEST_LOG(failures, kills_itself)
{
    trace_span(INFO, "last words", ("pid", getpid()));

    log_info("nobody can handle SIGKILL");
    kill(getpid(), SIGKILL);
}

ParameterizedTestParameters(failures, instance_7_of_12_fails)
{
    static int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

    return cr_make_param_array(int, numbers,
                               sizeof(numbers) / sizeof(numbers[0]));
}

PARAMETERIZED_TEST_LOG(int *number, failures, instance_7_of_12_fails)
{
    log_info("trying %d", *number);
    cr_assert_neq(*number, 7);
}

TheoryDataPoints(failures, one_data_point_fails) = {
    DataPoints(int, 12, 18),
    DataPoints(int, 1, 2, 4),
};

THEORY_LOG((int number, int divisor), failures, one_data_point_fails)
{
    trace_event(DEBUG, "dividing", (number), (divisor));
    cr_assert_eq(number % divisor, 0);
}

TEST_LOG(failures, crashes_in_init, .init = write_nowhere)
{
    log_error("never reached");
}

TEST_LOG(failures, crashes_in_fini, .fini = write_nowhere)
{
    log_info("the test itself is fine");
}

TEST_LOG(failures, is_skipped)
{
    log_info("a test may log before it is skipped");
    cr_skip_test("it has better things to do");
}
