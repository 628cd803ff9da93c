/* pool.h: a pool of threads that run jobs in the order of submission. */
#ifndef EXAMPLES_POOL_H
#define EXAMPLES_POOL_H

#include <stddef.h>

enum { POOL_QUEUE = 16 }; /* jobs that can wait for a thread */

struct pool;

/* pool_work runs a job, on one of the pool's threads. */
typedef void pool_work(void *argument);

/* pool_new starts a pool of threads, to be released with pool_free. NULL with
 * errno set on failure. */
struct pool *pool_new(size_t threads);

/* pool_free runs the queued jobs, ends the threads and releases the pool; NULL
 * is fine. */
void pool_free(struct pool *);

/* pool_submit queues a job; The caller owns `argument` and keeps it until
 * the job is done. Returns 0, or -1 with errno EAGAIN if the queue is full. */
int pool_submit(struct pool *, pool_work *, void *argument);

/* pool_wait returns when every submitted job is done. */
void pool_wait(struct pool *);

#endif
