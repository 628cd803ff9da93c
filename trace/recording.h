/* recording.h: starts and ends the recording of a process, and the subscriber
 * that decides what is recorded. For the harness and for log/, private to the
 * project. The conventions are those of trace.h. */
#ifndef TRACE_RECORDING_H
#define TRACE_RECORDING_H

#include <testlog/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same moment on three clocks. */
struct trace_anchor {
    uint64_t ticks;     /* the recording's clock */
    uint64_t monotonic; /* ns, CLOCK_MONOTONIC */
    uint64_t wall;      /* ns since 1970, CLOCK_REALTIME */
};

/* trace_anchor_now reads the three clocks in quick succession. */
struct trace_anchor trace_anchor_now(void);

/* A place in code: that of a call, or where a thread was. */
struct trace_stack_frame {
    uint32_t image; /* place of the file's record; 0: no file has the code */
    uint32_t place; /* in the file, in bytes */
};

/* Which calls of functions and which lines are recorded. It lies in memory that
 * processes share, so that it has no pointers: places are bytes from its
 * beginning. */
struct trace_function_filter {
    uint64_t least;  /* ticks of a call that calls nothing; 0: any */
    uint32_t depth;  /* most open calls of a thread; 0: any number */
    uint32_t others; /* 1: also those of modules that are not listed */
    uint32_t lines;  /* 1: some module has lines */
    uint32_t module_count;
    struct trace_filtered_module {
        uint64_t path;   /* its hash, as trace_hash_string makes it */
        uint64_t size;   /* bytes of its addresses */
        uint64_t wanted; /* place of a byte for each 16 of them, which is not 0
                          * if the function that begins there is recorded; 0:
                          * all functions are */
        uint64_t lines;  /* place of a byte for each address, which is not 0
                          * if a block of code that calls the hook before it is
                          * recorded; 0: none is */
    } modules[];
};

/* trace_function_filter_attach attaches to a filter in shared memory, by its
 * id; NULL if there is none: all calls are recorded. */
const struct trace_function_filter *trace_function_filter_attach(
    const char *id);

/* A byte is for 16 addresses: a function with two hooks is not smaller. */
enum { TRACE_WANTED_SHIFT = 4 };

struct trace_options {
    uint64_t limit;           /* maximum in bytes; 0 = TRACE_LIMIT_DEFAULT */
    uint64_t functions_limit; /* and of calls of functions; 0: none */
    /* NULL: all calls, no lines. It stays mapped as long as the process. */
    const struct trace_function_filter *functions;
    struct trace_anchor origin; /* time zero; ticks 0 = now */
    const char *const *meta;    /* name, value, name, value, ..., NULL */
    unsigned meters; /* bits, by enum trace_meter: what is read at spans */
};

/* X(NAME, key of --trace-options, late field of a span) */
#define TRACE_METERS(X)                                                        \
    X(CPU, cpu, "cpu_ns")                                                      \
    X(INSTRUCTIONS, instructions, "instructions")

enum trace_meter {
#define TRACE_X(name, key, field) TRACE_METER_##name,
    TRACE_METERS(TRACE_X)
#undef TRACE_X
        TRACE_METER_COUNT
};

extern const char *const trace_meter_fields[TRACE_METER_COUNT];

/* The target of these late fields. */
#define TRACE_METER_TARGET "testlog::meters"

/* trace_count_instructions opens a counter of the calling thread's instructions
 * in user space, with `inherit` also those of threads and processes that it
 * starts: a descriptor from which a uint64_t is read. -1 with errno: EACCES or
 * EPERM if the kernel refuses it, ENOENT if the machine has none. */
int trace_count_instructions(bool inherit);

#define TRACE_LIMIT_DEFAULT  (UINT64_C(256) << 20)
#define TRACE_LIMIT_LEAST    (UINT64_C(256) << 10)
#define TRACE_LIMIT_MOST     (UINT64_C(64) << 30)
#define TRACE_FUNCTIONS_MOST (UINT64_C(16) << 30)

/* trace_open starts a recording in a new file at `path` for the whole process
 * and turns on the sites that the subscriber wants. With a NULL `path` nothing
 * is stored, but a live subscriber still gets the records. Fails with EBUSY if
 * a recording runs, with EINVAL if the limit is out of range. */
int trace_open(const char *path, const struct trace_options *);

/* trace_open_file does the same in an empty file, a descriptor above 0 that it
 * keeps if it succeeds. The process survives if others truncate the file. */
int trace_open_file(int file, const struct trace_options *);

