/* cupti_raw_test.c: buffers of CUPTI in the recording, which readers decode. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"
#include "trace/format.h"
#include "trace/parts/parts.h"
#include "trace/record/recorder.h"
#include "trace/trace.h"
#include "trace/zone.h"

static void init(void)
{
    devices_init();
    devices_options("gpu_raw=true");
}

TestSuite(cupti_raw, .init = init);

static uint32_t version_of(const char *path)
{
    struct trace_header header = {.version = 0};
    int fd = open(path, O_RDONLY);

    cr_assert_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
    close(fd);
    return header.version;
}

static uint32_t version(void)
{
    return version_of(test_path("recording"));
}

/* ---- Decoding by readers ---- */

/* Activities, and what was noted of GPUs. */
static char *all_of(struct trace_reader *reader)
{
    struct trace_text text = {0};
    const char *name, *value;
    size_t at = 0;

    trace_text_printf(&text, "%s%zu messages\n", devices_lines(reader),
                      test_count(reader, TRACE_ENTRY_EVENT, NULL));
    while (trace_reader_metas(reader, &at, &name, &value))
        if (!strncmp(name, "gpu.", 4) &&
            !strcmp(trace_reader_meta(reader, name), value))
            trace_text_printf(&text, "%s=%s\n", name, value);
    return test_keep(text.data);
}

