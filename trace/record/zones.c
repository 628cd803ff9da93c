/* zones.c: reads what kernels write with zone.h.
 *
 * The bytes of a ring come from a device and are not trusted. A record is
 * complete if both of its halves have its ticket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/zone.h>

#include "trace/base/clock.h"
#include "write.h"
#include "zones.h"

enum { LAUNCHES = 256, CAPACITY_LEAST = 2 };
#define SIZE_MOST ((size_t)1 << 30)

struct trace_zones {
    struct trace_zones *next;
    uint32_t number;
    const char *const *names;
    size_t name_count;
    uint32_t capacity, read;
    void *buffer; /* that is followed */
    bool was_read;
    uint64_t since;                    /* ticks: the last reading */
    struct trace_zone_clock clocks[2]; /* of cycles, of nanoseconds */
};

/* The lock of devices protects all of it. */
static struct trace_zones *rings; /* the newest first */
static uint32_t last_number;
static struct trace_zone_launch launches[LAUNCHES];
static size_t launch_count; /* so far */
static bool used;           /* in this recording */
static struct trace_anchor began;

static struct {
#define TRACE_X(name) uint64_t name;
    TRACE_ZONE_COUNTS(TRACE_X)
#undef TRACE_X
    double error; /* ns: the largest of a clock */
    bool fitted;  /* a clock is not the recording's */
} counts;

/* ---- Launches ---- */

bool trace_zones_exist(void)
{
    return __atomic_load_n(&rings, __ATOMIC_RELAXED);
}

void trace_zones_launched(const char *name,
                          const struct trace_activity *activity)
{
    struct trace_zone_launch *one;

    if (!trace_zones_exist() || !activity->at.on_device ||
        (activity->at.kind != TRACE_ACTIVITY_KERNEL &&
         activity->at.kind != TRACE_ACTIVITY_GRAPH))
        return;
    trace_device_lock();
    one = &launches[launch_count++ % LAUNCHES];
    *one = (struct trace_zone_launch){.begin = activity->at.begin,
                                      .end = activity->end,
                                      .device = activity->at.device,
                                      .span = activity->span,
                                      .name = name};
    trace_device_unlock();
}

/* ---- Reading ---- */

static void add_mark(struct trace_zone_reading *reading,
                     const trace_zone_record *record)
{
    struct trace_zone_mark *mark = &reading->marks[reading->count];

    *mark = (struct trace_zone_mark){
        .clock = (uint64_t)record->clock[1] << 32 | record->clock[0],
        .unit = record->unit,
        .group = record->group,
        .item = record->item,
        .ticket = record->ticket - 1,
        .zone = record->what >> 2,
        .end = record->what & TRACE_ZONE_END_,
        .nanoseconds = record->what & TRACE_ZONE_NANOSECONDS_,
    };
    if (mark->zone < reading->name_count)
        reading->count++;
    else
        counts.invalid++;
}

/* Copies the records that kernels made since the last reading. A ticket without
 * a record found no room. */
static void take_records(struct trace_zone_reading *reading,
                         struct trace_zones *zones, const unsigned char *bytes,
                         uint32_t taken)
{
    uint32_t all = taken - zones->read;
    uint32_t count = all < zones->capacity ? all : zones->capacity;

    counts.dropped += all - count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ticket = zones->read + i;
        size_t slot = ticket & (zones->capacity - 1);
        trace_zone_record record;

        memcpy(&record, bytes + sizeof(trace_zone_ring) + slot * sizeof(record),
               sizeof(record));
        if (record.ticket == ticket + 1 && record.ticket_again == ticket + 1)
            add_mark(reading, &record);
        else
            counts.dropped++;
    }
    zones->read = taken;
}

/* ---- Clocks ---- */

static double ticks_per_ns(void)
{
    struct trace_anchor now = trace_anchor_now();

    return now.monotonic > began.monotonic && now.ticks > began.ticks
               ? (double)(now.ticks - began.ticks) /
                     (double)(now.monotonic - began.monotonic)
               : 1;
}

static bool find_times(const struct trace_zone_reading *reading,
                       bool nanoseconds, struct trace_zone_times *times)
{
    bool some = false;

    for (size_t i = 0; i < reading->count; i++) {
        const struct trace_zone_mark *mark = &reading->marks[i];

        if (mark->nanoseconds != nanoseconds)
            continue;
        if (!some || mark->clock < times->first)
            times->first = mark->clock;
        if (!some || mark->clock > times->last)
            times->last = mark->clock;
        some = true;
    }
    return some;
}

/* Kernels run between the beginning of the first launch and the end of the last
 * one. */
