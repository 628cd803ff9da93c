/* correlation.c: finds the call, its span and its thread that launched a
 * device's work.
 *
 * Calls are in a ring in order of arrival and in a hash table by their id. The
 * ring grows up to a limit. Then old calls that start no work are dropped: a
 * program may ask a million times whether its kernel is done. Only a ring full
 * of launches drops the oldest launch.
 */
#include <stdlib.h>

#include "decoder.h"

enum { FIRST = 1024, MOST = 1 << 18 };

struct cupti_call *cupti_call_find(const struct cupti_decoder *decoder,
                                   uint32_t correlation)
{
    const struct cupti_calls *calls = &decoder->calls;
    uintptr_t i;

    return correlation && trace_table_find(&calls->index, correlation, &i)
               ? &calls->ring[i]
               : NULL;
}

static struct cupti_call *at(const struct cupti_calls *calls, uint32_t order)
{
    return &calls->ring[(calls->oldest + order) % calls->room];
}

/* Doubles the capacity and keeps the order. */
static bool grow(struct cupti_calls *calls)
{
    uint32_t room = calls->room ? calls->room * 2 : FIRST;
    struct cupti_call *ring = room > MOST ? NULL : malloc(room * sizeof(*ring));
    struct trace_table index = {0};
    bool ok = ring != NULL;

    for (uint32_t i = 0; ok && i < calls->count; i++) {
        ring[i] = *at(calls, i);
        ok = trace_table_set(&index, ring[i].correlation, i);
    }
    trace_table_free(ok ? &calls->index : &index);
    free(ok ? calls->ring : ring);
    if (!ok)
        return false;
    calls->ring = ring;
    calls->index = index;
    calls->room = room;
    calls->oldest = 0;
    return true;
}

/* ---- Counting launches ---- */

/* Among nested launches only the outer one counts. */
static void judge(struct cupti_decoder *decoder, const struct cupti_call *call)
{
    const struct cupti_call *around = cupti_call_find(decoder, call->around);
    struct cupti_counts *counts = &decoder->counts;

    if (!call->launches || call->nested)
        return;
    counts->launches++;
    if (call->devices || (around && around->devices))
        counts->launched++;
    else if (cupti_capture_covers(&decoder->captures, call->begin))
        counts->captured++;
    else
        counts->lost++;
}

static void drop_oldest(struct cupti_decoder *decoder)
{
    struct cupti_calls *calls = &decoder->calls;
    struct cupti_call *call = at(calls, 0);

    judge(decoder, call);
    trace_table_remove(&calls->index, call->correlation);
    calls->oldest = (calls->oldest + 1) % calls->room;
    calls->count--;
}

enum worth { NOTHING, LITTLE, MUCH };

static enum worth worth_of(const struct cupti_call *call)
{
    return call->launches ? MUCH : call->idle ? NOTHING : LITTLE;
}

/* Drops the calls in the older half that are worth `most` or less. It needs no
 * memory. Returns how many. */
static uint32_t sweep(struct cupti_calls *calls, enum worth most)
{
    uint32_t half = calls->count / 2, first = half;

    for (uint32_t i = half; i-- > 0;) {
        struct cupti_call *call = at(calls, i), *to;

        trace_table_remove(&calls->index, call->correlation);
        if (worth_of(call) <= most)
            continue;
        to = at(calls, --first);
        *to = *call;
        trace_table_set(&calls->index, to->correlation,
                        (uintptr_t)(to - calls->ring));
    }
    calls->oldest = (calls->oldest + first) % calls->room;
    calls->count -= first;
    return first;
}

static void make_room(struct cupti_decoder *decoder)
{
    struct cupti_calls *calls = &decoder->calls;
    uint32_t enough = calls->room / 16, dropped = 0;

    if (calls->rest) {
        calls->rest--;
        drop_oldest(decoder);
        return;
    }
    for (enum worth most = NOTHING; most < MUCH && dropped < enough; most++)
        dropped += sweep(calls, most);
    if (dropped < enough)
        calls->rest = enough;
    if (!dropped)
        drop_oldest(decoder);
}

