/* recorder.h: what the recorder's files share. Private to them. */
#ifndef TRACE_RECORDER_H
#define TRACE_RECORDER_H

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

#include "trace/base/clock.h"
#include "trace/base/descriptor.h"
#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum {
    TRACE_FIRST_CHUNKS = 3, /* reserved at first: most tests are short */
    TRACE_FIRST_STACK = 16,
    TRACE_INHERITED_MAX = 16,
    TRACE_THREAD_SLOTS = 10, /* the largest THREAD record */
    TRACE_OVERFLOWS = 256,   /* threads that continue when a live run is full */
};

/* Those that a thread's enters and exits are reported to. */
enum trace_follower {
    TRACE_FOLLOWER_SUBSCRIBER = 1, /* spans with a scope exist */
    TRACE_FOLLOWER_DEVICES = 2,
    TRACE_FOLLOWER_SENDER = 4,
    TRACE_FOLLOWER_METERS = 8,
};

/* In memory that the kernel zeroes in a child, however the process forks: raw
 * clone() and _Fork() call no handler. */
struct trace_forks {
    uint32_t generation; /* atomic; 0: a fork that has not been noticed */
    uint32_t noticed;    /* atomic */
};

/* What becomes of calls of functions. */
enum trace_calls_state {
    TRACE_CALLS_FIRST, /* the first one looks whether the process shall record
                        */
    TRACE_CALLS_OFF,
    TRACE_CALLS_RECORDED,
    TRACE_CALLS_AWAITED, /* the first one does what an awaited call site does */
};

/* The process's recording. Its memory stays mapped after the end. */
struct trace_recording {
    struct trace_header *header; /* atomic; NULL before the first */
    struct trace_forks *forks;
    size_t file_size, map_size;
    uint32_t owner;      /* the process that began it and ends it */
    uint32_t generation; /* counts recordings and noticed forks */
    uint32_t parent;     /* atomic: the parent's generation; 0: none */
    uint32_t overflows;  /* atomic: pieces in use behind the full file */
    bool open;           /* atomic */
    uint8_t calls;       /* atomic: enum trace_calls_state */
    bool lines;          /* atomic: lines are recorded; or nobody asked yet */
    const struct trace_function_filter *functions; /* NULL: all are */
    bool yields;       /* to one that the program opens: it was begun unasked */
    bool live;         /* atomic: has memory for lines behind a full file */
    bool reported;     /* atomic: records are reported as they are made */
    bool file_limited; /* RLIMIT_FSIZE allows less than TRACE_LIMIT */
    uint32_t followers; /* atomic: enum trace_follower */
    uint32_t strays;    /* atomic: spans ended by another thread */
    uint32_t writers;   /* atomic: threads that may write to it */
    uint32_t meters;    /* bits, by enum trace_meter */
    pthread_mutex_t live_lock;
    bool stored;                  /* atomic: in a file */
    struct trace_descriptor file; /* the file, if it was given */
    uint64_t offset;              /* where in it the recording begins */
    bool is_part;                 /* of the file */
    void *window;        /* addresses of the last part, to be used again */
    size_t window_size;  /* 0: there are none */
    char path[PATH_MAX]; /* "": none */
};

/* An enter without its exit. */
struct trace_entered {
    uint32_t record; /* SPAN or ENTER: its `end` will be patched */
    uint32_t span;
    uint32_t place;  /* of its handle: the record that entered it first */
    uint32_t back;   /* the lowest bits of where in the block it began */
    uintptr_t frame; /* it ends with the block in this frame; 0: no block */
    struct trace_scope own, inside; /* its own, and with those below */
};

/* What the meters showed when a thread entered a span. */
struct trace_metered {
    uint32_t record; /* of the enter */
    uint64_t meters[TRACE_METER_COUNT];
};

/* The process and thread that write. Asked once: each costs a system call. */
struct trace_self {
    uint32_t pid, tid; /* 0: not asked yet */
    uint32_t start;    /* place of its first THREAD record; 0: none yet */
    char name[16];
};

