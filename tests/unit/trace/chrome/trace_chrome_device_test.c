/* trace_chrome_device_test.c: exports device activities as Chrome trace events.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/chrome.h"

#include "trace/chrome/chrome.h"

TestSuite(trace_chrome_device, .init = test_begin, .timeout = 60);

enum { FIRST = 0x40000000 };

static struct trace_site span_site =
    TEST_SITE(SPAN, INFO, "step", "m", NULL, 0);

static uint64_t now(void)
{
    return trace_device_host()->now();
}

/* Returns about as many ticks as `ns` take. */
static uint64_t ticks(uint64_t ns)
{
    struct trace_anchor from = trace_anchor_now(), to;

    usleep(20000);
    to = trace_anchor_now();
    return (uint64_t)((double)ns * (double)(to.ticks - from.ticks) /
                      (double)(to.monotonic - from.monotonic));
}

static void put_kernel(uint64_t begin, uint64_t end, uint32_t stream,
                       uint32_t correlation)
{
    struct trace_activity activity = test_kernel(begin, end);

    activity.at.stream = stream;
    activity.at.correlation = correlation;
    trace_device_put(&activity);
}

/* Puts an activity of the host: a call or a compilation. */
static void put_host(unsigned kind, const char *name, uint64_t begin,
                     uint64_t end, uint32_t correlation)
{
    struct trace_activity activity = {
        .at = {.begin = begin,
               .thread = (uint32_t)getpid(),
               .correlation = correlation,
               .kind = (uint16_t)kind},
        .end = end,
        .name = name,
    };

    trace_device_put(&activity);
}

/* Ends the recording and exports it. */
static cJSON *exported(void)
{
    cJSON *json = chrome_export(test_read(), NULL);

    chrome_check_keys(json);
    chrome_check_nesting(cJSON_GetObjectItem(json, "traceEvents"));
    return json;
}

static const char *name_of(const cJSON *json, const char *kind, double pid,
                           double tid)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (!strcmp(chrome_text(event, "name"), kind) &&
            chrome_number(event, "pid") == pid &&
            chrome_number(event, "tid") == tid)
            return chrome_text(cJSON_GetObjectItem(event, "args"), "name");
    }
    return "";
}

static void expect_triple(const cJSON *args, const char *key, int x, int y,
                          int z)
{
    const cJSON *triple = cJSON_GetObjectItemCaseSensitive(args, key);

    cr_assert_eq(cJSON_GetArraySize(triple), 3, "%s", key);
    cr_expect_eq(cJSON_GetArrayItem(triple, 0)->valuedouble, x);
    cr_expect_eq(cJSON_GetArrayItem(triple, 1)->valuedouble, y);
    cr_expect_eq(cJSON_GetArrayItem(triple, 2)->valuedouble, z);
}

/* ---- Slices and their tracks ---- */

Test(trace_chrome_device, draws_a_kernel_as_a_slice_of_its_stream)
{
    uint64_t begin, length;

    trace_device_note("gpu.device.1", "NVIDIA H200");
    length = ticks(5000);
    begin = now();
    put_kernel(begin, begin + length, 7, 99);

    cJSON *json = exported();
    const cJSON *slice = chrome_event(json, "X", "identity");
    const cJSON *args = chrome_args(json, "X", "identity");

    cr_expect_eq(chrome_number(slice, "pid"), FIRST + 1);
    cr_expect_eq(chrome_number(slice, "tid"), 7);
    cr_expect_str_eq(chrome_text(slice, "cat"), "kernel");
    cr_expect_float_eq(chrome_number(slice, "dur"), 5, 1);
    cr_expect_str_eq(name_of(json, "process_name", FIRST + 1, 0),
                     "GPU 1: NVIDIA H200");
    cr_expect_str_eq(name_of(json, "thread_name", FIRST + 1, 7), "stream 7");
    cr_expect_str_eq(
        chrome_text(chrome_args(json, "M", "process_labels"), "labels"),
        "GPU 1");
    cr_expect_eq(chrome_number(chrome_args(json, "M", "process_sort_index"),
                               "sort_index"),
                 FIRST + 1);
    cr_expect_eq(chrome_number(chrome_args(json, "M", "thread_sort_index"),
                               "sort_index"),
                 7);
    expect_triple(args, "grid", 4, 64, 1);
    expect_triple(args, "block", 256, 1, 1);
    cr_expect_eq(chrome_number(args, "device"), 1);
    cr_expect_eq(chrome_number(args, "context"), 2);
    cr_expect_eq(chrome_number(args, "stream"), 7);
    cr_expect_eq(chrome_number(args, "correlation"), 99);
    cr_expect_eq(chrome_number(args, "registers per thread"), 32);
    cr_expect_str_eq(chrome_text(args, "kernel.name"), "identity");
    cr_expect_str_eq(chrome_text(args, "mangled"), "_Z8identityv");
    cr_expect_str_eq(chrome_text(args, "testlog.target"), "gpu::launch");
    cr_expect_str_eq(args->child->string, "device");
    cr_expect_not(cJSON_HasObjectItem(args, "level"));
}

