/* harness_recorded_test.c: a recording as the tables of a page. */
#include "harness/run/page/recorded.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/page.h"
#include "tests/support/support.h"

TestSuite(harness_recorded, .init = test_folder, .timeout = 120);

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, DEBUG, "inner", "m", NULL, 0);

static struct test_log_counts counts;

/* Ends the recording and reads its block. */
static struct page_block recorded(const char *filter)
{
    struct trace_reader *reader = test_read();
    struct trace_text text = {0};

    cr_assert_eq(test_log_recorded_put(&text, "", reader, filter, 0, &counts),
                 0);
    return page_decode(test_keep(text.data), text.size);
}

static int64_t slice(const struct page_block *block, const char *column,
                     size_t row)
{
    return page_number(block, "slices", column, row);
}

/* ---- Slices ---- */

Test(harness_recorded, nested_spans_lie_below_their_parents)
{
    struct trace_span_ref one, two;
    struct page_block block;

    test_record();
    one = trace_span_open_(&outer, 0, NULL);
    two = trace_span_open_(&inner, 0, NULL);
    trace_span_leave_(two);
    two = trace_span_open_(&inner, 0, NULL);
    trace_span_leave_(two);
    trace_span_leave_(one);
    block = recorded("");
    cr_assert_eq(page_rows(&block, "slices"), 3);
    cr_expect_str_eq(page_text(&block, "slices", "name", 0), "outer");
    cr_expect_str_eq(page_text(&block, "slices", "name", 2), "inner");
    for (size_t row = 0; row < 3; row++) {
        cr_expect_eq(slice(&block, "depth", row), row > 0);
        cr_expect_eq(slice(&block, "parent", row), row);
        cr_expect_eq(slice(&block, "state", row), 0);
        cr_expect_eq(slice(&block, "track", row), 0);
    }
    cr_expect_geq(slice(&block, "start", 2),
                  slice(&block, "start", 1) + slice(&block, "duration", 1));
    cr_expect_eq(page_rows(&block, "tracks"), 1);
    cr_expect_eq(page_number(&block, "tracks", "tid", 0), getpid());
    cr_expect_eq(page_number(&block, "tracks", "depth", 0), 2);
    cr_expect_eq(counts.spans, 3);
    cr_expect_eq(counts.slices, 3);
}

static void *enter(void *span)
{
    trace_span_leave_(trace_span_enter_(*(struct trace_span_ref *)span));
    return NULL;
}

Test(harness_recorded, a_span_that_another_thread_enters_is_drawn_again)
{
    struct trace_span_ref span;
    struct page_block block;

    test_record();
    span = trace_span_new_(&outer, 0, NULL);
    test_thread(enter, &span);
    trace_span_end(span);
    block = recorded("");
    cr_assert_eq(page_rows(&block, "slices"), 2);
    cr_expect_eq(slice(&block, "state", 0), 2, "it was only created");
    cr_expect_eq(slice(&block, "duration", 0), 0);
    cr_expect_eq(slice(&block, "again", 1), 1);
    cr_expect_eq(slice(&block, "track", 1), 1);
    cr_expect_eq(page_rows(&block, "tracks"), 2);
}

Test(harness_recorded, a_span_that_no_thread_is_in_has_its_own_track)
{
    struct trace_span_ref ours, beside;
    struct page_block block;

    test_record();
    beside = trace_span_beside_(&outer, 0, NULL);
    ours = trace_span_begin_(&inner, 0, NULL);
    trace_span_end(ours);
    trace_span_end(beside);
    block = recorded("");
    cr_expect_neq(slice(&block, "track", 0), slice(&block, "track", 1));
    cr_expect_eq(slice(&block, "depth", 1), 0);
    cr_expect_eq(slice(&block, "parent", 1), 0);
    cr_expect_gt(slice(&block, "duration", 0), slice(&block, "duration", 1));
    cr_assert_eq(page_rows(&block, "tracks"), 2);
    cr_expect(strstr(page_text(&block, "tracks", "name", 0), "(overlapping)"));
    cr_expect_not(
        strstr(page_text(&block, "tracks", "name", 1), "(overlapping)"));
}

