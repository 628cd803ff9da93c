/* trace_zones_test.c: zones of kernels, from rings that the test fills as a
 * device would. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/support.h"

#include "trace/record/zones.h"

#include <testlog/zone.h>

enum { CAPACITY = 16, OUTER = 0, INNER = 1 };

static const char *const names[] = {"outer", "inner"};
static struct {
    trace_zone_ring ring;
    trace_zone_record records[CAPACITY];
} memory;
static struct trace_zones *zones;

static uint64_t now(void)
{
    return trace_device_host()->now();
}

static void begin(void)
{
    test_folder();
    test_record();
    zones = trace_zones_open(&memory, sizeof(memory), names, 2);
    cr_assert_not_null(zones);
}

TestSuite(trace_zones, .init = begin);

/* ---- The device ---- */

static struct {
    unsigned unit, group, item, flags;
} device = {.unit = TRACE_ZONE_NO_UNIT};

/* The part of zone.h that a kernel uses. */
static void put(unsigned what, uint64_t clock)
{
    unsigned ticket = memory.ring.taken++;

    if (ticket - memory.ring.read >= memory.ring.capacity)
        return;
    memory.records[ticket & (memory.ring.capacity - 1)] =
        (trace_zone_record){.clock = {(unsigned)clock, (unsigned)(clock >> 32)},
                            .unit = device.unit,
                            .ticket = ticket + 1,
                            .group = device.group,
                            .item = device.item,
                            .what = what | device.flags,
                            .ticket_again = ticket + 1};
}

static void begin_at(unsigned zone, uint64_t clock)
{
    put(zone << 2, clock);
}

static void end_at(unsigned zone, uint64_t clock)
{
    put(zone << 2 | TRACE_ZONE_END_, clock);
}

static void begin_zone(unsigned zone)
{
    begin_at(zone, now());
}

static void end_zone(unsigned zone)
{
    end_at(zone, now());
}

static void put_zone(unsigned zone)
{
    begin_zone(zone);
    end_zone(zone);
}

/* ---- What is recorded ---- */

static size_t take(void)
{
    return trace_zones_read(zones, &memory);
}

static bool find(struct trace_reader *reader, const char *name,
                 struct trace_entry *entry)
{
    return test_find(reader, TRACE_ENTRY_DEVICE, name, entry);
}

/* The fields of a zone as a line shows them. */
static void expect_line(struct trace_reader *reader, const char *text)
{
    char *lines = test_plain(reader);

    cr_expect(strstr(lines, text), "no \"%s\" in\n%s", text, lines);
}

static void expect_meta(const struct trace_reader *reader, const char *name,
                        const char *expected)
{
    char key[48];
    const char *value;

    snprintf(key, sizeof(key), "gpu.zones.%s", name);
    value = trace_reader_meta(reader, key);
    cr_expect(value && !strcmp(value, expected), "%s: %s", name,
              value ? value : "none");
}

/* ---- Rings ---- */

Test(trace_zones, makes_an_empty_ring)
{
    cr_expect_eq(memory.ring.magic, TRACE_ZONE_MAGIC);
    cr_expect_eq(memory.ring.capacity, CAPACITY);
    cr_expect_eq(take(), 0);
}

Test(trace_zones, rounds_the_capacity_down_to_a_power_of_two)
{
    char other[TRACE_ZONE_SIZE(15)];
    trace_zone_ring ring;

    trace_zones_close(trace_zones_open(other, sizeof(other), names, 2));
    memcpy(&ring, other, sizeof(ring));
    cr_expect_eq(ring.capacity, 8);
}

Test(trace_zones, rejects_sizes_without_room_for_a_zone)
{
    errno = 0;
    cr_expect_null(trace_zones_open(&memory, TRACE_ZONE_SIZE(2) - 1, names, 2));
    cr_expect_eq(errno, EINVAL);
    cr_expect_null(trace_zones_open(&memory, SIZE_MAX, names, 2));
    cr_expect_null(trace_zones_open(&memory, 0, names, 2));
}

Test(trace_zones, accepts_no_ring)
{
    trace_zones_follow(NULL, NULL);
    cr_expect_eq(trace_zones_read(NULL, &memory), 0);
    trace_zones_close(NULL);
}

Test(trace_zones, uses_the_room_again_that_was_read)
{
    struct trace_reader *reader;

    for (int i = 0; i < 5; i++) {
        for (int zone = 0; zone < CAPACITY / 2; zone++)
            put_zone(OUTER);
        cr_expect_eq(take(), CAPACITY / 2);
        cr_expect_eq(take(), 0);
    }
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "outer"),
                 5 * CAPACITY / 2);
    expect_meta(reader, "recorded", "40");
    expect_meta(reader, "dropped", "0");
}

