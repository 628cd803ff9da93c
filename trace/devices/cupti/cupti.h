/* cupti.h: what we use of CUPTI's interface, and what the files of its back end
 * share. Private to this folder.
 *
 * CUPTI is loaded at run time and its headers are not needed: this file has the
 * numbers and names of its calls, and trace/read/cupti/records.h those of its
 * records. If a toolkit is installed, tests/unit/devices/cupti_versions_test.c
 * checks each row.
 */
#ifndef TRACE_DEVICES_CUPTI_H
#define TRACE_DEVICES_CUPTI_H

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "trace/backends.h"
#include "trace/device.h"
#include "trace/read/cupti/notes.h"
#include "trace/record/profiler.h"

/* ---- Facts ---- */

/* Callbacks about nodes of graphs, and their argument. */
enum { CUPTI_NODE_MADE = 13, CUPTI_NODE_COPIED = 20 };

struct cupti_resource {
    void *context, *handle;
    const struct cupti_graph_data {
        void *graph, *original_graph;
        void *node, *original;
    } * data;
};

/* Results of calls; X(NAME, number). */
#define CUPTI_RESULTS(X)                                                       \
    X(NOT_READY, 13)                                                           \
    X(NOT_INITIALIZED, 15)                                                     \
    X(INVALID_KIND, 21)                                                        \
    X(VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33)                                    \
    X(INSUFFICIENT_PRIVILEGES, 35)                                             \
    X(LEGACY_PROFILER_NOT_SUPPORTED, 38)                                       \
    X(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)                                  \
    X(UNKNOWN, 999)

enum cupti_result {
#define TRACE_X(name, number) CUPTI_RESULT_##name = number,
    CUPTI_RESULTS(TRACE_X)
#undef TRACE_X
};

enum {
    CUPTI_THREAD_SYSTEM = 1, /* a type of thread ids: the kernel's */
    CUPTI_NULL_BUFFER =
        27,               /* the first version that accepts NULL for a buffer */
    CUPTI_NAME_ROOM = 64, /* for another subscriber's name */
};

/* How to get privileges. */
#define CUPTI_PRIVILEGES                                                       \
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM: be root, or load the "     \
    "driver with NVreg_RestrictProfilingToAdminUsers=0"

/* The parameter of cuptiActivityConfigureUnifiedMemoryCounter. */
struct cupti_unified {
    uint32_t scope, kind, device, enable;
};

/* The parameter of cuptiSubscribe_v2. */
struct cupti_subscriber {
    size_t size; /* of this struct */
    const char *name;
    char *other; /* out: the subscriber's name, CUPTI_NAME_ROOM bytes */
    size_t other_size;
};

typedef void cupti_callback(void *, int, uint32_t, const void *);
typedef void cupti_request(uint8_t **, size_t *, size_t *);
typedef void cupti_complete(void *, uint32_t, uint8_t *, size_t, size_t);

/* X(our name, its name, parameters). All return an enum cupti_result, 0 for
 * success. These are required; all are in 11.8: */
#define CUPTI_REQUIRED(X)                                                      \
    X(get_version, "cuptiGetVersion", (uint32_t *))                            \
    X(result_string, "cuptiGetResultString", (int, const char **))             \
    X(callback_name, "cuptiGetCallbackName", (int, uint32_t, const char **))   \
    X(thread_id_type, "cuptiSetThreadIdType", (int))                           \
    X(subscribe, "cuptiSubscribe", (void **, cupti_callback *, void *))        \
    X(unsubscribe, "cuptiUnsubscribe", (void *))                               \
    X(register_callbacks, "cuptiActivityRegisterCallbacks",                    \
      (cupti_request *, cupti_complete *))                                     \
    X(register_clock, "cuptiActivityRegisterTimestampCallback",                \
      (uint64_t(*)(void)))                                                     \
    X(enable, "cuptiActivityEnable", (int))                                    \
    X(disable, "cuptiActivityDisable", (int))                                  \
    X(flush_all, "cuptiActivityFlushAll", (uint32_t))                          \
    X(next_record, "cuptiActivityGetNextRecord", (uint8_t *, size_t, void **)) \
    X(dropped, "cuptiActivityGetNumDroppedRecords",                            \
      (void *, uint32_t, size_t *))                                            \
    X(push, "cuptiActivityPushExternalCorrelationId", (int, uint64_t))         \
    X(pop, "cuptiActivityPopExternalCorrelationId", (int, uint64_t *))