/* The second slice begins within the first and ends after it. */
Test(harness_recorded, slices_that_overlap_have_rows_of_their_own)
{
    struct trace_span_ref first, second;
    struct page_block block;

    test_record();
    first = trace_span_begin_(&outer, 0, NULL);
    second = trace_span_begin_(&inner, 0, NULL);
    trace_span_end(first);
    trace_span_end(second);
    block = recorded("");
    cr_expect_eq(slice(&block, "depth", 0), 0);
    cr_expect_eq(slice(&block, "depth", 1), 1);
}

Test(harness_recorded, open_spans_end_with_the_recording)
{
    struct page_block block;
    int64_t end;

    test_record();
    trace_span_begin_(&outer, 0, NULL);
    block = recorded("");
    end = (int64_t)cJSON_GetObjectItem(block.json, "end")->valuedouble;
    cr_expect_eq(slice(&block, "state", 0), 1);
    cr_expect_eq(slice(&block, "start", 0) + slice(&block, "duration", 0), end);
}

/* ---- Fields and lines ---- */

static const char *field(const struct page_block *block, const char *table,
                         const char *name)
{
    size_t row = page_find(block, table, "name", name);

    return row == SIZE_MAX ? "" : page_text(block, table, "value", row);
}

Test(harness_recorded, fields_have_their_last_values_as_in_lines)
{
    struct page_block block;

    test_record();
    test_rich();
    block = recorded("");
    cr_expect_str_eq(field(&block, "slice_fields", "s"), "\"text\"");
    cr_expect_str_eq(field(&block, "slice_fields", "o"), "object");
    cr_expect_str_eq(field(&block, "slice_fields", "i"), "-1");
    cr_expect_eq(page_find(&block, "slice_fields", "name", "none"), SIZE_MAX);
    cr_expect_str_eq(field(&block, "line_fields", "a"), "1");
}

Test(harness_recorded, lines_have_message_place_span_and_verdict)
{
    struct page_block block;
    size_t line, site;

    test_record();
    test_rich();
    block = recorded("info");
    cr_assert_eq(page_rows(&block, "lines"), 6);
    cr_expect_eq(page_number(&block, "lines", "shown", 0), 0);
    line = page_find(&block, "lines", "text", "1 of two, th, 4.000000");
    cr_assert_neq(line, SIZE_MAX);
    cr_expect_eq(page_number(&block, "lines", "shown", line), 1);
    site = (size_t)page_number(&block, "lines", "site", line);
    cr_expect_eq(page_number(&block, "sites", "level", site), 2);
    cr_expect_eq(page_number(&block, "sites", "line", site), 42);
    cr_expect_str_eq(page_text(&block, "sites", "target", site), "rich::t");
    cr_expect_str_eq(page_text(&block, "sites", "kind", site), "event");
    cr_expect_str_eq(
        page_text(&block, "slices", "name",
                  (size_t)page_number(&block, "lines", "slice", line) - 1),
        "work");
    cr_expect_eq(counts.lines, 6);
}

Test(harness_recorded, counters_are_numbers)
{
    static const char *const names[] = {"queue"};
    static struct trace_site site =
        TEST_SITE(COUNTER, TRACE, "queue", "m", names, 1);
    struct page_block block;

    test_record();
    trace_counter_(&site, trace_u64_(7));
    trace_counter_(&site, trace_f64_(-0.5));
    trace_counter_(&site, trace_f64_(0.0 / 0.0));
    block = recorded("");
    cr_assert_eq(page_rows(&block, "counters"), 2);
    cr_expect_str_eq(page_text(&block, "counters", "name", 0), "queue");
    cr_expect_eq(page_real(&block, "counters", "value", 0), 7);
    cr_expect_eq(page_real(&block, "counters", "value", 1), -0.5);
    cr_expect_eq(page_number(&block, "counters", "device", 0), 0);
}

/* ---- Devices ---- */

