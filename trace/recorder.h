/* recorder.h: what the recorder's files share. Private to them. */
#ifndef TRACE_RECORDER_H
#define TRACE_RECORDER_H

#include <limits.h>
#include <pthread.h>

#include "clock.h"
#include "internal.h"
#include "reader.h"

enum {
    TRACE_FIRST_CHUNKS = 3, /* reserved at once: most tests are short */
    TRACE_FIRST_STACK = 16,
    TRACE_INHERITED_MAX = 16,
    TRACE_THREAD_SLOTS = 10, /* a THREAD record at its longest */
    TRACE_OVERFLOWS = 256,   /* threads that go on when a live run is full */
};

/* Who is told what a thread enters and leaves. */
enum trace_told {
    TRACE_TOLD_SUBSCRIBER = 1, /* what spans hold counts */
    TRACE_TOLD_DEVICES = 2,
};

/* Lies in memory of which the kernel gives a child zeros, however the process
 * forks: raw clone() and _Fork() call no handler. */
struct trace_forks {
    uint32_t generation; /* atomic; 0: a fork that nobody has noticed */
    uint32_t noticed;    /* atomic */
};

/* The process's recording. Once it ended, its memory stays. */
struct trace_recording {
    struct trace_header *header; /* atomic; NULL before the first */
    struct trace_forks *forks;
    size_t file_size, map_size;
    uint32_t generation; /* counts recordings and noticed forks */
    uint32_t parent;     /* the generation that forked this process; 0: none */
    uint32_t overflows;
    bool open;
    bool joined; /* it is another process's */
    bool live;
    bool file_limited; /* RLIMIT_FSIZE allows less than TRACE_LIMIT */
    uint32_t told;     /* atomic: who follows spans, of enum trace_told */
    uint32_t strays;   /* atomic: spans ended by others than who entered them */
    pthread_mutex_t live_lock;
    char path[PATH_MAX]; /* "": kept nowhere */
};

/* An entering that has not ended. */
struct trace_entered {
    uint32_t record; /* SPAN or ENTER: its `end` will be patched */
    uint32_t span;
    uint32_t place;  /* of its handle: the record that entered it first */
    uint32_t back;   /* lowest bits of where in the block it began */
    uintptr_t frame; /* it ends with its block, which began from here; 0: not */
    struct trace_scope own, inside; /* the span's, and with those below */
};

/* A thread's end of the recording. */
struct trace_writer {
    struct trace_record *next, *end; /* of its chunk */
    uint64_t last;                   /* its last time stamp */
    struct trace_entered *stack;
    uint32_t depth, capacity;
    uint32_t inherited;  /* that many at the bottom are the parent's */
    uint32_t pieces;     /* that it took at once when it last needed room */
    uint32_t generation; /* of the recording; 0 = none yet */
    uintptr_t busy;      /* the frame of the record that it is amid; 0: none */
    uintptr_t back;      /* where the function of that frame returns to */
    bool forked;
    uint32_t strays;      /* when last looked for */
    enum trace_loss loss; /* why it last found no room */
    struct trace_record *overflow;
    struct trace_entered first_stack[TRACE_FIRST_STACK];
};

_Static_assert(TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE <=
                   TRACE_LIMIT_LEAST,
               "they fit in every file");

extern struct trace_recording trace_recording;
extern _Thread_local struct trace_writer trace_writer TRACE_TLS_;

/* trace_notice_fork gives a child locks and chunks of its own if it was born
 * without that; returns the generation, 0 before the first recording. */
uint32_t trace_notice_fork(void);

/* trace_generation returns the recording's generation in this process. */
static inline uint32_t trace_generation(void)
{
    uint32_t generation =
        __atomic_load_n(&trace_recording.forks->generation, __ATOMIC_ACQUIRE);

    return __builtin_expect(generation != 0, 1) ? generation
                                                : trace_notice_fork();
}

/* trace_is_current tells whether a writer is ready to record. */
static inline bool trace_is_current(const struct trace_writer *writer)
{
    uint32_t generation = trace_generation(); /* may change the writer */

    return writer->generation == generation;
}

/* trace_writer_begin makes the calling thread's writer ready. */
bool trace_writer_begin(struct trace_writer *);

/* trace_more_room gives a writer that is ready a chunk with `slots` free slots;
 * false if there is none, for which trace_why_no_room has the cause.
 * trace_spare_room gives it slots that are kept for
 * errors. */
bool trace_more_room(struct trace_writer *, size_t slots);
enum trace_loss trace_why_no_room(size_t slots);
struct trace_record *trace_spare_room(struct trace_writer *, size_t slots);

/* trace_give_room hands back the rest of a thread that ends; trace_room_forget
 * forgets what was handed back, which belongs to another recording or process,
 * and unlocks. */
void trace_give_room(struct trace_writer *);
void trace_room_forget(void);
void trace_room_lock(void);
void trace_room_unlock(void);

bool trace_stack_grow(struct trace_writer *);

/* trace_forked_in returns the innermost span of the parent that the child's
 * thread was in when it was born, 0 if none. */
uint32_t trace_forked_in(const struct trace_writer *);

/* trace_put places a record of a writer that is ready with its values, all but
 * its time; trace_commit stamps it. NULL: no room, and it was counted. */
struct trace_record *trace_put(struct trace_writer *, enum trace_kind,
                               uint32_t span, size_t count,
                               const struct trace_value *);
void trace_commit(struct trace_writer *, struct trace_record *);

/* ---- device.c ---- */

/* trace_device_follow tells the back end what the thread is in;
 * trace_device_told returns TRACE_TOLD_DEVICES if there is one, which a forked
 * child forgets. */
void trace_device_follow(struct trace_writer *);
uint32_t trace_device_told(void);
void trace_device_forget(void);

/* trace_device_lock keeps activities from being put while a process forks. */
void trace_device_lock(void);
void trace_device_unlock(void);
void trace_device_unlock_forked(void);

/* ---- live.c ---- */

/* trace_live_begin makes a reader of what the process writes; trace_live_tell
 * tells the subscriber of a record, trace_live_exit of a span's exit. */
void trace_live_begin(const struct trace_header *, size_t size);
void trace_live_tell(const struct trace_record *);
void trace_live_exit(const struct trace_record *, uint64_t time);
void trace_live_site(const struct trace_site *, uint32_t id);

#endif