static void add_launches(const struct trace_zone_reading *reading,
                         struct trace_zone_times *times)
{
    for (size_t i = 0; i < reading->launch_count; i++) {
        const struct trace_zone_launch *one = &reading->launches[i];

        if (!i || one->begin < times->earliest)
            times->earliest = one->begin;
        if (!i || one->end > times->latest)
            times->latest = one->end;
    }
    if (times->latest <= times->earliest)
        times->latest = times->earliest + 1;
}

static void fit_clock(struct trace_zone_reading *reading,
                      struct trace_zones *zones, bool nanoseconds, uint64_t now)
{
    struct trace_zone_clock *clock = &zones->clocks[nanoseconds];
    struct trace_zone_times times = {.earliest = reading->since,
                                     .latest = now,
                                     .since = reading->since,
                                     .now = now};
    double rate;

    if (!find_times(reading, nanoseconds, &times))
        return;
    add_launches(reading, &times);
    rate = ticks_per_ns();
    trace_zone_clock_fit(clock, &times, nanoseconds ? rate : 0);
    counts.fitted |= !clock->same;
    if (clock->error / rate > counts.error)
        counts.error = clock->error / rate;
    for (size_t i = 0; i < reading->count; i++)
        if (reading->marks[i].nanoseconds == nanoseconds)
            reading->marks[i].ticks =
                trace_zone_clock_ticks(clock, reading->marks[i].clock);
}

/* ---- Rings ---- */

static struct trace_zones *find(uint32_t number)
{
    struct trace_zones *one = rings;

    while (one && one->number != number)
        one = one->next;
    return one;
}

/* Returns how many records may be new: none if another thread has read a newer
 * copy of the ring. */
static uint32_t count_new(const struct trace_zones *zones, uint32_t taken)
{
    uint32_t count = taken - zones->read;

    if (count >= UINT32_C(1) << 31)
        return 0;
    return count < zones->capacity ? count : zones->capacity;
}

/* Takes what is new; without memory it stays in the ring. */
static void take(struct trace_zone_reading *reading, struct trace_zones *zones,
                 const unsigned char *bytes, uint32_t taken)
{
    size_t all = launch_count < LAUNCHES ? launch_count : LAUNCHES;
    uint32_t count = count_new(zones, taken);
    uint64_t now = trace_clock_now();

    if (!count)
        return;
    reading->marks = malloc(count * sizeof(*reading->marks));
    reading->launches = malloc(LAUNCHES * sizeof(*reading->launches));
    if (!reading->marks || !reading->launches)
        return;
    reading->names = zones->names;
    reading->name_count = zones->name_count;
    reading->since = zones->since;
    take_records(reading, zones, bytes, taken);
    for (size_t i = 0; i < all; i++)
        if (launches[i].end >= reading->since)
            reading->launches[reading->launch_count++] = launches[i];
    fit_clock(reading, zones, false, now);
    fit_clock(reading, zones, true, now);
    zones->since = now;
}

static size_t read_ring(struct trace_zone_reading *reading, uint32_t number,
                        void *memory, size_t size)
{
    struct trace_zones *zones;
    trace_zone_ring ring;

    memcpy(&ring, memory, sizeof(ring));
    trace_device_lock();
    zones = find(number);
    if (zones)
        zones->was_read = true;
    if (zones && size >= TRACE_ZONE_SIZE((size_t)zones->capacity)) {
        take(reading, zones, memory, ring.taken);
        ring.read = zones->read;
    }
    trace_device_unlock();
    memcpy((char *)memory + offsetof(trace_zone_ring, read), &ring.read,
           sizeof(ring.read));
    trace_zones_put(reading);
    trace_device_lock();
    counts.recorded += reading->recorded;
    counts.stray_ends += reading->stray_ends;
    counts.unfinished += reading->unfinished;
    trace_device_unlock();
    free(reading->marks);
    free(reading->launches);
    return reading->recorded;
}

size_t trace_zones_read(struct trace_zones *zones, void *memory)
{
    struct trace_zone_reading reading = {.span = trace_span_current().place};
    int error = errno;
    size_t count;

    if (!zones || !memory)
        return 0;
    trace_device_flush(false); /* zones lie in launches */
    count = read_ring(&reading, zones->number, memory,
                      TRACE_ZONE_SIZE((size_t)zones->capacity));
    errno = error;
    return count;
}

void trace_zones_take(uint32_t number, void *bytes, size_t size,
                      uint32_t device)
{
    struct trace_zone_reading reading = {.device = device,
                                         .span = trace_span_current().place};

    if (size >= sizeof(trace_zone_ring))
        read_ring(&reading, number, bytes, size);
}

/* Returns 0 if the size is wrong. */
static uint32_t capacity_of(size_t size)
{
    size_t records =
        size < sizeof(trace_zone_ring) || size > SIZE_MOST
            ? 0
            : (size - sizeof(trace_zone_ring)) / sizeof(trace_zone_record);
    uint32_t capacity = 1;

    while (capacity <= records / 2)
        capacity *= 2;
    return capacity < CAPACITY_LEAST ? 0 : capacity;
}