static void put_launch(void)
{
    uint64_t now = trace_device_host()->now();
    struct trace_activity kernel = test_kernel(now + 100, now + 900);
    struct trace_activity call = {
        .at = {.begin = now,
               .thread = (uint32_t)getpid(),
               .correlation = kernel.at.correlation,
               .kind = TRACE_ACTIVITY_RUNTIME},
        .end = now + 50,
        .name = "cudaLaunchKernel",
    };

    trace_device_note("gpu.device.1", "NVIDIA H200");
    trace_device_put(&call);
    trace_device_put(&kernel);
}

Test(harness_recorded, kernels_are_on_streams_with_arrows_from_their_calls)
{
    struct page_block block;
    size_t kernel, call, track;

    test_record();
    put_launch();
    block = recorded("trace");
    kernel = page_find(&block, "slices", "kind", "kernel");
    call = page_find(&block, "slices", "kind", "runtime");
    cr_assert(kernel != SIZE_MAX && call != SIZE_MAX);
    cr_expect_str_eq(page_text(&block, "slices", "name", kernel), "identity");
    cr_expect_eq(slice(&block, "state", kernel), 4);
    track = (size_t)slice(&block, "track", kernel);
    cr_expect_str_eq(page_text(&block, "tracks", "kind", track), "stream");
    cr_expect_str_eq(page_text(&block, "tracks", "name", track), "stream 7");
    cr_expect_str_eq(page_text(&block, "tracks", "process", track),
                     "GPU 1: NVIDIA H200");
    cr_expect_eq(page_number(&block, "tracks", "device", track), 2);
    cr_assert_eq(page_rows(&block, "flows"), 1);
    cr_expect_eq((size_t)page_number(&block, "flows", "from", 0), call);
    cr_expect_eq((size_t)page_number(&block, "flows", "to", 0), kernel);
    cr_expect_str_eq(field(&block, "slice_fields", "registers"), "32");
    cr_expect_str_eq(field(&block, "slice_fields", "count"), "(4, 64, 1)");
    cr_expect_eq((size_t)page_number(&block, "lines", "slice", 0), kernel + 1);
    cr_expect_eq(counts.kernels, 1);
}

static void put_host(const char *name, unsigned kind, uint64_t begin,
                     uint64_t end, uint32_t thread)
{
    struct trace_activity activity = {
        .at = {.begin = begin, .thread = thread, .kind = (uint16_t)kind},
        .end = end,
        .name = name,
    };

    trace_device_put(&activity);
}

/* Returns the beginning of the slice of a name, and stores its end. */
static int64_t bounds(const struct page_block *block, const char *name,
                      int64_t *end)
{
    size_t row = page_find(block, "slices", "name", name);

    cr_assert_neq(row, SIZE_MAX, "%s", name);
    *end = slice(block, "start", row) + slice(block, "duration", row);
    return slice(block, "start", row);
}

/* compiles:   111111     22
 * waits:        wwwwwwwwwwwwww
 * other waits:                   oooo */
Test(harness_recorded, moments_of_compiling_and_waiting_count_once)
{
    uint32_t main = (uint32_t)getpid(), other = main + 1;
    int64_t one, one_end, two, two_end, wait_end;
    struct page_block block;
    uint64_t now;

    test_record();
    now = trace_device_host()->now();
    put_host("one", TRACE_ACTIVITY_COMPILE, now, now + 600, main);
    put_host("wait", TRACE_ACTIVITY_SYNC, now + 200, now + 1600, main);
    put_host("two", TRACE_ACTIVITY_COMPILE, now + 1100, now + 1300, other);
    put_host("other", TRACE_ACTIVITY_SYNC, now + 2000, now + 2400, other);
    block = recorded("");
    one = bounds(&block, "one", &one_end);
    two = bounds(&block, "two", &two_end);
    bounds(&block, "wait", &wait_end);
    cr_expect_eq((int64_t)counts.busy.compiling,
                 (one_end - one) + (two_end - two));
    cr_expect_eq((int64_t)counts.busy.waiting,
                 (two - one_end) + (wait_end - two_end));
    cr_expect_gt(counts.busy.waiting, 0);
}

