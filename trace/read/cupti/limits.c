/* limits.c: applies the profiler options: how many activities are decoded.
 * Calls and their work are still counted when a limit drops their activities,
 * so that losses of CUPTI stay known. */
#include <stdio.h>

#include "decoder.h"

/* ---- Activities ---- */

static bool exceeds(uint64_t *count, uint64_t most, uint64_t *dropped)
{
    if (*count < most) {
        ++*count;
        return false;
    }
    ++*dropped;
    return true;
}

bool cupti_leaves_out(struct cupti_decoder *decoder,
                      const struct cupti_record *record,
                      const struct trace_activity *activity)
{
    const struct cupti_limits *limits = &decoder->limits;
    struct cupti_counts *counts = &decoder->counts;

    if (limits->devices && activity->at.device >= limits->devices)
        return true;
    if (record->kind == CUPTI_KIND_RUNTIME || record->kind == CUPTI_KIND_DRIVER)
        return exceeds(&counts->callback_events, limits->calls,
                       &counts->dropped_callback_events);
    return exceeds(&counts->activity_events, limits->activities,
                   &counts->dropped_activity_events);
}

/* ---- Spans ---- */

uint32_t cupti_annotation(struct cupti_decoder *decoder, uint32_t span)
{
    struct cupti_counts *counts = &decoder->counts;
    uintptr_t known;

    if (!span || trace_table_find(&decoder->annotations, span, &known))
        return span;
    if (exceeds(&counts->annotations, decoder->limits.spans,
                &counts->dropped_annotations))
        return 0;
    trace_table_set(&decoder->annotations, span, span);
    return span;
}

/* ---- Devices ---- */

/* XLA warns of this, too. */
static void report_devices(struct cupti_decoder *decoder)
{
    uint64_t asked = decoder->limits.devices;
    uint32_t count = 0;
    char text[128];

    while (cupti_device(decoder, count))
        count++;
    if (decoder->said.devices || !count || asked <= count)
        return;
    decoder->said.devices = true;
    snprintf(text, sizeof(text),
             "gpu_num_chips_to_profile_per_task=%llu: there %s %u GPU%s; all "
             "are recorded",
             (unsigned long long)asked, count == 1 ? "is" : "are", count,
             count == 1 ? "" : "s");
    decoder->sink->say(decoder->context, TRACE_LEVEL_WARN, text);
}

/* ---- Reporting ---- */

static void report_dropped(struct cupti_decoder *decoder)
{
    const struct cupti_counts *counts = &decoder->counts;
    unsigned long long calls = counts->dropped_callback_events;
    unsigned long long others = counts->dropped_activity_events;
    unsigned long long spans = counts->dropped_annotations;
    char text[256];

    if (calls + others + spans == decoder->said.limits)
        return;
    decoder->said.limits = calls + others + spans;
    snprintf(text, sizeof(text),
             "limits dropped records: gpu_max_callback_api_events %llu, "
             "gpu_max_activity_api_events %llu, gpu_max_annotation_strings "
             "%llu",
             calls, others, spans);
    decoder->sink->say(decoder->context, TRACE_LEVEL_WARN, text);
}

void cupti_note_limits(struct cupti_decoder *decoder)
{
    const struct cupti_counts *counts = &decoder->counts;
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"gpu.dropped_callback_events", counts->dropped_callback_events},
        {"gpu.dropped_activity_events", counts->dropped_activity_events},
        {"gpu.dropped_annotations", counts->dropped_annotations},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cupti_note_number(decoder, rows[i].name, rows[i].count);
    report_dropped(decoder);
    report_devices(decoder);
    trace_table_free(&decoder->annotations);
}
