/* device.h: between a device's back end and the recording. Private to the
 * project.
 *
 * A back end learns what a device and its driver did (devices/cupti/ asks
 * CUPTI) and tells the recording. It may live in a shared object that is loaded
 * into the process; then it finds the process's recording with
 * trace_device_find(). It never formats lines and draws nothing: that is done
 * from the recording.
 */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H

#include <testlog/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What happens on devices ---- */

/* X(NAME, number, category in Chrome's trace, target, message of its line, that
 * of one that failed): the numbers stand in recordings. What has no message has
 * no line. What failed has level WARN or ERROR. */
#define TRACE_ACTIVITIES(X)                                                    \
    X(KERNEL, 1, "kernel", "gpu::launch", "Executing kernel", "Launch failed") \
    X(MEMCPY, 2, "gpu_memcpy", "gpu::memcpy", "Copying memory", "Copy failed") \
    X(MEMSET, 3, "gpu_memset", "gpu::memcpy", "Setting memory", "Set failed")  \
    X(SYNC, 4, "cuda_sync", "gpu::sync", "Synchronizing", "Waiting failed")    \
    X(ALLOCATE, 5, "gpu_memory", "gpu::memory", "Allocating memory", "")       \
    X(RELEASE, 6, "gpu_memory", "gpu::memory", "Releasing memory", "")         \
    X(COMPILE, 7, "compile", "gpu::compile", "Compiling kernel",               \
      "Compilation failed")                                                    \
    X(RUNTIME, 8, "cuda_runtime", "gpu::api", "", "Call failed")               \
    X(DRIVER, 9, "cuda_driver", "gpu::api", "", "Call failed")                 \
    X(OVERHEAD, 10, "overhead", "gpu::overhead", "", "")

enum trace_activity_kind {
#define TRACE_X(name, number, category, target, message, failed)               \
    TRACE_ACTIVITY_##name = number,
    TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
};

/* What the line of an activity stands in: "launch{count=(4, 64, 1) stream=7
 * kernel.name=identity_f16}". */
enum { TRACE_LAUNCH_FIELDS = 3 };
extern const char *const trace_launch_fields[TRACE_LAUNCH_FIELDS];

/* Where and when something happened; recorded as it stands here. */
struct trace_activity_place {
    uint64_t begin;       /* ticks of the recording's clock */
    uint32_t thread;      /* kernel's id of the host's thread; 0: not known */
    uint32_t device;      /* ordinal */
    uint32_t context;     /* 0: none */
    uint32_t stream;      /* 0: none */
    uint32_t correlation; /* joins a call and what it set off; 0: none */
    uint16_t kind;        /* enum trace_activity_kind */
    uint8_t on_device;    /* drawn on the stream's track, not the thread's */
    uint8_t launched;     /* the fields of its launch stand first */
};

/* One thing that a device or its driver did. All is borrowed for the call. */
struct trace_activity {
    struct trace_activity_place at;
    uint64_t end;       /* ticks; as `begin` for what takes no time */
    uint32_t span;      /* that set it off: its place; 0: none */
    unsigned level;     /* enum trace_level; 0: TRACE */
    const char *name;   /* as it is shown: a demangled kernel, "Memcpy HtoD" */
    const char *symbol; /* as the program knows it, mangled; NULL: as `name` */
    const char *const *fields; /* names of the values behind the launch's */
    size_t field_count;
    const struct trace_value *values; /* the launch's, if any, come first */
};

/* ---- The recording's side: device.c ---- */

struct trace_backend;

/* What the recording offers to a back end: functions, so that a shared object
 * that was loaded into the process can call them. */
struct trace_device_host {
    char magic[16];
    uint32_t version; /* TRACE_DEVICE_VERSION */
    uint32_t pid;
    /* now returns the recording's clock: ticks. */
    uint64_t (*now)(void);
    /* put records an activity; the caller's thread matters not. */
    void (*put)(const struct trace_activity *);
    /* say records an event of target "gpu". */
    void (*say)(unsigned level, const char *message);
    /* note records a pair of metadata; a later one of that name counts. */
    void (*note)(const char *name, const char *value);
    /* attach makes a back end, which must stay, known; false if no recording
     * runs, or there is one already. */
    bool (*attach)(const struct trace_backend *);
    /* current returns the span that the calling thread is in; 0 = none. */
    uint32_t (*current)(void);
};

enum { TRACE_DEVICE_VERSION = 1, TRACE_ACTIVITY_FIELDS = 24 };

/* What a back end is told; all may be NULL. */
struct trace_backend {
    /* inside is told that the calling thread is now in `span`; 0 = in none. */
    void (*inside)(uint32_t span);
    /* flush puts all that is known, `last` when the recording is about to end.
     * It may wait for the device. */
    void (*flush)(bool last);
};

/* trace_device_host returns this process's; trace_device_publish lets shared
 * objects find it by trace_device_find, which returns NULL if there is none.
 * The address travels in the variable TESTLOG_DEVICES, because a program linked
 * with a static library lists none of its functions for dlsym. */
const struct trace_device_host *trace_device_host(void);
void trace_device_publish(void);
const struct trace_device_host *trace_device_find(void);

/* trace_device_put, _say, _note: as in the table. */
void trace_device_put(const struct trace_activity *);
void trace_device_say(unsigned level, const char *message);
void trace_device_note(const char *name, const char *value);

/* trace_device_flush asks the back end, if any, for what it knows. */
void trace_device_flush(bool last);

/* ---- Compilers that are libraries: devices/compilers/ ----
 *
 * What NVRTC, libNVVM and nvJitLink do becomes activities, because functions of
 * ours stand before theirs: a program that is linked with these libraries calls
 * ours. One that looks theirs up by dlsym does if it was started with the audit
 * library in LD_AUDIT. */

/* trace_compilers_watch tells the audit library, if there is one, where ours
 * are. A program that refers to it has ours in it. */
void trace_compilers_watch(void);

/* trace_compilers_possible tells whether this program mentions one of these
 * libraries, and may thus look for it while it runs, or has one loaded. */
bool trace_compilers_possible(void);

#ifdef __cplusplus
}
#endif

#endif
