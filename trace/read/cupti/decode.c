/* decode.c: decodes ranges of records into activities, a round at a time.
 *
 * A device's record may arrive before the record of its call, in another range
 * or in an earlier round: then it waits. A round notes calls first, then the
 * work on devices, and then records all activities in order of time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"

/* ---- All records of a round ---- */

/* A record that waits for another. */
struct cupti_waiting {
    struct cupti_waiting *next;
    struct cupti_record record;
    uint8_t bytes[];
};

enum { WAITING = 1 << 16 };

struct round {
    struct cupti_decoder *decoder;
    const struct cupti_range *ranges;
    struct cupti_waiting *waited;
    struct cupti_item
        *items; /* NULL: no memory; activities are recorded unsorted */
    size_t count, room;
    bool last;
    bool unsorted; /* an item began before the one in front of it */
};

typedef void on_record(struct round *, const struct cupti_record *);

/* Returns whether there is a record of unknown length, which hides the rest of
 * its range. */
static bool each_of(struct round *round, const struct cupti_range *range,
                    on_record *step)
{
    const uint16_t *strides = round->decoder->library.strides;
    struct cupti_record record = {0};

    while (cupti_next(strides, range->bytes, range->size, &record)) {
        if (!record.at)
            return true;
        step(round, &record);
    }
    return false;
}

static void each(struct round *round, on_record *step)
{
    for (const struct cupti_waiting *one = round->waited; one; one = one->next)
        step(round, &one->record);
    for (const struct cupti_range *range = round->ranges; range;
         range = range->next)
        each_of(round, range, step);
}

/* ---- Plausibility ---- */

static bool is_size(uint32_t size)
{
    return size >= 1 && size <= UINT32_C(1) << 31;
}

static bool is_plausible(const struct cupti_decoder *decoder,
                         const struct cupti_record *kernel)
{
    uint64_t start = cupti_get(kernel, CUPTI_KERNEL_START);
    uint64_t end = cupti_get(kernel, CUPTI_KERNEL_END);
    uint64_t name = cupti_get(kernel, CUPTI_KERNEL_NAME);
    uint64_t threads = 1;

    for (enum cupti_field at = CUPTI_KERNEL_GRID_X; at <= CUPTI_KERNEL_GRID_Z;
         at++)
        if (!is_size(cupti_get32(kernel, at)))
            return false;
    for (enum cupti_field at = CUPTI_KERNEL_BLOCK_X; at <= CUPTI_KERNEL_BLOCK_Z;
         at++) {
        if (!is_size(cupti_get32(kernel, at)))
            return false;
        threads *= cupti_get32(kernel, at);
        if (threads > 1024)
            return false;
    }
    return cupti_get(kernel, CUPTI_KERNEL_DEVICE) < 256 &&
           (!end || start <= end) &&
           (!name || decoder->source->text(decoder->context, name));
}

enum { IMPLAUSIBLE = 3 };

/* Switches off if a new CUPTI has another layout: if the first kernels have no
 * plausible values. One strange record is no proof. */
static void check(struct round *round, const struct cupti_record *record)
{
    struct cupti_decoder *decoder = round->decoder;
    struct cupti_counts *counts = &decoder->counts;

    if (record->kind != CUPTI_KIND_CONCURRENT_KERNEL || counts->plausible)
        return;
    if (is_plausible(decoder, record)) {
        counts->plausible++;
        return;
    }
    if (++counts->implausible != IMPLAUSIBLE)
        return;
    decoder->off = true;
    decoder->sink->strange(decoder->context);
}

void cupti_say_strange(char why[CUPTI_STRANGE_ROOM], uint32_t version)
{
    snprintf(why, CUPTI_STRANGE_ROOM,
             "GPU trace off: unknown record layout, API %u", version);
}

/* ---- The steps of a round ---- */

static void note_call(struct round *round, const struct cupti_record *record)
{
    round->room++;
    cupti_call_note(round->decoder, record);
}

static void describe_launch(struct cupti_decoder *decoder,
                            struct cupti_call *call,
                            const struct cupti_record *kernel)
{
    call->described = true;
    call->stream = cupti_get32(kernel, CUPTI_KERNEL_STREAM);
    for (unsigned i = 0; i < 3; i++)
        call->count[i] = cupti_get32(kernel, CUPTI_KERNEL_GRID_X + i);
    call->kernel =
        cupti_kernel_name(&decoder->names,
                          cupti_string(decoder, kernel, CUPTI_KERNEL_NAME))
            .shown;
}