Test(trace_chrome_device, repeats_fields_under_kineto_s_names)
{
    static const char *const names[] = {"registers", "shared", "occupancy"};
    const struct trace_value values[] = {
        trace_text_("(4, 64, 1)"), trace_u64_(7),
        trace_text_("identity"),   trace_u64_(32),
        trace_u64_(49152),         trace_u64_(75)};
    struct trace_activity activity;

    activity = test_kernel(now(), now());
    activity.fields = names;
    activity.field_count = 3;
    activity.values = values;
    trace_device_put(&activity);

    const cJSON *args = chrome_args(exported(), "X", "identity");

    cr_expect_eq(chrome_number(args, "registers per thread"), 32);
    cr_expect_eq(chrome_number(args, "shared memory"), 49152);
    cr_expect_eq(chrome_number(args, "est. achieved occupancy %"), 75);
    cr_expect_eq(chrome_number(args, "occupancy"), 75);
}

Test(trace_chrome_device, names_a_stream_as_the_program_does)
{
    uint64_t begin;

    trace_device_note("gpu.stream.2.7.name", "copies");
    begin = now();
    put_kernel(begin, begin + 5000, 7, 0);
    put_kernel(begin, begin + 5000, 8, 0);

    cJSON *json = exported();

    cr_expect_str_eq(name_of(json, "thread_name", FIRST + 1, 7),
                     "stream 7: copies");
    cr_expect_str_eq(name_of(json, "thread_name", FIRST + 1, 8), "stream 8");
}

Test(trace_chrome_device, gives_each_context_its_own_tracks)
{
    struct trace_activity other;

    put_kernel(now(), now() + 1, 7, 0);
    other = test_kernel(now(), now() + 1);
    other.at.context = 3;
    trace_device_put(&other);

    cJSON *json = exported();

    cr_expect_str_eq(name_of(json, "thread_name", FIRST + 1, 2 << 16 | 7),
                     "stream 7 (ctx 2)");
    cr_expect_str_eq(name_of(json, "thread_name", FIRST + 1, 3 << 16 | 7),
                     "stream 7 (ctx 3)");
}

Test(trace_chrome_device, cuts_off_a_small_overlap)
{
    uint64_t begin, us;

    us = ticks(1000);
    begin = now();
    put_kernel(begin, begin + 10 * us, 7, 0);
    put_kernel(begin + 10 * us - us / 2, begin + 20 * us, 7, 0);

    cJSON *json = exported();
    const cJSON *second = chrome_event(json, "X", "identity")->next;

    while (strcmp(chrome_text(second, "ph"), "X") != 0)
        second = second->next;
    cr_expect_eq(chrome_number(second, "tid"), 7);
    cr_expect_float_eq(
        chrome_number(cJSON_GetObjectItem(second, "args"), "clamped_ns"), 500,
        100);
}

Test(trace_chrome_device, moves_a_large_overlap_to_another_track)
{
    uint64_t begin, us;

    us = ticks(1000);
    begin = now();
    put_kernel(begin, begin + 10 * us, 7, 0);
    put_kernel(begin + 5 * us, begin + 20 * us, 7, 0);

    cr_expect_str_eq(
        name_of(exported(), "thread_name", FIRST + 1, (1 << 28) + 7),
        "stream 7 (overlapping)");
}

