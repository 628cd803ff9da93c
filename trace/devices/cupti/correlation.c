/* correlation.c: finds the call, its span and its thread that launched a
 * device's work.
 *
 * Calls are in a ring in order of arrival and in a hash table by their id. The
 * ring grows up to a limit; then the oldest call is dropped.
 */
#include <stdlib.h>

#include "cupti.h"
#include "trace/containers.h"

enum { FIRST = 1024, MOST = 1 << 18, NEAR = 8 };

static struct {
    struct cupti_call *calls;
    uint32_t room, count;
    uint32_t oldest;          /* its index */
    struct trace_table index; /* of each call, by its id */
} ring;

struct cupti_call *cupti_call_find(uint32_t correlation)
{
    uintptr_t i;

    return correlation && trace_table_find(&ring.index, correlation, &i)
               ? &ring.calls[i]
               : NULL;
}

static struct cupti_call *at(uint32_t order)
{
    return &ring.calls[(ring.oldest + order) % ring.room];
}

/* Doubles the capacity and keeps the order. */
static bool grow(void)
{
    uint32_t room = ring.room ? ring.room * 2 : FIRST;
    struct cupti_call *calls =
        room > MOST ? NULL : malloc(room * sizeof(*calls));
    struct trace_table index = {0};
    bool ok = calls != NULL;

    for (uint32_t i = 0; ok && i < ring.count; i++) {
        calls[i] = *at(i);
        ok = trace_table_set(&index, calls[i].correlation, i);
    }
    trace_table_free(ok ? &ring.index : &index);
    free(ok ? ring.calls : calls);
    if (!ok)
        return false;
    ring.calls = calls;
    ring.index = index;
    ring.room = room;
    ring.oldest = 0;
    return true;
}

/* ---- Counting launches ---- */

static bool has_device(const struct cupti_call *call)
{
    const struct cupti_call *around = cupti_call_find(call->around);

    return call->devices || (around && around->devices);
}

/* Among nested launches only the outer one counts. */
static void judge(const struct cupti_call *call)
{
    bool launched = has_device(call);

    if (!call->launches || call->nested)
        return;
    cupti_counts.launches++;
    cupti_counts.launched += launched;
    cupti_counts.lost += !launched;
}

static void drop_oldest(void)
{
    struct cupti_call *call = at(0);

    judge(call);
    trace_table_remove(&ring.index, call->correlation);
    ring.oldest = (ring.oldest + 1) % ring.room;
    ring.count--;
}

void cupti_call_count_launches(void)
{
    for (uint32_t i = 0; i < ring.count; i++)
        judge(at(i));
    free(ring.calls);
    trace_table_free(&ring.index);
    memset(&ring, 0, sizeof(ring));
}

struct cupti_call *cupti_call_add(uint32_t correlation)
{
    struct cupti_call *call = cupti_call_find(correlation);

    if (call || !correlation)
        return call;
    if (ring.count == ring.room && !grow()) {
        if (!ring.count)
            return NULL;
        drop_oldest();
    }
    call = at(ring.count);
    if (!trace_table_set(&ring.index, correlation,
                         (uintptr_t)(call - ring.calls)))
        return NULL;
    ring.count++;
    *call = (struct cupti_call){.correlation = correlation};
    return call;
}

/* ---- Records ---- */

/* X(domain, number, symbol): calls that launch. Calls whose device records
 * arrived are launches anyway; this table is for calls without one. */
#define LAUNCHES(X)                                                            \
    X(RUNTIME, 211, "cudaLaunchKernel")                                        \
    X(RUNTIME, 214, "cudaLaunchKernel_ptsz")                                   \
    X(RUNTIME, 269, "cudaLaunchCooperativeKernel")                             \
    X(RUNTIME, 270, "cudaLaunchCooperativeKernel_ptsz")                        \
    X(RUNTIME, 311, "cudaGraphLaunch")                                         \
    X(RUNTIME, 312, "cudaGraphLaunch_ptsz")                                    \
    X(RUNTIME, 430, "cudaLaunchKernelExC")                                     \
    X(RUNTIME, 431, "cudaLaunchKernelExC_ptsz")                                \
    X(RUNTIME, 505, "__cudaLaunchKernel")                                      \
    X(RUNTIME, 506, "__cudaLaunchKernel_ptsz")                                 \
    X(DRIVER, 307, "cuLaunchKernel")                                           \
    X(DRIVER, 442, "cuLaunchKernel_ptsz")                                      \
    X(DRIVER, 477, "cuLaunchCooperativeKernel")                                \
    X(DRIVER, 478, "cuLaunchCooperativeKernel_ptsz")                           \
    X(DRIVER, 480, "cuLaunchCooperativeKernelMultiDevice")                     \
    X(DRIVER, 514, "cuGraphLaunch")                                            \
    X(DRIVER, 515, "cuGraphLaunch_ptsz")                                       \
    X(DRIVER, 652, "cuLaunchKernelEx")                                         \
    X(DRIVER, 653, "cuLaunchKernelEx_ptsz")