/* Returns the records of a child that decodes at once. */
static char *decoded_at_once(void)
{
    pid_t child = fork();
    char *text;
    int status;

    if (!child) {
        struct trace_reader *reader;

        devices_options("");
        devices_begin();
        reader = test_read();
        text = all_of(reader);
        test_save(test_path("decoded"), text, strlen(text));
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    return test_load(test_path("decoded"), NULL);
}

ParameterizedTestParameters(cupti_raw, derives_what_would_be_decoded)
{
    static glob_t found;
    static size_t numbers[64];

    glob(TESTS_DIR "/playback/*.fixture", 0, NULL, &found);
    glob(TESTS_DIR "/playback/h100/*.fixture", GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        numbers[i] = i;
    return cr_make_param_array(size_t, numbers, found.gl_pathc);
}

/* Lines that a child and its parent have may be in another order. */
static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(char *text)
{
    static char *lines[8192];
    struct trace_text out = {0};
    char *rest = NULL;
    size_t count = 0;

    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    qsort(lines, count, sizeof(*lines), by_text);
    for (size_t i = 0; i < count; i++)
        trace_text_printf(&out, "%s\n", lines[i]);
    return test_keep(out.data);
}

ParameterizedTest(size_t *number, cupti_raw, derives_what_would_be_decoded)
{
    glob_t found;
    char *decoded;
    struct trace_reader *reader;

    glob(TESTS_DIR "/playback/*.fixture", 0, NULL, &found);
    glob(TESTS_DIR "/playback/h100/*.fixture", GLOB_APPEND, NULL, &found);
    setenv("PLAYBACK_FIXTURE", found.gl_pathv[*number], 1);
    globfree(&found);
    decoded = decoded_at_once();
    devices_begin();
    reader = test_read();
    cr_expect_eq(version(), TRACE_FORMAT_RAW);
    cr_expect_str_eq(sorted(all_of(reader)), sorted(decoded));
}

/* ---- Records of our own ---- */

static void put(uint8_t *at, enum cupti_field field, uint64_t value)
{
    memcpy(at + cupti_layout[field].offset, &value, cupti_layout[field].bytes);
}

/* Puts a launch and its kernel; returns their size. Without an end, CUPTI is
 * still writing the kernel. */
static size_t put_launch(uint8_t *at, uint32_t number, const char *name,
                         bool finished)
{
    const uint16_t *strides = cupti.decoder.library.strides;
    uint64_t now = cupti_clock_now();

    memset(at, 0, strides[CUPTI_KIND_RUNTIME]);
    memcpy(at, (uint32_t[]){CUPTI_KIND_RUNTIME}, 4);
    put(at, CUPTI_CALL_ID, 211 /* cudaLaunchKernel */);
    put(at, CUPTI_CALL_START, now);
    put(at, CUPTI_CALL_CORRELATION, number);
    put(at, CUPTI_CALL_END, now + 1);
    at += strides[CUPTI_KIND_RUNTIME];
    memset(at, 0, strides[CUPTI_KIND_CONCURRENT_KERNEL]);
    memcpy(at, (uint32_t[]){CUPTI_KIND_CONCURRENT_KERNEL}, 4);
    put(at, CUPTI_KERNEL_START, now + 2);
    for (unsigned i = 0; i < 3; i++) {
        put(at, CUPTI_KERNEL_GRID_X + i, 1);
        put(at, CUPTI_KERNEL_BLOCK_X + i, 1);
    }
    put(at, CUPTI_KERNEL_CORRELATION, number);
    put(at, CUPTI_KERNEL_NAME, (uintptr_t)name);
    put(at, CUPTI_KERNEL_END, finished ? now + 3 : 0);
    return strides[CUPTI_KIND_RUNTIME] + strides[CUPTI_KIND_CONCURRENT_KERNEL];
}

static uint8_t *request(size_t *size)
{
    size_t most;
    uint8_t *bytes = NULL;

    cupti_buffer_requested(&bytes, size, &most);
    return bytes;
}

static size_t kernels(struct trace_reader *reader, const char *name)
{
    cr_assert_eq(trace_reader_rewind(reader), 0);
    return test_count(reader, TRACE_ENTRY_DEVICE, name);
}

/* A module is unloaded, and another one has its kernel's name there. Records of
 * both lie in one buffer; an older one is complete. */
Test(cupti_raw, keeps_texts_whose_address_is_used_again)
{
    static char name[] = "first";
    struct trace_reader *reader;
    uint8_t *bytes[2];
    size_t size, used = 0;

    devices_begin();
    bytes[0] = request(&size);
    bytes[1] = request(&size);
    for (uint32_t i = 1; i <= 10; i++)
        used += put_launch(bytes[0] + used, i, name, true);
    cupti_buffer_completed(NULL, 0, bytes[0], size, used);
    used = put_launch(bytes[1], 11, name, true);
    cupti_flush(false);
    memcpy(name, "other", sizeof(name));
    for (uint32_t i = 12; i <= 20; i++)
        used += put_launch(bytes[1] + used, i, name, true);
    cupti_flush(false);
    memcpy(name, "third", sizeof(name));
    used += put_launch(bytes[1] + used, 21, name, true);
    cupti_buffer_completed(NULL, 0, bytes[1], size, used);
    reader = test_read();
    cr_expect_eq(kernels(reader, "first"), 11);
    cr_expect_eq(kernels(reader, "other"), 9);
    cr_expect_eq(kernels(reader, "third"), 1);
}

/* A killed process leaves buffers with records that CUPTI was writing. */
Test(cupti_raw, leaves_out_unfinished_records)
{
    struct trace_reader *reader;
    uint8_t *bytes;
    size_t size, used;

    devices_begin();
    bytes = request(&size);
    used = put_launch(bytes, 1, "done", true);
    used += put_launch(bytes + used, 2, "running", false);
    used += put_launch(bytes + used, 3, "behind", true);
    memcpy(bytes + used, (uint32_t[]){CUPTI_KIND_CONCURRENT_KERNEL}, 4);
    cupti_flush(false);
    reader = test_open();
    cr_expect_eq(kernels(reader, "done"), 1);
    cr_expect_eq(kernels(reader, "?"), 1, "nobody noted what is behind");
    cr_expect_eq(kernels(reader, "running"), 0);
    trace_close();
}

/* The first look finds a buffer, the second one reads it. */
static void look(struct trace_reader *reader)
{
    for (int i = 0; i < 2; i++)
        cr_assert_geq(trace_reader_look(reader, UINT64_MAX), 0);
}

Test(cupti_raw, can_be_followed_while_cupti_writes)
{
    struct trace_reader *reader;
    uint8_t *bytes;
    size_t size, used;

    devices_begin();
    reader = trace_reader_follow(test_path("recording"));
    cr_assert_not_null(reader);
    bytes = request(&size);
    used = put_launch(bytes, 1, "one", true);
    cupti_flush(false);
    look(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "one"), 1);
    used += put_launch(bytes + used, 2, "two", false);
    cupti_flush(false);
    look(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "two"), 0);
    put(bytes + used - cupti.decoder.library.strides[10], CUPTI_KERNEL_END,
        cupti_clock_now());
    cupti_flush(false);
    look(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "two"), 1);
    used += put_launch(bytes + used, 3, "three", true);
    cupti_buffer_completed(NULL, 0, bytes, size, used);
    bytes = request(&size);
    used = put_launch(bytes, 4, "four", true);
    trace_close();
    look(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, NULL), 4);
    trace_reader_close(reader);
}