Test(trace_chrome_device, draws_host_calls_inside_their_span)
{
    struct trace_span_ref span;
    uint64_t call, done;

    span = trace_span_open_(&span_site, 0, NULL);
    call = now();
    usleep(1000);
    put_host(TRACE_ACTIVITY_COMPILE, "identity", call + 10, now(), 5);
    done = now();
    put_host(TRACE_ACTIVITY_DRIVER, "cuLaunchKernel", call, done, 5);
    trace_span_leave_(span);

    cJSON *json = exported();
    const cJSON *step = chrome_event(json, "X", "step");
    const cJSON *launch = chrome_event(json, "X", "cuLaunchKernel");
    const cJSON *compile = chrome_event(json, "X", "identity");

    cr_expect_eq(chrome_number(launch, "tid"), getpid());
    cr_expect_eq(chrome_number(compile, "tid"), getpid());
    cr_expect_eq(chrome_number(launch, "pid"), chrome_number(step, "pid"));
    cr_expect_str_eq(chrome_text(launch, "cat"), "cuda_driver");
    cr_expect_str_eq(chrome_text(compile, "cat"), "compile");
    cr_expect_geq(chrome_number(compile, "ts"), chrome_number(launch, "ts"));
    cr_expect_leq(chrome_end(compile), chrome_end(launch) + 0.0005);
}

/* The clocks differ slightly, so a call may seem to outlast its span. */
Test(trace_chrome_device, clamps_a_call_that_slightly_outlasts_its_span)
{
    uint64_t begin, us;

    us = ticks(1000);
    begin = now();
    put_host(TRACE_ACTIVITY_RUNTIME, "outer", begin, begin + 10 * us, 1);
    put_host(TRACE_ACTIVITY_DRIVER, "inner", begin + us,
             begin + 10 * us + us / 2, 2);
    put_host(TRACE_ACTIVITY_DRIVER, "next", begin + 10 * us - us / 4,
             begin + 20 * us, 3);

    cJSON *json = exported();
    double tid = getpid();

    cr_expect_eq(chrome_number(chrome_event(json, "X", "inner"), "tid"), tid);
    cr_expect_float_eq(chrome_end(chrome_event(json, "X", "inner")),
                       chrome_end(chrome_event(json, "X", "outer")), 0.0005);
    cr_expect_float_eq(
        chrome_number(chrome_args(json, "X", "inner"), "clamped_ns"), 500, 50);
    cr_expect_eq(chrome_number(chrome_event(json, "X", "next"), "tid"), tid);
}

Test(trace_chrome_device, gives_activities_without_a_thread_their_own_track)
{
    struct trace_activity compile = {
        .at = {.begin = 1, .kind = TRACE_ACTIVITY_COMPILE},
        .name = "jit",
        .level = TRACE_LEVEL_ERROR};

    compile.at.begin = now();
    compile.end = now();
    trace_device_put(&compile);

    cJSON *json = exported();
    const cJSON *slice = chrome_event(json, "X", "jit");

    cr_expect_eq(chrome_number(slice, "pid"), FIRST);
    cr_expect_str_eq(
        name_of(json, "thread_name", FIRST, chrome_number(slice, "tid")),
        "compile");
    cr_expect_str_eq(name_of(json, "process_name", FIRST, 0), "GPU 0");
    cr_expect_str_eq(chrome_text(chrome_args(json, "X", "jit"), "level"),
                     "error");
}

/* ---- Arrows ---- */

static size_t check_flows(const cJSON *json)
{
    return chrome_check_arrows(json, "ac2g");
}

Test(trace_chrome_device, draws_an_arrow_from_the_call_to_the_kernel)
{
    uint64_t begin;

    begin = now();
    put_kernel(begin + 2000, begin + 3000, 7, 41); /* recorded first */
    put_host(TRACE_ACTIVITY_RUNTIME, "cudaLaunchKernel", begin, begin + 1000,
             41);
    put_host(TRACE_ACTIVITY_RUNTIME, "cudaMalloc", begin + 4000, begin + 5000,
             42);
    put_kernel(begin + 6000, begin + 7000, 7, 43); /* its call is unknown */
    put_kernel(begin + 8000, begin + 9000, 7, 0);

    cJSON *json = exported();
    const cJSON *s = chrome_event(json, "s", "ac2g");
    const cJSON *f = chrome_event(json, "f", "ac2g");

    cr_expect_eq(check_flows(json), 1);
    cr_expect_eq(chrome_number(s, "pid"), 7);
    cr_expect_eq(chrome_number(s, "tid"), getpid());
    cr_expect_eq(chrome_number(f, "pid"), FIRST + 1);
    cr_expect_eq(chrome_number(f, "tid"), 7);
}