static void note_device(struct round *round, const struct cupti_record *record)
{
    struct cupti_decoder *decoder = round->decoder;
    struct cupti_call *call;

    if (!cupti_on_device(decoder, record))
        return;
    call = cupti_call_find(decoder, cupti_correlation(decoder, record));
    if (!call || !call->seen) {
        decoder->counts.orphans += round->last;
        return;
    }
    call->devices++;
    if (record->kind == CUPTI_KIND_CONCURRENT_KERNEL && !call->described)
        describe_launch(decoder, call, record);
}

/* A compilation before a launch waits for the kernel's record, which describes
 * the launch. */
static bool must_wait(const struct cupti_decoder *decoder,
                      const struct cupti_record *record,
                      const struct cupti_call *call)
{
    if (!cupti_correlation(decoder, record) ||
        decoder->waiting_count >= WAITING)
        return false;
    if (!call || !call->seen)
        return true;
    return cupti_is_compile(record) && call->launches && !call->described;
}

static bool keep(struct cupti_decoder *decoder,
                 const struct cupti_record *record)
{
    struct cupti_waiting *one = malloc(sizeof(*one) + record->stride);

    if (!one)
        return false;
    one->record = *record;
    one->record.at = memcpy(one->bytes, record->at, record->stride);
    one->next = decoder->waiting;
    decoder->waiting = one;
    decoder->waiting_count++;
    return true;
}

static void collect(struct round *round, const struct cupti_record *record)
{
    struct cupti_decoder *decoder = round->decoder;
    struct cupti_item item = {.record = *record};

    if (!cupti_is_activity(decoder, record)) {
        cupti_note_resource(decoder, record);
        return;
    }
    if (cupti_is_noise(record))
        return;
    item.call = cupti_call_find(decoder, cupti_correlation(decoder, record));
    if (!round->last && must_wait(decoder, record, item.call) &&
        keep(decoder, record))
        return;
    item.times = cupti_times(decoder, record);
    if (!round->items || round->count == round->room) {
        cupti_put_activity(decoder, &item);
        return;
    }
    round->unsorted |=
        round->count &&
        item.times.begin < round->items[round->count - 1].times.begin;
    round->items[round->count++] = item;
}

static int compare(const void *a, const void *b)
{
    const struct cupti_item *left = a, *right = b;

    return (left->times.begin > right->times.begin) -
           (left->times.begin < right->times.begin);
}

static void put(struct round *round)
{
    round->items =
        malloc((round->room + !round->room) * sizeof(struct cupti_item));
    each(round, collect);
    if (round->unsorted)
        qsort(round->items, round->count, sizeof(struct cupti_item), compare);
    for (size_t i = 0; i < round->count; i++)
        cupti_put_activity(round->decoder, &round->items[i]);
    free(round->items);
}

static void decode(struct round *round)
{
    struct cupti_decoder *decoder = round->decoder;

    for (const struct cupti_waiting *one = round->waited; one; one = one->next)
        round->room++;
    if (!decoder->counts.plausible && !decoder->off)
        each(round, check);
    if (decoder->off)
        return;
    for (const struct cupti_range *range = round->ranges; range;
         range = range->next)
        decoder->counts.undecoded += each_of(round, range, note_call);
    each(round, note_device);
    put(round);
}

static void free_waiting(struct cupti_waiting *one)
{
    while (one) {
        struct cupti_waiting *next = one->next;

        free(one);
        one = next;
    }
}

void cupti_decode(struct cupti_decoder *decoder,
                  const struct cupti_range *ranges, bool last)
{
    struct round round = {.decoder = decoder,
                          .ranges = ranges,
                          .waited = decoder->waiting,
                          .last = last};

    decoder->waiting = NULL;
    decoder->waiting_count = 0;
    decode(&round);
    free_waiting(round.waited);
    if (last)
        cupti_call_count_launches(decoder);
}

void cupti_decoder_free(struct cupti_decoder *decoder)
{
    free_waiting(decoder->waiting);
    free(decoder->calls.ring);
    trace_table_free(&decoder->calls.index);
    trace_table_free(&decoder->calls.last_launch);
    cupti_capture_forget(&decoder->captures);
    cupti_names_free(&decoder->names);
    trace_table_free(&decoder->annotations);
    *decoder = (struct cupti_decoder){.off = false};
}
