/* trace_device_test.c: records the activities and notes of devices. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/device.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

TestSuite(trace_device, .init = test_folder);

static struct trace_site span_site =
    TEST_SITE(SPAN, INFO, "step", "m", NULL, 0);
static struct trace_site event_site =
    TEST_SITE(EVENT, INFO, "event", "m", NULL, 0);

static void put_kernel(uint64_t begin, uint64_t end, uint32_t span)
{
    struct trace_activity activity = test_kernel(begin, end);

    activity.span = span;
    trace_device_put(&activity);
}

static uint64_t now(void)
{
    return trace_device_host()->now();
}

/* ---- Activities ---- */

Test(trace_device, reads_back_an_activity)
{
    struct trace_entry entry;
    struct trace_value value;
    uint64_t begin;

    test_record();

    struct trace_span_ref span = trace_span_open_(&span_site, 0, NULL);

    begin = now();
    usleep(1000);
    put_kernel(begin, now(), trace_device_host()->current());
    trace_span_leave_(span);

    cr_assert(test_find(test_read(), TRACE_ENTRY_DEVICE, "identity", &entry));
    cr_expect_eq(entry.span, span.place);
    cr_expect_str_eq(entry.site->function, "_Z8identityv");
    cr_expect_str_eq(entry.site->target, "gpu::launch");
    cr_expect_eq(entry.site->level, TRACE_LEVEL_TRACE);
    cr_expect_eq(entry.at.device, 1);
    cr_expect_eq(entry.at.stream, 7);
    cr_expect_eq(entry.at.correlation, 99);
    cr_expect_geq(entry.end - entry.time, 1000000);
    cr_expect_eq(entry.thread->tid, getpid());

    struct trace_values values = trace_values_of(&entry);

    cr_assert(trace_values_next(&values, &value));
    cr_expect_str_eq(value.as.text, "(256, 1, 1)");
    cr_assert(trace_values_next(&values, &value));
    cr_expect_eq(value.as.u, 32);
    values.next = entry.launch;
    cr_assert(trace_values_next(&values, &value));
    cr_expect_str_eq(value.as.text, "(4, 64, 1)");
}

/* Device records arrive late; the reader puts them where they happened. */
Test(trace_device, orders_activities_by_time)
{
    struct trace_entry entry;
    uint64_t first, second;

    test_record();
    first = now();
    trace_event_(&event_site, 0, NULL);
    second = now();
    trace_event_(&event_site, 0, NULL);
    put_kernel(second, second + 10, 0);
    put_kernel(first, first + 10, 0);

    struct trace_reader *reader = test_read();
    static const enum trace_entry_kind kinds[] = {
        TRACE_ENTRY_DEVICE, TRACE_ENTRY_EVENT, TRACE_ENTRY_DEVICE,
        TRACE_ENTRY_EVENT};

    for (size_t i = 0; i < 4; i++) {
        cr_assert(trace_reader_next(reader, &entry));
        cr_expect_eq(entry.kind, kinds[i], "%zu", i);
    }
    cr_expect_not(trace_reader_next(reader, &entry));
}

Test(trace_device, records_each_name_once)
{
    struct trace_entry entry;
    size_t count = 0;
    uint32_t site = 0;

    test_record();
    for (int i = 0; i < 100; i++)
        put_kernel(now(), now(), 0);

    struct trace_reader *reader = test_read();

    while (trace_reader_next(reader, &entry)) {
        cr_expect(!site || entry.site->id == site);
        site = entry.site->id;
        count++;
    }
    cr_expect_eq(count, 100);
}

Test(trace_device, adds_a_thread_for_an_unknown_caller)
{
    struct trace_activity activity = test_kernel(now(), now());
    struct trace_entry entry;

    activity.at.thread = 12345678;
    test_record();
    trace_device_put(&activity);

    cr_assert(test_find(test_read(), TRACE_ENTRY_DEVICE, NULL, &entry));
    cr_expect_eq(entry.thread->tid, 12345678);
    cr_expect_eq(entry.thread->pid, getpid());
}

Test(trace_device, does_nothing_without_a_recording)
{
    put_kernel(1, 2, 0);
    trace_device_say(TRACE_LEVEL_WARN, "not recorded");
    trace_device_note("gpu.state", "on");
    trace_device_flush(true);
}

Test(trace_device, uses_the_last_note_of_a_name)
{
    size_t cursor = 0, count = 0;
    const char *name, *value;

    test_record();
    trace_device_note("gpu.state", "off");
    trace_event_(&event_site, 0, NULL);
    trace_device_note("gpu.state", "on");

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(trace_reader_meta(reader, "gpu.state"), "on");
    while (trace_reader_metas(reader, &cursor, &name, &value))
        count += !strcmp(name, "gpu.state");
    cr_expect_eq(count, 2);
}

/* ---- Back ends ---- */

static uint32_t inside[16];
static size_t inside_count, flushes;

static void on_inside(uint32_t span)
{
    if (inside_count < 16)
        inside[inside_count++] = span;
}

static void on_flush(bool last)
{
    flushes += last;
    put_kernel(now(), now(), 0);
}

static const struct trace_backend backend = {.inside = on_inside,
                                             .flush = on_flush};

Test(trace_device, notifies_the_back_end_of_the_current_span)
{
    struct trace_entry entry;

    test_record();
    cr_assert(trace_device_host()->attach(&backend));
    cr_expect_not(trace_device_host()->attach(&backend), "attached twice");

    struct trace_span_ref outer = trace_span_open_(&span_site, 0, NULL);
    struct trace_span_ref inner = trace_span_open_(&span_site, 0, NULL);

    trace_span_leave_(inner);
    trace_span_leave_(outer);

    const uint32_t expected[] = {outer.place, inner.place, outer.place, 0};

    cr_assert_eq(inside_count, 4);
    cr_expect_arr_eq(inside, expected, sizeof(expected));

    struct trace_reader *reader = test_read();

    cr_expect_eq(flushes, 1);
    cr_expect(test_find(reader, TRACE_ENTRY_DEVICE, NULL, &entry),
              "the last flush was not recorded");
}