Test(trace_chrome_device, draws_an_arrow_to_each_kernel_of_a_graph)
{
    uint64_t begin;

    begin = now();
    put_host(TRACE_ACTIVITY_RUNTIME, "cudaGraphLaunch", begin, begin + 9000, 8);
    put_host(TRACE_ACTIVITY_DRIVER, "cuGraphLaunch", begin + 10, begin + 8000,
             8);
    for (uint32_t i = 0; i < 5; i++)
        put_kernel(begin + 20000 + i * 1000, begin + 20900 + i * 1000, 7, 8);

    cr_expect_eq(check_flows(exported()), 5);
}

/* Viewers ignore arrows that go back in time. */
Test(trace_chrome_device, draws_an_arrow_from_a_kernel_that_begins_too_early)
{
    uint64_t begin;

    begin = now();
    put_kernel(begin, begin + 3000, 7, 41);
    put_host(TRACE_ACTIVITY_RUNTIME, "late", begin + 1000, begin + 2000, 41);
    put_kernel(begin + 8000, begin + 9000, 7, 41);

    cJSON *json = exported();

    cr_expect_eq(check_flows(json), 2);
    cr_expect_eq(chrome_number(chrome_event(json, "s", "ac2g"), "tid"), 7);
    cr_expect_eq(chrome_number(chrome_event(json, "f", "ac2g"), "tid"),
                 getpid());
}

/* ---- Random activities ---- */

/* Puts a call, a compilation or a kernel at a random time, in any order. */
static void put_random(uint64_t begin)
{
    uint64_t length = test_below(20000), from = begin + test_below(2000000);
    uint32_t correlation = test_below(300);

    switch (test_below(4)) {
    case 0:
        put_host(TRACE_ACTIVITY_RUNTIME + test_below(2), "call", from,
                 from + length, correlation);
        break;
    case 1:
        put_host(TRACE_ACTIVITY_COMPILE, "compile", from, from + length,
                 correlation);
        break;
    default:
        put_kernel(from, from + length, 7 + test_below(3), correlation);
    }
}

Test(trace_chrome_device, nests_slices_and_completes_arrows_of_random_input)
{
    struct trace_span_ref span;
    uint64_t begin;

    test_seed(5);
    begin = now();
    for (int i = 0; i < 800; i++) {
        span = trace_span_open_(&span_site, 0, NULL);
        put_random(begin);
        if (test_below(2))
            trace_span_leave_(span);
    }

    cr_expect_gt(check_flows(exported()), 50);
}

static cJSON *export_twice(struct trace_reader *reader)
{
    struct trace_chrome chrome;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    trace_chrome_begin(&chrome, stream);
    chrome.several = true;
    cr_assert_eq(trace_chrome_add(&chrome, reader, 1, "a"), 0);
    cr_assert_eq(trace_chrome_add(&chrome, reader, 2, "b"), 0);
    trace_chrome_end(&chrome, NULL);
    fclose(stream);
    return chrome_parse(text, size);
}

Test(trace_chrome_device, keeps_the_devices_and_arrows_of_recordings_apart)
{
    struct trace_reader *reader;
    uint64_t begin;

    begin = now();
    put_host(TRACE_ACTIVITY_RUNTIME, "cudaLaunchKernel", begin, begin + 1000,
             41);
    put_kernel(begin + 2000, begin + 3000, 7, 41);
    reader = test_read();

    cJSON *json = export_twice(reader);

    cr_expect_eq(check_flows(json), 2);
    cr_expect_str_eq(name_of(json, "process_name", FIRST + 1, 0), "GPU 1 of a");
    cr_expect_str_eq(name_of(json, "process_name", FIRST + 64 + 1, 0),
                     "GPU 1 of b");
    /* Only the start time, because no device was noted. */
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, "otherData")), 1);
}

/* ---- Memory and metadata ---- */

Test(trace_chrome_device, draws_memory_in_use_as_a_counter)
{
    static const char *const names[] = {"bytes", "in_use"};
    struct trace_value values[] = {trace_u64_(4096), trace_u64_(12288)};
    struct trace_activity allocate = {
        .at = {.thread = (uint32_t)getpid(), .kind = TRACE_ACTIVITY_ALLOCATE},
        .name = "cudaMallocAsync",
        .fields = names,
        .field_count = 2,
        .values = values};

    allocate.at.begin = allocate.end = now();
    trace_device_put(&allocate);

    cJSON *json = exported();
    const cJSON *counter = chrome_event(json, "C", "GPU 0 memory");

    cr_expect_eq(chrome_number(counter, "pid"), FIRST);
    cr_expect_eq(
        chrome_number(cJSON_GetObjectItem(counter, "args"), "GPU 0 memory"),
        12288);
    cr_expect_str_eq(name_of(json, "process_name", FIRST, 0), "GPU 0");
    cr_expect_eq(
        chrome_number(chrome_event(json, "X", "cudaMallocAsync"), "dur"), 0);
}

