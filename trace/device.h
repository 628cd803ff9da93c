/* device.h: the interface between a device back end and the recording. Private
 * to the project.
 *
 * A back end collects activities of a device and its driver
 * (trace/devices/cupti/ asks CUPTI) and records them. It may live in a shared
 * object that is loaded into the process; it then finds the process's recording
 * with trace_device_find(). It neither formats nor draws: lines and tracks are
 * made from the recording.
 */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H

#include "backends.h"
#include "recording.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Activities ---- */

/* X(NAME, number, category in Chrome's trace, target, message of its line,
 * message if it failed). The numbers are part of the recording's format.
 * Activities without a message have no line. A failed activity has level WARN
 * or ERROR. ALLOCATE and RELEASE have fields `bytes`, `address` and `memory`;
 * a RELEASE without an address releases all memory. COUNTERS has a field for
 * each counter of a device, with its value in that time. */
#define TRACE_ACTIVITIES(X)                                                    \
    X(KERNEL, 1, "kernel", "gpu::launch", "Executing kernel", "Launch failed") \
    X(MEMCPY, 2, "gpu_memcpy", "gpu::memcpy", "Copying memory", "Copy failed") \
    X(MEMSET, 3, "gpu_memset", "gpu::memcpy", "Setting memory", "Set failed")  \
    X(SYNC, 4, "cuda_sync", "gpu::sync", "Synchronizing", "Waiting failed")    \
    X(ALLOCATE, 5, "gpu_memory", "gpu::memory", "Allocating memory", "")       \
    X(RELEASE, 6, "gpu_memory", "gpu::memory", "Releasing memory",             \
      "Release failed")                                                        \
    X(COMPILE, 7, "compile", "gpu::compile", "Compiling kernel",               \
      "Compilation failed")                                                    \
    X(RUNTIME, 8, "cuda_runtime", "gpu::api", "", "Call failed")               \
    X(DRIVER, 9, "cuda_driver", "gpu::api", "", "Call failed")                 \
    X(OVERHEAD, 10, "overhead", "gpu::overhead", "", "")                       \
    X(EVENT, 11, "gpu_event", "gpu::event", "Reaching event", "")              \
    X(GRAPH, 12, "cuda_graph", "gpu::launch", "Executing graph",               \
      "Launch failed")                                                         \
    X(ZONE, 13, "zone", "gpu::zone", "Executing zone", "")                     \
    X(COUNTERS, 14, "gpu_counters", "gpu::counters", "", "")

enum trace_activity_kind {
#define TRACE_X(name, number, category, target, message, failed)               \
    TRACE_ACTIVITY_##name = number,
    TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
};

/* The pseudo-span of an activity's line: "launch{count=(4, 64, 1) stream=7
 * kernel.name=identity_f16}". */
enum { TRACE_LAUNCH_FIELDS = 3 };
extern const char *const trace_launch_fields[TRACE_LAUNCH_FIELDS];

/* Where and when an activity happened; recorded byte for byte. */
struct trace_activity_place {
    uint64_t begin;   /* ticks of the recording's clock */
    uint32_t thread;  /* the kernel's id of the host's thread; 0: unknown */
    uint32_t device;  /* ordinal */
    uint32_t context; /* 0: none */
    uint32_t stream;  /* 0: none */
    uint32_t
        correlation;   /* joins a call and the work that it launched; 0: none */
    uint16_t kind;     /* enum trace_activity_kind */
    uint8_t on_device; /* drawn on the stream's track, not the thread's */
    uint8_t launched;  /* the fields of its launch come first */
};

/* One activity of a device or its driver. All pointers are borrowed for the
 * call. */
struct trace_activity {
    struct trace_activity_place at;
    uint64_t end;       /* ticks; equal to `begin` for an instant */
    uint32_t span;      /* the record of the span that caused it; 0: none */
    unsigned level;     /* enum trace_level; 0: TRACE */
    const char *name;   /* for display: a demangled kernel, "Memcpy HtoD" */
    const char *symbol; /* the mangled name; NULL: as `name` */
    bool kept;          /* both stay valid, and are compared by address */
    const char *const *fields; /* names of the values behind the launch's */
    size_t field_count;
    const struct trace_value *values; /* the launch's, if any, come first */
};

/* trace_activity_site returns the call site of an activity, whose strings are
 * borrowed, trace_activity_level its level. trace_activity_key hashes what
 * activities have in common that share a call site. */
struct trace_site trace_activity_site(const struct trace_activity *);
unsigned trace_activity_level(const struct trace_activity *);
uint64_t trace_activity_key(const struct trace_activity *);

/* Zones of kernels are on tracks of their own, which are streams of a device:
 * one for each multiprocessor, or for each of the first work-groups; others
 * share these. */
enum {
    TRACE_ZONE_UNITS = 0x8000,
    TRACE_ZONE_GROUPS = 0xc000,
    TRACE_ZONE_GROUP_TRACKS = 64,
};

