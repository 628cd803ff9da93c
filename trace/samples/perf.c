/* perf.c: reads the rings of perf events. */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "perf.h"
#include "trace/base/file.h"

enum {
    /* What kernel.perf_event_mlock_kb allows by default; then less. */
    PAGES_MOST = 128,
    PAGES_LEAST = 8,
    EVENT_MOST = 1 << 16, /* its size has 16 bits */
    BUILD_ID_MOST = 20,
};

struct trace_perf_ring {
    int fd;
    struct perf_event_mmap_page *page; /* the data follow it */
    size_t size;                       /* of the data: a power of two */
    uint64_t head, tail;
    uint64_t time; /* of the event at `tail`; UINT64_MAX: there is none */
    unsigned char event[EVENT_MOST]; /* the last one, if it was in two parts */
};

/* ---- Registers ---- */

/* The kernel's numbers of registers, in the order in which it stores them; see
 * its asm/perf_regs.h. `link` has the return address, on machines that have it
 * in a register. */
#if defined(__aarch64__)
#    define STORED(X)                                                          \
        X(frame_pointer, 29) X(link, 30) X(stack_pointer, 31) X(at, 32)
#elif defined(__x86_64__)
#    define STORED(X) X(frame_pointer, 6) X(stack_pointer, 7) X(at, 8)
#else
#    define STORED(X)
#endif

#define BIT(member, number) | UINT64_C(1) << (number)
#define ONE(member, number) +1
#define REGISTERS           (UINT64_C(0) STORED(BIT))
enum { REGISTER_COUNT = 0 STORED(ONE) };

/* ---- Open and close ---- */

/* Children inherit the event as it is, so that the thread is sampled, too. With
 * enable_on_exec, Linux 6.18 forgets that it is to be enabled for later
 * children once it has swapped the contexts of the thread and of a child. */
static struct perf_event_attr attributes_of(uint64_t period, size_t stack)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = period,
        .sample_type =
            PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
        .sample_id_all = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .exclude_callchain_kernel = 1,
        .task = 1,
        .comm = 1,
        .comm_exec = 1,
        .mmap = 1,
        .mmap2 = 1,
        .build_id = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .wakeup_watermark = PAGES_LEAST * 4096 / 2,
    };

    if (stack) {
        attributes.sample_type |=
            PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attributes.sample_regs_user = REGISTERS;
        attributes.sample_stack_user = (uint32_t)stack;
        attributes.wakeup_watermark = 8 * (uint32_t)stack;
    }
    return attributes;
}

static int open_event(struct perf_event_attr *attributes, int processor)
{
    int fd = (int)syscall(SYS_perf_event_open, attributes, 0, processor, -1,
                          PERF_FLAG_FD_CLOEXEC);

    if (fd < 0 && errno == EINVAL && attributes->build_id) {
        attributes->build_id = 0; /* before Linux 5.12 */
        return open_event(attributes, processor);
    }
    return fd;
}

static void unmap_ring(struct trace_perf_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->size + (size_t)sysconf(_SC_PAGESIZE));
    ring->page = NULL;
}

static bool map_ring(struct trace_perf_ring *ring, size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *base = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE,
                      MAP_SHARED, ring->fd, 0);

    ring->page = base == MAP_FAILED ? NULL : base;
    ring->size = pages * page;
    return ring->page;
}

/* Rings are locked memory, which the user's other runs need, too. */
static int map_rings(struct trace_perf *perf)
{
    for (size_t pages = PAGES_MOST; pages >= PAGES_LEAST; pages /= 2) {
        size_t mapped = 0;

        while (mapped < perf->count && map_ring(&perf->rings[mapped], pages))
            mapped++;
        if (mapped == perf->count)
            return 0;
        while (mapped)
            unmap_ring(&perf->rings[--mapped]);
    }
    errno = ENOMEM;
    return -1;
}

/* A processor may be offline. */
static int open_rings(struct trace_perf *perf, long processors)
{
    struct perf_event_attr attributes =
        attributes_of(perf->period, perf->stack);

    for (int i = 0; i < processors; i++) {
        struct trace_perf_ring *ring = &perf->rings[perf->count];

        ring->fd = open_event(&attributes, i);
        if (ring->fd < 0 && errno == ENODEV)
            continue;
        if (ring->fd < 0)
            return -1;
        perf->count++;
    }
    return map_rings(perf);
}

int trace_perf_open(struct trace_perf *perf, unsigned hz, size_t stack)
{
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    int error;

    *perf = (struct trace_perf){.period = 1000000000 / hz,
                                .stack = REGISTER_COUNT ? stack : 0};
    perf->rings = calloc((size_t)processors, sizeof(*perf->rings));
    if (perf->rings && !open_rings(perf, processors))
        return 0;
    error = errno;
    trace_perf_close(perf);
    errno = error;
    return -1;
}

