/* cupti.h: what we use of CUPTI's interface, and what the files of its back end
 * share. Private to this folder.
 *
 * CUPTI is loaded at run time and its headers are not needed: this file has the
 * numbers, offsets and names for x86_64 and aarch64. CUPTI only ever appends
 * fields to a record, so a field exists if the running library's record is long
 * enough; record lengths are measured at start. If a toolkit is installed,
 * tests/unit/devices/cupti_versions_test.c checks each row.
 */
#ifndef TRACE_DEVICES_CUPTI_H
#define TRACE_DEVICES_CUPTI_H

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "trace/backends.h"
#include "trace/device.h"
#include "trace/record/profiler.h"
#include "trace/recording.h"

/* ---- Facts ---- */

/* X(NAME, number, required, word): the kinds of records that are enabled. A new
 * one also has fields in CUPTI_FIELDS; its start and end in `commons` and a
 * function in `builds` (activity.c); records in tests/playback/generate.py, and
 * their meaning, with its own offsets, in oracle.py. */
#define CUPTI_KINDS(X)                                                         \
    X(CONCURRENT_KERNEL, 10, true, "kernel")                                   \
    X(RUNTIME, 5, true, "runtime")                                             \
    X(EXTERNAL_CORRELATION, 39, true, "external")                              \
    X(MEMCPY, 1, false, "memcpy")                                              \
    X(MEMCPY2, 22, false, "memcpy2")                                           \
    X(MEMSET, 2, false, "memset")                                              \
    X(DRIVER, 4, false, "driver")                                              \
    X(OVERHEAD, 17, false, "overhead")                                         \
    X(JIT, 52, false, "jit")                                                   \
    X(SYNCHRONIZATION, 38, false, "sync")                                      \
    X(MEMORY2, 49, false, "memory")                                            \
    X(DEVICE, 8, false, "device")                                              \
    X(CONTEXT, 9, false, "context")                                            \
    X(STREAM, 37, false, "stream")                                             \
    X(NAME, 11, false, "name")                                                 \
    X(CUDA_EVENT, 36, false, "event")                                          \
    X(UNIFIED_MEMORY_COUNTER, 25, false, "unified")                            \
    X(GRAPH_TRACE, 51, false, "graph")

enum cupti_kind {
#define TRACE_X(name, number, must, word) CUPTI_KIND_##name = number,
    CUPTI_KINDS(TRACE_X)
#undef TRACE_X
        CUPTI_KIND_LIMIT = 128
};

enum cupti_domain {
    CUPTI_DOMAIN_DRIVER = 1,
    CUPTI_DOMAIN_RUNTIME = 2,
    CUPTI_DOMAIN_RESOURCE = 3,
};

/* Callbacks about nodes of graphs, and their argument. */
enum { CUPTI_NODE_MADE = 13, CUPTI_NODE_COPIED = 20 };

struct cupti_resource {
    void *context, *handle;
    const struct cupti_graph_data {
        void *graph, *original_graph;
        void *node, *original;
    } * data;
};

/* X(domain, number, symbol): calls that CUPTI need not record. They carry no
 * information; the errors that they return come from other calls. */
#define CUPTI_SILENT(X)                                                        \
    X(RUNTIME, 10, "cudaGetLastError")                                         \
    X(RUNTIME, 11, "cudaPeekAtLastError")                                      \
    X(RUNTIME, 17, "cudaGetDevice")                                            \
    X(RUNTIME, 502, "__cudaPushCallConfiguration")                             \
    X(RUNTIME, 503, "__cudaPopCallConfiguration")                              \
    X(DRIVER, 9, "cuDeviceGetAttribute")                                       \
    X(DRIVER, 14, "cuCtxPushCurrent")                                          \
    X(DRIVER, 15, "cuCtxPopCurrent")                                           \
    X(DRIVER, 304, "cuCtxGetCurrent")                                          \
    X(DRIVER, 323, "cuCtxPushCurrent_v2")                                      \
    X(DRIVER, 324, "cuCtxPopCurrent_v2")                                       \
    X(DRIVER, 392, "cuDevicePrimaryCtxGetState")                               \
    X(DRIVER, 626, "cuGetProcAddress")                                         \
    X(DRIVER, 677, "cuGetProcAddress_v2")                                      \
    X(DRIVER, 686, "cuKernelGetAttribute")

