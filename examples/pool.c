/* pool.c: the pool; it teaches how a span follows its work to another thread.
 *
 * A thread of the pool knows nothing of who submitted a job. So pool_submit
 * keeps the span that its caller is in (trace_span_current), and the thread
 * enters it for as long as it does the job (trace_span_enter): lines and spans
 * of the job stand below the span that wanted it done.
 *
 * The target is the default one, made of the file's path: "examples::pool".
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
    struct trace_span_ref span; /* of who submitted it */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t queued, idle;
    struct job *jobs; /* a ring of `limit` */
    size_t limit, first, count;
    size_t unfinished; /* queued or being done */
    bool closing;
    size_t thread_count;
    pthread_t threads[];
};

/* Waits for a job; false once the pool closes and none is left. */
static bool take(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->count && !pool->closing)
        pthread_cond_wait(&pool->queued, &pool->lock);

    bool taken = pool->count > 0;

    if (taken) {
        *job = pool->jobs[pool->first];
        pool->first = (pool->first + 1) % pool->limit;
        pool->count--;
    }
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

static void run(const struct job *job)
{
    trace_span_enter(job->span); /* to the end of this block */
    trace_span(DEBUG, "job", ("argument", job->argument));

    job->work(job->argument);
}

static void finish(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (!--pool->unfinished)
        pthread_cond_broadcast(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

static void *thread_main(void *argument)
{
    struct pool *pool = argument;
    struct job job;
    size_t done = 0;

    prctl(PR_SET_NAME, "pool"); /* the name of its track in the trace */
    for (; take(pool, &job); done++) {
        run(&job);
        finish(pool);
    }
    log_debug("thread ends after %zu jobs", done);
    return NULL;
}

static int start_threads(struct pool *pool, size_t threads)
{
    for (; pool->thread_count < threads; pool->thread_count++) {
        int error = pthread_create(&pool->threads[pool->thread_count], NULL,
                                   thread_main, pool);

        if (error) {
            trace_event(ERROR, "no thread", ("have", pool->thread_count),
                        ("error", trace_errno(error)));
            errno = error;
            return -1;
        }
    }
    return 0;
}

struct pool *pool_new(size_t threads, size_t limit)
{
    trace_function(DEBUG, (threads), (limit));

    struct pool *pool =
        calloc(1, sizeof(*pool) + threads * sizeof(*pool->threads));

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->queued, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->limit = limit;
    pool->jobs = calloc(limit, sizeof(*pool->jobs));
    if (pool->jobs && !start_threads(pool, threads))
        return pool;

    int error = errno;

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
    free(pool->jobs);
    free(pool);
}

static bool append(struct pool *pool, struct job job)
{
    pthread_mutex_lock(&pool->lock);

    bool room = pool->count < pool->limit;

    if (room) {
        pool->jobs[(pool->first + pool->count++) % pool->limit] = job;
        pool->unfinished++;
        pthread_cond_signal(&pool->queued);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

int pool_submit(struct pool *pool, pool_work *work, void *argument)
{
    struct job job = {work, argument, trace_span_current()};

    if (append(pool, job)) {
        trace_event(TRACE, "submitted", (argument));
        return 0;
    }
    log_warn("the queue is full: %zu jobs wait", pool->limit);
    errno = EAGAIN;
    return -1;
}

void pool_wait(struct pool *pool)
{
    trace_function(DEBUG);

    pthread_mutex_lock(&pool->lock);
    while (pool->unfinished)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