/* ---- The recording's side: device.c ---- */

/* A ring of zones that a back end reads. */
struct trace_zone_buffer {
    void *buffer; /* its handle */
    size_t size;  /* bytes */
    uint32_t number;
    uint32_t read; /* the records that were read */
};

/* The head of a buffer that lies in the recording. A library writes behind its
 * TRACE_RAW_HEAD bytes; a back end may use those that this struct leaves. */
struct trace_raw {
    uint64_t size;   /* bytes, with the head */
    uint64_t valid;  /* bytes that the library wrote, once it is complete */
    uint64_t noted;  /* atomic: bytes whose records have all their notes */
    uint64_t number; /* that no other buffer of the recording has */
};
enum { TRACE_RAW_HEAD = 128 };

struct trace_backend;
struct trace_profiler; /* profiler.h */

/* Functions that the recording offers to a back end, so that a shared object
 * that was loaded into the process can call them. Annotations of another
 * library, such as NVTX's, become calls of push, start, end and mark, with call
 * sites of trace_site_find; bound what a program can make you keep. */
struct trace_device_host {
    char magic[16];
    uint32_t version; /* TRACE_DEVICE_VERSION */
    uint32_t pid;
    /* recording returns whether a recording runs. */
    bool (*recording)(void);
    /* now returns the recording's clock in ticks. */
    uint64_t (*now)(void);
    /* put records an activity, from any thread. */
    void (*put)(const struct trace_activity *);
    /* say records an event of target "gpu". */
    void (*say)(unsigned level, const char *message);
    /* note records a pair of metadata; a later one of the same name replaces
     * it. */
    void (*note)(const char *name, const char *value);
    /* attach registers a back end, which must stay valid. Returns false if no
     * recording runs, if the back end is registered, or if there are
     * TRACE_BACKENDS_MOST. */
    bool (*attach)(const struct trace_backend *);
    /* current returns the calling thread's span; 0: none. name returns the name
     * of such a span, "" if it has none; its module may be unloaded. */
    uint32_t (*current)(void);
    const char *(*name)(uint32_t span);
    /* anchor reads the recording's clock and the system's at one moment. */
    struct trace_anchor (*anchor)(void);
    /* For annotations of others, with call sites of trace_site_find: push
     * enters a span of the calling thread, start begins one that no thread is
     * in; both return the zero value if it is not recorded. end ends either.
     * mark records an event. stray counts an end without a beginning. */
    struct trace_span_ref (*push)(struct trace_site *, size_t count,
                                  const struct trace_value *);
    struct trace_span_ref (*start)(struct trace_site *, size_t count,
                                   const struct trace_value *);
    void (*end)(struct trace_span_ref);
    void (*mark)(struct trace_site *, size_t count, const struct trace_value *);
    void (*stray)(void);
    /* Rings of zones, which zones.h describes. */
    bool (*next_ring)(uint32_t *cursor, struct trace_zone_buffer *);
    void (*take_ring)(uint32_t number, void *bytes, size_t size,
                      uint32_t device);
    void (*forget_ring)(uint32_t number);
    const struct trace_profiler *profiler; /* the options */
    /* For a back end that holds back activities, so that recording them takes
     * no time while the program works. live returns whether it must not,
     * because lines are printed at once; hold tells whether it does from now
     * on. asked counts how often somebody has asked for what is held back, as
     * ask does; wait returns when that has changed, after so many ns, or when
     * another thread calls wake. met tells that all is recorded that was held
     * back when asked returned that number. */
    bool (*live)(void);
    void (*hold)(bool);
    uint32_t (*asked)(void);
    void (*ask)(void);
    void (*wait)(uint32_t asked, uint64_t ns);
    void (*wake)(void);
    void (*met)(uint32_t asked);
    /* Buffers in the recording, whose records readers decode. raw_possible
     * returns whether the recording that runs can have some. raw_take returns
     * one of at least, and about at most, so many bytes, which begins with a
     * struct trace_raw and is otherwise zero; NULL without space. raw_lost
     * counts a record that has no buffer. raw_give ends a buffer, of which so
     * many bytes are used; the others must be zero. raw_note tells readers what
     * they need to know. generation numbers the recordings. */
    bool (*raw_possible)(void);
    struct trace_raw *(*raw_take)(size_t least, size_t most);
    void (*raw_lost)(void);
    void (*raw_give)(struct trace_raw *, size_t used);
    void (*raw_note)(uint32_t what, uint64_t key, const void *, size_t size);
    uint32_t (*generation)(void);
    /* has_rings returns whether there are rings of zones; launched then tells
     * of an activity that is not put, whose `kept` name stays valid. */
    bool (*has_rings)(void);
    void (*launched)(const char *name, const struct trace_activity *);
};

/* A demand for activities that are held back, perhaps by another process. All
 * zero: nobody holds back any. */
enum { TRACE_DEMAND_TIME = 500000000 }; /* ns: for a process that dies */
struct trace_demand {
    uint32_t asked, met; /* atomic: how often; futexes */
    uint32_t held;       /* atomic: whether a back end holds back any */
};