/* X(NAME, kind, member, offset, bytes) */
#define CUPTI_FIELDS(X)                                                        \
    X(KERNEL_REGISTERS, CONCURRENT_KERNEL, registersPerThread, 6, 2)           \
    X(KERNEL_START, CONCURRENT_KERNEL, start, 16, 8)                           \
    X(KERNEL_END, CONCURRENT_KERNEL, end, 24, 8)                               \
    X(KERNEL_DEVICE, CONCURRENT_KERNEL, deviceId, 40, 4)                       \
    X(KERNEL_CONTEXT, CONCURRENT_KERNEL, contextId, 44, 4)                     \
    X(KERNEL_STREAM, CONCURRENT_KERNEL, streamId, 48, 4)                       \
    X(KERNEL_GRID_X, CONCURRENT_KERNEL, gridX, 52, 4)                          \
    X(KERNEL_GRID_Y, CONCURRENT_KERNEL, gridY, 56, 4)                          \
    X(KERNEL_GRID_Z, CONCURRENT_KERNEL, gridZ, 60, 4)                          \
    X(KERNEL_BLOCK_X, CONCURRENT_KERNEL, blockX, 64, 4)                        \
    X(KERNEL_BLOCK_Y, CONCURRENT_KERNEL, blockY, 68, 4)                        \
    X(KERNEL_BLOCK_Z, CONCURRENT_KERNEL, blockZ, 72, 4)                        \
    X(KERNEL_STATIC, CONCURRENT_KERNEL, staticSharedMemory, 76, 4)             \
    X(KERNEL_DYNAMIC, CONCURRENT_KERNEL, dynamicSharedMemory, 80, 4)           \
    X(KERNEL_LOCAL, CONCURRENT_KERNEL, localMemoryPerThread, 84, 4)            \
    X(KERNEL_CORRELATION, CONCURRENT_KERNEL, correlationId, 92, 4)             \
    X(KERNEL_NAME, CONCURRENT_KERNEL, name, 104, 8)                            \
    X(KERNEL_NODE, CONCURRENT_KERNEL, graphNodeId, 144, 8)                     \
    X(KERNEL_GRAPH, CONCURRENT_KERNEL, graphId, 156, 4)                        \
    X(KERNEL_CLUSTER_X, CONCURRENT_KERNEL, clusterX, 176, 4)                   \
    X(KERNEL_CLUSTER_Y, CONCURRENT_KERNEL, clusterY, 180, 4)                   \
    X(KERNEL_CLUSTER_Z, CONCURRENT_KERNEL, clusterZ, 184, 4)                   \
    X(MEMCPY_KIND, MEMCPY, copyKind, 4, 1)                                     \
    X(MEMCPY_SRC, MEMCPY, srcKind, 5, 1)                                       \
    X(MEMCPY_DST, MEMCPY, dstKind, 6, 1)                                       \
    X(MEMCPY_FLAGS, MEMCPY, flags, 7, 1)                                       \
    X(MEMCPY_BYTES, MEMCPY, bytes, 8, 8)                                       \
    X(MEMCPY_START, MEMCPY, start, 16, 8)                                      \
    X(MEMCPY_END, MEMCPY, end, 24, 8)                                          \
    X(MEMCPY_DEVICE, MEMCPY, deviceId, 32, 4)                                  \
    X(MEMCPY_CONTEXT, MEMCPY, contextId, 36, 4)                                \
    X(MEMCPY_STREAM, MEMCPY, streamId, 40, 4)                                  \
    X(MEMCPY_CORRELATION, MEMCPY, correlationId, 44, 4)                        \
    X(MEMCPY_NODE, MEMCPY, graphNodeId, 64, 8)                                 \
    X(MEMCPY_GRAPH, MEMCPY, graphId, 72, 4)                                    \
    X(PEER_KIND, MEMCPY2, copyKind, 4, 1)                                      \
    X(PEER_FLAGS, MEMCPY2, flags, 7, 1)                                        \
    X(PEER_BYTES, MEMCPY2, bytes, 8, 8)                                        \
    X(PEER_START, MEMCPY2, start, 16, 8)                                       \
    X(PEER_END, MEMCPY2, end, 24, 8)                                           \
    X(PEER_DEVICE, MEMCPY2, deviceId, 32, 4)                                   \
    X(PEER_CONTEXT, MEMCPY2, contextId, 36, 4)                                 \
    X(PEER_STREAM, MEMCPY2, streamId, 40, 4)                                   \
    X(PEER_FROM, MEMCPY2, srcDeviceId, 44, 4)                                  \
    X(PEER_TO, MEMCPY2, dstDeviceId, 52, 4)                                    \
    X(PEER_CORRELATION, MEMCPY2, correlationId, 60, 4)                         \
    X(MEMSET_VALUE, MEMSET, value, 4, 4)                                       \
    X(MEMSET_BYTES, MEMSET, bytes, 8, 8)                                       \
    X(MEMSET_START, MEMSET, start, 16, 8)                                      \
    X(MEMSET_END, MEMSET, end, 24, 8)                                          \
    X(MEMSET_DEVICE, MEMSET, deviceId, 32, 4)                                  \
    X(MEMSET_CONTEXT, MEMSET, contextId, 36, 4)                                \
    X(MEMSET_STREAM, MEMSET, streamId, 40, 4)                                  \
    X(MEMSET_CORRELATION, MEMSET, correlationId, 44, 4)                        \
    X(MEMSET_NODE, MEMSET, graphNodeId, 64, 8)                                 \
    X(MEMSET_GRAPH, MEMSET, graphId, 72, 4)                                    \
    X(CALL_ID, RUNTIME, cbid, 4, 4)                                            \
    X(CALL_START, RUNTIME, start, 8, 8)                                        \
    X(CALL_END, RUNTIME, end, 16, 8)                                           \
    X(CALL_THREAD, RUNTIME, threadId, 28, 4)                                   \
    X(CALL_CORRELATION, RUNTIME, correlationId, 32, 4)                         \
    X(CALL_RESULT, RUNTIME, returnValue, 36, 4)                                \
    X(EXTERNAL_KIND, EXTERNAL_CORRELATION, externalKind, 4, 4)                 \
    X(EXTERNAL_ID, EXTERNAL_CORRELATION, externalId, 8, 8)                     \
    X(EXTERNAL_CORRELATION, EXTERNAL_CORRELATION, correlationId, 16, 4)        \
    X(OVERHEAD_KIND, OVERHEAD, overheadKind, 4, 4)                             \
    X(OVERHEAD_OBJECT, OVERHEAD, objectKind, 8, 4)                             \
    X(OVERHEAD_THREAD, OVERHEAD, objectId.pt.threadId, 16, 4)                  \
    X(OVERHEAD_START, OVERHEAD, start, 24, 8)                                  \
    X(OVERHEAD_END, OVERHEAD, end, 32, 8)                                      \
    X(OVERHEAD_CORRELATION, OVERHEAD, correlationId, 40, 4)                    \
    X(SYNC_TYPE, SYNCHRONIZATION, type, 4, 4)                                  \
    X(SYNC_START, SYNCHRONIZATION, start, 8, 8)                                \
    X(SYNC_END, SYNCHRONIZATION, end, 16, 8)                                   \
    X(SYNC_CORRELATION, SYNCHRONIZATION, correlationId, 24, 4)                 \
    X(SYNC_CONTEXT, SYNCHRONIZATION, contextId, 28, 4)                         \
    X(SYNC_STREAM, SYNCHRONIZATION, streamId, 32, 4)                           \
    X(SYNC_EVENT, SYNCHRONIZATION, cudaEventId, 36, 4)                         \
    X(MEMORY_OPERATION, MEMORY2, memoryOperationType, 4, 4)                    \
    X(MEMORY_KIND, MEMORY2, memoryKind, 8, 4)                                  \
    X(MEMORY_CORRELATION, MEMORY2, correlationId, 12, 4)                       \
    X(MEMORY_ADDRESS, MEMORY2, address, 16, 8)                                 \
    X(MEMORY_BYTES, MEMORY2, bytes, 24, 8)                                     \
    X(MEMORY_TIME, MEMORY2, timestamp, 32, 8)                                  \
    X(MEMORY_DEVICE, MEMORY2, deviceId, 52, 4)                                 \
    X(MEMORY_CONTEXT, MEMORY2, contextId, 56, 4)                               \
    X(MEMORY_STREAM, MEMORY2, streamId, 60, 4)                                 \
    X(MEMORY_ASYNC, MEMORY2, isAsync, 72, 4)                                   \
    X(JIT_ENTRY, JIT, jitEntryType, 4, 4)                                      \
    X(JIT_OPERATION, JIT, jitOperationType, 8, 4)                              \
    X(JIT_DEVICE, JIT, deviceId, 12, 4)                                        \
    X(JIT_START, JIT, start, 16, 8)                                            \
    X(JIT_END, JIT, end, 24, 8)                                                \
    X(JIT_CORRELATION, JIT, correlationId, 32, 4)                              \
    X(JIT_ID, JIT, jitOperationCorrelationId, 40, 8)                           \
    X(JIT_BYTES, JIT, cacheSize, 48, 8)                                        \
    X(JIT_THREAD, JIT, threadId, 68, 4)                                        \
    X(DEVICE_MEMORY, DEVICE, globalMemorySize, 16, 8)                          \
    X(DEVICE_L2, DEVICE, l2CacheSize, 28, 4)                                   \
    X(DEVICE_WARP, DEVICE, numThreadsPerWarp, 32, 4)                           \
    X(DEVICE_CLOCK, DEVICE, coreClockRate, 36, 4)                              \
    X(DEVICE_PROCESSORS, DEVICE, numMultiprocessors, 44, 4)                    \
    X(DEVICE_WARPS, DEVICE, maxWarpsPerMultiprocessor, 52, 4)                  \
    X(DEVICE_BLOCKS, DEVICE, maxBlocksPerMultiprocessor, 56, 4)                \
    X(DEVICE_SHARED, DEVICE, maxSharedMemoryPerMultiprocessor, 60, 4)          \
    X(DEVICE_REGISTERS, DEVICE, maxRegistersPerMultiprocessor, 64, 4)          \
    X(DEVICE_MAJOR, DEVICE, computeCapabilityMajor, 104, 4)                    \
    X(DEVICE_MINOR, DEVICE, computeCapabilityMinor, 108, 4)                    \
    X(DEVICE_ID, DEVICE, id, 112, 4)                                           \
    X(DEVICE_UUID, DEVICE, uuid, 120, 16)                                      \
    X(DEVICE_NAME, DEVICE, name, 136, 8)                                       \
    X(DEVICE_MIG, DEVICE, isMigEnabled, 145, 1)                                \
    X(DEVICE_GPU_INSTANCE, DEVICE, gpuInstanceId, 152, 4)                      \
    X(DEVICE_COMPUTE_INSTANCE, DEVICE, computeInstanceId, 156, 4)              \
    X(DEVICE_MIG_UUID, DEVICE, migUuid, 160, 16)                               \
    X(GRAPH_CORRELATION, GRAPH_TRACE, correlationId, 4, 4)                     \
    X(GRAPH_START, GRAPH_TRACE, start, 8, 8)                                   \
    X(GRAPH_END, GRAPH_TRACE, end, 16, 8)                                      \
    X(GRAPH_DEVICE, GRAPH_TRACE, deviceId, 24, 4)                              \
    X(GRAPH_ID, GRAPH_TRACE, graphId, 28, 4)                                   \
    X(GRAPH_CONTEXT, GRAPH_TRACE, contextId, 32, 4)                            \
    X(GRAPH_STREAM, GRAPH_TRACE, streamId, 36, 4)                              \
    X(CONTEXT_ID, CONTEXT, contextId, 4, 4)                                    \
    X(CONTEXT_DEVICE, CONTEXT, deviceId, 8, 4)                                 \
    X(STREAM_CONTEXT, STREAM, contextId, 4, 4)                                 \
    X(STREAM_ID, STREAM, streamId, 8, 4)                                       \
    X(STREAM_PRIORITY, STREAM, priority, 12, 4)                                \
    X(NAME_OBJECT, NAME, objectKind, 4, 4)                                     \
    X(NAME_CONTEXT, NAME, objectId.dcs.contextId, 12, 4)                       \
    X(NAME_STREAM, NAME, objectId.dcs.streamId, 16, 4)                         \
    X(NAME_TEXT, NAME, name, 24, 8)                                            \
    X(EVENT_CORRELATION, CUDA_EVENT, correlationId, 4, 4)                      \
    X(EVENT_CONTEXT, CUDA_EVENT, contextId, 8, 4)                              \
    X(EVENT_STREAM, CUDA_EVENT, streamId, 12, 4)                               \
    X(EVENT_ID, CUDA_EVENT, eventId, 16, 4)                                    \
    X(EVENT_DEVICE, CUDA_EVENT, deviceId, 24, 4)                               \
    X(EVENT_TIME, CUDA_EVENT, deviceTimestamp, 40, 8)                          \
    X(UNIFIED_KIND, UNIFIED_MEMORY_COUNTER, counterKind, 4, 4)                 \
    X(UNIFIED_VALUE, UNIFIED_MEMORY_COUNTER, value, 8, 8)                      \
    X(UNIFIED_START, UNIFIED_MEMORY_COUNTER, start, 16, 8)                     \
    X(UNIFIED_END, UNIFIED_MEMORY_COUNTER, end, 24, 8)                         \
    X(UNIFIED_ADDRESS, UNIFIED_MEMORY_COUNTER, address, 32, 8)                 \
    X(UNIFIED_FROM, UNIFIED_MEMORY_COUNTER, srcId, 40, 4)                      \
    X(UNIFIED_TO, UNIFIED_MEMORY_COUNTER, dstId, 44, 4)