/* As an expectation does. */
Test(cupti_raw, is_read_by_its_own_process)
{
    struct trace_reader *reader;

    devices_begin();
    devices_launch(5);
    trace_device_flush(false);
    reader = trace_reader_open_own();
    cr_assert_not_null(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "launched()"), 5);
    trace_reader_close(reader);
    trace_close();
}

/* ---- Killed processes ---- */

/* Returns how many kernels CUPTI had completed when a child was killed. */
static unsigned killed_after(unsigned us)
{
    static struct trace_site inside = TEST_SITE(SPAN, INFO, "in", "m", NULL, 0);
    unsigned *completed = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    int status;

    cr_assert_neq((void *)completed, MAP_FAILED);
    if (!child) {
        devices_begin();
        trace_span_open_(&inside, 0, NULL);
        for (;;) {
            devices_launch(1);
            __atomic_add_fetch(completed, 1, __ATOMIC_RELEASE);
        }
    }
    while (!__atomic_load_n(completed, __ATOMIC_ACQUIRE))
        usleep(100);
    usleep(us);
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return *completed;
}

static size_t in_a_span(struct trace_reader *reader)
{
    struct trace_entry entry;
    size_t count = 0;

    while (trace_reader_next(reader, &entry))
        count += entry.kind == TRACE_ENTRY_DEVICE && entry.span;
    return count;
}

Test(cupti_raw, keeps_all_completed_kernels_of_a_killed_process, .timeout = 600)
{
    const char *soak = getenv("SOAK");
    int rounds = soak && *soak ? 300 : 5;

    for (int i = 0; i < rounds; i++) {
        unsigned completed = killed_after(test_below(30000));
        size_t found;

        cr_assert_eq(trace_seal(test_path("recording")), 0);
        found = in_a_span(test_open());
        cr_expect_geq(found, 2 * completed, "round %d: %zu of %u", i, found,
                      2 * completed);
    }
}

/* ---- Settling ---- */

static int settle(struct trace_reader *reader)
{
    int fd = open(test_path("recording"), O_RDWR), result, error;

    cr_assert_geq(fd, 0);
    result = trace_reader_settle(reader, fd);
    error = errno;
    close(fd);
    errno = error;
    return result;
}

static uint64_t file_size(void)
{
    struct stat status;

    cr_assert_eq(stat(test_path("recording"), &status), 0);
    return (uint64_t)status.st_size;
}

static long blocks(void)
{
    struct stat status;

    cr_assert_eq(stat(test_path("recording"), &status), 0);
    return (long)status.st_blocks * 512;
}

Test(cupti_raw, settles_as_what_any_testlog_reads)
{
    struct trace_reader *reader;
    char *before;

    devices_play("h100/plain");
    devices_begin();
    reader = test_read();
    before = all_of(reader);
    cr_assert_eq(settle(reader), 0);
    cr_expect_str_eq(all_of(reader), before, "it can still be read");
    cr_expect_eq(version(), TRACE_FORMAT_VERSION);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    cr_expect_leq(blocks(), 72 << 10, "%ld", blocks());
    reader = test_open();
    cr_expect_not(trace_reader_is_raw(reader));
    cr_expect_str_eq(sorted(all_of(reader)), sorted(before));
    cr_expect_eq(settle(reader), 0, "nothing is left to do");
}