/* A thread's end of the recording. */
struct trace_writer {
    struct trace_record *next, *end; /* of its chunk */
    struct trace_record *base;       /* of its recording: place 0 */
    uint64_t last;                   /* its last time stamp */
    struct trace_entered *stack;
    uint32_t depth, capacity;
    uint32_t inherited;  /* the parent's, at the bottom */
    uint32_t pieces;     /* pieces that it took when it last needed space */
    bool of_calls;       /* its space is for calls, for the moment */
    uint32_t generation; /* of the recording; 0 = none yet */
    uintptr_t busy;      /* the frame of the record being written; 0: none */
    uintptr_t back;      /* the return address of that frame */
    bool forked;
    bool filtered;        /* seccomp may forbid system calls, */
    bool sandboxed;       /* or forbids them all: see sandbox.c */
    uint32_t strays;      /* time of the last search */
    enum trace_loss loss; /* why it last found no space */
    uint32_t refused;     /* for so many slots it found none; 0: not yet */
    uint32_t returns;     /* trace_room_returns at that time */
    struct trace_losses *losses;     /* its counters; NULL: the common ones */
    struct trace_descriptor counter; /* of instructions: see meters.c */
    bool uncounted;                  /* the kernel has none */
    struct trace_metered *metered;   /* the latest last */
    size_t metered_count, metered_capacity;
    struct trace_self self;
    struct trace_record *overflow;
    struct trace_entered first_stack[TRACE_FIRST_STACK];
};

/* What is reserved of a new recording, in bytes. */
#define TRACE_FIRST_SIZE                                                       \
    (TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE)

_Static_assert(TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE <=
                   TRACE_LIMIT_LEAST,
               "they fit in every file");

extern struct trace_recording trace_recording;
extern _Thread_local struct trace_writer trace_writer TRACE_TLS_;

static inline bool trace_is_recording(void)
{
    return __atomic_load_n(&trace_recording.open, __ATOMIC_RELAXED);
}

/* trace_is_live returns whether lines of the recording are printed as they are
 * made. A thread may ask while a recording begins. */
static inline bool trace_is_live(void)
{
    return __atomic_load_n(&trace_recording.live, __ATOMIC_RELAXED);
}

/* trace_header_now returns the header of the latest recording. A writer may
 * still be in the one before. */
static inline struct trace_header *trace_header_now(void)
{
    return __atomic_load_n(&trace_recording.header, __ATOMIC_ACQUIRE);
}

/* trace_notice_fork gives locks and chunks of its own to a child that was
 * forked without handlers. Returns the generation, 0 before the first
 * recording. */
uint32_t trace_notice_fork(void);

/* trace_generation returns the recording's generation in this process. */
static inline uint32_t trace_generation(void)
{
    uint32_t generation =
        __atomic_load_n(&trace_recording.forks->generation, __ATOMIC_ACQUIRE);

    return __builtin_expect(generation != 0, 1) ? generation
                                                : trace_notice_fork();
}

/* trace_is_current returns whether a writer is ready to record. */
static inline bool trace_is_current(const struct trace_writer *writer)
{
    uint32_t generation = trace_generation(); /* may change the writer */

    return writer->generation == generation;
}

/* trace_writer_begin makes the calling thread's writer ready. */
bool trace_writer_begin(struct trace_writer *);

/* trace_more_room gives a ready writer a chunk with `slots` free slots. Returns
 * false if there is none; trace_why_no_room has the reason. trace_spare_room
 * gives it slots that are reserved for errors. */
bool trace_more_room(struct trace_writer *, size_t slots);
enum trace_loss trace_why_no_room(size_t slots);
bool trace_has_run_short(void); /* only errors find space from now on */
struct trace_record *trace_spare_room(struct trace_writer *, size_t slots);

/* trace_room_for_counts takes the last chunk of calls; NULL without space. */
struct trace_record *trace_room_for_counts(struct trace_header *);

/* trace_take_counters gives a writer counters for its losses, if some are left;
 * trace_give_counters returns them. */
void trace_take_counters(struct trace_writer *);
void trace_give_counters(struct trace_writer *);

/* trace_give_room returns the rest of an ending thread's space. */
void trace_give_room(struct trace_writer *);
extern uint32_t trace_room_returns; /* atomic: how often */

/* While trace_room_lock has it, no thread takes space. trace_room_forget
 * forgets returned space, which belongs to another recording or process;
 * trace_room_unlock_forked unlocks in a child what its parent locked. */