Test(trace_zones, counts_tickets_beyond_32_bits)
{
    for (int i = 0; i < 3; i++) { /* nothing is written, so all is dropped */
        memory.ring.taken += UINT32_C(0x55555550);
        cr_expect_eq(take(), 0);
        cr_expect_eq(memory.ring.read, memory.ring.taken);
    }
    for (int i = 0; i < 20; i++) {
        put_zone(OUTER);
        cr_expect_eq(take(), 1);
    }
    cr_expect_eq(memory.ring.taken, 24);
}

Test(trace_zones, does_not_read_a_copy_twice)
{
    char copy[sizeof(memory)];

    put_zone(OUTER);
    memcpy(copy, &memory, sizeof(memory));
    put_zone(INNER);
    cr_expect_eq(take(), 2);
    cr_expect_eq(trace_zones_read(zones, copy), 0, "it is older");
    cr_expect_eq(take(), 0);
}

static void *read_copy(void *total)
{
    char copy[sizeof(memory)];

    memcpy(copy, &memory, sizeof(memory));
    __atomic_add_fetch((size_t *)total, trace_zones_read(zones, copy),
                       __ATOMIC_RELAXED);
    return NULL;
}

/* The back end of several threads that wait at once. */
Test(trace_zones, records_each_zone_once_for_several_threads)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    size_t total = 0;

    for (int i = 0; i < CAPACITY / 2; i++)
        put_zone(OUTER);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_copy, &total);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(total, CAPACITY / 2);
}

/* ---- Zones ---- */

Test(trace_zones, records_nested_zones_on_the_track_of_their_group)
{
    struct trace_entry outer, inner;
    struct trace_reader *reader;

    device.group = 3;
    device.item = 5;
    begin_zone(OUTER);
    put_zone(INNER);
    end_zone(OUTER);
    cr_expect_eq(take(), 2);
    reader = test_read();
    cr_assert(find(reader, "outer", &outer));
    cr_assert(find(reader, "inner", &inner));
    cr_expect_str_eq(outer.site->target, "gpu::zone");
    cr_expect_eq(outer.at.stream, TRACE_ZONE_GROUPS + 3);
    cr_expect(outer.at.on_device);
    cr_expect_geq(inner.time, outer.time);
    cr_expect_leq(inner.end, outer.end);
    expect_line(reader,
                "gpu::zone: Executing zone name=outer group=3 item=5\n");
}

Test(trace_zones, gives_each_multiprocessor_a_track)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    struct trace_text name = {0};

    device.unit = 131;
    device.group = 70000;
    put_zone(OUTER);
    take();
    reader = test_read();
    cr_assert(find(reader, "outer", &entry));
    trace_name_stream(&name, reader, &entry.at);
    cr_expect_str_eq(name.data, "multiprocessor 131");
    expect_line(reader, "name=outer unit=131 group=70000 item=0\n");
    trace_text_free(&name);
}

Test(trace_zones, shares_tracks_among_many_groups)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    struct trace_text name = {0};

    device.group = TRACE_ZONE_GROUP_TRACKS + 2;
    put_zone(OUTER);
    take();
    reader = test_read();
    cr_assert(find(reader, "outer", &entry));
    trace_name_stream(&name, reader, &entry.at);
    cr_expect_str_eq(name.data, "work-group 2");
    trace_text_free(&name);
}

/* Groups run at once, so their records alternate. */
Test(trace_zones, matches_ends_with_the_item_that_began)
{
    struct trace_entry outer, inner;
    struct trace_reader *reader;

    begin_zone(OUTER);
    device.group = 1;
    begin_zone(INNER);
    device.group = 0;
    end_zone(OUTER);
    device.group = 1;
    end_zone(INNER);
    cr_expect_eq(take(), 2);
    reader = test_read();
    cr_assert(find(reader, "outer", &outer));
    cr_assert(find(reader, "inner", &inner));
    cr_expect_lt(outer.end, inner.end);
    expect_meta(reader, "unfinished", "0");
}

/* ---- Losses ---- */

Test(trace_zones, counts_records_that_find_no_room)
{
    struct trace_reader *reader;

    for (int i = 0; i < CAPACITY; i++)
        put_zone(OUTER);
    cr_expect_eq(take(), CAPACITY / 2);
    reader = test_read();
    expect_meta(reader, "dropped", "16");
    expect_line(reader, "WARN gpu: zones: 16 records dropped by full rings\n");
}

Test(trace_zones, drops_records_that_are_not_complete)
{
    struct trace_reader *reader;

    put_zone(OUTER);
    put_zone(INNER);
    memory.records[1].ticket_again = 0;
    memory.records[2].ticket = 77;
    cr_expect_eq(take(), 1, "a beginning is left");
    reader = test_read();
    expect_meta(reader, "dropped", "2");
    expect_meta(reader, "unfinished", "1");
    expect_meta(reader, "stray_ends", "1");
}

Test(trace_zones, ends_zones_within_one_that_ends)
{
    struct trace_reader *reader;

    begin_zone(OUTER);
    begin_zone(INNER);
    end_zone(OUTER);
    end_zone(OUTER);
    cr_expect_eq(take(), 2);
    reader = test_read();
    expect_line(reader, "name=inner group=0 item=0 unfinished=true\n");
    expect_line(reader,
                "zones: 1 end without a beginning, 1 zone without an end\n");
}

