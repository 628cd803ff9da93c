/* cupti_min.c: a minimal client of CUPTI, which counts records. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti_min.h"

enum { BUFFER = 4 << 20 };

struct cupti_min cupti_min;

typedef void on_request(uint8_t **, size_t *, size_t *);
typedef void on_complete(void *, uint32_t, uint8_t *, size_t, size_t);

#define CALLS(X)                                                               \
    X(GetVersion, (uint32_t *))                                                \
    X(ActivityRegisterCallbacks, (on_request *, on_complete *))                \
    X(ActivityRegisterTimestampCallback, (uint64_t(*)(void)))                  \
    X(ActivityEnable, (int))                                                   \
    X(ActivityGetNextRecord, (uint8_t *, size_t, void **))                     \
    X(ActivityFlushAll, (uint32_t))                                            \
    X(ActivityGetNumDroppedRecords, (void *, uint32_t, size_t *))

static struct {
#define X(name, parameters) int(*name) parameters;
    CALLS(X)
#undef X
    bool started;
} cupti;

uint64_t cupti_min_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void request(uint8_t **buffer, size_t *size, size_t *records)
{
    *size = BUFFER;
    *buffer = cupti_min.make ? cupti_min.make(size) : aligned_alloc(64, BUFFER);
    if (!*buffer)
        *size = 0;
    *records = 0;
    __atomic_fetch_add(&cupti_min.buffers, 1, __ATOMIC_RELAXED);
}

static void complete(void *context, uint32_t stream, uint8_t *buffer,
                     size_t size, size_t valid)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *record = NULL;
    uint32_t kind;

    (void)context;
    (void)size;
    pthread_mutex_lock(&lock);
    cupti_min.bytes += (long)valid;
    while (!cupti.ActivityGetNextRecord(buffer, valid, &record)) {
        memcpy(&kind, record, sizeof(kind));
        cupti_min.records[kind < CUPTI_MIN_KINDS ? kind : 0]++;
    }
    if (cupti_min.see)
        cupti_min.see(buffer, valid, stream);
    pthread_mutex_unlock(&lock);
    if (cupti_min.take)
        cupti_min.take(buffer, valid);
    else
        free(buffer);
}

/* ---- Loading ---- */

static int refuse(const char *what, int result)
{
    size_t used = strlen(cupti_min.refused);

    snprintf(cupti_min.refused + used, sizeof(cupti_min.refused) - used,
             "%s%s: %d", used ? ", " : "", what, result);
    return -1;
}

static void *load(void)
{
    const char *path = getenv("TRACE_CUPTI");
    void *library = dlopen(path ? path : "libcupti.so", RTLD_NOW);

    if (!library) {
        refuse(dlerror(), 0);
        return NULL;
    }
#define X(name, parameters)                                                    \
    if (!(cupti.name =                                                         \
              (__typeof__(cupti.name))dlsym(library, "cupti" #name))) {        \
        refuse("there is no cupti" #name, 0);                                  \
        return NULL;                                                           \
    }
    CALLS(X)
#undef X
    return library;
}

static void enable(const char *kinds)
{
    char what[32];

    while (kinds && *kinds) {
        char *end;
        int kind = (int)strtol(kinds + 1, &end, 10), result;

        if (end == kinds + 1)
            return;
        result = cupti.ActivityEnable(kind);
        snprintf(what, sizeof(what), "kind %d", kind);
        if (result)
            refuse(what, result);
        kinds = end;
    }
}

/* The runtime asks the driver for hundreds of functions when it starts. */
static void silence(void *library)
{
    int (*enable_call)(uint32_t, uint8_t) = (int (*)(uint32_t, uint8_t))dlsym(
        library, "cuptiActivityEnableDriverApi");

    if (!enable_call)
        return;
    enable_call(626, 0); /* cuGetProcAddress */
    enable_call(677, 0); /* cuGetProcAddress_v2 */
}

int cupti_min_load(void)
{
    return load() ? 0 : -1;
}

int cupti_min_start(const char *kinds)
{
    void *library = load();
    int result;

    if (!library)
        return -1;
    result = cupti.ActivityRegisterCallbacks(request, complete);
    if (result)
        return refuse("callbacks", result);
    result = cupti.ActivityRegisterTimestampCallback(cupti_min_now);
    if (result)
        refuse("the clock", result);
    enable(kinds);
    silence(library);
    cupti.started = true;
    return 0;
}

/* ---- Using ---- */

void cupti_min_flush(uint32_t forced)
{
    if (cupti.started)
        cupti.ActivityFlushAll(forced);
}

size_t cupti_min_dropped(void)
{
    size_t dropped = 0;

    if (cupti.started)
        cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped);
    return dropped;
}

int cupti_min_next(const uint8_t *buffer, size_t size, void **record)
{
    return cupti.ActivityGetNextRecord((uint8_t *)buffer, size, record);
}

uint32_t cupti_min_version(void)
{
    uint32_t version = 0;

    if (cupti.GetVersion)
        cupti.GetVersion(&version);
    return version;
}