enum cupti_field {
#define TRACE_X(name, kind, member, offset, bytes) CUPTI_##name,
    CUPTI_FIELDS(TRACE_X)
#undef TRACE_X
        CUPTI_FIELD_COUNT
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
    CUPTI_EXTERNAL_CUSTOM0 = 3,
    CUPTI_OBJECT_CONTEXT = 4, /* what a name names */
    CUPTI_OBJECT_STREAM = 5,
    CUPTI_UNIFIED_HTOD = 1, /* what a counter of unified memory counts */
    CUPTI_UNIFIED_DTOH = 2,
    CUPTI_UNIFIED_DTOD = 8,
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

/* ---- cupti_clock.c ---- */

/* CUPTI's clock, CLOCK_MONOTONIC in nanoseconds, as it compares to the
 * recording's. A thread has its own. */
struct cupti_clock {
    struct trace_anchor first, last;
    double rate; /* ticks in a ns; 0: the clocks are equal */
};

/* cupti_clock_now returns the time that CUPTI puts into its records. */
uint64_t cupti_clock_now(void);

/* cupti_clock_compare compares both clocks: first when tracing begins, and then
 * before records are decoded. */
void cupti_clock_compare(struct cupti_clock *);

/* cupti_is_time returns whether a record may have that time: it is between the
 * first and the last comparison. cupti_ticks converts such a time to the
 * recording's ticks, cupti_ns a number of ticks to nanoseconds. */
bool cupti_is_time(const struct cupti_clock *, uint64_t ns);
uint64_t cupti_ticks(const struct cupti_clock *, uint64_t ns);
uint64_t cupti_ns(const struct cupti_clock *, uint64_t ticks);

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
    bool on;             /* atomic */
    bool system_threads; /* thread ids are the kernel's */
    bool after_init;     /* CUDA was initialized before */
    bool zeroed;         /* CUPTI relies on it that buffers are */
    bool enabled[CUPTI_KIND_LIMIT];
    uint16_t stride[CUPTI_KIND_LIMIT]; /* bytes of a record; 0: unknown */
    struct cupti_clock clock;          /* of records */
    struct {
        uint32_t thread;
        uint64_t begin, end; /* CUPTI's clock */
    } own; /* when and on which thread we waited for devices */
    uint32_t sampling_thread; /* which is ours; 0: none */
    const char *state;        /* "on", "busy", ...; see cupti_fail */
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

/* ---- cupti.c ---- */

/* cupti_begin loads CUPTI, enables its records and attaches to the host's
 * recording, where it notes the state. `after_init`: CUDA was initialized
 * before. Returns whether tracing is on. */
bool cupti_begin(const struct trace_device_host *, bool after_init);

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
    struct cupti_buffer *next;
    const struct cupti_buffer *self; /* shows that it is one of ours */
    size_t size, valid;              /* bytes; those with records */
    bool spare;                      /* its records are dropped */
    _Alignas(64) uint8_t bytes[];
};