/* Recordings may follow each other in one empty file, of which each is a part.
 * trace_parts_begin comes before the first, and before forks: a forked child
 * may open a part in place of its parent's. trace_open_part does what
 * trace_open does in a part of `file`, of which it keeps a copy, and stores the
 * offset at which the part begins; only one process may call it at a time.
 * trace_close_part ends the recording and returns how many bytes the part has;
 * 0 if this process opened none. The next part uses the same addresses again if
 * no other thread may still write to this one. */
int trace_parts_begin(void);
int trace_open_part(int file, uint64_t *offset, const struct trace_options *);
uint64_t trace_close_part(void);

/* trace_bar_threads keeps threads of this process from recording; the list
 * replaces the last one and is copied. -1 without memory. */
int trace_bar_threads(const uint32_t *threads, size_t count);

/* trace_refuse leaves a recording at `path` that has the reason why trace_open
 * failed. */
void trace_refuse(const char *path, int error);

/* trace_is_open returns whether a recording runs. */
bool trace_is_open(void);

struct trace_reader;

/* trace_reader_open_own opens a reader on the process's own recording in its
 * current state, also if the file was renamed or the process changed its root.
 * Returns NULL with errno; ENOENT if there is none. */
struct trace_reader *trace_reader_open_own(void);

/* trace_unwind closes the spans that the calling thread entered since `depth`,
 * a result of trace_depth, and that an abandoned stack left open. */
size_t trace_depth(void);
void trace_unwind(size_t depth);

/* trace_returned_to lets the calling thread record again after a jump out of a
 * record, such as siglongjmp from a signal handler, to a function whose frame
 * is at `frame` or above. Recording in such a function has the same effect. */
void trace_returned_to(uintptr_t frame);

/* trace_close turns off all sites and marks the recording as ended. Its memory
 * stays mapped, because threads may be writing a record. */
void trace_close(void);

/* The phases of a test, in order. */
enum trace_phase {
    TRACE_PHASE_SETUP = 1,
    TRACE_PHASE_BODY,
    TRACE_PHASE_TEARDOWN,
    TRACE_PHASE_END, /* the teardown has ended */
    TRACE_PHASE_COUNT
};

/* trace_phase_begin notes in the recording that a phase begins. The first note
 * of each phase counts. */
void trace_phase_begin(enum trace_phase);

/* trace_invite makes annotated programs that this process starts record into
 * its recording, unless they record for themselves. To prevent that, remove the
 * variable. */
#define TRACE_INVITATION "TESTLOG_RECORDING"
void trace_invite(void);

/* trace_parse_time parses "250us" or "1.2ms": a number and ns, us, ms or s; or
 * "0". It returns ns; UINT64_MAX if it is none, or more than ten days. */
uint64_t trace_parse_time(const char *text);

/* trace_parse_size parses "64M": digits and an optional K, M or G. Returns
 * false for anything else. */
bool trace_parse_size(const char *text, uint64_t *bytes);

/* ---- Subscriber ---- */

struct trace_entry;

/* Decides which call sites are on, and gets live records. Every function may be
 * NULL; with none, every site is recorded. */
struct trace_subscriber {
    /* interest returns the bits of trace_interest for a call site. It is called
     * with a lock held and may set the site's verdict. */
    unsigned (*interest)(struct trace_site *);
    /* event returns whether an event of a judged site is recorded; `inside` is
     * the scope of the thread's spans. */
    bool (*event)(const struct trace_site *, struct trace_scope inside,
                  const char *message, size_t count,
                  const struct trace_value *);
    /* span returns whether a span of a judged site is recorded, as `place`, and
     * sets `own` to its scope while it is entered. */
    bool (*span)(const struct trace_site *, struct trace_scope inside,
                 uint32_t place, size_t count, const struct trace_value *,
                 struct trace_scope *own);
    /* fields gets late fields, entered returns the scope of a span that is
     * entered again, closed says that a span will get no more of either. All
     * three are NULL or none. */
    void (*fields)(const struct trace_site *, uint32_t place, size_t count,
                   const struct trace_value *);
    struct trace_scope (*entered)(uint32_t place);
    void (*closed)(uint32_t place);
    /* live gets each record as it is made, one at a time; `reader` has the
     * spans that it refers to. */
    void (*live)(const struct trace_reader *, const struct trace_entry *);
    bool names; /* live needs the names of threads */
    /* forked is called in a child: other threads' locks are gone. */
    void (*forked)(void);
};

/* trace_subscribe sets the subscriber for trace_open and later changes; it must
 * stay valid. */
void trace_subscribe(const struct trace_subscriber *);

#ifdef __cplusplus
}
#endif

#endif
