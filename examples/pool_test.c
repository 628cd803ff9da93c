/* pool_test.c: the pool's tests; it teaches spans across threads.
 *
 * Only the test's own thread may call cr_assert: it jumps to where the test
 * began, on that thread's stack. So jobs count and log, and the test asserts.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include <testlog/test_log.h>

#include "pool.h"
#include "store.h"

static void count(void *argument)
{
    atomic_size_t *counter = argument;

    log_trace("counted to %zu", atomic_fetch_add(counter, 1) + 1);
}

struct size {
    size_t threads, jobs;
};

ParameterizedTestParameters(pool, does_every_job)
{
    static struct size sizes[] = {{1, 0}, {1, 1}, {1, 100}, {4, 3}, {8, 100}};

    return cr_make_param_array(struct size, sizes,
                               sizeof(sizes) / sizeof(sizes[0]));
}

PARAMETERIZED_TEST_LOG(struct size *size, pool, does_every_job, .timeout = 10)
{
    struct pool *pool = pool_new(size->threads, 100);
    atomic_size_t counter = 0;

    cr_assert_not_null(pool);
    for (size_t i = 0; i < size->jobs; i++)
        pool_submit(pool, count, &counter);
    pool_wait(pool);
    cr_expect_eq(atomic_load(&counter), size->jobs);
    pool_free(pool);
}

/* A job that says when it runs and then waits to be let go. */
struct gate {
    sem_t reached, open;
};

static void wait_at_gate(void *argument)
{
    struct gate *gate = argument;

    sem_post(&gate->reached);
    sem_wait(&gate->open);
}

/* Its WARN line is shown; without this default, INFO and more would be. */
TEST_LOG_DEFAULT("warn", pool, refuses_what_does_not_fit, .timeout = 10)
{
    struct pool *pool = pool_new(1, 1);
    struct gate gate;

    sem_init(&gate.reached, 0, 0);
    sem_init(&gate.open, 0, 0);
    pool_submit(pool, wait_at_gate, &gate);
    sem_wait(&gate.reached); /* the queue is empty again */
    cr_expect_eq(pool_submit(pool, wait_at_gate, &gate), 0);
    cr_expect_eq(pool_submit(pool, wait_at_gate, &gate), -1);
    cr_expect_eq(errno, EAGAIN);
    sem_post(&gate.open);
    sem_post(&gate.open);
    pool_free(pool);
}

static void fill(void *argument)
{
    char key[16];

    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        store_put(argument, key, "value");
    }
    log_info("filled");
}

/* In the trace, "share" holds four jobs on four threads, and the store's spans
 * below each: where they wait for its lock is to be seen. */
TEST_LOG(pool, threads_share_a_store, .timeout = 10)
{
    struct store *store = store_new(10);
    struct pool *pool = pool_new(4, 4);

    {
        trace_span(INFO, "share", ("jobs", 4), ("capacity", 10));

        for (int i = 0; i < 4; i++)
            pool_submit(pool, fill, store);
        pool_wait(pool); /* in the span: it outlives its jobs */
    }
    cr_expect_eq(store_len(store), 10);
    pool_free(pool);
    store_free(store);
}