/* cupti_buffer_take returns a zeroed buffer that takes so many bytes with its
 * head; NULL without memory. cupti_buffer_give_back takes it again.
 * cupti_buffers_used returns the bytes of those that were taken, without spare
 * ones. cupti_buffer_prepare has one ready, unless there is one. */
struct cupti_buffer *cupti_buffer_take(size_t size, bool spare);
void cupti_buffer_give_back(struct cupti_buffer *);
size_t cupti_buffers_used(void);
void cupti_buffer_prepare(size_t size);

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

/* ---- decode.c: from records to activities ---- */

struct cupti_counts {
    uint64_t launches; /* calls */
    uint64_t launched; /* of these with a device's record */
    uint64_t captured; /* without one, into a graph */
    uint64_t lost;     /* without one, otherwise */
    uint64_t orphans;  /* device's records without a call */
    uint64_t dropped;
    uint64_t undecoded;
    uint64_t bad_times;
    /* Calls, other activities, and spans that calls are joined to: how many
     * were recorded, and how many a limit dropped. */
    uint64_t callback_events, dropped_callback_events;
    uint64_t activity_events, dropped_activity_events;
    uint64_t annotations, dropped_annotations;
    uint64_t plausible; /* kernels; 0: the layout of records is uncertain */
    uint64_t implausible;
};
extern struct cupti_counts cupti_counts;

