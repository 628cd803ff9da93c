/* pool.h: threads that do jobs in the order in which they were submitted. */
#ifndef EXAMPLES_POOL_H
#define EXAMPLES_POOL_H

#include <stddef.h>

enum { POOL_QUEUE = 16 }; /* how many jobs may wait for a thread */

struct pool;

/* pool_work does a job, on one of the pool's threads. */
typedef void pool_work(void *argument);

/* pool_new starts a pool of threads, to be released with pool_free. NULL with
 * errno set on failure. */
struct pool *pool_new(size_t threads);

/* pool_free lets the threads do what is still queued, ends them and releases
 * the pool; NULL is fine. */
void pool_free(struct pool *);

/* pool_submit queues a job; `argument` stays the caller's and must live until
 * the job is done. Returns 0, or -1 with errno EAGAIN if the queue is full. */
int pool_submit(struct pool *, pool_work *, void *argument);

/* pool_wait returns once every job that was submitted is done. */
void pool_wait(struct pool *);

#endif