static int other_flushes;

static void on_other_flush(bool last)
{
    other_flushes += last;
}

static const struct trace_backend other = {.flush = on_other_flush};

Test(trace_device, calls_each_back_end)
{
    test_record();
    cr_assert(trace_device_host()->attach(&other));
    cr_expect_eq(trace_device_follower(), 0, "entering a span calls nobody");
    cr_assert(trace_device_host()->attach(&backend));
    cr_expect_neq(trace_device_follower(), 0);
    cr_expect_not(trace_device_host()->attach(&other), "attached twice");
    trace_span_leave_(trace_span_open_(&span_site, 0, NULL));
    test_read();
    cr_expect_eq(inside_count, 2);
    cr_expect_eq(flushes, 1);
    cr_expect_eq(other_flushes, 1);
}

Test(trace_device, refuses_a_back_end_without_a_slot)
{
    static const struct trace_backend many[TRACE_BACKENDS_MOST + 1];

    test_record();
    for (int i = 0; i < TRACE_BACKENDS_MOST; i++)
        cr_expect(trace_device_host()->attach(&many[i]), "%d", i);
    cr_expect_not(trace_device_host()->attach(&many[TRACE_BACKENDS_MOST]));
    test_read();
}

static void fork_body(void)
{
    struct trace_span_ref span = trace_span_open_(&span_site, 0, NULL);

    trace_span_leave_(span);
    _exit(inside_count ? 1 : 0);
}

Test(trace_device, detaches_the_back_end_in_a_forked_child)
{
    test_record();
    cr_assert(trace_device_host()->attach(&backend));
    cr_expect_eq(test_child(fork_body), 0);
}

/* A note reports the losses, so it must fit when nothing else does. */
Test(trace_device, records_notes_in_a_full_recording)
{
    test_record_limit(UINT64_C(1) << 20);
    trace_device_note("gpu.lost", "0");
    for (int i = 0; i < 20000; i++)
        put_kernel(1, 2, 0);
    trace_device_note("gpu.lost", "3");

    struct trace_reader *reader = test_read();

    cr_expect_gt(trace_reader_summary(reader).dropped, 0);
    cr_expect_str_eq(trace_reader_meta(reader, "gpu.lost"), "3");
}

Test(trace_device, repeats_messages_in_each_new_recording)
{
    for (int i = 0; i < 2; i++) {
        struct trace_entry entry;

        unlink(test_path("recording"));
        test_record();
        trace_device_say(TRACE_LEVEL_WARN, "GPU trace off");
        cr_assert(test_find(test_read(), TRACE_ENTRY_EVENT, NULL, &entry));
        cr_expect_str_eq(entry.site->target, "gpu", "%d", i);
        cr_expect_eq(entry.site->level, TRACE_LEVEL_WARN, "%d", i);
    }
}

static bool done;

static void *puts_on(void *unused)
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        put_kernel(1, 2, 0);
    return unused;
}

static void put_one(void)
{
    alarm(20); /* in case it waits for a lock that its parent held */
    put_kernel(1, 2, 0);
}

Test(trace_device, records_in_children_of_a_recording_process)
{
    pthread_t threads[2];

    test_record();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, puts_on, NULL);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(test_child(put_one), 0);
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Finding the host ---- */

Test(trace_device, finds_the_host_only_in_its_own_process)
{
    char text[64];

    unsetenv("TESTLOG_DEVICES");
    cr_expect_null(trace_device_find());
    trace_device_publish();
    cr_expect_eq(trace_device_find(), trace_device_host());
    snprintf(text, sizeof(text), "%ld:%p", (long)getpid() + 1,
             (const void *)trace_device_host());
    setenv("TESTLOG_DEVICES", text, 1);
    cr_expect_null(trace_device_find(), "found the host of another process");
}

Test(trace_device, refuses_addresses_that_are_no_host)
{
    static const char *const texts[] = {"", "1", "x:y", "%ld:0x10",
                                        "%ld:0xffffffffffffff00"};
    static _Alignas(16) char zeros[sizeof(struct trace_device_host)];
    char text[64];

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        snprintf(text, sizeof(text), "%s", texts[i]);
        if (texts[i][0] == '%')
            snprintf(text, sizeof(text), "%ld%s", (long)getpid(), texts[i] + 3);
        setenv("TESTLOG_DEVICES", text, 1);
        cr_expect_null(trace_device_find(), "%s", text);
    }
    snprintf(text, sizeof(text), "%ld:%p", (long)getpid(), (void *)zeros);
    setenv("TESTLOG_DEVICES", text, 1);
    cr_expect_null(trace_device_find(), "found a host without a magic number");
}

/* A library that is not loaded stays closed: this one, a pipe, keeps what can
 * be read from it. */
Test(trace_device, opens_no_library_that_is_not_loaded)
{
    static const char bytes[4096];
    int pipe, size = 0;

    cr_assert_eq(mkfifo(test_path("library"), 0600), 0);
    pipe = open(test_path("library"), O_RDWR | O_CLOEXEC);
    cr_assert_eq(write(pipe, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
    setenv("CUDA_INJECTION64_PATH", test_path("library"), 1);
    trace_device_publish();
    ioctl(pipe, FIONREAD, &size);
    cr_expect_eq(size, (int)sizeof(bytes));
    close(pipe);
}
