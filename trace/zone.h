/* zone.h: zones of kernels: parts of a kernel that it times itself. For OpenCL
 * C, CUDA C++, and the C or C++ of the host.
 *
 * A kernel writes when a work item begins and ends a zone into a ring, which is
 * memory that the device can write. Each zone becomes a slice on a track of its
 * multiprocessor, or of its work-group if the device does not tell where it
 * runs. testlog(3) has an example. Without -DTRACING, in the kernel as in the
 * host's code, nothing is left of it, and arguments are only checked.
 */
#ifndef TESTLOG_ZONE_H
#define TESTLOG_ZONE_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#    define TRACE_ZONE_OPENCL_ 1
#    define TRACE_ZONE_GLOBAL_ __global
#    define TRACE_ZONE_DEVICE_ static inline
#    define TRACE_ZONE_DECLARE_
#else
#    define TRACE_ZONE_OPENCL_ 0
#    define TRACE_ZONE_GLOBAL_
#endif
#if !TRACE_ZONE_OPENCL_ && defined(__CUDACC__)
#    define TRACE_ZONE_CUDA_    1
#    define TRACE_ZONE_DEVICE_  static __device__ __forceinline__
#    define TRACE_ZONE_DECLARE_ __device__
#else
#    define TRACE_ZONE_CUDA_ 0
#endif

/* ---- The ring ----
 *
 * Each record takes a ticket, the next one of `taken`. The record of ticket T
 * is in slot T modulo the capacity, if the host has read that slot since it was
 * last written; otherwise it is dropped. Both halves of a record carry the
 * ticket + 1, and each is written at once, so that a reader recognizes a record
 * that is not complete.
 */
typedef struct trace_zone_ring {
    unsigned magic;
    unsigned capacity; /* records, a power of two */
    unsigned read;     /* tickets that the host has read */
    unsigned taken;    /* atomic: tickets */
    unsigned unused[4];
} trace_zone_ring;

typedef struct trace_zone_record {
    unsigned clock[2]; /* low, high */
    unsigned unit;     /* the multiprocessor, or TRACE_ZONE_NO_UNIT */
    unsigned ticket;
    unsigned group; /* the work-group's number in the launch */
    unsigned item;  /* the work item's number in the group */
    unsigned what;  /* the zone's number * 4, and flags */
    unsigned ticket_again;
} trace_zone_record;

#define TRACE_ZONE_MAGIC   0x4c5a5431u
#define TRACE_ZONE_NO_UNIT 0xffffffffu
/* Flags of `what`. */
#define TRACE_ZONE_END_         1u
#define TRACE_ZONE_NANOSECONDS_ 2u /* the clock's unit; otherwise cycles */

/* TRACE_ZONE_SIZE is the size of a ring for so many records, in bytes. A zone
 * takes two. A number that is not a power of two is rounded down to one. */
#define TRACE_ZONE_SIZE(records)                                               \
    (sizeof(trace_zone_ring) + (records) * sizeof(trace_zone_record))

/* ---- In a kernel ----
 *
 *  trace_zone_begin(ring, number);   begins a zone of this work item
 *  trace_zone_end(ring, number);     ends it
 *
 * `ring` is a `global trace_zone_ring *` in OpenCL C, a `trace_zone_ring *` in
 * CUDA; nothing is written if it is null. `number` is the zone's index among
 * the names that the host gave, below 2^30. Zones of a work item are nested. A
 * call costs one atomic addition and two stores of 16 bytes, and never waits;
 * so that groups of many items don't fill the ring, let one item of each call
 * it.
 */
#if TRACE_ZONE_OPENCL_ || TRACE_ZONE_CUDA_

#    ifdef TRACING

#        if TRACE_ZONE_CUDA_

#            define TRACE_ZONE_UNIT_ TRACE_ZONE_NANOSECONDS_

typedef unsigned long long trace_zone_time_;