/* These are optional: */
#define CUPTI_OPTIONAL(X)                                                      \
    X(enable_driver_api, "cuptiActivityEnableDriverApi", (uint32_t, uint8_t))  \
    X(enable_all_syncs, "cuptiActivityEnableAllSyncRecords", (uint8_t))        \
    X(enable_event_times, "cuptiActivityEnableCudaEventDeviceTimestamps",      \
      (uint8_t))                                                               \
    X(configure_unified, "cuptiActivityConfigureUnifiedMemoryCounter",         \
      (struct cupti_unified *, uint32_t))                                      \
    X(enable_runtime_api, "cuptiActivityEnableRuntimeApi",                     \
      (uint32_t, uint8_t))                                                     \
    X(set_attribute, "cuptiActivitySetAttribute", (int, size_t *, void *))     \
    X(enable_and_dump, "cuptiActivityEnableAndDump", (int))                    \
    X(enable_callback, "cuptiEnableCallback",                                  \
      (uint32_t, void *, int, uint32_t))                                       \
    X(graph_node_id, "cuptiGetGraphNodeId", (void *, uint64_t *))              \
    X(subscribe_by_name, "cuptiSubscribe_v2",                                  \
      (void **, cupti_callback *, void *, struct cupti_subscriber *))

/* ---- state.c: the running library ---- */

struct cupti {
#define TRACE_X(name, symbol, parameters) int(*name) parameters;
    CUPTI_REQUIRED(TRACE_X)
    CUPTI_OPTIONAL(TRACE_X)
#undef TRACE_X
    const struct trace_device_host *host;
    void *handle;
    uint32_t version;
    uint32_t pid;
    bool on;         /* atomic */
    bool after_init; /* CUDA was initialized before */
    bool zeroed;     /* CUPTI relies on it that buffers are */
    bool enabled[CUPTI_KIND_LIMIT];
    struct cupti_decoder decoder;
    const char *state; /* "on", "busy", ...; see cupti_fail */
    char notice[512];
    struct trace_text refused; /* "jit: 27 CUPTI_ERROR_...", ... */
};
extern struct cupti cupti;

/* cupti_fail sets the state and the notice; cupti_note_state records both as
 * metadata. */
void cupti_fail(const char *state, const char *format, ...) TRACE_PRINTF(2, 3);
void cupti_note_state(void);

/* cupti_disable_all disables the enabled kinds in reverse order. */
void cupti_disable_all(void);

/* cupti_stop stops tracing for good and notes the reason. CUPTI is not called:
 * the caller, or later the flusher, calls cupti_disable_all. */
void cupti_stop(const char *state, const char *why);

/* cupti_is_on returns whether CUPTI may be called: tracing is on, and this is
 * not a forked child. */
bool cupti_is_on(void);

/* cupti_join returns whether a thread has ended within the time for CUPTI's
 * answer. */
bool cupti_join(pthread_t);

/* cupti_result_name returns the name of a result. */
const char *cupti_result_name(int result);

/* cupti_note notes a pair of metadata with a formatted value. */
void cupti_note(const char *name, const char *format, ...) TRACE_PRINTF(2, 3);

/* cupti_clock_now returns the time that CUPTI puts into its records. */
uint64_t cupti_clock_now(void);

/* ---- cupti.c ---- */

/* cupti_begin loads CUPTI, enables its records and attaches to the host's
 * recording, where it notes the state. `after_init`: CUDA was initialized
 * before. Returns whether tracing is on. */
bool cupti_begin(const struct trace_device_host *, bool after_init);

/* cupti_begin_decoder makes the decoder give all to the host. */
void cupti_begin_decoder(void);

/* cupti_enter_span tells CUPTI the calling thread's current span. */
void cupti_enter_span(uint32_t span);

/* ---- kinds.c: kinds of records ---- */

/* cupti_enable_all enables the wanted kinds; CUPTI's error if one fails that
 * tracing needs. cupti_note_kinds notes those that are enabled,
 * cupti_note_refusal one that CUPTI refuses. */
int cupti_enable_all(void);
void cupti_note_kinds(void);
void cupti_note_refusal(const char *word, int result);

/* cupti_enable_late tries to enable the kinds of records for which the driver
 * must start first, and notes those that are refused. At the end,
 * cupti_refuse_late notes those for which it has not started. */
void cupti_enable_late(void);
void cupti_refuse_late(void);

/* ---- ownership.c: other profilers ---- */

/* cupti_is_free returns whether no other tool profiles this process, and
 * otherwise sets the state. */
bool cupti_is_free(void);

/* cupti_check_owner finds out at the end whether another tool uses CUPTI, too,
 * and says which of both has the records. `waited`: our wait for a device must
 * have left a record; `received`: records arrived since. */
void cupti_check_owner(bool waited, bool received);

/* ---- contexts.c ---- */

/* cupti_wait_for_devices waits until all devices that the program uses are
 * done, without creating a context. Its own calls are not recorded. Returns
 * whether it waited for any. */
bool cupti_wait_for_devices(void);

/* ---- library.c: finding libcupti ---- */

/* cupti_search calls `try` with each libcupti that can be loaded, in order,
 * until it returns true; it closes the others. Returns how many it tried. */
unsigned cupti_search(bool (*try)(void *handle));

/* cupti_loaded finds the path of a loaded object by the beginning of its file's
 * name; false if there is none. */
bool cupti_loaded(const char *begin, char path[PATH_MAX]);

