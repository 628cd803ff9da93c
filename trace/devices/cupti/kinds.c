/* kinds.c: enables the kinds of records. */
#include "cupti.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct kind {
    const char *word;
    uint16_t number;
    bool must;
} kinds[] = {
#define TRACE_X(name, number, must, word) {word, number, must},
    CUPTI_KINDS(TRACE_X)
#undef TRACE_X
};

void cupti_note_kinds(void)
{
    struct trace_text text = {0};

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (cupti.enabled[kinds[i].number])
            trace_text_printf(&text, "%s%s", text.size ? "," : "",
                              kinds[i].word);
    cupti.host->note("gpu.kinds", text.data ? text.data : "");
    trace_text_free(&text);
}

void cupti_note_refusal(const char *word, int result)
{
    trace_text_printf(&cupti.refused, "%s%s: %d %s",
                      cupti.refused.size ? ", " : "", word, result,
                      cupti_result_name(result));
}

/* Disables the records of silent calls, if CUPTI can (12.5). Otherwise they are
 * dropped when decoding. Also disables records of queries that found a stream
 * or an event not ready: a program may poll. */
static void silence(void)
{
#define TRACE_X(domain, number, symbol) {CUPTI_DOMAIN_##domain, number},
    static const struct {
        enum cupti_domain domain;
        uint32_t id;
    } silent[] = {CUPTI_SILENT(TRACE_X)};
#undef TRACE_X

    for (size_t i = 0; i < COUNT(silent); i++) {
        bool runtime = silent[i].domain == CUPTI_DOMAIN_RUNTIME;
        int (*enable)(uint32_t, uint8_t) =
            runtime ? cupti.enable_runtime_api : cupti.enable_driver_api;

        if (enable &&
            cupti.enabled[runtime ? CUPTI_KIND_RUNTIME : CUPTI_KIND_DRIVER])
            enable(silent[i].id, 0);
    }
    if (cupti.enable_all_syncs && cupti.enabled[CUPTI_KIND_SYNCHRONIZATION])
        cupti.enable_all_syncs(0);
}

/* Counts what unified memory moves. CUPTI could count page faults as well, but
 * that slows the program down. */
static int configure_unified(void)
{
    enum { ALL_DEVICES = 2 };
    struct cupti_unified counters[] = {
        {ALL_DEVICES, CUPTI_UNIFIED_HTOD, 0, 1},
        {ALL_DEVICES, CUPTI_UNIFIED_DTOH, 0, 1},
        {ALL_DEVICES, CUPTI_UNIFIED_DTOD, 0, 1},
    };

    return cupti.configure_unified
               ? cupti.configure_unified(counters, COUNT(counters))
               : CUPTI_RESULT_INVALID_KIND;
}

/* Without these calls, records of such kinds contain nothing. */
static int configure(unsigned kind)
{
    switch (kind) {
    case CUPTI_KIND_CUDA_EVENT:
        return cupti.enable_event_times ? cupti.enable_event_times(1)
                                        : CUPTI_RESULT_INVALID_KIND;
    case CUPTI_KIND_UNIFIED_MEMORY_COUNTER:
        return configure_unified();
    default:
        return 0;
    }
}

/* A kind without a known length would hide the records behind it. */
static int enable(unsigned kind)
{
    int result = cupti.decoder.library.strides[kind]
                     ? configure(kind)
                     : CUPTI_RESULT_INVALID_KIND;

    if (result)
        return result;
    /* Devices and contexts that exist are then recorded as well. */
    return cupti.after_init && cupti.enable_and_dump
               ? cupti.enable_and_dump((int)kind)
               : cupti.enable((int)kind);
}

/* CUPTI enables these kinds only once the driver has started. We begin within
 * cuInit, before that. */
static bool late[CUPTI_KIND_LIMIT];

static bool is_too_early(int result)
{
    return result == CUPTI_RESULT_NOT_INITIALIZED ||
           result == CUPTI_RESULT_NOT_READY;
}

void cupti_enable_late(void)
{
    bool any = false;

    for (size_t i = 0; i < COUNT(kinds); i++) {
        int result;

        if (!late[kinds[i].number])
            continue;
        result = enable(kinds[i].number);
        if (is_too_early(result))
            continue;
        late[kinds[i].number] = false;
        any = true;
        cupti.enabled[kinds[i].number] = !result;
        if (result)
            cupti_note_refusal(kinds[i].word, result);
    }
    if (any)
        cupti_note_kinds();
    if (any && cupti.refused.size)
        cupti.host->note("gpu.refused", cupti.refused.data);
}

void cupti_refuse_late(void)
{
    bool any = false;

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (late[kinds[i].number]) {
            late[kinds[i].number] = false;
            any = true;
            cupti_note_refusal(kinds[i].word, CUPTI_RESULT_NOT_INITIALIZED);
        }
    if (any)
        cupti.host->note("gpu.refused", cupti.refused.data);
}

/* Without the option, graphs have records of their nodes. */
static bool is_wanted(uint32_t kind)
{
    return kind != CUPTI_KIND_GRAPH_TRACE ||
           cupti.host->profiler->gpu_enable_cupti_activity_graph_trace;
}

int cupti_enable_all(void)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int result;

        if (!is_wanted(kinds[i].number))
            continue;
        result = enable(kinds[i].number);

        cupti.enabled[kinds[i].number] = !result;
        if (result && kinds[i].must)
            return result;
        late[kinds[i].number] = is_too_early(result);
        if (result && !late[kinds[i].number])
            cupti_note_refusal(kinds[i].word, result);
    }
    silence();
    return 0;
}