/* The derived records may need more space than the limit allows. */
Test(cupti_raw, settles_many_launches)
{
    enum { MANY = 50000 };
    struct trace_reader *reader;

    devices_begin();
    devices_launch(MANY);
    reader = test_read();
    cr_expect_eq(kernels(reader, "launched()"), MANY);
    cr_assert_eq(settle(reader), 0);
    reader = test_open();
    cr_expect_not(trace_reader_is_raw(reader));
    cr_expect_eq(kernels(reader, "launched()"), MANY);
    cr_expect_str_eq(devices_meta(reader, "launched"), "50000");
    cr_expect_str_eq(devices_meta(reader, "lost"), "0");
}

Test(cupti_raw, stays_readable_if_the_disk_is_full)
{
    struct rlimit none = {0, RLIM_INFINITY};
    struct trace_reader *reader;
    char *before;

    devices_play("plain");
    devices_begin();
    reader = test_read();
    before = all_of(reader);
    signal(SIGXFSZ, SIG_IGN);
    none.rlim_cur = TRACE_HEADER_SIZE + 1;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    cr_expect_eq(settle(reader), -1);
    cr_expect_eq(errno, EFBIG);
    cr_expect_eq(version(), TRACE_FORMAT_RAW);
    reader = test_open();
    cr_expect_str_eq(sorted(all_of(reader)), sorted(before));
}

/* A reader with too few addresses cannot derive all records. */
Test(cupti_raw, stays_as_it_is_without_memory)
{
    struct rlimit few = {0, RLIM_INFINITY};
    struct trace_reader *reader;
    FILE *maps = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("a sanitizer owns the memory");
    devices_begin();
    devices_launch(20);
    trace_close();
    cr_assert_eq(fscanf(maps, "%lu", &pages), 1);
    fclose(maps);
    few.rlim_cur = pages * 4096 + file_size() + (24 << 20);
    cr_assert_eq(setrlimit(RLIMIT_AS, &few), 0);
    reader = trace_reader_open(test_path("recording"));
    cr_assert_not_null(reader);
    cr_expect_eq(trace_reader_summary(reader).lost[TRACE_LOSS_MEMORY], 40);
    cr_expect_eq(settle(reader), -1);
    cr_expect_eq(errno, ENOMEM);
    cr_expect_eq(version(), TRACE_FORMAT_RAW);
    trace_reader_close(reader);
}

/* A newer testlog may know the layout. */
Test(cupti_raw, stays_as_it_is_with_an_unknown_layout)
{
    size_t size, stride;
    struct trace_reader *reader;
    uint8_t *bytes;

    devices_begin();
    stride = cupti.decoder.library.strides[CUPTI_KIND_CONCURRENT_KERNEL];
    bytes = request(&size);
    for (size_t i = 0; i < 3; i++) /* without a size */
        memcpy(bytes + i * stride, (uint32_t[]){CUPTI_KIND_CONCURRENT_KERNEL},
               4);
    cupti_buffer_completed(NULL, 0, bytes, size, 3 * stride);
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "state"), "too-old");
    cr_expect_eq(strncmp(devices_meta(reader, "notice"),
                         "GPU trace off: unknown record layout, API ", 42),
                 0);
    cr_expect_eq(settle(reader), -1);
    cr_expect_eq(version(), TRACE_FORMAT_RAW);
}