/* A record in a buffer. */
struct cupti_record {
    const uint8_t *at;
    size_t stride;
    uint32_t kind;
};

/* cupti_next steps to the next record within `size` bytes. Returns false at the
 * end; sets `at` to NULL if the record's length is unknown. Start with the zero
 * value. */
bool cupti_next(const uint8_t *bytes, size_t size, struct cupti_record *);

extern const struct cupti_layout {
    uint16_t kind, offset, bytes;
} cupti_layout[CUPTI_FIELD_COUNT];

/* cupti_bytes returns the address of a field, NULL if the record is too short
 * to have it. */
static inline const uint8_t *cupti_bytes(const struct cupti_record *record,
                                         enum cupti_field field)
{
    const struct cupti_layout *layout = &cupti_layout[field];

    return (size_t)layout->offset + layout->bytes <= record->stride
               ? record->at + layout->offset
               : NULL;
}

/* cupti_get returns a number, 0 if the record has none. */
static inline uint64_t cupti_get(const struct cupti_record *record,
                                 enum cupti_field field)
{
    const uint8_t *bytes = cupti_bytes(record, field);
    uint64_t value = 0;

    if (bytes)
        memcpy(&value, bytes, cupti_layout[field].bytes);
    return value;
}

static inline uint32_t cupti_get32(const struct cupti_record *record,
                                   enum cupti_field field)
{
    return (uint32_t)cupti_get(record, field);
}

