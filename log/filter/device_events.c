/* device_events.c: presents activities of devices as events. */
#include "filter.h"
#include "log/replay/entry_text.h"
#include "trace/read/reader.h"

const struct trace_site log_launch_site = {
    .name = "launch",
    .target = "gpu",
    .file = "",
    .function = "",
    .fields = trace_launch_fields,
    .level = TRACE_LEVEL_TRACE,
    .kind = TRACE_SITE_SPAN,
    .field_count = TRACE_LAUNCH_FIELDS,
};

const char *log_device_message(const struct trace_entry *entry)
{
    bool bad = entry->site->level <= TRACE_LEVEL_WARN;

    switch (entry->at.kind) {
#define TRACE_X(name, number, category, target, message, failed)               \
    case TRACE_ACTIVITY_##name:                                                \
        return bad && failed[0] ? failed : message;
        TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
    default:
        return "";
    }
}

bool log_is_event(const struct trace_entry *entry)
{
    return entry->kind == TRACE_ENTRY_EVENT ||
           (entry->kind == TRACE_ENTRY_DEVICE && log_device_message(entry)[0]);
}

bool log_launch_of(const struct trace_entry *entry, struct trace_entry *launch)
{
    const unsigned char *end = entry->values + entry->values_size;

    if (entry->kind != TRACE_ENTRY_DEVICE || !entry->launch)
        return false;
    *launch = *entry;
    launch->kind = TRACE_ENTRY_SPAN;
    launch->id = 0;
    launch->site = &log_launch_site;
    launch->values = entry->launch;
    launch->values_size = (size_t)(end - entry->launch);
    return true;
}
