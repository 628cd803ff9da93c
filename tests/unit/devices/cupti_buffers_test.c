/* cupti_buffers_test.c: hands buffers to CUPTI and keeps the records in them.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"
#include "trace/base/values.h"

TestSuite(cupti_buffers, .init = devices_init);

/* ---- Number and layout of buffers ---- */

static const char *given(const char *greed, const char *api)
{
    static char line[64];
    char *calls;

    devices_set("GREEDY", greed);
    devices_set("API", api);
    devices_begin();
    trace_close();
    calls = devices_calls();
    snprintf(line, sizeof(line), "%s", e2e_line(calls, "given "));
    return line;
}

/* Since CUDA 13, each thread of the program has a buffer. */
Test(cupti_buffers, gives_buffers_to_500_threads)
{
    cr_expect_str_eq(given("500", "130000"), "given 500");
}

Test(cupti_buffers, gives_at_most_160_MiB)
{
    cr_expect_str_eq(given("600", "27"), "given 520");
}

/* Before 12.9, CUPTI cannot handle NULL. */
Test(cupti_buffers, always_gives_a_buffer_to_an_old_cupti)
{
    cr_expect_str_eq(given("600", "26"), "given 600");
}

static struct cupti_buffer *buffer_of(uint8_t *bytes)
{
    return (void *)(bytes - offsetof(struct cupti_buffer, bytes));
}

/* Records in a spare buffer are dropped and counted. */
Test(cupti_buffers, counts_records_in_a_spare_buffer_as_dropped)
{
    enum { COUNT = 521 };
    uint8_t *bytes[COUNT];
    size_t size, most;

    devices_set("API", "26");
    devices_begin();
    for (size_t i = 0; i < COUNT; i++)
        cupti_buffer_requested(&bytes[i], &size, &most);
    cr_assert(buffer_of(bytes[COUNT - 1])->spare);
    cr_expect_not(buffer_of(bytes[COUNT - 2])->spare);
    cr_expect_eq(most, 0);
    for (size_t i = 0; i < 3; i++) {
        memset(bytes[COUNT - 1] + i * 40, 0, 40);
        memcpy(bytes[COUNT - 1] + i * 40, (uint32_t[]){CUPTI_KIND_RUNTIME}, 4);
    }
    for (size_t i = 0; i < COUNT; i++)
        cupti_buffer_completed(NULL, 0, bytes[i], size,
                               i == COUNT - 1 ? 120 : 0);

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(devices_meta(reader, "dropped"), "3");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, NULL), 0);
}

/* The first 8 have 4 MiB each. */
Test(cupti_buffers, gives_smaller_buffers_to_many)
{
    enum { COUNT = 9, HEAD = sizeof(struct cupti_buffer) };
    uint8_t *bytes[COUNT];
    size_t sizes[COUNT], most;

    devices_begin();
    for (size_t i = 0; i < COUNT; i++)
        cupti_buffer_requested(&bytes[i], &sizes[i], &most);
    cr_expect_eq(sizes[7], (4 << 20) - HEAD);
    cr_expect_eq(sizes[8], (256 << 10) - HEAD);
    for (size_t i = 0; i < COUNT; i++)
        cupti_buffer_completed(NULL, 0, bytes[i], sizes[i], 0);
    trace_close();
    cr_expect_eq(cupti_buffers_used(), 0);
}

/* CUPTI may rely on it. */
Test(cupti_buffers, gives_a_used_buffer_again_with_zeros)
{
    uint8_t *first, *again;
    size_t size, most;

    devices_begin();
    cr_assert(cupti.zeroed);
    cupti_buffer_requested(&first, &size, &most);
    memset(first, 0xff, 1000);
    buffer_of(first)->head.valid = 1000;
    cupti_buffer_give_back(buffer_of(first));
    do {
        cupti_buffer_requested(&again, &size, &most);
        cr_assert_not_null(again);
    } while (again != first);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(again[i], 0);
}

