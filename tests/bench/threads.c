/* threads.c: measures whether threads slow each other down. Each thread
 * measures its own time, because the thread that starts them may be scheduled
 * after they end. It is processor time, because there are more threads than
 * processors.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LOG_TARGET "bench"
#include <testlog/log.h>

#include "bench.h"

#include "trace/format.h"
#include "trace/record/recorder.h"

enum { MANY = 64 };

struct worker {
    pthread_t id;
    struct trace_record *ring; /* NULL: records spans */
    size_t count;
    double ns;
};

static pthread_barrier_t barrier;

static double own_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void span(size_t i)
{
    trace_span(DEBUG, "span");
    keep(i);
}

static void *work(void *context)
{
    struct worker *worker = context;

    if (!worker->ring)
        span(0); /* its first chunk */
    pthread_barrier_wait(&barrier);

    double from = own_ns();

    if (worker->ring)
        bench_store_spans(worker->ring, worker->count);
    else
        for (size_t i = 0; i < worker->count; i++)
            span(i);
    worker->ns = own_ns() - from;
    return NULL;
}

/* Maps the shared memory of a floor: one ring per thread. */
static struct trace_record *ring(int i)
{
    static struct trace_record *rings[MANY];

    if (!rings[i])
        rings[i] = bench_ring();
    return rings[i];
}

static double threads(int threads, bool recording, size_t count)
{
    struct worker workers[MANY] = {0};
    double sum = 0;

    bench_pin(false);
    errno = pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads && !errno; i++) {
        workers[i].ring = recording ? NULL : ring(i);
        workers[i].count = count;
        errno = pthread_create(&workers[i].id, NULL, work, &workers[i]);
    }
    if (errno)
        bench_stop("threads");
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].id, NULL);
        sum += workers[i].ns;
    }
    pthread_barrier_destroy(&barrier);
    bench_pin(true);
    return sum / threads / (double)count;
}

static double spans(int count_of_threads, size_t count)
{
    bench_begin_warm((size_t)2 * MANY);

    double ns = threads(count_of_threads, true, count);

    bench_end();
    return ns;
}

double bench_floor_two(size_t count)
{
    return threads(2, false, count);
}

double bench_span_two(size_t count)
{
    return spans(2, count);
}

double bench_floor_many(size_t count)
{
    return threads(MANY, false, count);
}

double bench_span_many(size_t count)
{
    return spans(MANY, count);
}
