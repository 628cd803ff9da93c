/* pool_test.c: tests of the pool; an example of spans across threads.
 *
 * Only the test's own thread may call cr_assert, because a failing assertion
 * jumps on that thread's stack. So the jobs count and log, and the test
 * asserts.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include <testlog/test_log.h>

#include "pool.h"
#include "store.h"

struct size {
    size_t threads, jobs;
};

ParameterizedTestParameters(pool, runs_every_job)
{
    static struct size sizes[] = {{1, 0}, {1, 1}, {4, 3}, {8, POOL_QUEUE}};

    return cr_make_param_array(struct size, sizes,
                               sizeof(sizes) / sizeof(sizes[0]));
}

static void count(void *argument)
{
    atomic_size_t *counter = argument;
    size_t before = atomic_fetch_add(counter, 1);

    log_trace("counted to %zu", before + 1);
}

PARAMETERIZED_TEST_LOG(struct size *size, pool, runs_every_job, .timeout = 10)
{
    struct pool *pool = pool_new(size->threads);
    atomic_size_t counter = 0;

    cr_assert_not_null(pool);
    for (size_t i = 0; i < size->jobs; i++)
        pool_submit(pool, count, &counter);
    pool_wait(pool);
    cr_expect_eq(atomic_load(&counter), size->jobs);
    pool_free(pool);
}

static void wait_for_gate(void *gate)
{
    sem_wait(gate);
    sem_post(gate); /* lets the next one through */
}

TEST_LOG_DEFAULT("examples::pool=warn", pool,
                 rejects_jobs_when_the_queue_is_full, .timeout = 10)
{
    struct pool *pool = pool_new(1);
    int submitted = 0;
    sem_t gate;

    sem_init(&gate, 0, 0);
    while (pool_submit(pool, wait_for_gate, &gate) == 0)
        submitted++;
    cr_expect_eq(errno, EAGAIN);
    cr_expect_geq(submitted, POOL_QUEUE);
    sem_post(&gate);
    pool_free(pool);
}

static void fill(void *store)
{
    char key[16];

    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        store_put(store, key, "value");
    }
    log_info("filled");
}

/* The trace shows four jobs on four threads below "share", and where they wait
 * for the store's lock. */
TEST_LOG(pool, shares_a_store_between_threads, .timeout = 10)
{
    struct store *store = store_new(3);
    struct pool *pool = pool_new(4);

    trace_span(INFO, "share", ("jobs", 4));
    for (int i = 0; i < 4; i++)
        pool_submit(pool, fill, store);
    pool_wait(pool);
    cr_expect_eq(store_len(store), 3);
    pool_free(pool);
    store_free(store);
}
