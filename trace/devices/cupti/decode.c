/* decode.c: decodes buffers of records into activities, a round at a time.
 *
 * A device's record may arrive before the record of its call, in another buffer
 * or in an earlier round: then it waits. A round notes calls first, then the
 * work on devices, and then records all activities in order of time.
 */
#include <stdlib.h>

#include "cupti.h"

bool cupti_next(const uint8_t *bytes, size_t size, struct cupti_record *record)
{
    const uint8_t *at = record->at ? record->at + record->stride : bytes;
    size_t left = size - (size_t)(at - bytes);

    *record = (struct cupti_record){0};
    if (!left)
        return false;
    if (left >= sizeof(record->kind))
        memcpy(&record->kind, at, sizeof(record->kind));
    if (record->kind < CUPTI_KIND_LIMIT)
        record->stride = cupti.stride[record->kind];
    if (record->stride && record->stride <= left)
        record->at = at;
    return true;
}

/* ---- All records of a round ---- */

/* A record that waits for another. */
struct waiting {
    struct waiting *next;
    struct cupti_record record;
    uint8_t bytes[];
};

enum { WAITING = 1 << 16 };
static struct waiting *waiting;
static size_t waiting_count;

struct round {
    const struct cupti_buffer *buffers;
    struct waiting *waited;
    struct cupti_item
        *items; /* NULL: no memory; activities are recorded unsorted */
    size_t count, room;
    bool last;
    bool unsorted; /* an item began before the one in front of it */
};

typedef void on_record(struct round *, const struct cupti_record *);

/* Returns whether there is a record of unknown length, which hides the rest of
 * its buffer. */
static bool each_of(struct round *round, const struct cupti_buffer *buffer,
                    on_record *step)
{
    struct cupti_record record = {0};

    while (cupti_next(buffer->bytes, buffer->valid, &record)) {
        if (!record.at)
            return true;
        step(round, &record);
    }
    return false;
}

static void each(struct round *round, on_record *step)
{
    for (const struct waiting *one = round->waited; one; one = one->next)
        step(round, &one->record);
    for (const struct cupti_buffer *buffer = round->buffers; buffer;
         buffer = buffer->next)
        if (!buffer->spare)
            each_of(round, buffer, step);
}

void cupti_count_spare(const struct cupti_buffer *buffer)
{
    struct cupti_record record = {0};

    while (cupti_next(buffer->bytes, buffer->valid, &record) && record.at)
        cupti_counts.dropped++;
}

/* ---- Plausibility ---- */

static bool is_size(uint32_t size)
{
    return size >= 1 && size <= UINT32_C(1) << 31;
}

static bool is_plausible(const struct cupti_record *kernel)
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
           (!name || cupti_is_readable((void *)(uintptr_t)name));
}

enum { IMPLAUSIBLE = 3 };

/* Switches off if a new CUPTI has another layout: if the first kernels have no
 * plausible values. One strange record is no proof. */
static void check(struct round *round, const struct cupti_record *record)
{
    char why[128];

    (void)round;
    if (record->kind != CUPTI_KIND_CONCURRENT_KERNEL || cupti_counts.plausible)
        return;
    if (is_plausible(record)) {
        cupti_counts.plausible++;
        return;
    }
    if (++cupti_counts.implausible != IMPLAUSIBLE)
        return;
    snprintf(why, sizeof(why), "GPU trace off: unknown record layout, API %u",
             cupti.version);
    cupti_stop("too-old", why);
}

/* ---- The steps of a round ---- */

static void note_call(struct round *round, const struct cupti_record *record)
{
    round->room++;
    cupti_call_note(record);
}

static void describe_launch(struct cupti_call *call,
                            const struct cupti_record *kernel)
{
    call->described = true;
    call->stream = cupti_get32(kernel, CUPTI_KERNEL_STREAM);
    for (unsigned i = 0; i < 3; i++)
        call->count[i] = cupti_get32(kernel, CUPTI_KERNEL_GRID_X + i);
    call->kernel =
        cupti_kernel_name(cupti_string(kernel, CUPTI_KERNEL_NAME)).shown;
}

static void note_device(struct round *round, const struct cupti_record *record)
{
    struct cupti_call *call;

    if (!cupti_on_device(record))
        return;
    call = cupti_call_find(cupti_correlation(record));
    if (!call || !call->seen) {
        cupti_counts.orphans += round->last;
        return;
    }
    call->devices++;
    if (record->kind == CUPTI_KIND_CONCURRENT_KERNEL && !call->described)
        describe_launch(call, record);
}

/* A compilation before a launch waits for the kernel's record, which describes
 * the launch. */
static bool must_wait(const struct cupti_record *record,
                      const struct cupti_call *call)
{
    if (!cupti_correlation(record) || waiting_count >= WAITING)
        return false;
    if (!call || !call->seen)
        return true;
    return cupti_is_compile(record) && call->launches && !call->described;
}

static bool keep(const struct cupti_record *record)
{
    struct waiting *one = malloc(sizeof(*one) + record->stride);

    if (!one)
        return false;
    one->record = *record;
    one->record.at = memcpy(one->bytes, record->at, record->stride);
    one->next = waiting;
    waiting = one;
    waiting_count++;
    return true;
}

static void collect(struct round *round, const struct cupti_record *record)
{
    struct cupti_item item = {.record = *record};

    if (!cupti_is_activity(record)) {
        cupti_note_resource(record);
        return;
    }
    if (cupti_is_noise(record))
        return;
    item.call = cupti_call_find(cupti_correlation(record));
    if (!round->last && must_wait(record, item.call) && keep(record))
        return;
    item.times = cupti_times(record);
    if (!round->items || round->count == round->room) {
        cupti_put_activity(&item);
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
        cupti_put_activity(&round->items[i]);
    free(round->items);
}

static void decode(struct round *round)
{
    for (const struct waiting *one = round->waited; one; one = one->next)
        round->room++;
    if (!cupti_counts.plausible)
        each(round, check);
    if (!cupti_is_on())
        return;
    for (const struct cupti_buffer *buffer = round->buffers; buffer;
         buffer = buffer->next) {
        if (buffer->spare)
            cupti_count_spare(buffer);
        else
            cupti_counts.undecoded += each_of(round, buffer, note_call);
    }
    each(round, note_device);
    put(round);
}

void cupti_decode(struct cupti_buffer *buffers, bool last)
{
    struct round round = {.buffers = buffers, .waited = waiting, .last = last};

    waiting = NULL;
    waiting_count = 0;
    cupti_clock_compare(&cupti.clock);
    decode(&round);
    while (round.waited) {
        struct waiting *next = round.waited->next;

        free(round.waited);
        round.waited = next;
    }
    while (buffers) {
        struct cupti_buffer *next = buffers->next;

        cupti_buffer_give_back(buffers);
        buffers = next;
    }
    if (last)
        cupti_call_count_launches();
}