Test(cupti_buffers, aligns_buffers)
{
    uint8_t *bytes;
    size_t size, most;

    devices_begin();
    cupti_buffer_requested(&bytes, &size, &most);
    cr_expect_eq((uintptr_t)bytes % 64, 0);
    cupti_buffer_completed(NULL, 0, bytes, size, size * 2 /* more than fits */);
    cupti_buffer_completed(NULL, 0, NULL, 0, 0);
    trace_close();
}

/* Another tool's, from the beginning of a mapping and from malloc. */
Test(cupti_buffers, leaves_buffers_of_other_tools_alone)
{
    enum { PAGE = 4096 };
    uint8_t *mapped = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *allocated = malloc(PAGE);

    devices_begin();
    cr_assert_neq(mapped, MAP_FAILED);
    cr_assert_not_null(allocated);
    cr_assert_eq(mprotect(mapped, PAGE, PROT_NONE), 0);
    errno = 7;
    cupti_buffer_completed(NULL, 0, mapped + PAGE, PAGE, PAGE);
    cupti_buffer_completed(NULL, 0, allocated + PAGE / 2, PAGE / 2, PAGE / 2);
    cr_expect_eq(errno, 7);

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, NULL), 0);
    cr_expect_str_eq(devices_meta(reader, "undecoded"), "0");
    free(allocated);
}

static void put(uint8_t *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size);
}

/* Puts a launch and its kernel; returns their size. */
static size_t put_launch(uint8_t *at, uint32_t correlation)
{
    put(at, CUPTI_KIND_RUNTIME, 4);
    put(at + 4, 505, 4);
    put(at + 8, correlation, 8);
    put(at + 16, correlation + 1, 8);
    put(at + 32, correlation, 4);
    at += cupti.decoder.library.strides[CUPTI_KIND_RUNTIME];
    put(at, CUPTI_KIND_CONCURRENT_KERNEL, 4);
    put(at + 16, correlation + 2, 8);
    put(at + 24, correlation + 3, 8);
    for (size_t i = 52; i < 76; i += 4)
        put(at + i, 1, 4);
    put(at + 92, correlation, 4);
    put(at + 104, (uintptr_t) "many", 8);
    return cupti.decoder.library.strides[CUPTI_KIND_RUNTIME] +
           cupti.decoder.library.strides[CUPTI_KIND_CONCURRENT_KERNEL];
}

/* More launches than the table of calls holds, before any is decoded. */
Test(cupti_buffers, loses_no_launch_of_a_backlog)
{
    uint32_t launches = 0;

    devices_begin();
    for (int i = 0; i < 320; i++) {
        uint8_t *bytes;
        size_t size, most, used = 0;

        cupti_buffer_requested(&bytes, &size, &most);
        memset(bytes, 0, size);
        while (used + 512 < size)
            used += put_launch(bytes + used, ++launches);
        cupti_buffer_completed(NULL, 0, bytes, size, used);
    }

    struct trace_reader *reader = test_read();

    cr_expect_gt(launches, 1 << 18);
    cr_expect_eq(atoll(devices_meta(reader, "launches")), launches);
    cr_expect_str_eq(devices_meta(reader, "lost"), "0");
    cr_expect_str_eq(devices_meta(reader, "orphans"), "0");
}

/* ---- The thread ---- */

