/* limits.c: applies the profiler options: which records are wanted, and how
 * many. Calls and their work are still counted when a limit drops their
 * activities, so that losses of CUPTI stay known. */
#include "cupti.h"
#include "trace/base/containers.h"

bool cupti_wants(uint32_t kind)
{
    return kind != CUPTI_KIND_GRAPH_TRACE ||
           cupti.host->profiler->gpu_enable_cupti_activity_graph_trace;
}

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

bool cupti_leaves_out(const struct cupti_record *record,
                      const struct trace_activity *activity)
{
    const struct trace_profiler *options = cupti.host->profiler;
    uint64_t devices = options->gpu_num_chips_to_profile_per_task;

    if (devices && activity->at.device >= devices)
        return true;
    if (record->kind == CUPTI_KIND_RUNTIME || record->kind == CUPTI_KIND_DRIVER)
        return exceeds(&cupti_counts.callback_events,
                       options->gpu_max_callback_api_events,
                       &cupti_counts.dropped_callback_events);
    return exceeds(&cupti_counts.activity_events,
                   options->gpu_max_activity_api_events,
                   &cupti_counts.dropped_activity_events);
}

/* ---- Spans ---- */

static struct trace_table annotations; /* the spans that calls are joined to */

uint32_t cupti_annotation(uint32_t span)
{
    uintptr_t known;

    if (!span || trace_table_find(&annotations, span, &known))
        return span;
    if (exceeds(&cupti_counts.annotations,
                cupti.host->profiler->gpu_max_annotation_strings,
                &cupti_counts.dropped_annotations))
        return 0;
    trace_table_set(&annotations, span, span);
    return span;
}

/* ---- Devices ---- */

/* XLA warns of this, too. */
static void report_devices(void)
{
    uint64_t asked = cupti.host->profiler->gpu_num_chips_to_profile_per_task;
    static bool said;
    uint32_t count = 0;
    char text[128];

    while (cupti_device(count))
        count++;
    if (said || !count || asked <= count)
        return;
    said = true;
    snprintf(text, sizeof(text),
             "gpu_num_chips_to_profile_per_task=%llu: there %s %u GPU%s; all "
             "are recorded",
             (unsigned long long)asked, count == 1 ? "is" : "are", count,
             count == 1 ? "" : "s");
    cupti.host->say(TRACE_LEVEL_WARN, text);
}

/* ---- Reporting ---- */

static void report_dropped(void)
{
    static uint64_t said;
    unsigned long long calls = cupti_counts.dropped_callback_events;
    unsigned long long others = cupti_counts.dropped_activity_events;
    unsigned long long spans = cupti_counts.dropped_annotations;
    char text[256];

    if (calls + others + spans == said)
        return;
    said = calls + others + spans;
    snprintf(text, sizeof(text),
             "limits dropped records: gpu_max_callback_api_events %llu, "
             "gpu_max_activity_api_events %llu, gpu_max_annotation_strings "
             "%llu",
             calls, others, spans);
    cupti.host->say(TRACE_LEVEL_WARN, text);
}

void cupti_note_limits(void)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"gpu.dropped_callback_events", cupti_counts.dropped_callback_events},
        {"gpu.dropped_activity_events", cupti_counts.dropped_activity_events},
        {"gpu.dropped_annotations", cupti_counts.dropped_annotations},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cupti_note(rows[i].name, "%llu", (unsigned long long)rows[i].count);
    report_dropped();
    report_devices();
    trace_table_free(&annotations);
}