void trace_perf_close(struct trace_perf *perf)
{
    for (size_t i = 0; i < perf->count; i++) {
        unmap_ring(&perf->rings[i]);
        close(perf->rings[i].fd);
    }
    free(perf->rings);
    *perf = (struct trace_perf){0};
}

void trace_perf_wait(const struct trace_perf *perf, int ms)
{
    struct pollfd *fds = calloc(perf->count + 1, sizeof(*fds));

    for (size_t i = 0; fds && i < perf->count; i++)
        fds[i] = (struct pollfd){perf->rings[i].fd, POLLIN, 0};
    poll(fds, fds ? perf->count : 0, ms);
    free(fds);
}

/* ---- Events in a ring ---- */

/* Returns the bytes at a place of a ring, copied if they are in two parts. */
static const void *bytes_at(struct trace_perf_ring *ring, uint64_t place,
                            size_t size)
{
    const unsigned char *data =
        (const unsigned char *)ring->page + sysconf(_SC_PAGESIZE);
    size_t at = (size_t)(place & (ring->size - 1));
    size_t first = size < ring->size - at ? size : ring->size - at;

    if (first == size)
        return data + at;
    memcpy(ring->event, data + at, first);
    memcpy(ring->event + first, data, size - first);
    return ring->event;
}

static uint64_t word_at(const void *bytes, size_t at)
{
    uint64_t word;

    memcpy(&word, (const unsigned char *)bytes + at, sizeof(word));
    return word;
}

static uint32_t half_at(const void *bytes, size_t at)
{
    uint32_t half;

    memcpy(&half, (const unsigned char *)bytes + at, sizeof(half));
    return half;
}

/* A sample begins with {pid, tid, time}; the other events end with them. */
enum { HEADER = sizeof(struct perf_event_header), IDENTITY = 16 };

static size_t identity_of(const struct perf_event_header *header)
{
    return header->type == PERF_RECORD_SAMPLE ? (size_t)HEADER
                                              : (size_t)header->size - IDENTITY;
}

/* Finds the time of the ring's next event. */
static void peek(struct trace_perf_ring *ring)
{
    const struct perf_event_header *header;
    const void *bytes;

    ring->time = UINT64_MAX;
    if (ring->tail >= ring->head)
        return;
    header = bytes_at(ring, ring->tail, HEADER);
    if (header->size < HEADER + IDENTITY) { /* never, or the ring is damaged */
        ring->tail = ring->head;
        return;
    }
    bytes = bytes_at(ring, ring->tail, header->size);
    ring->time = word_at(bytes, identity_of(bytes) + 8);
}

void trace_perf_look(struct trace_perf *perf)
{
    for (size_t i = 0; i < perf->count; i++) {
        struct trace_perf_ring *ring = &perf->rings[i];

        ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        ring->tail = ring->page->data_tail;
        peek(ring);
    }
}

/* ---- Contents of events ---- */

/* Registers, if the process had some, then the size of the stack that was asked
 * for, its bytes, and how many are valid. */
static void read_stack(const unsigned char *bytes, size_t size, size_t at,
                       struct trace_perf_event *event)
{
    size_t asked;

    if (size - at < 8 || word_at(bytes, at) != PERF_SAMPLE_REGS_ABI_64)
        return;
    at += 8;
    if (size - at < 8 * REGISTER_COUNT + 8)
        return;
#define READ(member, number)                                                   \
    event->member = word_at(bytes, at);                                        \
    at += 8;
    STORED(READ)
#undef READ
    asked = (size_t)word_at(bytes, at);
    at += 8;
    if (!asked || asked > size - at || size - at - asked < 8)
        return;
    event->stack = bytes + at;
    event->stack_size = (size_t)word_at(bytes, at + asked);
    if (event->stack_size > asked)
        event->stack_size = asked;
}

/* A callchain has marks among its addresses, such as PERF_CONTEXT_USER. */
static bool read_sample(const unsigned char *bytes, size_t size,
                        struct trace_perf_event *event, bool stack)
{
    size_t at = HEADER + IDENTITY + 8, count;

    if (size < at)
        return false;
    count = (size_t)word_at(bytes, at - 8);
    if (count > (size - at) / 8)
        count = (size - at) / 8;
    if (stack)
        read_stack(bytes, size, at + 8 * count, event);
    for (; count && word_at(bytes, at) >= PERF_CONTEXT_MAX; count--)
        at += 8;
    event->kind = TRACE_PERF_SAMPLE;
    event->addresses = (const uint64_t *)(bytes + at);
    event->count = count;
    return count > 0;
}

