/* opencl.h: what the files of the OpenCL layer share. Private.
 *
 * A loader (ocl-icd, Khronos') that finds this library in OPENCL_LAYERS passes
 * each call of the program through it. A call becomes an activity of its
 * thread. A command becomes an activity of its device when an event reports
 * that it has ended, with times from OpenCL's profiling, which the layer
 * enables on each queue and hides from the program.
 */
#ifndef TRACE_DEVICES_OPENCL_H
#define TRACE_DEVICES_OPENCL_H

#include <stdbool.h>

#include "opencl_abi.h"
#include "trace/backends.h"
#include "trace/device.h"

/* ---- opencl_state.c ---- */

/* Counts of the recording. */
struct opencl_counts {
#define TRACE_X(name) uint64_t name; /* atomic */
    TRACE_BACKEND_COUNTS(TRACE_X)
#undef TRACE_X
};

struct opencl {
    const struct trace_device_host *host; /* NULL: nothing is recorded */
    bool loaded;                          /* atomic: a loader calls us */
    bool on;                              /* atomic: calls are recorded */
    bool ended;               /* the process ends, and all was flushed */
    void (*flush)(bool last); /* the back end's; NULL: not attached yet */
    uint32_t recording;       /* atomic: the number of recordings so far */
    struct opencl_counts counts;
    struct opencl_functions next; /* of the driver or the next layer */
};

extern struct opencl opencl;

/* opencl_flush_at_exit waits for all commands when the process ends. Call it
 * whenever the driver may have registered handlers of its own, because these
 * destroy what its threads use: ours must run before them. */
void opencl_flush_at_exit(void);

static inline bool opencl_is_on(void)
{
    return __atomic_load_n(&opencl.on, __ATOMIC_ACQUIRE);
}

static inline void opencl_count(uint64_t *counter, int64_t by)
{
    __atomic_add_fetch(counter, (uint64_t)by, __ATOMIC_RELAXED);
}

/* opencl_note records a pair of metadata. */
void opencl_note(const char *name, const char *format, ...) TRACE_PRINTF(2, 3);

/* ---- objects.c: facts about the program's handles ---- */

/* opencl_lock protects what the layer knows about handles. Nothing else is
 * called under it but the driver's simplest functions. opencl_objects_begin
 * keeps it usable in forked children. */
void opencl_lock(void);
void opencl_unlock(void);
void opencl_objects_begin(void);

/* Where commands of a queue run. */
struct opencl_place {
    uint32_t device;  /* ordinal */
    uint32_t context; /* from 1 */
    uint32_t queue;   /* from 1 */
    cl_device_id id;
    bool profiled; /* commands have times */
    bool hidden;   /* and the program did not ask for them */
};

/* opencl_queue_add remembers a new queue. `properties` are those that the
 * program gave, `count` words with the final 0, or NULL. */
void opencl_queue_add(cl_command_queue, cl_context, cl_device_id,
                      const cl_ulong *properties, size_t count, bool profiled,
                      bool hidden);
void opencl_queue_retain(cl_command_queue);
void opencl_queue_release(cl_command_queue);

/* opencl_queue_find finds out about a queue; false if it is not known. Events
 * of a queue outlive it. */
bool opencl_queue_find(cl_command_queue, struct opencl_place *);

/* opencl_queue_show lets the program see that a queue has profiling. */
void opencl_queue_show(cl_command_queue);

/* opencl_queue_properties copies what the program gave when it made the queue.
 * Returns the number of bytes, of which at most `size` are copied. */
size_t opencl_queue_properties(cl_command_queue, void *to, size_t size);

/* opencl_queues_flush submits the commands of all queues. */
void opencl_queues_flush(void);

/* opencl_device and opencl_context return the number of a handle. */
uint32_t opencl_device(cl_device_id);
uint32_t opencl_context(cl_context);

/* opencl_first_device finds a context's first device, and opencl_device_of
 * returns its number. */
bool opencl_first_device(cl_context, cl_device_id *);
uint32_t opencl_device_of(cl_context);

/* opencl_note_devices notes the names of all devices so far. */
void opencl_note_devices(void);

/* ---- kernels.c ---- */

/* opencl_kernel_launched returns a kernel's name, which stays valid, and
 * whether this is the first launch of that kernel since its program was built.
 */
