/* correlation.c: finds the call, its span and its thread that launched a
 * device's work.
 *
 * Calls are in a ring in order of arrival and in a hash table by their id. The
 * ring grows up to a limit. Then old calls that start no work are dropped: a
 * program may ask a million times whether its kernel is done. Only a ring full
 * of launches drops the oldest launch.
 */
#include <stdlib.h>

#include "cupti.h"
#include "trace/base/containers.h"

enum { FIRST = 1024, MOST = 1 << 18 };

static struct {
    struct cupti_call *calls;
    uint32_t room, count;
    uint32_t oldest;          /* its index */
    uint32_t rest;            /* calls until a sweep may be worthwhile again */
    struct trace_table index; /* of each call, by its id */
} ring;

/* The id of each thread's last launch, by the thread's id. */
static struct trace_table last_launch;

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

/* Among nested launches only the outer one counts. */
static void judge(const struct cupti_call *call)
{
    const struct cupti_call *around = cupti_call_find(call->around);

    if (!call->launches || call->nested)
        return;
    cupti_counts.launches++;
    if (call->devices || (around && around->devices))
        cupti_counts.launched++;
    else if (cupti_capture_covers(call->begin))
        cupti_counts.captured++;
    else
        cupti_counts.lost++;
}

static void drop_oldest(void)
{
    struct cupti_call *call = at(0);

    judge(call);
    trace_table_remove(&ring.index, call->correlation);
    ring.oldest = (ring.oldest + 1) % ring.room;
    ring.count--;
}

enum worth { NOTHING, LITTLE, MUCH };

static enum worth worth_of(const struct cupti_call *call)
{
    return call->launches ? MUCH : call->idle ? NOTHING : LITTLE;
}

/* Drops the calls in the older half that are worth `most` or less. It needs no
 * memory. Returns how many. */
static uint32_t sweep(enum worth most)
{
    uint32_t half = ring.count / 2, first = half;

    for (uint32_t i = half; i-- > 0;) {
        struct cupti_call *call = at(i), *to;

        trace_table_remove(&ring.index, call->correlation);
        if (worth_of(call) <= most)
            continue;
        to = at(--first);
        *to = *call;
        trace_table_set(&ring.index, to->correlation,
                        (uintptr_t)(to - ring.calls));
    }
    ring.oldest = (ring.oldest + first) % ring.room;
    ring.count -= first;
    return first;
}

static void make_room(void)
{
    uint32_t enough = ring.room / 16, dropped = 0;

    if (ring.rest) {
        ring.rest--;
        drop_oldest();
        return;
    }
    for (enum worth most = NOTHING; most < MUCH && dropped < enough; most++)
        dropped += sweep(most);
    if (dropped < enough)
        ring.rest = enough;
    if (!dropped)
        drop_oldest();
}

void cupti_call_count_launches(void)
{
    for (uint32_t i = 0; i < ring.count; i++)
        judge(at(i));
    free(ring.calls);
    trace_table_free(&ring.index);
    trace_table_free(&last_launch);
    memset(&ring, 0, sizeof(ring));
    cupti_capture_forget();
}

struct cupti_call *cupti_call_add(uint32_t correlation)
{
    struct cupti_call *call = cupti_call_find(correlation);

    if (call || !correlation)
        return call;
    if (ring.count == ring.room && !grow()) {
        if (!ring.count)
            return NULL;
        make_room();
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

static bool holds(const struct cupti_call *outer,
                  const struct cupti_call *inner)
{
    return outer->begin <= inner->begin && inner->end <= outer->end;
}

/* A launch through the runtime calls the driver's launch. If the two have
 * different ids, the device's record has one of them. The inner call is the
 * thread's launch that was reported immediately before the outer one. */
static void pair(struct cupti_call *call, uint32_t thread)
{
    struct cupti_call *other = NULL;
    uintptr_t last;

    if (trace_table_find(&last_launch, thread, &last))
        other = cupti_call_find((uint32_t)last);
    trace_table_set(&last_launch, thread, call->correlation);
    if (!other || other == call || other->around ||
        (!holds(call, other) && !holds(other, call)))
        return;
    other->around = call->correlation;
    call->around = other->correlation;
    other->nested = holds(call, other);
    call->nested = !other->nested;
}

/* Only a launch that succeeded is one. */
static void note_role(struct cupti_call *call,
                      const struct cupti_record *record, enum cupti_role role)
{
    switch (role) {
    case CUPTI_ROLE_LAUNCH:
        if (call->launches || cupti_get32(record, CUPTI_CALL_RESULT))
            return;
        call->launches = true;
        if (!call->around)
            pair(call, cupti_get32(record, CUPTI_CALL_THREAD));
        break;
    case CUPTI_ROLE_BEGIN_CAPTURE:
        cupti_capture_begin(record);
        break;
    case CUPTI_ROLE_END_CAPTURE:
        cupti_capture_end(record);
        break;
    default:
        break;
    }
}

static void note_api(const struct cupti_record *record,
                     enum cupti_domain domain)
{
    struct cupti_call *call =
        cupti_call_add(cupti_get32(record, CUPTI_CALL_CORRELATION));
    enum cupti_role role =
        cupti_role(domain, cupti_get32(record, CUPTI_CALL_ID));
    uint64_t begin = cupti_get(record, CUPTI_CALL_START);
    uint64_t end = cupti_get(record, CUPTI_CALL_END);

    if (!call)
        return;
    if (!call->begin || begin < call->begin)
        call->begin = begin;
    if (end > call->end)
        call->end = end;
    call->idle = (!call->seen || call->idle) &&
                 (role == CUPTI_ROLE_QUERY || role == CUPTI_ROLE_NOISE);
    call->seen = true;
    call->thread =
        cupti.system_threads ? cupti_get32(record, CUPTI_CALL_THREAD) : 0;
    note_role(call, record, role);
}

static void note_external(const struct cupti_record *record)
{
    struct cupti_call *call;

    if (cupti_get(record, CUPTI_EXTERNAL_KIND) != CUPTI_EXTERNAL_CUSTOM0)
        return;
    call = cupti_call_add(cupti_get32(record, CUPTI_EXTERNAL_CORRELATION));
    if (call)
        call->span = cupti_annotation(cupti_get32(record, CUPTI_EXTERNAL_ID));
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