/* The follower has derived some of the records that are then in the file. */
Test(cupti_raw, can_be_settled_while_it_is_followed)
{
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "late", "m", NULL, 0);
    struct trace_reader *reader, *follower;
    uint8_t *bytes;
    size_t size, used;

    devices_begin();
    follower = trace_reader_follow(test_path("recording"));
    cr_assert_not_null(follower);
    bytes = request(&size);
    used = put_launch(bytes, 1, "one", true);
    cupti_flush(false);
    look(follower);
    cr_expect_eq(test_count(follower, TRACE_ENTRY_DEVICE, "one"), 1);
    trace_event_(&site, 0, NULL); /* a call site that comes later */
    used += put_launch(bytes + used, 2, "two", true);
    cupti_buffer_completed(NULL, 0, bytes, size, used);
    reader = test_read();
    cr_assert_eq(settle(reader), 0);
    look(follower);
    cr_expect_eq(test_count(follower, TRACE_ENTRY_DEVICE, NULL), 2,
                 "only the second call and kernel");
    trace_reader_close(follower);
}

/* Nobody else settles what a program captures. */
Test(cupti_raw, is_settled_by_the_end_of_a_capture)
{
    for (int i = 1; i <= 2; i++) {
        char folder[64], recording[128];
        struct trace_reader *reader;

        snprintf(folder, sizeof(folder), "%s", test_path(i == 1 ? "1" : "2"));
        cr_assert_eq(trace_start(folder, "gpu_raw=true"), 0);
        trace_device_publish();
        InitializeInjection();
        devices_launch((unsigned)i);
        snprintf(recording, sizeof(recording), "%s/recording", folder);
        cr_expect_eq(version_of(recording), TRACE_FORMAT_RAW);
        cr_assert_eq(trace_stop(), 0);
        reader = trace_reader_open(recording);
        cr_assert_not_null(reader, "%s", recording);
        cr_expect_not(trace_reader_is_raw(reader));
        cr_expect_eq(kernels(reader, "launched()"), i);
        trace_reader_close(reader);
    }
}

/* ---- Space ---- */

Test(cupti_raw, gives_buffers_to_500_threads)
{
    char *calls;

    devices_set("GREEDY", "500");
    devices_set("API", "130000");
    test_record_limit(TRACE_LIMIT_DEFAULT);
    devices_begin_in_recording();
    trace_close();
    calls = devices_calls();
    cr_expect_str_eq(e2e_line(calls, "given "), "given 500");
}

/* Buffers leave a part of the space for lines and spans. */
Test(cupti_raw, leaves_space_for_others)
{
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "still", "m", NULL, 0);
    struct trace_reader *reader;

    devices_begin();
    devices_launch(200000);
    for (int i = 0; i < 1000; i++)
        trace_event_(&site, 0, NULL);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "still"), 1000);
    cr_expect(trace_reader_summary(reader).limit_reached);
    cr_expect_gt(trace_reader_summary(reader).lost[TRACE_LOSS_LIMIT], 0);
    cr_expect_gt(kernels(reader, "launched()"), 40000);
    cr_expect_gt(atol(devices_meta(reader, "dropped")), 0);
}

Test(cupti_raw, needs_some_space)
{
    struct trace_reader *reader;

    test_record_limit(TRACE_LIMIT_LEAST);
    devices_begin_in_recording();
    devices_launch(3);
    reader = test_read();
    cr_expect_not(trace_reader_is_raw(reader));
    cr_expect_eq(kernels(reader, "launched()"), 3);
}

/* A file of that size is all that the process may write. */
Test(cupti_raw, stays_below_the_limit_of_files)
{
    struct rlimit few = {2 << 20, RLIM_INFINITY};
    struct trace_reader *reader;

    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
    devices_begin();
    devices_launch(50000);
    reader = test_read();
    cr_expect(trace_reader_is_raw(reader));
    cr_expect_gt(kernels(reader, "launched()"), 4000);
    cr_expect_gt(atol(devices_meta(reader, "dropped")), 0);
}

static size_t bytes_of_launches(unsigned count)
{
    struct trace_header header;
    int fd;

    devices_launch(count);
    trace_device_flush(false);
    fd = open(test_path("recording"), O_RDONLY);
    cr_assert_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
    close(fd);
    return trace_chunks_end(&header);
}

