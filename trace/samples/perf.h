/* perf.h: samples of the processes that a thread will start, by the kernel's
 * perf events. Private to the project.
 *
 * A thread that runs is interrupted once in each period of its processor time,
 * and the kernel notes its stack. Nothing runs in the process. "man 2
 * perf_event_open" describes the records.
 */
#ifndef TRACE_PERF_H
#define TRACE_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRACE_SAMPLE_HZ = 1000,
    TRACE_SAMPLE_HZ_MOST = 10000,
    TRACE_SAMPLE_STACK = 16 << 10 /* bytes */
};

/* X(NAME) */
#define TRACE_PERF_EVENTS(X)                                                   \
    X(SAMPLE) /* a thread was interrupted */                                   \
    X(FORK)   /* a process or a thread began */                                \
    X(EXEC)   /* a process executes another program */                         \
    X(EXIT)   /* a thread ended */                                             \
    X(NAME)   /* a thread got a name */                                        \
    X(MAP)    /* a process mapped code */                                      \
    X(LOST)   /* the ring had no space */

enum trace_perf_kind {
#define TRACE_X(name) TRACE_PERF_##name,
    TRACE_PERF_EVENTS(TRACE_X)
#undef TRACE_X
};

/* An event of the kernel. Its pointers are valid until the next event is read.
 */
struct trace_perf_event {
    enum trace_perf_kind kind;
    uint64_t time; /* ns of CLOCK_MONOTONIC */
    uint32_t pid, tid;
    uint32_t parent; /* FORK: the process */
    uint32_t worker; /* FORK: that it belongs to; 0: its parent's */
    uint64_t lost;   /* LOST: events */
    /* SAMPLE: where the thread was, then the return addresses of its calls. */
    const uint64_t *addresses;
    size_t count;
    uint64_t weight; /* SAMPLE: ns that it stands for */
    /* SAMPLE, with stacks: registers, and the bytes from the stack pointer. */
    uint64_t at, stack_pointer, frame_pointer, link;
    const unsigned char *stack;
    size_t stack_size;         /* 0: there are none */
    const char *text;          /* MAP: the file; NAME, EXEC: the name */
    uint64_t low, size, place; /* MAP: addresses, bytes, place in the file */
    const unsigned char *build_id; /* MAP */
    size_t build_id_size;
};

struct trace_perf_ring;

/* The zero value is closed. */
struct trace_perf {
    struct trace_perf_ring *rings; /* one for each processor */
    size_t count;
    struct trace_perf_ring *last; /* of the last event */
    uint64_t period; /* ns of processor time that a sample stands for */
    size_t stack;    /* bytes that a sample may have; 0: none */
};

/* trace_perf_open samples, `hz` times a second, this thread, the processes that
 * it starts from now on, and all that they start. Each sample has up to `stack`
 * bytes of the stack, for code without frame pointers; 0: none. If the kernel
 * refuses, it returns -1 with errno: ENOMEM if the user may lock no more
 * memory. trace_perf_close ends it. */
int trace_perf_open(struct trace_perf *, unsigned hz, size_t stack);
void trace_perf_close(struct trace_perf *);

/* trace_perf_wait waits until a ring is filling, at most `ms` ms. */
void trace_perf_wait(const struct trace_perf *, int ms);

/* trace_perf_look finds the events that are in the rings by now;
 * trace_perf_next then reads those up to `until`, in order of time; false if
 * there is none. */
void trace_perf_look(struct trace_perf *);
bool trace_perf_next(struct trace_perf *, uint64_t until,
                     struct trace_perf_event *);

/* trace_perf_stamp gives the file that was mapped just now, whose build-id is
 * not known, the stamp of trace_file_stamp in its place. */
void trace_perf_stamp(struct trace_perf_event *);

#endif