/* cupti_symbol looks up a function in such an object. */
void *cupti_symbol(const char *begin, const char *name);

/* ---- buffer_memory.c ---- */

struct cupti_buffer {
    union {
        struct {
            struct trace_raw head;
            struct cupti_buffer *next;
            const struct cupti_buffer *self; /* shows that it is one of ours */
            size_t size;                     /* of `bytes` */
            bool spare;                      /* its records are dropped */
            bool is_raw;                     /* it lies in the recording */
            bool abandoned;                  /* its recording has ended */
            uint32_t slot;            /* among those that CUPTI has, from 1 */
            struct cupti_range range; /* while it is decoded */
        };
        uint8_t room[TRACE_RAW_HEAD];
    };
    uint8_t bytes[];
};
_Static_assert(sizeof(struct cupti_buffer) == TRACE_RAW_HEAD,
               "records follow the head");

/* cupti_buffer_take returns a zeroed buffer that takes so many bytes with its
 * head; NULL without memory. cupti_buffer_give_back takes it again.
 * cupti_buffers_used returns the bytes of those that were taken, without spare
 * ones. cupti_buffer_prepare has one ready, unless there is one. */
struct cupti_buffer *cupti_buffer_take(size_t size, bool spare);
void cupti_buffer_give_back(struct cupti_buffer *);
size_t cupti_buffers_used(void);
void cupti_buffer_prepare(size_t size);

/* ---- raw_notes.c: what readers of these must know ---- */

enum { CUPTI_RAW_OUT = 1024 /* buffers that CUPTI may have at a time */ };

/* cupti_raw_note_all notes what a recording needs that has just begun.
 * cupti_raw_look_into notes what the records of a buffer mention that have been
 * written since the last time; `out` are all that CUPTI has, CUPTI_RAW_OUT
 * pointers. It compares the text of an address once after cupti_raw_scan. */
void cupti_raw_note_all(void);
void cupti_raw_scan(void);
void cupti_raw_look_into(struct cupti_buffer *, size_t size, bool complete,
                         struct cupti_buffer *const *out);

/* ---- raw.c: buffers in the recording ---- */

/* cupti_raw_begin begins what a recording needs that has just begun. Returns
 * whether buffers lie in it, as cupti_raw_is_on does. cupti_raw_prepare has
 * buffers ready. */
bool cupti_raw_begin(void);
bool cupti_raw_is_on(void);
void cupti_raw_prepare(void);

/* cupti_raw_take returns a buffer for CUPTI, NULL without space.
 * cupti_raw_adopt returns whether a buffer was in the recording before, and
 * makes it one whose records are decoded here. */
struct cupti_buffer *cupti_raw_take(void);
bool cupti_raw_adopt(struct cupti_buffer *, size_t size);

/* cupti_raw_look notes what records mention in the buffers that CUPTI has,
 * cupti_raw_end what is left in a complete one, which it gives back. One thread
 * at a time may call them. cupti_raw_note_own notes cupti.decoder.own;
 * cupti_raw_finish notes the end. */
void cupti_raw_look(void);
void cupti_raw_end(struct cupti_buffer *);
void cupti_raw_note_own(void);
void cupti_raw_finish(void);

/* ---- buffers.c ---- */

void cupti_buffer_requested(uint8_t **, size_t *, size_t *);
void cupti_buffer_completed(void *, uint32_t, uint8_t *, size_t, size_t);

/* cupti_begin_flusher starts a thread that flushes now and then, once. */
void cupti_begin_flusher(void);

/* cupti_flush records everything that CUPTI has. The last time it also waits
 * for the device and reports losses. */
void cupti_flush(bool last);

/* cupti_resume drops everything that CUPTI has and lets the thread start again,
 * for another recording after the last flush. */
void cupti_resume(void);

/* cupti_pause disables all kinds of records after the last flush, until
 * cupti_resume. */
void cupti_pause(void);

/* cupti_flush_at_exit registers the last flush for the end of the process. */
void cupti_flush_at_exit(void);

/* ---- pci.c ---- */

/* cupti_pci_address finds the PCI address of a device by its UUID. `folder` has
 * a folder for each device, as /proc/driver/nvidia/gpus has. */
bool cupti_pci_address(const char *folder, const char *uuid,
                       char address[CUPTI_PCI_ROOM]);
/* ---- graph_nodes.c: where nodes of graphs come from ---- */

/* cupti_watch_nodes subscribes to what happens to nodes from now on, if the
 * options ask for it. cupti_watches_nodes returns whether it has.
 * cupti_node_find finds the original of a node; false if it is unknown. */
void cupti_watch_nodes(void);
bool cupti_watches_nodes(void);
bool cupti_node_find(uint64_t id, struct cupti_node *);

/* ---- process_names.c ---- */

extern const struct cupti_source cupti_process;

/* cupti_is_readable returns whether memory is mapped at an address. */
bool cupti_is_readable(const void *);

#endif