/* Memory of a pool, in the order of a stream, by a thread. */
static void put_memory(unsigned kind, uintptr_t address, unsigned level)
{
    static const char *const names[] = {"bytes",  "address", "memory",
                                        "in_use", "device",  "async"};
    const struct trace_value values[] = {
        trace_u64_(1024),        trace_pointer_((void *)address),
        trace_string("pool", 4), trace_u64_(5120),
        trace_u64_(1),           trace_bool(true)};
    struct trace_activity activity = {
        .at = {.begin = trace_device_host()->now(),
               .thread = (uint32_t)getpid(),
               .device = 1,
               .stream = 7,
               .kind = (uint16_t)kind},
        .level = level,
        .name = kind == TRACE_ACTIVITY_ALLOCATE ? "Allocate" : "Release",
        .fields = names,
        .field_count = address ? 6 : 0,
        .values = values,
    };

    activity.end = activity.at.begin;
    trace_device_put(&activity);
}

static int64_t memory(const struct page_block *block, const char *column,
                      size_t row)
{
    return page_number(block, "memory", column, row);
}

Test(harness_recorded, memory_in_use_is_a_counter_of_its_device)
{
    struct page_block block;

    test_record();
    put_memory(TRACE_ACTIVITY_ALLOCATE, 0x7f1000, 0);
    block = recorded("");
    cr_assert_eq(page_rows(&block, "counters"), 1);
    cr_expect_str_eq(page_text(&block, "counters", "name", 0), "GPU 1 memory");
    cr_expect_eq(page_real(&block, "counters", "value", 0), 5120);
    cr_expect_eq(page_number(&block, "counters", "device", 0), 2);
}

static void put_sample(uint64_t begin, uint64_t end, double value)
{
    static const char *const names[] = {"SM active %"};
    struct trace_value values[] = {trace_f64_(value)};
    struct trace_activity sample = {.at = {.begin = begin,
                                           .kind = TRACE_ACTIVITY_COUNTERS,
                                           .on_device = true},
                                    .end = end,
                                    .name = "counters",
                                    .fields = names,
                                    .field_count = 1,
                                    .values = values};

    trace_device_put(&sample);
}

Test(harness_recorded, samples_of_counters_end_with_0)
{
    static const double expected[] = {10, 20, 0, 30, 0};
    uint64_t now, step = 100000;
    struct page_block block;

    test_record();
    now = trace_device_host()->now();
    put_sample(now, now + step, 10);
    put_sample(now + step, now + 2 * step, 20);
    put_sample(now + 3 * step, now + 4 * step, 30);
    block = recorded("");
    cr_assert_eq(page_rows(&block, "counters"), 5);
    for (size_t row = 0; row < 5; row++) {
        cr_expect_str_eq(page_text(&block, "counters", "name", row),
                         "GPU 0 SM active %");
        cr_expect_eq(page_real(&block, "counters", "value", row),
                     expected[row]);
    }
    cr_expect_eq(page_rows(&block, "slices"), 0);
    cr_expect_eq(page_rows(&block, "lines"), 0);
}

/* There are 2,000 rows and a few, which have the mean of their samples. */
Test(harness_recorded, many_samples_share_rows)
{
    enum { SAMPLES = 20000 };
    struct page_block block;
    uint64_t now, step;
    size_t rows;

    test_record();
    now = trace_device_host()->now();
    usleep(100000);
    step = (trace_device_host()->now() - now) / SAMPLES;
    for (unsigned i = 0; i < SAMPLES; i++)
        put_sample(now + i * step, now + (i + 1) * step, i % 2 ? 10 : 20);
    block = recorded("");
    rows = page_rows(&block, "counters");
    cr_expect_gt(rows, 100);
    cr_expect_lt(rows, 4000);
    for (size_t row = 0; row < rows - 1; row++)
        cr_expect_float_eq(page_real(&block, "counters", "value", row), 15, 2);
}