static void add_ring(struct trace_zones *zones)
{
    trace_device_lock();
    if (!began.ticks)
        began = trace_anchor_now();
    zones->number = ++last_number;
    zones->since = trace_clock_now();
    zones->next = rings;
    used = true;
    __atomic_store_n(&rings, zones, __ATOMIC_RELEASE);
    trace_device_unlock();
}

struct trace_zones *trace_zones_open(void *memory, size_t size,
                                     const char *const *names, size_t count)
{
    uint32_t capacity = capacity_of(size);
    struct trace_zones *zones = NULL;

    if (capacity)
        zones = malloc(sizeof(*zones));
    else
        errno = EINVAL;
    if (!zones)
        return NULL;
    *zones = (struct trace_zones){
        .names = names, .name_count = count, .capacity = capacity};
    memset(memory, 0, TRACE_ZONE_SIZE((size_t)capacity));
    memcpy(memory,
           &(trace_zone_ring){.magic = TRACE_ZONE_MAGIC, .capacity = capacity},
           sizeof(trace_zone_ring));
    add_ring(zones);
    return zones;
}

void trace_zones_follow(struct trace_zones *zones, void *buffer)
{
    if (!zones)
        return;
    trace_device_lock();
    zones->buffer = buffer;
    trace_device_unlock();
}

void trace_zones_close(struct trace_zones *zones)
{
    struct trace_zones **at = &rings;
    int error = errno;

    if (!zones)
        return;
    trace_device_flush(false);
    trace_device_lock();
    while (*at && *at != zones)
        at = &(*at)->next;
    if (*at)
        __atomic_store_n(at, zones->next, __ATOMIC_RELEASE);
    counts.unread += zones->buffer && !zones->was_read;
    trace_device_unlock();
    free(zones);
    errno = error;
}

/* ---- Back ends ---- */

bool trace_zones_next(uint32_t *cursor, struct trace_zone_buffer *found)
{
    const struct trace_zones *one;

    if (!__atomic_load_n(&rings, __ATOMIC_RELAXED))
        return false;
    trace_device_lock();
    one = rings;
    while (one && (!one->buffer || (*cursor && one->number >= *cursor)))
        one = one->next;
    if (one) {
        *cursor = one->number;
        *found = (struct trace_zone_buffer){
            .buffer = one->buffer,
            .size = TRACE_ZONE_SIZE((size_t)one->capacity),
            .number = one->number,
            .read = one->read};
    }
    trace_device_unlock();
    return one;
}

void trace_zones_forget(uint32_t number)
{
    struct trace_zones *one;

    trace_device_lock();
    one = find(number);
    if (one)
        one->buffer = NULL;
    trace_device_unlock();
}

/* ---- The end of a recording ---- */

static void note(const char *name, uint64_t count)
{
    char key[48], text[24];

    snprintf(key, sizeof(key), "gpu.zones.%s", name);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
    trace_device_note(key, text);
}

static void note_all(void)
{
    char text[64] = "the recording's";

#define TRACE_X(name) note(#name, counts.name);
    TRACE_ZONE_COUNTS(TRACE_X)
#undef TRACE_X
    if (counts.fitted)
        snprintf(text, sizeof(text), "fitted, error %.0f ns", counts.error);
    trace_device_note("gpu.zones.clock", text);
}

static void add_loss(struct trace_text *text, uint64_t count, const char *what,
                     const char *why)
{
    if (count)
        trace_text_printf(text, "%s %llu %s%s %s", text->size ? "," : "zones:",
                          (unsigned long long)count, what,
                          count == 1 ? "" : "s", why);
}

static void warn_of_losses(void)
{
    struct trace_text text = {0};

    add_loss(&text, counts.dropped, "record", "dropped by full rings");
    add_loss(&text, counts.stray_ends, "end", "without a beginning");
    add_loss(&text, counts.unfinished, "zone", "without an end");
    add_loss(&text, counts.invalid, "record", "of an unknown zone");
    if (trace_device_attached()) /* otherwise devices are not recorded */
        add_loss(&text, counts.unread, "ring", "not read");
    if (text.size)
        trace_device_say(TRACE_LEVEL_WARN, text.data);
    trace_text_free(&text);
}

void trace_zones_end(void)
{
    if (!used)
        return;
    for (const struct trace_zones *one = rings; one; one = one->next)
        counts.unread += one->buffer && !one->was_read;
    note_all();
    warn_of_losses();
}

/* Rings stay open; what they have was for an earlier recording. */
void trace_zones_resume(void)
{
    memset(&counts, 0, sizeof(counts));
    used = rings;
}
