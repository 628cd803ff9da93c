/* ranges.c: the open ranges of NVTX. */
#include <pthread.h>
#include <stdlib.h>

#include "trace/base/containers.h"
#include "trace/devices/nvtx/nvtx_receiver.h"

/* ---- Ranges of a thread ---- */

enum { DEPTH_MOST = 4096 };

struct pushed {
    struct trace_span_ref span;
    uint32_t domain;
    int level;
};

/* The domains of a thread are nested as they were pushed. */
static _Thread_local struct {
    struct pushed *ranges;
    size_t count, capacity; /* at most DEPTH_MOST */
    uint32_t *deep; /* by domain: ranges that were too deep; NULL: none */
} own;

static pthread_key_t thread_end;
static bool has_key;

/* The recording ends the spans that the thread left open. */
static void on_thread_end(void *unused)
{
    (void)unused;
    free(own.ranges);
    free(own.deep);
    own.ranges = NULL;
    own.deep = NULL;
    own.count = own.capacity = 0;
}

static void make_key(void)
{
    has_key = !pthread_key_create(&thread_end, on_thread_end);
}

bool nvtx_range_fits(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (own.count < own.capacity)
        return true;
    if (own.count >= DEPTH_MOST)
        return false;
    pthread_once(&once, make_key);
    if (has_key)
        pthread_setspecific(thread_end, &own);
    return TRACE_ARRAY_RESERVE(own.ranges, own.capacity, own.count + 1);
}

/* Returns the index of a domain's last range + 1; 0: none. */
static size_t find_last(uint32_t domain)
{
    size_t at = own.count;

    while (at && own.ranges[at - 1].domain != domain)
        at--;
    return at;
}

static int push_deep(uint32_t domain)
{
    if (!own.deep)
        own.deep = calloc(NVTX_DOMAINS, sizeof(*own.deep));
    if (own.deep)
        own.deep[domain]++;
    return -1;
}

int nvtx_range_push(uint32_t domain, struct trace_span_ref span)
{
    size_t last = find_last(domain);
    int level = last ? own.ranges[last - 1].level + 1 : 0;

    if (!nvtx_range_fits())
        return push_deep(domain);
    own.ranges[own.count++] = (struct pushed){span, domain, level};
    return level;
}

int nvtx_range_pop(uint32_t domain, struct trace_span_ref *span)
{
    size_t last = find_last(domain);
    int level;

    *span = (struct trace_span_ref){0, 0};
    if (own.deep && own.deep[domain]) {
        own.deep[domain]--;
        return DEPTH_MOST;
    }
    if (!last)
        return -1;
    *span = own.ranges[last - 1].span;
    level = own.ranges[last - 1].level;
    own.count--;
    for (size_t i = last - 1; i < own.count; i++)
        own.ranges[i] = own.ranges[i + 1];
    return level;
}

/* ---- Ranges that any thread may end ---- */

enum { STARTED_MOST = 1 << 16, PROBES = 64, RESERVED = 1 };

/* An id consists of the slot and the place of the span, so that it is not
 * confused with a later one in the same slot. */
static uint64_t started[STARTED_MOST]; /* atomic: a span; 0: free */

static uint64_t packed(struct trace_span_ref span)
{
    return (uint64_t)span.generation << 32 | span.place;
}

int nvtx_range_reserve(void)
{
    static uint32_t next; /* atomic */

    for (int i = 0; i < PROBES; i++) {
        uint32_t slot =
            __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % STARTED_MOST;
        uint64_t none = 0;

        if (__atomic_compare_exchange_n(&started[slot], &none, RESERVED, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return (int)slot;
    }
    return -1;
}

uint64_t nvtx_range_start(int slot, struct trace_span_ref span)
{
    uint64_t value = span.place ? packed(span) : RESERVED;

    __atomic_store_n(&started[slot], value, __ATOMIC_RELEASE);
    return (uint64_t)(slot + 1) << 32 | (uint32_t)value;
}

bool nvtx_range_end(uint64_t id, struct trace_span_ref *span)
{
    uint64_t slot = (id >> 32) - 1, value;

    if (slot >= STARTED_MOST)
        return false;
    value = __atomic_load_n(&started[slot], __ATOMIC_ACQUIRE);
    if (!value || (uint32_t)value != (uint32_t)id ||
        !__atomic_compare_exchange_n(&started[slot], &value, 0, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    *span =
        value == RESERVED
            ? (struct trace_span_ref){0, 0}
            : (struct trace_span_ref){(uint32_t)value, (uint32_t)(value >> 32)};
    return true;
}