void trace_room_lock(void);
void trace_room_unlock(void);
void trace_room_forget(void);
void trace_room_unlock_forked(void);

/* trace_unmap_unused gives back the address space behind the last chunk of a
 * recording that has ended and was shrunk. */
void trace_unmap_unused(void);

/* trace_recorder_prepare makes the recorder ready for threads and forks. -1
 * with errno. */
int trace_recorder_prepare(void);

/* trace_open_at does what trace_open_file does, but keeps a copy of the
 * descriptor, and begins at an offset, from which on TRACE_FIRST_SIZE bytes are
 * reserved and the file has all bytes of the limit, as far as RLIMIT_FSIZE
 * allows. */
int trace_open_at(int file, uint64_t offset, const struct trace_options *);

/* trace_close_file ends a recording in a file that was given, calls `closed`
 * before another one can begin, and ends the file with its last chunk, unless
 * it is a part. */
void trace_close_file(void (*closed)(void));

/* trace_note_writer notes that one more thread may write to the recording, or
 * one less. */
void trace_note_writer(int change);

bool trace_stack_grow(struct trace_writer *);

/* trace_self returns who writes. */
const struct trace_self *trace_self(struct trace_writer *);

/* trace_forked_in returns the innermost span of the parent in which the child's
 * thread was forked, 0 if there is none. */
uint32_t trace_forked_in(const struct trace_writer *);

/* trace_put reserves a record of a ready writer and stores its values, all but
 * the time. NULL: no space; the record was counted. trace_commit stamps it. */
struct trace_record *trace_put(struct trace_writer *, enum trace_kind,
                               uint32_t span, size_t count,
                               const struct trace_value *);
void trace_commit(struct trace_writer *, struct trace_record *);

/* ---- device.c ---- */

/* trace_device_follow tells back ends about the thread's span.
 * trace_device_follower returns TRACE_FOLLOWER_DEVICES if one wants that. A
 * forked child calls trace_device_forget, because it inherits none. */
void trace_device_follow(struct trace_writer *);
uint32_t trace_device_follower(void);
void trace_device_forget(void);

/* trace_device_lock prevents activities from being recorded during a fork. */
void trace_device_lock(void);
void trace_device_unlock(void);
void trace_device_unlock_forked(void);

/* ---- Calls of functions ---- */

/* The recorder calls these for the calling thread; trace/calls/ sets them. */
struct trace_call_hooks {
    /* end ends its open calls and returns its space. */
    void (*end)(struct trace_writer *);
    /* unwind ends calls that a jump to `frame` has left. */
    void (*unwind)(struct trace_writer *, uintptr_t frame);
    /* saved returns the number of bytes that save needs. save suspends the open
     * calls of a coroutine, restore resumes them. */
    size_t (*saved)(const struct trace_writer *);
    void (*save)(struct trace_writer *, void *);
    void (*restore)(struct trace_writer *, const void *, size_t size);
    /* prepare takes what calls may need that only system calls give. */
    void (*prepare)(struct trace_writer *);
};

/* trace_call_hooks is set when the first call is recorded. */
extern const struct trace_call_hooks *trace_call_hooks; /* atomic */

static inline const struct trace_call_hooks *trace_call_hooks_now(void)
{
    return __atomic_load_n(&trace_call_hooks, __ATOMIC_ACQUIRE);
}

/* ---- Senders ---- */

/* Sends what is recorded to another tool: nvtx.c. The writer is the calling
 * thread's. */
struct trace_sender {
    /* site gets each call site before its first record. */
    void (*site)(struct trace_writer *, const struct trace_site *, uint32_t id);
    /* spans is called when the spans of the calling thread have changed. */
    void (*spans)(struct trace_writer *);
    /* record gets each record that is finished. */
    void (*record)(struct trace_writer *, const struct trace_record *);
    /* end is called when a thread ends that has no spans any more. */
    void (*end)(void);
};

/* trace_sender gets the records of later recordings; NULL: nobody does. */
extern const struct trace_sender *trace_sender;

/* ---- live.c ---- */

/* trace_live_begin opens a reader on what the process writes. trace_live_phase
 * notes that a phase has begun. trace_report reports a record to the sender and
 * the subscriber, trace_live_exit a span's exit to the subscriber. */