const char *opencl_kernel_launched(cl_kernel, bool *first);

/* opencl_program_built makes a program's kernels new. */
void opencl_program_built(cl_program);

/* ---- opencl_clock.c ---- */

/* A call in ticks of the recording, and the device's time within it. */
struct opencl_stamp {
    uint64_t begin, end, queued;
};

/* opencl_clock_begin reads the system's clocks. opencl_clock_ticks converts a
 * device's time, in ns; false if there is none. opencl_clock_note notes the
 * clocks and their errors. */
void opencl_clock_begin(void);
bool opencl_clock_ticks(cl_device_id, uint32_t number,
                        const struct opencl_stamp *, uint64_t ns,
                        uint64_t *ticks);
void opencl_clock_note(void);

/* ---- activities.c ---- */

struct opencl_fields {
    struct trace_activity activity;
    const char *names[TRACE_ACTIVITY_FIELDS];
    struct trace_value values[TRACE_LAUNCH_FIELDS + TRACE_ACTIVITY_FIELDS];
    size_t value_count;
};

/* opencl_add adds a field, opencl_put records the activity. What they point to
 * must live until then. */
void opencl_add(struct opencl_fields *, const char *name, struct trace_value);
void opencl_add_number(struct opencl_fields *, const char *name, uint64_t);
void opencl_put(struct opencl_fields *);

struct trace_value opencl_display(const char *text);

/* opencl_add_device adds a device as lines show it, "opencl:0". */
enum { OPENCL_DEVICE_ROOM = 24 };
void opencl_add_device(struct opencl_fields *, uint32_t device,
                       char room[OPENCL_DEVICE_ROOM]);

/* opencl_error_name returns "CL_INVALID_VALUE", NULL for unknown codes. */
const char *opencl_error_name(cl_int);

/* opencl_add_result adds the name of an error. `room` holds 16 bytes. */
void opencl_add_result(struct opencl_fields *, cl_int result, char *room);

/* A call that has begun. */
struct opencl_call {
    const char *name; /* of the function */
    uint64_t begin;   /* ticks */
    uint64_t end;     /* ticks; 0: it ends now */
    uint32_t span;
    bool on; /* it is recorded */
};

struct opencl_call opencl_call(const char *name);

/* opencl_thread returns the kernel's id of the calling thread. */
uint32_t opencl_thread(void);

/* opencl_call_end records a call of kind `kind`. */
void opencl_call_end(const struct opencl_call *, unsigned kind, cl_int result,
                     uint32_t device, uint32_t correlation);

/* ---- commands.c ---- */

/* A command on its way to a device. */
struct opencl_command {
    struct opencl_call call;
    struct opencl_place place;
    const char *name; /* constant or kept */
    uint64_t bytes;
    uint32_t correlation, recording;
    uint32_t count[3], block[3]; /* of a kernel; count[0] 0: none */
    uint16_t kind;
    bool blocking, first;
    bool own;        /* the event is ours */
    bool ended;      /* its end was noted */
    cl_event event;  /* ours, or where it went */
    cl_event *given; /* where the event goes */
};

/* opencl_command_begin prepares a command; pass `given` to the driver.
 * opencl_command_end records the call, and the command once it has ended;
 * whether it was recorded, and has ended before the call. */
struct opencl_command opencl_command_begin(const char *function,
                                           cl_command_queue, cl_event *given,
                                           unsigned kind, const char *name);
bool opencl_command_end(struct opencl_command *, cl_int result);

/* opencl_commands_wait waits until all commands have ended, or until none has
 * ended for a while. */
void opencl_commands_wait(void);

/* opencl_commands_run returns whether commands have not ended.
 * opencl_commands_in_child prepares a forked child. */
bool opencl_commands_run(void);
void opencl_commands_in_child(void);
/* ---- rings.c ---- */

/* opencl_rings_read reads all rings of zones if no command runs.
 * opencl_rings_released reads those in a buffer for the last time, before the
 * program releases it. */
void opencl_rings_read(void);
void opencl_rings_released(const void *buffer);

/* ---- memory_table.c: memory that the program has ---- */

/* opencl_memory_begin records that the program has got memory, or `shared`
 * virtual memory, opencl_memory_reference that it refers to it once more, and
 * opencl_memory_released once less, which may be the end of it. */
