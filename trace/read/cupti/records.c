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
