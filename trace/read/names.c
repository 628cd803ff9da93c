/* names.c: names threads, devices and streams, as viewers show them. */
#include "reader.h"
#include "reader_parts.h"
#include "trace/base/text.h"

void trace_name_thread(struct trace_text *text,
                       const struct trace_reader *reader,
                       const struct trace_thread *thread)
{
    trace_text_printf(text, "%s %u", thread->name[0] ? thread->name : "thread",
                      thread->tid);
    if (thread->pid != reader->header.pid)
        trace_text_printf(text, " of child %u", thread->pid);
}

void trace_name_ordinal(struct trace_text *text, uint32_t device)
{
    const struct trace_backend_words *words = trace_backend_of(device);

    trace_text_printf(text, "%s %u", words->name, device - words->first_device);
}

void trace_name_device(struct trace_text *text,
                       const struct trace_reader *reader, uint32_t device)
{
    const char *model;
    char key[32];

    snprintf(key, sizeof(key), "gpu.device.%u", device);
    model = trace_reader_meta(reader, key);
    trace_name_ordinal(text, device);
    trace_text_printf(text, "%s%s", model ? ": " : "", model ? model : "");
}

/* The track of zones. */
static void name_unit(struct trace_text *text, uint32_t track)
{
    if (track < TRACE_ZONE_GROUPS)
        trace_text_printf(text, "multiprocessor %u", track - TRACE_ZONE_UNITS);
    else
        trace_text_printf(text, "work-group %u", track - TRACE_ZONE_GROUPS);
}

void trace_name_stream(struct trace_text *text,
                       const struct trace_reader *reader,
                       const struct trace_activity_place *at)
{
    const char *name;
    char key[48];

    if (at->kind == TRACE_ACTIVITY_ZONE) {
        name_unit(text, at->stream);
        return;
    }
    if (!at->on_device || !at->stream) {
        trace_text_literal(text, "no stream");
        return;
    }
    snprintf(key, sizeof(key), "gpu.stream.%u.%u.name", at->context,
             at->stream);
    name = trace_reader_meta(reader, key);
    trace_text_printf(text, "%s %u%s%s", trace_backend_of(at->device)->queue,
                      at->stream, name ? ": " : "", name ? name : "");
}
