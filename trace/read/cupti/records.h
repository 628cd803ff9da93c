/* records.h: the records that CUPTI writes: their kinds, and where in them
 * their fields are. Private.
 *
 * CUPTI's headers are not needed: this file has the numbers and offsets for
 * x86_64 and aarch64. CUPTI only ever appends fields to a record, so a field
 * exists if the library's record is long enough; record lengths are measured
 * when it is loaded. If a toolkit is installed,
 * tests/unit/devices/cupti_versions_test.c checks each row.
 */
#ifndef TRACE_READ_CUPTI_RECORDS_H
#define TRACE_READ_CUPTI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

enum {
    CUPTI_EXTERNAL_CUSTOM0 = 3,
    CUPTI_OBJECT_CONTEXT = 4, /* what a name names */
    CUPTI_OBJECT_STREAM = 5,
    CUPTI_UNIFIED_HTOD = 1, /* what a counter of unified memory counts */
    CUPTI_UNIFIED_DTOH = 2,
    CUPTI_UNIFIED_DTOD = 8,
};

/* ---- A record ---- */

/* A record in a buffer. */
struct cupti_record {
    const uint8_t *at;
    size_t stride;
    uint32_t kind;
};

/* cupti_next steps to the next record within `size` bytes; `strides` has the
 * bytes of each kind's records, 0 if they are unknown. Returns false at the
 * end; sets `at` to NULL if the record's length is unknown. Start with the zero
 * value. */
static inline bool cupti_next(const uint16_t strides[CUPTI_KIND_LIMIT],
                              const uint8_t *bytes, size_t size,
                              struct cupti_record *record)
{
    const uint8_t *at = record->at ? record->at + record->stride : bytes;
    size_t left = size - (size_t)(at - bytes);

    *record = (struct cupti_record){0};
    if (!left)
        return false;
    if (left >= sizeof(record->kind))
        memcpy(&record->kind, at, sizeof(record->kind));
    if (record->kind < CUPTI_KIND_LIMIT)
        record->stride = strides[record->kind];
    if (record->stride && record->stride <= left)
        record->at = at;
    return true;
}

/* Here, so that a compiler knows where a field is. */
static const struct cupti_layout {
    uint16_t kind, offset, bytes;
} cupti_layout[CUPTI_FIELD_COUNT] = {
#define TRACE_X(name, kind, member, offset, bytes)                             \
    {CUPTI_KIND_##kind, offset, bytes},
    CUPTI_FIELDS(TRACE_X)
#undef TRACE_X
};

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

/* cupti_is_finished returns whether CUPTI has written a record that lies in an
 * incomplete buffer: it has written its end, if the kind has one. */
bool cupti_is_finished(const struct cupti_record *);

static inline uint32_t cupti_get32(const struct cupti_record *record,
                                   enum cupti_field field)
{
    return (uint32_t)cupti_get(record, field);
}

#endif