static size_t threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    size_t count = 0;

    while (folder && (entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

Test(cupti_buffers, starts_the_thread_with_the_first_buffer)
{
    size_t before = threads();

    devices_begin();
    cr_expect_eq(threads(), before, "started before a device was used");
    devices_launch(1);
    cr_expect_eq(threads(), before + 1);
    trace_close();
    cr_expect_eq(threads(), before);
    devices_launch(1);
    cr_expect_eq(threads(), before, "started after the end");
}

/* It would call CUPTI while the process is torn down. */
Test(cupti_buffers, starts_no_thread_after_the_last_flush)
{
    size_t before = threads();

    devices_begin();
    trace_device_flush(true);
    devices_launch(1);
    cr_expect_eq(threads(), before);
    trace_device_flush(true);
    devices_launch(1);
    cr_expect_eq(threads(), before, "started after the second flush");
    trace_close();
    cr_expect_eq(threads(), before);
}

Test(cupti_buffers, records_again_after_a_first_recording)
{
    size_t before = threads();
    struct trace_reader *reader;
    char kinds[512];

    devices_begin();
    devices_launch(3);
    reader = test_read();
    snprintf(kinds, sizeof(kinds), "%s", devices_meta(reader, "kinds"));
    cr_expect_str_eq(devices_meta(reader, "launches"), "3");
    devices_launch(5); /* between two recordings */
    test_record();
    devices_launch(2);
    cr_expect_eq(threads(), before + 1);
    reader = test_read();
    cr_expect_eq(threads(), before);
    cr_expect_str_eq(devices_meta(reader, "state"), "playback");
    cr_expect_str_eq(devices_meta(reader, "kinds"), kinds);
    cr_expect_str_eq(devices_meta(reader, "launches"), "2");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "launched()"), 2);
}

/* Longer than what is kept of calls: finding one must not depend on that. */
Test(cupti_buffers, keeps_up_with_many_launches, .timeout = 60)
{
    enum { MANY = 300000 };
    struct trace_reader *reader;

    devices_begin();
    devices_launch(MANY);
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "launched"), "300000");
    cr_expect_str_eq(devices_meta(reader, "lost"), "0");
}

/* A launch costs as much with a long name of its kernel as with a short one. */
Test(cupti_buffers, records_the_name_of_a_kernel_once)
{
    enum { COUNT = 1000 };
    struct trace_reader *reader;
    struct trace_values values;
    struct trace_entry entry = {0};
    struct trace_value value;
    size_t kernels = 0;

    devices_set("NAME", "2012");
    devices_begin();
    devices_launch(COUNT);
    reader = test_read();
    while (trace_reader_next(reader, &entry)) {
        if (!entry.launch)
            continue;
        kernels++;
        values = trace_values_of(&entry);
        values.next = entry.launch;
        for (int i = 0; i < TRACE_LAUNCH_FIELDS; i++)
            cr_assert(trace_values_next(&values, &value));
        cr_assert_eq(value.type, TRACE_TYPE_DISPLAY);
        cr_assert_gt(value.size, 1000);
        cr_assert_str_eq(value.as.text, entry.site->name);
    }
    cr_expect_eq(kernels, COUNT);
    cr_expect_lt(trace_reader_summary(reader).size, COUNT * 1024);
}

static uint64_t entries_so_far(void)
{
    struct trace_reader *reader = trace_reader_open_own();
    size_t count = test_count(reader, TRACE_ENTRY_DEVICE, NULL);

    trace_reader_close(reader);
    return count;
}

/* A killed process loses at most a quarter of a second. */
Test(cupti_buffers, puts_completed_buffers_from_the_thread, .timeout = 20)
{
    devices_begin();
    devices_launch(3);
    while (entries_so_far() < 6)
        usleep(10000);
    trace_close();
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    (void)number;
    signalled = gettid();
}

Test(cupti_buffers, leaves_signals_to_the_program)
{
    devices_begin();
    devices_launch(1);
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 100; i++) {
        kill(getpid(), SIGUSR1);
        cr_assert_eq(signalled, getpid());
    }
    trace_close();
}

/* ---- The end ---- */

Test(cupti_buffers, forces_the_last_flush)
{
    char *calls;

    devices_begin();
    trace_device_flush(false);
    calls = devices_calls();
    e2e_expect_has(calls, "FlushAll 0\n");
    e2e_expect_lacks(calls, "FlushAll 1\n", "GetNumDroppedRecords");
    trace_close();
    calls = devices_calls();
    e2e_expect_has(calls, "FlushAll 1\nGetNumDroppedRecords 0\n");
}

Test(cupti_buffers, survives_a_failing_flush)
{
    devices_set("FAIL", "23:999,24:999,25:999");
    devices_begin();
    devices_launch(1);
    cr_expect_str_eq(devices_meta(test_read(), "state"), "playback");
}