bool cupti_launches(enum cupti_domain domain, uint32_t id)
{
#define TRACE_X(of, number, word)                                              \
    if (domain == CUPTI_DOMAIN_##of && id == number)                           \
        return true;
    LAUNCHES(TRACE_X)
#undef TRACE_X
    return false;
}

/* X(number, name, stage): driver calls that prepare code. */
#define LOADS(X)                                                               \
    X(18, "cuModuleLoad", "module_load")                                       \
    X(19, "cuModuleLoadData", "module_load")                                   \
    X(20, "cuModuleLoadDataEx", "module_load")                                 \
    X(21, "cuModuleLoadFatBinary", "module_load")                              \
    X(365, "cuLinkComplete", "link")                                           \
    X(678, "cuLibraryLoadData", "module_load")                                 \
    X(679, "cuLibraryLoadFromFile", "module_load")                             \
    X(742, "cuFuncLoad", "lazy_load")

const char *cupti_compile_stage(enum cupti_domain domain, uint32_t id)
{
    switch (domain == CUPTI_DOMAIN_DRIVER ? id : 0) {
#define TRACE_X(number, name, stage)                                           \
    case number:                                                               \
        return stage;
        LOADS(TRACE_X)
#undef TRACE_X
    default:
        return NULL;
    }
}

static bool holds(const struct cupti_call *outer,
                  const struct cupti_call *inner)
{
    return outer->thread == inner->thread && outer->begin <= inner->begin &&
           inner->end <= outer->end;
}

/* A launch through the runtime calls the driver's launch. If the two have
 * different ids, the device's record has one of them. The inner call is
 * reported first, immediately before the outer one. */
static void pair(struct cupti_call *call)
{
    uint32_t count = ring.count < NEAR ? ring.count : NEAR;

    for (uint32_t i = 1; i <= count; i++) {
        struct cupti_call *other = at(ring.count - i);

        if (other == call || !other->launches || other->around)
            continue;
        if (holds(call, other) || holds(other, call)) {
            other->around = call->correlation;
            call->around = other->correlation;
            other->nested = holds(call, other);
            call->nested = !other->nested;
            return;
        }
    }
}

static void note_api(const struct cupti_record *record,
                     enum cupti_domain domain)
{
    struct cupti_call *call =
        cupti_call_add(cupti_get32(record, CUPTI_CALL_CORRELATION));
    uint64_t begin = cupti_get(record, CUPTI_CALL_START);
    uint64_t end = cupti_get(record, CUPTI_CALL_END);

    if (!call)
        return;
    if (!call->begin || begin < call->begin)
        call->begin = begin;
    if (end > call->end)
        call->end = end;
    call->seen = true;
    call->thread =
        cupti.system_threads ? cupti_get32(record, CUPTI_CALL_THREAD) : 0;
    if (cupti_launches(domain, cupti_get32(record, CUPTI_CALL_ID)) &&
        !cupti_get32(record, CUPTI_CALL_RESULT) && !call->launches) {
        call->launches = true;
        if (!call->around)
            pair(call);
    }
}

static void note_external(const struct cupti_record *record)
{
    struct cupti_call *call;

    if (cupti_get(record, CUPTI_EXTERNAL_KIND) != CUPTI_EXTERNAL_CUSTOM0)
        return;
    call = cupti_call_add(cupti_get32(record, CUPTI_EXTERNAL_CORRELATION));
    if (call)
        call->span = cupti_get32(record, CUPTI_EXTERNAL_ID);
}

void cupti_call_note(const struct cupti_record *record)
{
    switch (record->kind) {
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        note_external(record);
        break;
    case CUPTI_KIND_RUNTIME:
        note_api(record, CUPTI_DOMAIN_RUNTIME);
        break;
    case CUPTI_KIND_DRIVER:
        note_api(record, CUPTI_DOMAIN_DRIVER);
        break;
    }
}