enum {
    TRACE_DEVICE_VERSION = 11,
    TRACE_ACTIVITY_FIELDS = 24,
};

/* The functions of a back end; each may be NULL. */
struct trace_backend {
    /* inside reports that the calling thread is now in `span`; 0: in none. */
    void (*inside)(uint32_t span);
    /* flush records all pending activities; `last` is set when the recording is
     * about to end. It may wait for the device. */
    void (*flush)(bool last);
    /* resume drops what is pending: another recording is about to begin. */
    void (*resume)(void);
    /* pause ends what costs the program time, until resume. */
    void (*pause)(void);
};

/* trace_device_host returns this process's interface. trace_device_publish lets
 * shared objects find it with trace_device_find, which returns NULL if there is
 * none; it calls trace_device_retry. The address is passed in the variable
 * TESTLOG_DEVICES, because dlsym finds no functions of a static library in a
 * program. */
const struct trace_device_host *trace_device_host(void);
void trace_device_publish(void);
const struct trace_device_host *trace_device_find(void);

/* trace_device_retry lets back ends begin that were loaded before the recording
 * began. */
void trace_device_retry(void);

/* trace_device_find_forked also finds the interface in a forked child, which
 * may annotate, but has no back end. */
const struct trace_device_host *trace_device_find_forked(void);

/* trace_device_configure sets the options of back ends, which it copies. Call
 * it before trace_device_publish. */
void trace_device_configure(const struct trace_profiler *);

/* trace_device_offer publishes the interface if a driver or loader may load our
 * library, after trace_device_configure: setenv is unsafe beside threads. */
void trace_device_offer(void);

/* trace_demand asks for what is held back, and waits up to `ns` until it is
 * recorded. Signal handlers may call it.
 * trace_device_demand does so in this process. With trace_device_demand_at,
 * which comes before trace_device_publish, the process's demand lies where
 * others can reach it. */
void trace_demand(struct trace_demand *, uint64_t ns);
void trace_device_demand(uint64_t ns);
void trace_device_demand_at(struct trace_demand *);

/* trace_device_put, trace_device_say and trace_device_note implement the
 * functions of the table. */
void trace_device_put(const struct trace_activity *);
void trace_device_say(unsigned level, const char *message);
void trace_device_note(const char *name, const char *value);

/* trace_raw_possible and those that follow implement buffers in the recording;
 * see struct trace_device_host. */
bool trace_raw_possible(void);
struct trace_raw *trace_raw_take(size_t least, size_t most);
void trace_raw_lost(void);
void trace_raw_give(struct trace_raw *, size_t used);
void trace_raw_note(uint32_t what, uint64_t key, const void *, size_t size);

/* trace_annotation_push and those that follow implement annotations, in
 * annotation.c. trace_annotation_note records the number of strays when the
 * recording ends. */
struct trace_span_ref trace_annotation_push(struct trace_site *, size_t count,
                                            const struct trace_value *);
struct trace_span_ref trace_annotation_start(struct trace_site *, size_t count,
                                             const struct trace_value *);
void trace_annotation_mark(struct trace_site *, size_t count,
                           const struct trace_value *);
void trace_annotation_stray(void);
void trace_annotation_note(void);

/* trace_device_attached returns whether this process has back ends. */
bool trace_device_attached(void);

/* trace_device_flush, trace_device_resume and trace_device_pause call the
 * function of each back end that has one. trace_device_note_again repeats what
 * they noted for an earlier recording. */
void trace_device_flush(bool last);
void trace_device_resume(void);
void trace_device_pause(void);
void trace_device_note_again(void);

/* trace_site_register adds a call site that no module has: one that is made at
 * run time, or in C++ at its first use. */
void trace_site_register(struct trace_site *);

/* trace_site_find returns the call site in a table that equals `wanted`, after
 * adding a copy with strings of its own; the fields are borrowed for ever. A
 * target of NULL matches the default target of the file. Returns NULL if the
 * table is full, or without memory. Sites are never freed, because recordings
 * refer to them. It takes no lock. */
struct trace_site *trace_site_find(struct trace_site **table, size_t size,
                                   const struct trace_site *wanted);

/* ---- Compilers that are libraries: devices/compilers/ ----
 *
 * Wrappers around NVRTC, libNVVM and nvJitLink record compilations as
 * activities. A program that is linked with these libraries calls the wrappers.
 * A program that looks the functions up with dlsym calls the wrappers if the
 * audit library in LD_AUDIT was loaded with it.
 */

/* trace_compilers_watch registers the wrappers with the audit library, if there
 * is one. Referring to it links the wrappers into a program. */
void trace_compilers_watch(void);

/* trace_compilers_possible returns whether this program has one of these
 * libraries loaded, or mentions its name and may thus load it later. */
bool trace_compilers_possible(void);

#ifdef __cplusplus
}
#endif

#endif