TRACE_ZONE_DEVICE_ trace_zone_time_ trace_zone_clock_(void)
{
    trace_zone_time_ now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

TRACE_ZONE_DEVICE_ unsigned trace_zone_take_(trace_zone_ring *ring)
{
    return atomicAdd(&ring->taken, 1u);
}

TRACE_ZONE_DEVICE_ void trace_zone_store_(trace_zone_record *to,
                                          trace_zone_time_ clock, unsigned what,
                                          unsigned ticket)
{
    unsigned group =
        blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned item =
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    uint4 *halves = (uint4 *)to;
    unsigned unit;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    halves[0] =
        make_uint4((unsigned)clock, (unsigned)(clock >> 32), unit, ticket + 1);
    halves[1] = make_uint4(group, item, what, ticket + 1);
}

#        else

/* A program for other compilers defines TRACE_ZONE_CLOCK() as an expression of
 * the device's clock, and TRACE_ZONE_CLOCK_NS if that counts nanoseconds. */
#            ifndef TRACE_ZONE_CLOCK
#                ifdef __has_builtin
#                    if __has_builtin(__builtin_readcyclecounter)
#                        define TRACE_ZONE_CLOCK() __builtin_readcyclecounter()
#                    endif
#                endif
#            endif
#            ifndef TRACE_ZONE_CLOCK
#                error "define TRACE_ZONE_CLOCK() to read the device's clock"
#            endif
#            ifdef TRACE_ZONE_CLOCK_NS
#                define TRACE_ZONE_UNIT_ TRACE_ZONE_NANOSECONDS_
#            else
#                define TRACE_ZONE_UNIT_ 0u
#            endif

typedef ulong trace_zone_time_;

TRACE_ZONE_DEVICE_ trace_zone_time_ trace_zone_clock_(void)
{
    return TRACE_ZONE_CLOCK();
}

TRACE_ZONE_DEVICE_ uint trace_zone_take_(__global trace_zone_ring *ring)
{
    return atomic_inc((volatile __global uint *)&ring->taken);
}

TRACE_ZONE_DEVICE_ void trace_zone_store_(__global trace_zone_record *to,
                                          trace_zone_time_ clock, uint what,
                                          uint ticket)
{
    uint group =
        (uint)(get_group_id(0) +
               get_num_groups(0) *
                   (get_group_id(1) + get_num_groups(1) * get_group_id(2)));
    uint item =
        (uint)(get_local_id(0) +
               get_local_size(0) *
                   (get_local_id(1) + get_local_size(1) * get_local_id(2)));
    __global uint4 *halves = (__global uint4 *)to;

    halves[0] = (uint4)((uint)clock, (uint)(clock >> 32), TRACE_ZONE_NO_UNIT,
                        ticket + 1);
    halves[1] = (uint4)(group, item, what, ticket + 1);
}

#        endif

/* The slot of a ticket, null if the host has not read it. */
TRACE_ZONE_DEVICE_ TRACE_ZONE_GLOBAL_ trace_zone_record *trace_zone_slot_(
    TRACE_ZONE_GLOBAL_ trace_zone_ring *ring, unsigned ticket)
{
    TRACE_ZONE_GLOBAL_ trace_zone_record *records =
        (TRACE_ZONE_GLOBAL_ trace_zone_record *)(ring + 1);
    unsigned capacity = ring->capacity;

    if (ticket - *(volatile TRACE_ZONE_GLOBAL_ unsigned *)&ring->read >=
        capacity)
        return 0;
    return records + (ticket & (capacity - 1));
}

TRACE_ZONE_DEVICE_ void trace_zone_begin_(
    TRACE_ZONE_GLOBAL_ trace_zone_ring *ring, unsigned number)
{
    TRACE_ZONE_GLOBAL_ trace_zone_record *slot;
    unsigned ticket;

    if (!ring)
        return;
    ticket = trace_zone_take_(ring);
    slot = trace_zone_slot_(ring, ticket);
    if (slot)
        trace_zone_store_(slot, trace_zone_clock_(),
                          number << 2 | TRACE_ZONE_UNIT_, ticket);
}

TRACE_ZONE_DEVICE_ void trace_zone_end_(
    TRACE_ZONE_GLOBAL_ trace_zone_ring *ring, unsigned number)
{
    TRACE_ZONE_GLOBAL_ trace_zone_record *slot;
    trace_zone_time_ clock;
    unsigned ticket;

    if (!ring)
        return;
    clock = trace_zone_clock_();
    ticket = trace_zone_take_(ring);
    slot = trace_zone_slot_(ring, ticket);
    if (slot)
        trace_zone_store_(slot, clock,
                          number << 2 | TRACE_ZONE_END_ | TRACE_ZONE_UNIT_,
                          ticket);
}

#        define trace_zone_begin(ring, number) trace_zone_begin_(ring, number)
#        define trace_zone_end(ring, number)   trace_zone_end_(ring, number)

#    else

/* It is never called. */
TRACE_ZONE_DECLARE_ int trace_zone_check_(
    TRACE_ZONE_GLOBAL_ trace_zone_ring *ring, unsigned number);

#        define trace_zone_begin(ring, number)                                 \
            ((void)sizeof(trace_zone_check_(ring, number)))
#        define trace_zone_end(ring, number)                                   \
            ((void)sizeof(trace_zone_check_(ring, number)))

#    endif
#endif

/* ---- On the host ---- */

#if !TRACE_ZONE_OPENCL_ && !defined(__CUDACC_RTC__)

#    include <stddef.h>

#    ifndef TRACE_API
#        define TRACE_API __attribute__((visibility("default")))
#    endif

#    ifdef __cplusplus
extern "C" {
#    endif

/* What the host knows about a ring. Every function accepts NULL, and is safe to
 * call from any thread. */
struct trace_zones;

/* trace_zones_open makes a ring that is empty in `size` bytes of `memory`:
 * memory that both the device and the host can use, aligned to 16, or bytes to
 * copy to such memory before the first launch. The names of the zones, `count`,
 * are borrowed until trace_zones_close. Returns NULL with errno: EINVAL if
 * `size` is too small for 2 records or larger than 1 GiB, or ENOMEM. */
TRACE_API struct trace_zones *trace_zones_open(void *memory, size_t size,
                                               const char *const *names,
                                               size_t count);

/* trace_zones_follow lets the OpenCL layer read the ring in `buffer`, a cl_mem
 * that begins with the bytes of trace_zones_open: whenever the program has
 * waited for a device and no command runs, when it releases the buffer, and
 * when the test ends. */
TRACE_API void trace_zones_follow(struct trace_zones *, void *buffer);

/* trace_zones_read records the zones of a ring in `memory`, as many bytes as
 * trace_zones_open was given: the ring itself, or a copy of it. Call it when no
 * kernel runs that uses the ring. It marks the records as read in `memory`;
 * copy the first sizeof(trace_zone_ring) bytes back if it is a copy. Returns
 * the number of zones that it recorded. */
TRACE_API size_t trace_zones_read(struct trace_zones *, void *memory);

/* trace_zones_close reads a ring that is followed once more, and frees what the
 * host knows about it. It does not touch the ring itself. */
TRACE_API void trace_zones_close(struct trace_zones *);

/* trace_zone_source returns the text of this header, constant, for runtime
 * compilers: the first source of a program, before the kernel's own. It has
 * TRACING defined if the caller has. */
TRACE_API const char *trace_zone_source_(int traced);

#    ifdef TRACING
#        define trace_zone_source() trace_zone_source_(1)
#    else
#        define trace_zone_source() trace_zone_source_(0)
#    endif

/* The library itself has these as functions, whatever TRACING is. gcc does not
 * warn about the value of such a statement. */
#    if !defined(TRACING) && !defined(TRACE_BUILD)
#        if defined(__clang__) || defined(__cplusplus)
#            define TRACE_ZONE_OFF_(check, value) (0 ? check : value)
#        else
#            define TRACE_ZONE_OFF_(check, value)                              \
                (__extension__({ 0 ? check : value; }))
#        endif
#        define trace_zones_open(memory, size, names, count)                   \
            TRACE_ZONE_OFF_(trace_zones_open(memory, size, names, count),      \
                            ((struct trace_zones *)0))
#        define trace_zones_follow(zones, buffer)                              \
            ((void)(0 && (trace_zones_follow(zones, buffer), 0)))
#        define trace_zones_read(zones, memory)                                \
            TRACE_ZONE_OFF_(trace_zones_read(zones, memory), ((size_t)0))
#        define trace_zones_close(zones)                                       \
            ((void)(0 && (trace_zones_close(zones), 0)))
#    endif

#    ifdef __cplusplus
}
#    endif

#endif
#endif