Test(harness_recorded, memory_has_rows_of_numbers)
{
    struct trace_span_ref span;
    struct page_block block;
    size_t slice_row;

    test_record();
    span = trace_span_open_(&outer, 0, NULL);
    put_memory(TRACE_ACTIVITY_ALLOCATE, 0x7f1000, 0);
    trace_span_leave_(span);
    put_memory(TRACE_ACTIVITY_RELEASE, 0x7f1000, TRACE_LEVEL_WARN); /* failed */
    put_memory(TRACE_ACTIVITY_RELEASE, 0x7f1000, 0);
    put_memory(TRACE_ACTIVITY_RELEASE, 0, 0);
    block = recorded("");
    cr_assert_eq(page_rows(&block, "memory"), 3);
    slice_row = (size_t)memory(&block, "slice", 0) - 1;
    cr_expect_str_eq(page_text(&block, "slices", "kind", slice_row),
                     "allocate");
    cr_expect_eq(memory(&block, "bytes", 0), 1024);
    cr_expect_eq(memory(&block, "address", 0), 0x7f1000);
    cr_expect_str_eq(page_text(&block, "memory", "device", 0), "GPU 1");
    cr_expect_str_eq(page_text(&block, "memory", "memory", 0), "pool");
    cr_expect_eq(memory(&block, "stream", 0), 7);
    cr_expect_eq(memory(&block, "in_use", 0), 5121);
    cr_expect_eq(memory(&block, "async", 0), 1);
    for (size_t row = 0; row < 3; row++)
        cr_expect_eq(memory(&block, "release", row), row);
    cr_expect_eq(memory(&block, "bytes", 2), 0);
    cr_expect_eq(memory(&block, "in_use", 2), 0);
}

/* Its track tells neither. */
Test(harness_recorded, slices_on_threads_keep_their_device)
{
    struct page_block block;

    test_record();
    put_memory(TRACE_ACTIVITY_ALLOCATE, 0x7f1000, 0);
    block = recorded("");
    cr_expect_str_eq(field(&block, "slice_fields", "device"), "1");
}

/* ---- What is left out ---- */

Test(harness_recorded, the_shortest_slices_are_left_out)
{
    struct test_log_counts all = {0};
    struct trace_entry entry = {.kind = TRACE_ENTRY_SPAN};
    struct test_log_cut cut;
    size_t kept = 0;

    for (uint64_t i = 0; i < 4000000; i++) {
        entry.end = i;
        test_log_count(&all, &entry);
    }
    cut = test_log_cut_of(&all);
    cr_expect_gt(cut.width, 1900000);
    cr_expect_lt(cut.width, 2300000);
    for (uint64_t i = 0; i < 4000000; i++)
        kept += !test_log_cut_slice(&cut, i);
    cr_expect_eq(kept, 2000000);
    cr_expect_eq(cut.slices, 2000000);
    cr_expect_not(test_log_cut_slice(&cut, UINT64_MAX), "it is open");
}

Test(harness_recorded, slices_of_one_length_are_left_out_at_the_end)
{
    struct test_log_counts all = {0};
    struct trace_entry entry = {.kind = TRACE_ENTRY_SPAN, .end = 100};
    struct test_log_cut cut;
    size_t kept = 0;

    for (size_t i = 0; i < 3000000; i++)
        test_log_count(&all, &entry);
    cut = test_log_cut_of(&all);
    for (size_t i = 0; i < 3000000; i++)
        kept += !test_log_cut_slice(&cut, 100);
    cr_expect_eq(kept, 2000000);
}

Test(harness_recorded, the_first_lines_are_left_out)
{
    struct test_log_counts all = {.lines = 500002};
    struct test_log_cut cut = test_log_cut_of(&all);

    cr_expect_eq(cut.lines, 2);
    cr_expect(test_log_cut_line(&cut));
    cr_expect(test_log_cut_line(&cut));
    cr_expect_not(test_log_cut_line(&cut));
    all.lines = 500000;
    cut = test_log_cut_of(&all);
    cr_expect_not(test_log_cut_line(&cut));
}