/* Tails of buffers that were given back early are used again. */
Test(cupti_raw, uses_the_rest_of_buffers_again)
{
    size_t first, last = 0;

    devices_begin();
    first = bytes_of_launches(1);
    for (int i = 0; i < 100; i++)
        last = bytes_of_launches(10);
    cr_expect_leq(last, first + 10 * TRACE_CHUNK_SIZE);
    trace_close();
}

/* ---- Recordings one after the other ---- */

Test(cupti_raw, notes_again_what_a_second_recording_needs)
{
    struct trace_reader *reader;
    char device[256];

    devices_play("plain");
    devices_begin();
    devices_launch(1);
    reader = test_read();
    snprintf(device, sizeof(device), "%s", devices_meta(reader, "device.0"));
    cr_expect(device[0]);
    test_record();
    devices_launch(2);
    reader = test_read();
    cr_expect(trace_reader_is_raw(reader));
    cr_expect_eq(kernels(reader, "launched()"), 2);
    cr_expect_str_eq(devices_meta(reader, "device.0"), device);
    cr_expect_str_eq(devices_meta(reader, "launches"), "2");
}

/* CUPTI fills it later, where the first recording's file was. */
Test(cupti_raw, decodes_a_buffer_that_cupti_kept)
{
    struct trace_reader *reader;
    uint8_t *bytes;
    size_t size, used;

    devices_begin();
    bytes = request(&size);
    trace_close();
    test_record();
    devices_launch(1); /* it knows that another one has begun */
    used = put_launch(bytes, 1000, "kept", true);
    cupti_buffer_completed(NULL, 0, bytes, size, used);
    reader = test_read();
    cr_expect_eq(kernels(reader, "kept"), 1);
}

/* Buffers are shared with children, and written by the parent alone. */
Test(cupti_raw, survives_a_fork)
{
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "child", "m", NULL, 0);
    struct trace_reader *reader;
    pid_t child;

    devices_begin();
    devices_launch(3);
    child = fork();
    if (!child) {
        trace_event_(&site, 0, NULL);
        devices_launch(1);
        trace_device_flush(true);
        _exit(0);
    }
    devices_launch(3);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    reader = test_read();
    cr_expect_eq(kernels(reader, "launched()"), 6);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 1);
}

/* ---- Where records are decoded at once ---- */

Test(cupti_raw, needs_a_file_of_its_own)
{
    int file = open(test_path("parts"), O_RDWR | O_CREAT | O_EXCL, 0600);
    struct trace_reader *reader;
    char name[64];
    uint64_t offset;

    cr_assert_eq(trace_parts_begin(), 0);
    cr_assert_eq(trace_open_part(file, &offset, &(struct trace_options){0}), 0);
    devices_begin_in_recording();
    devices_launch(3);
    trace_close_part();
    snprintf(name, sizeof(name), "parts#%llu", (unsigned long long)offset);
    reader = trace_reader_open(test_path(name));
    cr_assert_not_null(reader);
    cr_expect_not(trace_reader_is_raw(reader));
    cr_expect_eq(kernels(reader, "launched()"), 3);
    trace_reader_close(reader);
    close(file);
}

Test(cupti_raw, zones_find_their_kernels)
{
    static _Alignas(8) unsigned char bytes[4096];
    static const char *const names[] = {"zone"};
    struct trace_zones *zones;
    uint8_t *buffer;
    size_t size;

    devices_begin();
    zones = trace_zones_open(bytes, sizeof(bytes), names, 1);
    cr_assert_not_null(zones);
    buffer = request(&size);
    cupti_buffer_completed(NULL, 0, buffer, size,
                           put_launch(buffer, 1, "with zones", true));
    cupti_flush(false);
    cr_expect_eq(cupti.decoder.calls.count, 1, "it was decoded here, too");
    trace_zones_close(zones);
    trace_close();
}
