/* lazy_libgit2.c: starts Criterion's libgit2 only when a diff is needed.
 *
 * Criterion starts libgit2 in every process, workers included, but only the
 * runner compares texts with it. Starting it reads all of the system's
 * certificates, which takes a third of a short test's time.
 */
#include <pthread.h>
#include <string.h>

#include "harness/session.h"
#include "logger.h"

TRACE_API int git_libgit2_shutdown(void);
TRACE_API int git_diff_buffers(const void *from, size_t from_size,
                               const char *from_path, const void *to,
                               size_t to_size, const char *to_path,
                               const void *options, void (*file)(void),
                               void (*binary)(void), void (*hunk)(void),
                               void (*line)(void), void *payload);

/* A program may link its own libgit2. */
#pragma weak git_libgit2_init
#pragma weak git_libgit2_shutdown
#pragma weak git_diff_buffers

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int deferred; /* deferred starts that Criterion asked for */

static int start(void)
{
    int (*next)(void);

    test_log_next_function("git_libgit2_init", &next);
    return next();
}

static void start_deferred(void)
{
    pthread_mutex_lock(&lock);
    for (; deferred; deferred--)
        start();
    pthread_mutex_unlock(&lock);
}

/* These have the names of libgit2's own functions, so that Criterion's calls
 * come here first. A test may use libgit2, too. */
TRACE_API int git_libgit2_init(void)
{
    int starts;

    if (!test_log_is_criterion(__builtin_return_address(0))) {
        start_deferred();
        return start();
    }
    pthread_mutex_lock(&lock);
    starts = ++deferred;
    pthread_mutex_unlock(&lock);
    return starts;
}

TRACE_API int git_libgit2_shutdown(void)
{
    int (*next)(void), starts = -1;

    pthread_mutex_lock(&lock);
    if (deferred)
        starts = --deferred;
    pthread_mutex_unlock(&lock);
    if (starts >= 0)
        return starts;
    test_log_next_function("git_libgit2_shutdown", &next);
    return next();
}

TRACE_API int git_diff_buffers(const void *from, size_t from_size,
                               const char *from_path, const void *to,
                               size_t to_size, const char *to_path,
                               const void *options, void (*file)(void),
                               void (*binary)(void), void (*hunk)(void),
                               void (*line)(void), void *payload)
{
    static __typeof__(git_diff_buffers) *next;

    if (!next)
        test_log_next_function("git_diff_buffers", &next);
    start_deferred();
    return next(from, from_size, from_path, to, to_size, to_path, options, file,
                binary, hunk, line, payload);
}