Test(trace_zones, ignores_zones_without_a_name)
{
    put_zone(2);
    cr_expect_eq(take(), 0);
    expect_meta(test_read(), "invalid", "2");
}

Test(trace_zones, reports_rings_that_nobody_reads)
{
    static const struct trace_backend backend = {.flush = NULL};
    struct trace_reader *reader;

    cr_assert(trace_device_host()->attach(&backend));
    trace_zones_follow(zones, &memory);
    reader = test_read();
    expect_meta(reader, "unread", "1");
    expect_line(reader, "zones: 1 ring not read\n");
}

Test(trace_zones, does_not_warn_if_devices_are_not_recorded)
{
    struct trace_reader *reader;
    char *lines;

    trace_zones_follow(zones, &memory);
    reader = test_read();
    lines = test_plain(reader);
    expect_meta(reader, "unread", "1");
    cr_expect_str_eq(lines, "");
}

Test(trace_zones, survives_any_bytes)
{
    test_seed(7);
    for (int i = 0; i < 2000; i++) {
        uint32_t ticket = memory.ring.read;

        test_random_bytes(&memory, sizeof(memory));
        memory.ring.taken = ticket + test_below(3 * CAPACITY);
        for (uint32_t at = 0; at < CAPACITY; at++) { /* some look right */
            trace_zone_record *one = &memory.records[(ticket + at) % CAPACITY];

            one->group %= 2;
            one->item = one->unit = 0;
            one->what %= 12;
            if (test_below(4))
                one->ticket = one->ticket_again = ticket + at + 1;
        }
        take();
    }
    test_read();
}

/* ---- Launches ---- */

static struct trace_site span_site =
    TEST_SITE(SPAN, INFO, "step", "m", NULL, 0);

static void put_kernel(uint64_t from, uint64_t to, uint32_t span)
{
    struct trace_activity activity = test_kernel(from, to);

    activity.span = span;
    trace_device_put(&activity);
}

/* The kernel's device replaces an unknown one. */
Test(trace_zones, finds_the_launch_of_a_zone)
{
    struct trace_span_ref span = trace_span_open_(&span_site, 0, NULL);
    struct trace_entry entry;
    struct trace_reader *reader;
    uint64_t from = now();

    trace_span_leave_(span);
    put_zone(OUTER);
    put_kernel(from, now(), span.place);
    put_kernel(now(), now() + 1000, 0);
    take();
    reader = test_read();
    cr_assert(find(reader, "outer", &entry));
    cr_expect_eq(entry.span, span.place);
    cr_expect_eq(entry.at.device, 1);
    expect_line(reader, "step: gpu::zone: Executing zone name=outer "
                        "kernel=identity group=0");
}

Test(trace_zones, names_no_launch_if_there_are_several)
{
    uint64_t from = now();

    put_zone(OUTER);
    put_kernel(from, now(), 0);
    put_kernel(from, now(), 0);
    take();
    expect_line(test_read(), "name=outer group=0");
}

Test(trace_zones, ends_an_unfinished_zone_with_its_launch)
{
    struct trace_entry entry, kernel;
    struct trace_reader *reader;
    uint64_t from = now();

    begin_zone(OUTER);
    usleep(1000);
    put_kernel(from, now(), 0);
    take();
    reader = test_read();
    cr_assert(find(reader, "outer", &entry));
    cr_assert(find(reader, "identity", &kernel));
    cr_expect_eq(entry.end, kernel.end);
}

/* ---- Clocks ---- */

Test(trace_zones, takes_the_recordings_clock_as_it_is)
{
    put_zone(OUTER);
    take();
    expect_meta(test_read(), "clock", "the recording's");
}

/* A clock of nanoseconds with a foreign origin, and kernels of 1 ms. */
Test(trace_zones, fits_a_clock_of_nanoseconds)
{
    const uint64_t zero = UINT64_C(1700000000000000000);
    struct trace_anchor first = trace_anchor_now();
    struct trace_entry entry, kernel;
    struct trace_reader *reader;
    double error;

    device.flags = TRACE_ZONE_NANOSECONDS_;
    for (int i = 0; i < 3; i++) {
        uint64_t from = now();

        usleep(1000);
        begin_at(OUTER, zero + trace_anchor_now().monotonic - first.monotonic);
        usleep(1000);
        end_at(OUTER, zero + trace_anchor_now().monotonic - first.monotonic);
        put_kernel(from, now(), 0);
        take();
    }
    reader = test_read();
    cr_assert_eq(sscanf(trace_reader_meta(reader, "gpu.zones.clock"),
                        "fitted, error %lf ns", &error),
                 1);
    cr_expect_gt(error, 100000);
    cr_assert(find(reader, "outer", &entry));
    cr_assert(find(reader, "identity", &kernel));
    cr_expect_geq(entry.time, kernel.time);
    cr_expect_leq(entry.end, kernel.end);
}