/* cupti_decode decodes and frees buffers. The last time it also records what
 * still waits for other records. */
void cupti_decode(struct cupti_buffer *, bool last);

/* cupti_count_spare counts the records of a buffer as dropped. */
void cupti_count_spare(const struct cupti_buffer *);

/* ---- activity.c: one record ---- */

/* cupti_correlation returns the id of a record's call, cupti_on_device whether
 * the record describes work on the device, cupti_is_compile whether it
 * describes a compilation that belongs to a launch. */
uint32_t cupti_correlation(const struct cupti_record *);
bool cupti_on_device(const struct cupti_record *);
bool cupti_is_compile(const struct cupti_record *);

/* cupti_is_activity returns whether a record describes an activity. */
bool cupti_is_activity(const struct cupti_record *);

/* cupti_times returns when an activity happened. Missing and impossible times
 * are estimated. */
struct cupti_times {
    uint64_t begin, end; /* ticks */
    bool estimated;
};
struct cupti_times cupti_times(const struct cupti_record *);

/* A record that is to become an activity. cupti_put_activity records it. */
struct cupti_item {
    struct cupti_record record;
    struct cupti_times times;      /* of cupti_times */
    const struct cupti_call *call; /* of cupti_call_find */
};
void cupti_put_activity(const struct cupti_item *);