void cupti_call_count_launches(struct cupti_decoder *decoder)
{
    struct cupti_calls *calls = &decoder->calls;

    for (uint32_t i = 0; i < calls->count; i++)
        judge(decoder, at(calls, i));
    free(calls->ring);
    trace_table_free(&calls->index);
    trace_table_free(&calls->last_launch);
    *calls = (struct cupti_calls){.count = 0};
    cupti_capture_forget(&decoder->captures);
}

struct cupti_call *cupti_call_add(struct cupti_decoder *decoder,
                                  uint32_t correlation)
{
    struct cupti_calls *calls = &decoder->calls;
    struct cupti_call *call = cupti_call_find(decoder, correlation);

    if (call || !correlation)
        return call;
    if (calls->count == calls->room && !grow(calls)) {
        if (!calls->count)
            return NULL;
        make_room(decoder);
    }
    call = at(calls, calls->count);
    if (!trace_table_set(&calls->index, correlation,
                         (uintptr_t)(call - calls->ring)))
        return NULL;
    calls->count++;
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
static void pair(struct cupti_decoder *decoder, struct cupti_call *call,
                 uint32_t thread)
{
    struct trace_table *last_launch = &decoder->calls.last_launch;
    struct cupti_call *other = NULL;
    uintptr_t last;

    if (trace_table_find(last_launch, thread, &last))
        other = cupti_call_find(decoder, (uint32_t)last);
    trace_table_set(last_launch, thread, call->correlation);
    if (!other || other == call || other->around ||
        (!holds(call, other) && !holds(other, call)))
        return;
    other->around = call->correlation;
    call->around = other->correlation;
    other->nested = holds(call, other);
    call->nested = !other->nested;
}

/* Only a launch that succeeded is one. */
static void note_role(struct cupti_decoder *decoder, struct cupti_call *call,
                      const struct cupti_record *record, enum cupti_role role)
{
    switch (role) {
    case CUPTI_ROLE_LAUNCH:
        if (call->launches || cupti_get32(record, CUPTI_CALL_RESULT))
            return;
        call->launches = true;
        if (!call->around)
            pair(decoder, call, cupti_get32(record, CUPTI_CALL_THREAD));
        break;
    case CUPTI_ROLE_BEGIN_CAPTURE:
        cupti_capture_begin(&decoder->captures, record);
        break;
    case CUPTI_ROLE_END_CAPTURE:
        cupti_capture_end(&decoder->captures, record);
        break;
    default:
        break;
    }
}

static void note_api(struct cupti_decoder *decoder,
                     const struct cupti_record *record,
                     enum cupti_domain domain)
{
    struct cupti_call *call =
        cupti_call_add(decoder, cupti_get32(record, CUPTI_CALL_CORRELATION));
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
    call->thread = decoder->library.system_threads
                       ? cupti_get32(record, CUPTI_CALL_THREAD)
                       : 0;
    note_role(decoder, call, record, role);
}

static void note_external(struct cupti_decoder *decoder,
                          const struct cupti_record *record)
{
    struct cupti_call *call;

    if (cupti_get(record, CUPTI_EXTERNAL_KIND) != CUPTI_EXTERNAL_CUSTOM0)
        return;
    call = cupti_call_add(decoder,
                          cupti_get32(record, CUPTI_EXTERNAL_CORRELATION));
    if (call)
        call->span =
            cupti_annotation(decoder, cupti_get32(record, CUPTI_EXTERNAL_ID));
}

void cupti_call_note(struct cupti_decoder *decoder,
                     const struct cupti_record *record)
{
    switch (record->kind) {
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        note_external(decoder, record);
        break;
    case CUPTI_KIND_RUNTIME:
        note_api(decoder, record, CUPTI_DOMAIN_RUNTIME);
        break;
    case CUPTI_KIND_DRIVER:
        note_api(decoder, record, CUPTI_DOMAIN_DRIVER);
        break;
    }
}
