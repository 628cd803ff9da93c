/* handles.c: what is known of the programs that compilers have handles of.
 *
 * Whoever looks at a unit takes it out, so that none is freed under it. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compilers.h"

/* Of handles that are never destroyed the oldest are forgotten. */
enum { UNITS = 1024, TEXT = 16 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_unit *units; /* the newest first */
static size_t unit_count;

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

void trace_units_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, heed_forks);
}

static void enter(void)
{
    trace_units_begin();
    pthread_mutex_lock(&lock);
}

struct trace_unit *trace_unit_new(const void *handle)
{
    struct trace_unit *unit = calloc(1, sizeof(*unit));

    if (!unit)
        return NULL;
    unit->handle = handle;
    unit->options.ceiling = unit->kernels.ceiling = TEXT;
    return unit;
}

void trace_unit_free(struct trace_unit *unit)
{
    if (!unit)
        return;
    free(unit->name);
    trace_text_free(&unit->options);
    trace_text_free(&unit->kernels);
    free(unit);
}

/* With the lock held. */
static struct trace_unit *unlink_at(struct trace_unit **at)
{
    struct trace_unit *unit = *at;

    if (unit) {
        *at = unit->next;
        unit->next = NULL;
        unit_count--;
    }
    return unit;
}

static struct trace_unit *take(const void *handle)
{
    struct trace_unit **at = &units;

    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return unlink_at(at);
}

static struct trace_unit *take_oldest(void)
{
    struct trace_unit **at = &units;

    while (*at && (*at)->next)
        at = &(*at)->next;
    return unlink_at(at);
}

struct trace_unit *trace_unit_take(const void *handle)
{
    struct trace_unit *unit;

    enter();
    unit = take(handle);
    pthread_mutex_unlock(&lock);
    return unit;
}

void trace_unit_keep(struct trace_unit *unit)
{
    struct trace_unit *old;

    if (!unit)
        return;
    enter();
    old = take(unit->handle); /* it is another's now */
    if (!old && unit_count == UNITS)
        old = take_oldest();
    unit->next = units;
    units = unit;
    unit_count++;
    pthread_mutex_unlock(&lock);
    trace_unit_free(old);
}

void trace_unit_name(struct trace_unit *unit, const char *name)
{
    if (unit && !unit->name && name && *name)
        unit->name = strdup(name);
}

void trace_unit_source(struct trace_unit *unit, const char *source, size_t size)
{
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */

    if (!unit || !source)
        return;
    if (unit->source_bytes)
        sum = unit->source_fnv;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)source[i]) * UINT64_C(1099511628211);
    unit->source_fnv = sum;
    unit->source_bytes += size;
}

int trace_unit_destroy(const struct trace_call *call, void **handle)
{
    int (*real)(void **) = (int (*)(void **))call->real;
    int error = errno;

    if (handle)
        trace_unit_free(trace_unit_take(*handle));
    errno = error;
    return real(handle);
}
