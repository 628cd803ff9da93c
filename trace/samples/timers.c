/* timers.c: reads samples that processes take of themselves. */
#include <errno.h>
#include <string.h>
#include <sys/shm.h>

#include "timer_ring.h"
#include "timers.h"
#include "trace/base/clock.h"

/* A writer needs less for an event. */
enum { LATE = 100000000 /* ns */ };

int trace_timers_open(struct trace_timers *timers, unsigned hz)
{
    struct trace_timer_ring *ring;

    if (hz > TRACE_TIMERS_HZ_MOST)
        hz = TRACE_TIMERS_HZ_MOST;
    *timers = (struct trace_timers){.period = 1000000000 / hz};
    timers->id = shmget(IPC_PRIVATE, sizeof(*ring), IPC_CREAT | 0600);
    if (timers->id < 0)
        return -1;
    ring = shmat(timers->id, NULL, 0);
    shmctl(timers->id, IPC_RMID, NULL); /* on Linux, others can still attach */
    if (ring == (void *)-1)
        return -1;
    ring->period = timers->period;
    ring->magic = TRACE_TIMER_MAGIC;
    timers->ring = ring;
    return 0;
}

void trace_timers_close(struct trace_timers *timers)
{
    if (timers->ring)
        shmdt(timers->ring);
    *timers = (struct trace_timers){.ring = NULL};
}

/* ---- Events ---- */

static void release(struct trace_timers *timers)
{
    if (timers->taken)
        __atomic_fetch_add(&timers->ring->tail, 1, __ATOMIC_RELEASE);
    timers->taken = timers->named = false;
}

/* Returns whether the writer of an event has died. */
static bool is_late(struct trace_timers *timers, uint64_t number)
{
    uint64_t now = trace_anchor_now().monotonic;

    if (timers->missed != number) {
        timers->missed = number;
        timers->since = now;
    }
    return timers->impatient || now - timers->since > LATE;
}

/* Returns the slot of the next event, NULL if there is none. */
static const struct trace_timer_slot *find_next(struct trace_timers *timers)
{
    struct trace_timer_ring *ring = timers->ring;

    for (;;) {
        uint64_t tail = ring->tail;
        const struct trace_timer_slot *slot =
            &ring->slots[tail % TRACE_TIMER_SLOTS];

        if (tail == __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE))
            return NULL;
        if (__atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) == tail + 1)
            return slot;
        if (!is_late(timers, tail + 1))
            return NULL;
        timers->lost++;
        __atomic_store_n(&ring->tail, tail + 1, __ATOMIC_RELEASE);
    }
}

/* A text of another process may lack its end. */
static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size);
}

static bool read_sample(const struct trace_timers *timers,
                        const struct trace_timer_slot *slot,
                        struct trace_perf_event *event)
{
    uint32_t count = __atomic_load_n(&slot->count, __ATOMIC_RELAXED);

    event->addresses = slot->as.addresses;
    event->count = count < TRACE_TIMER_FRAMES ? count : TRACE_TIMER_FRAMES;
    event->weight = timers->period * ((uint64_t)slot->overruns + 1);
    return event->count;
}

static bool read_map(const struct trace_timer_slot *slot,
                     struct trace_perf_event *event)
{
    event->low = slot->as.map.low;
    event->size = slot->as.map.size;
    event->place = slot->as.map.place;
    event->text = slot->as.map.path;
    if (!ends(slot->as.map.path, sizeof(slot->as.map.path)))
        return false;
    trace_perf_stamp(event);
    return true;
}

/* Reads an event; false if it does not matter. */
static bool read_slot(const struct trace_timers *timers,
                      const struct trace_timer_slot *slot,
                      struct trace_perf_event *event)
{
    *event = (struct trace_perf_event){.kind = (enum trace_perf_kind)slot->kind,
                                       .time = slot->time,
                                       .pid = slot->pid,
                                       .tid = slot->tid,
                                       .parent = slot->parent,
                                       .worker = slot->worker};
    switch (event->kind) {
    case TRACE_PERF_SAMPLE:
        return read_sample(timers, slot, event);
    case TRACE_PERF_MAP:
        return read_map(slot, event);
    case TRACE_PERF_FORK:
    case TRACE_PERF_EXEC:
        return true;
    default:
        return false;
    }
}

/* A sample also has the name of its thread, which comes first. */
static bool read_name(struct trace_timers *timers,
                      const struct trace_timer_slot *slot,
                      struct trace_perf_event *event)
{
    if (timers->named || event->kind != TRACE_PERF_SAMPLE)
        return false;
    timers->named = true;
    event->kind = TRACE_PERF_NAME;
    event->text = slot->name;
    return ends(slot->name, sizeof(slot->name));
}

bool trace_timers_next(struct trace_timers *timers,
                       struct trace_perf_event *event)
{
    const struct trace_timer_slot *slot;

    if (!timers->named)
        release(timers);
    while ((slot = find_next(timers))) {
        bool matters = read_slot(timers, slot, event);

        timers->taken = true;
        if (matters && read_name(timers, slot, event))
            return true;
        timers->named = false;
        if (matters)
            return true;
        release(timers);
    }
    timers->lost +=
        __atomic_exchange_n(&timers->ring->lost, 0, __ATOMIC_RELAXED);
    return false;
}