void opencl_memory_begin(const void *address, uint64_t bytes, cl_context,
                         bool shared);
void opencl_memory_reference(const void *address);
void opencl_memory_released(const void *address);

/* opencl_memory_is_last tells whether the program refers to a memory object
 * once. opencl_memory_retain retains the object in the driver unless the
 * program has released it. */
bool opencl_memory_is_last(const void *object);
bool opencl_memory_retain(void *object);

/* ---- The replacements ---- */

/* Each list is a macro LIST(X) with a row X(name) for each function that the
 * file replaces: opencl_NAME replaces clNAME. */
#define OPENCL_QUEUES(X)                                                       \
    X(CreateCommandQueue)                                                      \
    X(CreateCommandQueueWithProperties)                                        \
    X(RetainCommandQueue)                                                      \
    X(ReleaseCommandQueue)                                                     \
    X(GetCommandQueueInfo)                                                     \
    X(SetCommandQueueProperty)                                                 \
    X(GetEventProfilingInfo)                                                   \
    X(GetExtensionFunctionAddress) X(GetExtensionFunctionAddressForPlatform)

#define OPENCL_KERNELS(X)                                                      \
    X(CreateKernel)                                                            \
    X(CreateKernelsInProgram) X(CloneKernel) X(RetainKernel) X(ReleaseKernel)

#define OPENCL_PROGRAMS(X)                                                     \
    X(BuildProgram)                                                            \
    X(CompileProgram)                                                          \
    X(LinkProgram) X(CreateProgramWithBinary) X(CreateProgramWithIL)

#define OPENCL_MEMORY(X)                                                       \
    X(CreateBuffer)                                                            \
    X(CreateBufferWithProperties)                                              \
    X(CreateImage)                                                             \
    X(CreateImageWithProperties)                                               \
    X(CreateImage2D)                                                           \
    X(CreateImage3D)                                                           \
    X(CreatePipe) X(RetainMemObject) X(ReleaseMemObject) X(SVMAlloc) X(SVMFree)

#define OPENCL_WAITS(X) X(Finish) X(WaitForEvents)

#define OPENCL_ENQUEUES(X)                                                     \
    X(EnqueueReadBuffer)                                                       \
    X(EnqueueWriteBuffer)                                                      \
    X(EnqueueCopyBuffer)                                                       \
    X(EnqueueReadImage)                                                        \
    X(EnqueueWriteImage)                                                       \
    X(EnqueueCopyImage)                                                        \
    X(EnqueueCopyImageToBuffer)                                                \
    X(EnqueueCopyBufferToImage)                                                \
    X(EnqueueMapBuffer)                                                        \
    X(EnqueueMapImage)                                                         \
    X(EnqueueUnmapMemObject)                                                   \
    X(EnqueueNDRangeKernel)                                                    \
    X(EnqueueTask)                                                             \
    X(EnqueueNativeKernel)                                                     \
    X(EnqueueMarker)                                                           \
    X(EnqueueReadBufferRect)                                                   \
    X(EnqueueWriteBufferRect)                                                  \
    X(EnqueueCopyBufferRect)                                                   \
    X(EnqueueFillBuffer)                                                       \
    X(EnqueueFillImage)                                                        \
    X(EnqueueMigrateMemObjects)                                                \
    X(EnqueueMarkerWithWaitList)                                               \
    X(EnqueueBarrierWithWaitList)                                              \
    X(EnqueueSVMFree)                                                          \
    X(EnqueueSVMMemcpy)                                                        \
    X(EnqueueSVMMemFill)                                                       \
    X(EnqueueSVMMap) X(EnqueueSVMUnmap) X(EnqueueSVMMigrateMem)

#define OPENCL_REPLACED(X)                                                     \
    OPENCL_QUEUES(X)                                                           \
    OPENCL_KERNELS(X)                                                          \
    OPENCL_PROGRAMS(X) OPENCL_MEMORY(X) OPENCL_WAITS(X) OPENCL_ENQUEUES(X)

#define TRACE_X(slot, name, type, parameters) type opencl_##name parameters;
OPENCL_FUNCTIONS(TRACE_X)
#undef TRACE_X

#endif
