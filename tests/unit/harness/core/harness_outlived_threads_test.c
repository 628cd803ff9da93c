/* harness_outlived_threads_test.c: threads that are there when their test
 * ends. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "harness/core/in_process.h"

TestSuite(harness_outlived_threads, .timeout = 60);

static void *wait_for(void *end)
{
    while (!__atomic_load_n((int *)end, __ATOMIC_SEQ_CST))
        usleep(100);
    return NULL;
}

static int ends[8];

static pthread_t start(int number)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, wait_for, &ends[number]), 0);
    return thread;
}

static void end(pthread_t thread, int number)
{
    __atomic_store_n(&ends[number], 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
}

Test(harness_outlived_threads, are_counted_once)
{
    pthread_t before = start(0), first, second;

    test_log_threads_begin();
    first = start(1);
    second = start(2);
    end(second, 2);
    cr_expect_eq(test_log_threads_end(), 1);
    test_log_threads_begin();
    cr_expect_eq(test_log_threads_end(), 0);
    test_log_threads_begin();
    start(3);
    start(4);
    cr_expect_eq(test_log_threads_end(), 2);
    end(first, 1);
    end(before, 0);
}

Test(harness_outlived_threads, are_none_without_threads)
{
    test_log_threads_begin();
    cr_expect_eq(test_log_threads_end(), 0);
}