/* ---- occupancy.c ---- */

/* The limits of a device's multiprocessor. */
struct cupti_device {
    uint32_t major, minor; /* the compute capability */
    uint32_t processors;
    uint32_t warp; /* threads */
    uint32_t warps, blocks, registers, shared;
};

struct cupti_launch {
    uint32_t grid[3], block[3];
    uint32_t registers; /* of a thread */
    uint64_t shared;    /* bytes of a block */
};

struct cupti_occupancy {
    uint64_t blocks;   /* that a multiprocessor can hold */
    unsigned percent;  /* of the device's warps, if the grid is that large */
    const char *limit; /* of "warps", "blocks", "registers", "shared", "grid" */
};

/* cupti_occupancy estimates the occupancy of a launch. Returns false if it
 * cannot run or if the limits are implausible. */
bool cupti_occupancy(const struct cupti_device *, const struct cupti_launch *,
                     struct cupti_occupancy *);

/* ---- pci.c ---- */

enum { CUPTI_PCI_ROOM = 32 };

/* cupti_pci_address finds the PCI address of a device by its UUID. `folder` has
 * a folder for each device, as /proc/driver/nvidia/gpus has. */
bool cupti_pci_address(const char *folder, const char *uuid,
                       char address[CUPTI_PCI_ROOM]);
/* ---- limits.c: the profiler options ---- */

/* cupti_wants returns whether to enable a kind of records. */
bool cupti_wants(uint32_t kind);

/* cupti_leaves_out returns whether an activity, which was made of a record, is
 * not to be recorded. It counts what exceeds a limit. */
bool cupti_leaves_out(const struct cupti_record *,
                      const struct trace_activity *);

/* cupti_annotation returns the span, or 0 if it exceeds the limit of spans. */
uint32_t cupti_annotation(uint32_t span);

/* cupti_note_limits notes and reports what exceeded limits, and frees the list
 * of spans. */
void cupti_note_limits(void);

/* ---- resources.c ---- */

/* cupti_device returns the limits of a device, NULL if they are unknown. */
const struct cupti_device *cupti_device(uint32_t id);

/* cupti_note_resource notes what is no activity as metadata: a device, a
 * context, a stream, a name, or an event of another clock. */
void cupti_note_resource(const struct cupti_record *);

/* ---- correlation.c: calls ---- */

/* A call into the runtime or driver, or several nested ones with one id. */
struct cupti_call {
    uint64_t begin, end; /* CUPTI's clock, of the outermost; 0: unknown */
    uint32_t correlation;
    uint32_t span; /* the enclosing span; 0: none */
    uint32_t thread;
    uint32_t devices; /* records of the work that it launched */
    uint32_t around;  /* a nested call with another id; 0: none */
    bool seen;        /* its own record arrived */
    bool launches;    /* it is a launch by its name */
    bool idle;        /* by its name, it starts no work */
    bool nested;      /* within another launch */
    bool described;   /* the fields below are known */
    uint32_t stream;
    uint32_t count[3];
    const char *kernel; /* its displayed name */
};