/* Puts three kernels without a size into a buffer: an unknown layout. */
static void complete_unknown_layout(void)
{
    uint8_t *bytes;
    size_t size, most,
        stride = cupti.decoder.library.strides[CUPTI_KIND_CONCURRENT_KERNEL];

    cupti_buffer_requested(&bytes, &size, &most);
    memset(bytes, 0, size);
    for (size_t i = 0; i < 3; i++)
        put(bytes + i * stride, CUPTI_KIND_CONCURRENT_KERNEL, 4);
    cupti_buffer_completed(NULL, 0, bytes, size, 3 * stride);
}

Test(cupti_buffers, ends_if_cupti_hangs_when_decoding_stops, .timeout = 20)
{
    devices_set("HANG_DISABLE", "1");
    devices_begin();
    complete_unknown_layout();
    trace_close();
    cr_expect_str_eq(cupti.state, "too-old");
}

Test(cupti_buffers, disables_records_when_decoding_stops, .timeout = 20)
{
    devices_begin();
    complete_unknown_layout();
    do
        usleep(10000);
    while (!strstr(devices_calls(), "Disable 10\n"));
    cr_expect_not(cupti_is_on());
    trace_close();
}

/* CUPTI hangs in a forked child. */
static void child(void)
{
    unlink(test_path("calls"));
    cupti_flush(true);
    cupti_flush(false);
    trace_device_flush(true);
    _exit(access(test_path("calls"), F_OK) ? 0 : 1);
}

Test(cupti_buffers, does_not_call_cupti_in_a_forked_child)
{
    devices_begin();
    devices_launch(1);
    cr_expect_eq(test_child(child), 0);
    trace_close();
}

/* ---- Many threads ---- */

enum { THREADS = 6, SPANS = 200, LAUNCHES = 3 };

static struct trace_site work = TEST_SITE(SPAN, INFO, "work", "m", NULL, 0);

static void *launch_in_spans(void *unused)
{
    for (int i = 0; i < SPANS; i++) {
        struct trace_span_ref span = trace_span_open_(&work, 0, NULL);

        devices_launch(LAUNCHES);
        trace_span_leave_(span);
    }
    return unused;
}

/* Checks that each kernel is in a span of the thread that launched it. */
static void expect_spans(struct trace_reader *reader)
{
    enum { PLACES = 1 << 20 };
    static uint32_t threads_of[PLACES]; /* by the place of a span */
    struct trace_entry entry;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry)) {
        if (entry.kind == TRACE_ENTRY_SPAN)
            threads_of[entry.id % PLACES] = entry.thread->tid;
        if (entry.kind != TRACE_ENTRY_DEVICE)
            continue;
        cr_assert(entry.span);
        cr_assert_eq(threads_of[entry.span % PLACES], entry.thread->tid);
    }
}

Test(cupti_buffers, attributes_launches_of_many_threads)
{
    pthread_t all[THREADS];
    char number[32];

    devices_begin();
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&all[i], NULL, launch_in_spans, NULL), 0);
    for (int i = 0; i < 20; i++)
        trace_device_flush(false);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);

    struct trace_reader *reader = test_read();

    snprintf(number, sizeof(number), "%d", THREADS * SPANS * LAUNCHES);
    cr_expect_str_eq(devices_meta(reader, "launches"), number);
    cr_expect_str_eq(devices_meta(reader, "launched"), number);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "launched()"),
                 THREADS * SPANS * LAUNCHES);
    expect_spans(reader);
}

/* The thread enters the span before CUPTI is initialized. */
Test(cupti_buffers, attributes_launches_to_a_span_older_than_cupti)
{
    struct trace_entry entry;

    test_record();

    struct trace_span_ref span = trace_span_open_(&work, 0, NULL);

    trace_device_publish();
    cr_assert_eq(InitializeInjection(), 1);
    devices_launch(1);
    trace_span_leave_(span);
    cr_assert(test_find(test_read(), TRACE_ENTRY_DEVICE, "launched()", &entry));
    cr_expect_eq(entry.span, span.place);
}