void trace_live_begin(const struct trace_header *, size_t size);
void trace_report(const struct trace_record *);
void trace_live_phase(const struct trace_record *);
void trace_live_exit(const struct trace_record *, uint64_t time);
void trace_live_site(const struct trace_site *, uint32_t id);

/* ---- print.c ---- */

/* Values whose callbacks have been formatted. */
struct trace_printed {
    const struct trace_value *values;
    struct trace_value copy[TRACE_ARGS_MAX];
    int error;
};

/* trace_log_now formats a line at the call: a format that is not a literal may
 * differ at the next call. */
void trace_log_now(struct trace_site *, const char *format, va_list);

/* trace_print_begin formats at the call, before a record begins. It saves errno
 * for trace_print_end, which frees the text. Returns false if the thread is
 * already formatting: the record is dropped. */
bool trace_print_begin(struct trace_printed *, size_t count,
                       const struct trace_value *);
void trace_print_end(struct trace_printed *);

/* trace_print_free frees the thread's buffers for that. */
void trace_print_free(void);

/* ---- trace/parts/ ---- */

/* trace_thread_barred returns whether the calling thread must not record; NULL:
 * all threads may. */
extern bool (*trace_thread_barred)(struct trace_writer *);

/* trace_for_device is set while the thread, perhaps one of a driver's that has
 * outlived a test, records for a back end: that knows which test it is. */
extern _Thread_local bool trace_for_device;

/* ---- site.c ---- */

/* trace_join makes the process record into a running recording. Returns -1 if
 * there is none. trace_join_invited does so with that of the test that started
 * it; see trace_invite. */
int trace_join(const char *path);
int trace_join_invited(void);

/* ---- process.c ---- */

/* trace_process_record begins a recording of the process if testlog record
 * started it: in process.PID below the folder that the variable TESTLOG_RECORD
 * names. It ends with the process. Returns -1 without one, and prints why if it
 * cannot write; tries it once. */
int trace_process_record(void);

/* trace_process_asked returns whether somebody asks this process to record or
 * to listen. trace_process_begin does what is asked, once. */
bool trace_process_asked(void);

/* ---- module.c ---- */

void trace_process_begin(void);

/* trace_sites_refresh asks the subscriber about every site again, or turns all
 * off. trace_sites_forget resets the ids of the last recording; the caller
 * holds the sites' lock. */
void trace_sites_refresh(void);
void trace_sites_enable(bool on);
void trace_sites_forget(void);
void trace_site_complete(struct trace_site *);

/* trace_sites_add makes the call sites of a module known; false if they are.
 * trace_module_register does more. */
bool trace_sites_add(struct trace_module *);

/* trace_sites_await marks the call sites that are off, and may be called in a
 * signal handler. A call of a marked one calls trace_site_called, which is set
 * before; trace_sites_await_no_more removes the marks. */
void trace_sites_await(void);
void trace_sites_await_no_more(void);
extern void (*trace_site_called)(void);

/* trace_site_interest asks the subscriber; the caller holds the sites' lock. */
unsigned trace_site_interest(struct trace_site *);
void trace_sites_lock(void);
void trace_sites_unlock(void);

/* trace_sites_unlock_forked resets the lock in a child: threads of its parent
 * may have held it. */
void trace_sites_unlock_forked(void);

extern const struct trace_subscriber *trace_subscriber;

/* ---- span.c ---- */

/* trace_span_beside_ begins a span that no thread is in, so that any thread may
 * end it: it has no effect on what its thread records meanwhile. */
struct trace_span_ref trace_span_beside_(struct trace_site *, size_t count,
                                         const struct trace_value *);

/* ---- recorder.c ---- */

/* trace_thread_hooks may be set before a recording begins: `begin` is called in
 * a thread with its first record, `end` when the thread ends. NULL: none */
struct trace_thread_hooks {
    void (*begin)(void), (*end)(void);
};
extern struct trace_thread_hooks trace_thread_hooks;

/* ---- meters.c ---- */

/* trace_meters_enter notes what the meters show for the top of the stack.
 * trace_meters_leave records the differences for an enter that is about to end;
 * the first enter of its span only. */
void trace_meters_enter(struct trace_writer *);
void trace_meters_leave(struct trace_writer *, uint32_t place);

#endif