/* cupti_call_find returns the call with an id, NULL if it is unknown or
 * dropped. cupti_call_add adds it if it is unknown; NULL without memory. */
struct cupti_call *cupti_call_find(uint32_t correlation);
struct cupti_call *cupti_call_add(uint32_t correlation);

/* cupti_call_note adds a record's facts to its call. */
void cupti_call_note(const struct cupti_record *);

/* cupti_call_count_launches counts, at the end, which launches have their
 * records, and drops all calls. */
void cupti_call_count_launches(void);

/* ---- graph_capture.c: stream captures ---- */

/* cupti_capture_begin and cupti_capture_end note the record of a call that
 * begins or ends the capture of a stream, also of one that failed. */
void cupti_capture_begin(const struct cupti_record *);
void cupti_capture_end(const struct cupti_record *);

/* cupti_capture_covers returns whether a stream was capturing at a time.
 * cupti_capture_forget forgets all captures. */
bool cupti_capture_covers(uint64_t time);
void cupti_capture_forget(void);

/* ---- graph_nodes.c: where nodes of graphs come from ---- */

/* A node of a graph that was made, not copied. */
struct cupti_node {
    uint64_t id;
    const char *span; /* the name of the one that made it; "": none */
};

/* cupti_watch_nodes subscribes to what happens to nodes from now on, if the
 * options ask for it. cupti_watches_nodes returns whether it has.
 * cupti_node_find finds the original of a node; false if it is unknown. */
void cupti_watch_nodes(void);
bool cupti_watches_nodes(void);
bool cupti_node_find(uint64_t id, struct cupti_node *);

/* ---- calls.c: what calls do ---- */

enum cupti_role {
    CUPTI_ROLE_OTHER,
    CUPTI_ROLE_LAUNCH,
    CUPTI_ROLE_BEGIN_CAPTURE,
    CUPTI_ROLE_END_CAPTURE,
    CUPTI_ROLE_QUERY,
    CUPTI_ROLE_RESET, /* releases all memory of a context or device */
    CUPTI_ROLE_NOISE,
    CUPTI_ROLE_LAST = CUPTI_ROLE_NOISE
};

/* cupti_role returns what a call does; cupti_compile_stage returns its
 * compilation stage, NULL if it has none. */
enum cupti_role cupti_role(enum cupti_domain, uint32_t id);
const char *cupti_compile_stage(enum cupti_domain, uint32_t id);

/* cupti_is_noise returns whether a record is of a call that carries no
 * information, that succeeded and that was short. */
bool cupti_is_noise(const struct cupti_record *);

/* ---- cupti_names.c ---- */

/* cupti_call_name returns the displayed name of a call, and CUPTI's own in
 * `raw`. Both stay valid. */
const char *cupti_call_name(enum cupti_domain, uint32_t id, const char **raw);

/* cupti_kernel_name returns the demangled name of a kernel, and a copy of the
 * other one. Both are `kept`: they stay valid. Without memory, they are
 * `mangled`. */
struct cupti_kernel_name {
    const char *shown, *mangled;
    bool kept;
};
struct cupti_kernel_name cupti_kernel_name(const char *mangled);

/* cupti_string returns the text that a record points to, "?" if it is NULL or
 * no memory is there. */
const char *cupti_string(const struct cupti_record *, enum cupti_field);

/* cupti_strip writes the displayed form of one of CUPTI's names. */
void cupti_strip(const char *raw, char *shown, size_t size);

/* cupti_error_name returns the name of a result, NULL if it is unknown. */
const char *cupti_error_name(enum cupti_domain, int result);

/* cupti_is_readable returns whether memory is mapped at an address. */
bool cupti_is_readable(const void *);

#endif