/* FORK and EXIT have the same members. */
static bool read_task(const unsigned char *bytes, size_t size,
                      struct trace_perf_event *event, enum trace_perf_kind kind)
{
    if (size < HEADER + 24)
        return false;
    event->kind = kind;
    event->pid = half_at(bytes, HEADER);
    event->parent = half_at(bytes, HEADER + 4);
    event->tid = half_at(bytes, HEADER + 8);
    return true;
}

static bool read_name(const unsigned char *bytes, size_t size,
                      struct trace_perf_event *event)
{
    const struct perf_event_header *header = (const void *)bytes;

    if (size < HEADER + 16)
        return false;
    event->kind = header->misc & PERF_RECORD_MISC_COMM_EXEC ? TRACE_PERF_EXEC
                                                            : TRACE_PERF_NAME;
    event->text = (const char *)bytes + HEADER + 8;
    return true;
}

void trace_perf_stamp(struct trace_perf_event *event)
{
    static __thread unsigned char stamp[TRACE_FILE_STAMP];

    event->build_id = stamp;
    event->build_id_size = trace_file_stamp(event->text, stamp);
}

static bool read_map(const unsigned char *bytes, size_t size,
                     struct trace_perf_event *event)
{
    const struct perf_event_header *header = (const void *)bytes;
    size_t id = HEADER + 32, path = HEADER + 64;

    if (size < path + 8)
        return false;
    event->kind = TRACE_PERF_MAP;
    event->low = word_at(bytes, HEADER + 8);
    event->size = word_at(bytes, HEADER + 16);
    event->place = word_at(bytes, HEADER + 24);
    event->text = (const char *)bytes + path;
    if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
        bytes[id] <= BUILD_ID_MOST) {
        event->build_id = bytes + id + 4;
        event->build_id_size = bytes[id];
    }
    if (!event->build_id_size) /* it has none, or the kernel is old */
        trace_perf_stamp(event);
    return true;
}

static bool read_lost(const unsigned char *bytes, size_t size,
                      struct trace_perf_event *event)
{
    if (size < HEADER + 16)
        return false;
    event->kind = TRACE_PERF_LOST;
    event->lost = word_at(bytes, HEADER + 8);
    return true;
}

/* Reads an event; false if it does not matter. */
static bool read_event(const unsigned char *bytes,
                       struct trace_perf_event *event, bool stack)
{
    const struct perf_event_header *header = (const void *)bytes;
    size_t identity = identity_of(header), size = header->size;

    *event = (struct trace_perf_event){
        .time = word_at(bytes, identity + 8),
        .pid = half_at(bytes, identity),
        .tid = half_at(bytes, identity + 4),
    };
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        return read_sample(bytes, size, event, stack);
    case PERF_RECORD_FORK:
        return read_task(bytes, size - IDENTITY, event, TRACE_PERF_FORK);
    case PERF_RECORD_EXIT:
        return read_task(bytes, size - IDENTITY, event, TRACE_PERF_EXIT);
    case PERF_RECORD_COMM:
        return read_name(bytes, size - IDENTITY, event);
    case PERF_RECORD_MMAP2:
        return read_map(bytes, size - IDENTITY, event);
    case PERF_RECORD_LOST:
        return read_lost(bytes, size - IDENTITY, event);
    default:
        return false;
    }
}

static struct trace_perf_ring *first_of(const struct trace_perf *perf)
{
    struct trace_perf_ring *first = &perf->rings[0];

    for (size_t i = 1; i < perf->count; i++)
        if (perf->rings[i].time < first->time)
            first = &perf->rings[i];
    return first;
}

/* The kernel may write over the events before `tail`. */
static void release(struct trace_perf *perf)
{
    if (perf->last)
        __atomic_store_n(&perf->last->page->data_tail, perf->last->tail,
                         __ATOMIC_RELEASE);
    perf->last = NULL;
}

bool trace_perf_next(struct trace_perf *perf, uint64_t until,
                     struct trace_perf_event *event)
{
    for (;;) {
        struct trace_perf_ring *ring = first_of(perf);
        const struct perf_event_header *header;
        bool matters;

        release(perf);
        if (ring->time > until || ring->time == UINT64_MAX)
            return false;
        header = bytes_at(ring, ring->tail, HEADER);
        header = bytes_at(ring, ring->tail, header->size);
        matters =
            read_event((const unsigned char *)header, event, perf->stack != 0);
        event->weight = perf->period;
        ring->tail += header->size;
        perf->last = ring;
        peek(ring);
        if (matters)
            return true;
    }
}
