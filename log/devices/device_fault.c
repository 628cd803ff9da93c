/* device_fault.c: an error of a kernel that a later call returned. The kernel
 * has no record, so the launches without one are suspects.
 */
#include <stdlib.h>
#include <string.h>

#include "device_summary.h"
#include "log/replay/replay.h"
#include "trace/base/text.h"

/* Errors of both the runtime and the driver that end a context: driver_types.h
 * and cuda.h. */
static bool is_of_kernel(uint64_t result)
{
    enum {
        ILLEGAL_ADDRESS = 700,
        TIMEOUT = 702,
        ASSERT = 710,
        HARDWARE_STACK = 714,
        LAUNCH_FAILED = 719
    };

    return result == ILLEGAL_ADDRESS || result == TIMEOUT || result == ASSERT ||
           (result >= HARDWARE_STACK && result <= LAUNCH_FAILED);
}

static bool has_failed(const struct trace_entry *entry)
{
    struct trace_value result;

    return entry->site->level <= TRACE_LEVEL_WARN &&
           trace_entry_field(entry, "result", &result) &&
           result.type == TRACE_TYPE_I64 && is_of_kernel(result.as.u);
}

static bool launches(const struct trace_entry *entry)
{
    const char *name = entry->site->name;

    return entry->site->level > TRACE_LEVEL_WARN && strstr(name, "Launch") &&
           !strstr(name, "HostFunc");
}

void log_faults_add(struct log_faults *faults, const struct trace_entry *entry)
{
    bool is_call = entry->at.kind == TRACE_ACTIVITY_RUNTIME ||
                   entry->at.kind == TRACE_ACTIVITY_DRIVER;

    if (is_call && !faults->failed.place && has_failed(entry))
        faults->failed = *entry;
    if (is_call && !faults->failed.place && launches(entry))
        trace_table_set(&faults->launches, entry->at.correlation, entry->span);
    else if (entry->at.on_device)
        trace_table_remove(&faults->launches, entry->at.correlation);
}

/* Correlations count upwards. */
static uint32_t span_of_first(const struct trace_table *launches)
{
    uint64_t first = UINT64_MAX;
    uintptr_t span = 0;

    for (size_t i = 0; i < launches->size; i++)
        if (launches->slots[i].taken && launches->slots[i].key < first) {
            first = launches->slots[i].key;
            span = launches->slots[i].taken - 1;
        }
    return (uint32_t)span;
}

struct log_device_fault log_faults_take(struct log_faults *faults,
                                        const struct trace_reader *reader)
{
    struct log_device_fault fault = {.launches = 0};
    struct trace_value error;
    struct trace_text spans = {0};

    if (faults->failed.place) {
        fault.call = strdup(faults->failed.site->name);
        fault.error = trace_entry_field(&faults->failed, "error", &error) &&
                              error.type == TRACE_TYPE_DISPLAY
                          ? strndup(error.as.text, error.size)
                          : strdup("a kernel's error");
        fault.launches = faults->launches.count;
        log_span_text(NULL, reader, span_of_first(&faults->launches),
                      UINT64_MAX, &spans);
        fault.spans = spans.data;
    }
    trace_table_free(&faults->launches);
    return fault;
}

void log_device_fault_free(struct log_device_fault *fault)
{
    free(fault->error);
    free(fault->call);
    free(fault->spans);
    *fault = (struct log_device_fault){.launches = 0};
}

void log_device_fault_text(struct trace_text *out,
                           const struct log_device_fault *fault)
{
    trace_text_printf(out, "%s, returned by %s", fault->error,
                      fault->call ? fault->call : "?");
    if (fault->launches)
        trace_text_printf(out,
                          "; %llu launch%s before it %s no record, the first "
                          "one%s%s",
                          (unsigned long long)fault->launches,
                          fault->launches == 1 ? "" : "es",
                          fault->launches == 1 ? "has" : "have",
                          fault->spans ? " in " : " in no span",
                          fault->spans ? fault->spans : "");
    trace_text_literal(out, "; compute-sanitizer finds the place, and so does "
                            "CUDA_LAUNCH_BLOCKING=1");
}