/* ---- Faults ---- */

static void put_any(void)
{
    struct trace_reader *reader = trace_reader_open(test_path("recording"));
    struct trace_text text = {0};

    if (!reader)
        return;
    test_log_recorded_put(&text, "", reader, "info,[outer]=trace", 0, &counts);
    trace_reader_close(reader);
    trace_text_free(&text);
}

static void record_all_kinds(void)
{
    test_record_limit(TRACE_LIMIT_LEAST * 4);
    test_rich();
    put_launch();
    trace_close();
}

Test(harness_recorded, reads_any_bytes)
{
    unsigned char *bytes, *damaged;
    size_t size;

    record_all_kinds();
    bytes = (unsigned char *)test_load(test_path("recording"), &size);
    damaged = malloc(size);
    test_seed(17);
    for (int i = 0; i < 400; i++) {
        memcpy(damaged, bytes, size);
        for (uint32_t k = 0; k < 1 + test_below(20); k++)
            damaged[4096 + test_below((uint32_t)(i % 2 ? 4096 : size - 4096))] =
                (unsigned char)test_random();
        test_save(test_path("recording"), damaged, size);
        put_any();
    }
    free(damaged);
}

Test(harness_recorded, survives_missing_memory)
{
    size_t allocations = 1;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns malloc");
    record_all_kinds();
    for (size_t nth = 1; allocations >= nth; nth += 1 + nth / 50) {
        test_fail_memory(nth, nth % 2);
        put_any();
        allocations = test_fail_memory(0, true);
    }
}

/* ---- The critical path ---- */

static int64_t stay(const struct page_block *block, const char *column,
                    size_t row)
{
    return page_number(block, "critical", column, row);
}

Test(harness_recorded, path_of_one_thread_is_a_single_stay)
{
    struct page_block block;

    test_record();
    trace_phase_begin(TRACE_PHASE_SETUP);
    trace_phase_begin(TRACE_PHASE_BODY);
    trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    block = recorded("");
    cr_assert_eq(page_rows(&block, "critical"), 2);
    cr_expect_lt(stay(&block, "begin", 0), slice(&block, "start", 0));
    cr_expect_eq(stay(&block, "track", 0), 1);
    cr_expect_geq(stay(&block, "begin", 1),
                  slice(&block, "start", 0) + slice(&block, "duration", 0));
    cr_expect_eq(stay(&block, "track", 1), 0);
}

static void *records_inner(void *unused)
{
    trace_span_leave_(trace_span_open_(&inner, 0, NULL));
    return unused;
}

/* The thread's track comes before that of the main thread, which joins it. */
Test(harness_recorded, path_names_tracks_by_their_rows)
{
    struct page_block block;

    test_record();
    test_thread(records_inner, NULL);
    trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    block = recorded("");
    cr_assert_eq(page_rows(&block, "critical"), 4);
    cr_expect_eq(stay(&block, "track", 0), 2);
    cr_expect_eq(stay(&block, "track", 1), 1);
    cr_expect_eq(stay(&block, "begin", 1), slice(&block, "start", 0));
    cr_expect_eq(stay(&block, "track", 2), 2);
    cr_expect_eq(stay(&block, "begin", 2),
                 slice(&block, "start", 0) + slice(&block, "duration", 0));
}

Test(harness_recorded, path_of_a_main_thread_without_slices_has_no_track)
{
    struct page_block block;

    test_record();
    test_thread(records_inner, NULL);
    block = recorded("");
    cr_assert_eq(page_rows(&block, "critical"), 4);
    cr_expect_eq(stay(&block, "track", 0), 0);
    cr_expect_eq(stay(&block, "track", 1), 1);
}

Test(harness_recorded, large_recordings_of_several_threads_have_no_path)
{
    struct page_block block;

    test_record_limit(UINT64_C(64) << 20);
    test_thread(records_inner, NULL);
    for (int i = 0; i < 300000; i++)
        trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    block = recorded("");
    cr_expect_eq(page_rows(&block, "critical"), 0);
}
