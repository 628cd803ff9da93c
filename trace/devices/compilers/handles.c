/* handles.c: remembers what is known about each compiler handle.
 *
 * An entry is removed while it is used, so that no other thread frees it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compilers.h"
#include "trace/base/strings.h"

/* If handles are never destroyed, the oldest are forgotten. */
enum { MOST_KNOWN = 1024, TEXT = 16 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_handle *known; /* the newest first */
static size_t known_count;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void heed_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

void trace_handles_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, heed_forks);
}

static void enter(void)
{
    trace_handles_begin();
    pthread_mutex_lock(&lock);
}

struct trace_handle *trace_handle_new(const void *handle)
{
    struct trace_handle *info = calloc(1, sizeof(*info));

    if (!info)
        return NULL;
    info->handle = handle;
    info->options.ceiling = info->kernels.ceiling = TEXT;
    return info;
}

void trace_handle_free(struct trace_handle *info)
{
    if (!info)
        return;
    free(info->name);
    trace_text_free(&info->options);
    trace_text_free(&info->kernels);
    free(info);
}

/* The caller holds the lock. */
static struct trace_handle *unlink_at(struct trace_handle **at)
{
    struct trace_handle *info = *at;

    if (info) {
        *at = info->next;
        info->next = NULL;
        known_count--;
    }
    return info;
}

static struct trace_handle *take(const void *handle)
{
    struct trace_handle **at = &known;

    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return unlink_at(at);
}

static struct trace_handle *take_oldest(void)
{
    struct trace_handle **at = &known;

    while (*at && (*at)->next)
        at = &(*at)->next;
    return unlink_at(at);
}

struct trace_handle *trace_handle_take(const void *handle)
{
    struct trace_handle *info;

    enter();
    info = take(handle);
    pthread_mutex_unlock(&lock);
    return info;
}

void trace_handle_keep(struct trace_handle *info)
{
    struct trace_handle *old;

    if (!info)
        return;
    enter();
    old = take(info->handle); /* the address has been reused */
    if (!old && known_count == MOST_KNOWN)
        old = take_oldest();
    info->next = known;
    known = info;
    known_count++;
    pthread_mutex_unlock(&lock);
    trace_handle_free(old);
}

void trace_handle_name(struct trace_handle *info, const char *name)
{
    if (info && !info->name && name && *name)
        info->name = strdup(name);
}

void trace_handle_source(struct trace_handle *info, const char *source,
                         size_t size)
{
    if (!info || !source)
        return;
    info->source_fnv = trace_hash(
        info->source_bytes ? info->source_fnv : TRACE_HASH, source, size);
    info->source_bytes += size;
}

int trace_handle_destroy(const struct trace_call *call, void **handle)
{
    int (*real)(void **) = (int (*)(void **))call->real;
    int error = errno;

    if (handle)
        trace_handle_free(trace_handle_take(*handle));
    errno = error;
    return real(handle);
}
