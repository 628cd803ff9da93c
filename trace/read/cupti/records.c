/* records.c: steps through records. */
#include "records.h"

const struct cupti_layout cupti_layout[CUPTI_FIELD_COUNT] = {
#define TRACE_X(name, kind, member, offset, bytes)                             \
    {CUPTI_KIND_##kind, offset, bytes},
    CUPTI_FIELDS(TRACE_X)
#undef TRACE_X
};

bool cupti_next(const uint16_t strides[CUPTI_KIND_LIMIT], const uint8_t *bytes,
                size_t size, struct cupti_record *record)
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

/* The field of each kind that has one. DRIVER's records are RUNTIME's. */
static const uint8_t ends[CUPTI_KIND_LIMIT] = {
    [CUPTI_KIND_CONCURRENT_KERNEL] = CUPTI_KERNEL_END,
    [CUPTI_KIND_RUNTIME] = CUPTI_CALL_END,
    [CUPTI_KIND_DRIVER] = CUPTI_CALL_END,
    [CUPTI_KIND_EXTERNAL_CORRELATION] = CUPTI_EXTERNAL_CORRELATION,
    [CUPTI_KIND_MEMCPY] = CUPTI_MEMCPY_END,
    [CUPTI_KIND_MEMCPY2] = CUPTI_PEER_END,
    [CUPTI_KIND_MEMSET] = CUPTI_MEMSET_END,
    [CUPTI_KIND_OVERHEAD] = CUPTI_OVERHEAD_END,
    [CUPTI_KIND_JIT] = CUPTI_JIT_END,
    [CUPTI_KIND_SYNCHRONIZATION] = CUPTI_SYNC_END,
    [CUPTI_KIND_MEMORY2] = CUPTI_MEMORY_TIME,
    [CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = CUPTI_UNIFIED_END,
    [CUPTI_KIND_GRAPH_TRACE] = CUPTI_GRAPH_END,
};
_Static_assert(CUPTI_FIELD_COUNT <= UINT8_MAX, "a byte is enough");

bool cupti_is_finished(const struct cupti_record *record)
{
    uint8_t end = record->kind < CUPTI_KIND_LIMIT ? ends[record->kind] : 0;

    return record->kind && (!end || cupti_get(record, end));
}