/* Puts a sample of two counters. */
static void put_sample(uint64_t begin, uint64_t end, double first,
                       double second)
{
    static const char *const names[] = {"SM active %", "a__b.sum"};
    struct trace_value values[] = {trace_f64_(first), trace_f64_(second)};
    struct trace_activity sample = {.at = {.begin = begin,
                                           .kind = TRACE_ACTIVITY_COUNTERS,
                                           .device = 1,
                                           .on_device = true},
                                    .end = end,
                                    .name = "counters",
                                    .fields = names,
                                    .field_count = 2,
                                    .values = values};

    trace_device_put(&sample);
}

/* Where samples end, the counter is 0. */
Test(trace_chrome_device, draws_the_counters_of_a_device)
{
    static const double expected[] = {10, 20, 0, 30, 0};
    uint64_t begin, step = ticks(1000000);
    const cJSON *event;
    size_t count = 0;
    cJSON *json;

    begin = now();
    put_sample(begin, begin + step, 10, 1);
    put_sample(begin + step, begin + 2 * step, 20, NAN);
    put_sample(begin + 4 * step, begin + 5 * step, 30, 3);
    json = exported();
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (strcmp(chrome_text(event, "name"), "GPU 1 SM active %") != 0)
            continue;
        cr_expect_str_eq(chrome_text(event, "ph"), "C");
        cr_expect_eq(chrome_number(event, "pid"), FIRST + 1);
        cr_assert_lt(count, 5);
        cr_expect_eq(chrome_number(cJSON_GetObjectItem(event, "args"),
                                   "GPU 1 SM active %"),
                     expected[count++]);
    }
    cr_expect_eq(count, 5);
    cr_expect_eq(chrome_count(json, "C", "GPU 1 a__b.sum"), 4);
    cr_expect_eq(chrome_count(json, "X", "counters"), 0);
}

/* A damaged value must not shift the fields that follow it. */
Test(trace_chrome_device, draws_no_counter_for_a_damaged_value)
{
    static const char *const names[] = {"bytes", "in_use"};
    struct trace_value values[] = {trace_u64_(0x1234567), trace_u64_(12288)};
    struct trace_activity allocate = {.at = {.kind = TRACE_ACTIVITY_ALLOCATE},
                                      .name = "cudaMallocAsync",
                                      .fields = names,
                                      .field_count = 2,
                                      .values = values};
    uint32_t damage = UINT32_MAX;
    unsigned char *bytes, *at;
    size_t size;

    allocate.at.begin = allocate.end = now();
    trace_device_put(&allocate);
    test_read();
    bytes = (unsigned char *)test_load(test_path("recording"), &size);
    at = memmem(bytes, size, &values[0].as, sizeof(values[0].as));
    cr_assert_not_null(at);
    memcpy(at + sizeof(values[0].as), &damage, sizeof(damage));
    test_save(test_path("damaged"), bytes, size);

    struct trace_reader *reader = trace_reader_open(test_path("damaged"));
    cJSON *json = chrome_export(reader, NULL);

    cr_expect_eq(chrome_count(json, "C", "GPU 0 memory"), 0);
    cr_expect_eq(chrome_count(json, "X", "cudaMallocAsync"), 1);
    trace_reader_close(reader);
}

Test(trace_chrome_device, exports_device_notes_as_metadata)
{
    const cJSON *other;

    trace_device_note("gpu.state", "busy");
    trace_device_note("other", "thing");
    trace_device_note("gpu.state", "on");
    trace_device_note("gpu.launches", "3");

    other = cJSON_GetObjectItem(exported(), "otherData");
    cr_expect_str_eq(chrome_text(other, "gpu.state"), "on");
    cr_expect_str_eq(chrome_text(other, "gpu.launches"), "3");
    cr_expect_eq(cJSON_GetArraySize(other), 3);
}

Test(trace_chrome_device, reports_an_unused_gpu)
{
    cr_expect_str_eq(
        chrome_text(cJSON_GetObjectItem(exported(), "otherData"), "gpu.state"),
        "unused");
}

Test(trace_chrome_device, survives_a_lack_of_memory)
{
    uint64_t begin;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_seed(6);
    begin = now();
    for (int i = 0; i < 100; i++)
        put_random(begin);
    chrome_export_without_memory(test_read(), 60);
}
