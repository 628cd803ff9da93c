/* records.c: which records are written whole. */
#include "records.h"

/* The offset of the end in each kind that has one: 8 bytes. An external
 * correlation has no time; its id is written last. */
#define END_OF(field) (uint8_t) cupti_ends_at_##field
enum {
#define TRACE_X(name, kind, member, offset, bytes)                             \
    cupti_ends_at_##name = offset,
    CUPTI_FIELDS(TRACE_X)
#undef TRACE_X
};

static const uint8_t ends[CUPTI_KIND_LIMIT] = {
    [CUPTI_KIND_CONCURRENT_KERNEL] = END_OF(KERNEL_END),
    [CUPTI_KIND_RUNTIME] = END_OF(CALL_END),
    [CUPTI_KIND_DRIVER] = END_OF(CALL_END),
    [CUPTI_KIND_EXTERNAL_CORRELATION] = END_OF(EXTERNAL_CORRELATION),
    [CUPTI_KIND_MEMCPY] = END_OF(MEMCPY_END),
    [CUPTI_KIND_MEMCPY2] = END_OF(PEER_END),
    [CUPTI_KIND_MEMSET] = END_OF(MEMSET_END),
    [CUPTI_KIND_OVERHEAD] = END_OF(OVERHEAD_END),
    [CUPTI_KIND_JIT] = END_OF(JIT_END),
    [CUPTI_KIND_SYNCHRONIZATION] = END_OF(SYNC_END),
    [CUPTI_KIND_MEMORY2] = END_OF(MEMORY_TIME),
    [CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = END_OF(UNIFIED_END),
    [CUPTI_KIND_GRAPH_TRACE] = END_OF(GRAPH_END),
};

bool cupti_is_finished(const struct cupti_record *record)
{
    uint8_t at = record->kind < CUPTI_KIND_LIMIT ? ends[record->kind] : 0;
    const void *from;
    uint64_t end;

    if (!at)
        return record->kind;
    if (at + sizeof(end) > record->stride)
        return true;
    from = record->at + at;
    if ((uintptr_t)from % sizeof(end)) /* in a damaged recording */
        memcpy(&end, from, sizeof(end));
    else /* other fields are read later */
        end = __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE);
    return end;
}
