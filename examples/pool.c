/* pool.c: the pool; an example of a span that follows work to another thread.
 *
 * A thread of the pool does not know who submitted a job. So pool_submit keeps
 * the span that its caller is in (trace_span_current), and the thread enters
 * that span while it runs the job (trace_span_enter). The job's lines then
 * appear below the span of the caller.
 *
 * The target is the default, which is the path of the file: "examples::pool".
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <testlog/log.h>

#include "pool.h"

struct job {
    pool_work *work;
    void *argument;
    struct trace_span_ref span; /* of the caller of pool_submit */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t queued, idle;
    size_t submitted, taken, done; /* jobs, since the start */
    struct job jobs[POOL_QUEUE];   /* job n is at n % POOL_QUEUE */
    bool closing;
    size_t thread_count;
    pthread_t threads[];
};

/* Waits for a job; false once the pool closes and none is left. */
static bool take(struct pool *pool, struct job *job, size_t *number)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->taken == pool->submitted && !pool->closing)
        pthread_cond_wait(&pool->queued, &pool->lock);

    bool some = pool->taken < pool->submitted;

    if (some) {
        *number = pool->taken++;
        *job = pool->jobs[*number % POOL_QUEUE];
    }
    pthread_mutex_unlock(&pool->lock);
    return some;
}

static void run(const struct job *job, size_t number)
{
    trace_span_enter(job->span); /* to the end of this block */
    trace_span(DEBUG, "job", (number));

    job->work(job->argument);
}

static void finish(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (++pool->done == pool->submitted)
        pthread_cond_broadcast(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

static void *thread_main(void *argument)
{
    struct pool *pool = argument;
    struct job job;
    size_t number, done = 0;

    prctl(PR_SET_NAME, "pool"); /* the name of its track in the trace */
    for (; take(pool, &job, &number); done++) {
        run(&job, number);
        finish(pool);
    }
    log_debug("thread ends after %zu jobs", done);
    return NULL;
}

struct pool *pool_new(size_t threads)
{
    trace_function(DEBUG, (threads));

    struct pool *pool =
        calloc(1, sizeof(*pool) + threads * sizeof(*pool->threads));
    int error = 0;

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->queued, NULL);
    pthread_cond_init(&pool->idle, NULL);
    while (!error && pool->thread_count < threads) {
        error = pthread_create(&pool->threads[pool->thread_count], NULL,
                               thread_main, pool);
        pool->thread_count += !error;
    }
    if (!error)
        return pool;
    trace_event(ERROR, "too few threads", ("started", pool->thread_count),
                ("error", trace_errno(error)));
    pool_free(pool);
    errno = error;
    return NULL;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    trace_function(DEBUG);

    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->queued);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->queued);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

int pool_submit(struct pool *pool, pool_work *work, void *argument)
{
    struct job job = {work, argument, trace_span_current()};

    pthread_mutex_lock(&pool->lock);

    bool room = pool->submitted - pool->taken < POOL_QUEUE;

    if (room) {
        pool->jobs[pool->submitted++ % POOL_QUEUE] = job;
        pthread_cond_signal(&pool->queued);
    }
    pthread_mutex_unlock(&pool->lock);
    if (room)
        return 0;
    log_warn("queue full: %d jobs waiting", POOL_QUEUE);
    errno = EAGAIN;
    return -1;
}

void pool_wait(struct pool *pool)
{
    trace_function(DEBUG);

    pthread_mutex_lock(&pool->lock);
    while (pool->done < pool->submitted)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
