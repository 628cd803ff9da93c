/* activity_sites.c: which activities of devices share a call site. */
#include <string.h>

#include "trace/base/strings.h"
#include "trace/device.h"

static const char *target_of(unsigned kind)
{
    switch (kind) {
#define TRACE_X(name, number, category, target, message, failed)               \
    case TRACE_ACTIVITY_##name:                                                \
        return target;
        TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
    default:
        return "gpu";
    }
}

unsigned trace_activity_level(const struct trace_activity *activity)
{
    return activity->level ? activity->level : TRACE_LEVEL_TRACE;
}

struct trace_site trace_activity_site(const struct trace_activity *activity)
{
    return (struct trace_site){
        .name = activity->name,
        .target = target_of(activity->at.kind),
        .file = "",
        .function = activity->symbol ? activity->symbol : activity->name,
        .fields = activity->fields,
        .level = (uint8_t)trace_activity_level(activity),
        .kind = TRACE_SITE_DEVICE,
        .field_count = (uint8_t)activity->field_count,
    };
}

uint64_t trace_activity_key(const struct trace_activity *activity)
{
    uint64_t hash = (uintptr_t)activity->fields;

    hash = trace_mix(hash, activity->field_count << 32 |
                               trace_activity_level(activity) << 16 |
                               activity->at.kind);
    if (activity->kept)
        return trace_mix(trace_mix(hash, (uintptr_t)activity->name),
                         (uintptr_t)activity->symbol);
    hash = trace_hash(hash, activity->name, strlen(activity->name) + 1);
    return activity->symbol ? trace_hash_string(hash, activity->symbol) : hash;
}
