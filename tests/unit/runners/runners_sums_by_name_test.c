/* runners_sums_by_name_test.c: sums of recordings. */
#include "tests/support/support.h"

#include "runners/runs/find.h"
#include "runners/stat/stat.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct sums sums;

static void end(void)
{
    runners_sums_free(&sums);
}

TestSuite(runners_sums_by_name, .init = test_begin, .fini = end);

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, DEBUG, "inner", "m", NULL, 0);

static void add_from(enum stat_table table, struct trace_reader *reader)
{
    static char test[] = "suite/test", program[] = "program";
    const struct recording recording = {.test = test, .program = program};

    sums.table = table;
    cr_assert_eq(runners_sums_add(&sums, &recording, reader), 0);
}

/* Ends the recording and adds it. */
static void add(enum stat_table table)
{
    add_from(table, test_read());
}

static const struct sum *find(const char *name)
{
    for (size_t i = 0; i < sums.count; i++)
        if (!strcmp(sums.all[i].texts[STAT_NAME], name))
            return &sums.all[i];
    cr_assert_fail("no sum of %s", name);
    return NULL;
}

/* ---- Spans ---- */

Test(runners_sums_by_name, self_time_lacks_nested_spans)
{
    struct trace_span_ref one, two;

    one = trace_span_open_(&outer, 0, NULL);
    for (int i = 0; i < 3; i++) {
        two = trace_span_open_(&inner, 0, NULL);
        trace_span_leave_(two);
    }
    trace_span_leave_(one);
    add(STAT_SPAN);
    cr_assert_eq(sums.count, 2);
    cr_expect_eq(find("inner")->durations.count, 3);
    cr_expect_gt(find("inner")->self, 0);
    cr_expect_eq(find("inner")->self, find("inner")->durations.total);
    cr_expect_eq(find("outer")->self + find("inner")->durations.total,
                 find("outer")->durations.total);
}

Test(runners_sums_by_name, recursion_counts_in_the_total_but_not_in_self_time)
{
    struct trace_span_ref one, two;
    const struct sum *sum;

    one = trace_span_open_(&outer, 0, NULL);
    two = trace_span_open_(&outer, 0, NULL);
    trace_span_leave_(two);
    trace_span_leave_(one);
    add(STAT_SPAN);
    sum = find("outer");
    cr_expect_eq(sum->durations.count, 2);
    cr_expect_eq(sum->self, sum->durations.most);
}

/* Time within the inner call is the outer call's, too. */
Test(runners_sums_by_name, nested_calls_are_taken_once_from_self_time)
{
    struct trace_activity call = {
        .at = {.thread = (uint32_t)getpid(), .kind = TRACE_ACTIVITY_RUNTIME},
        .name = "cudaLaunchKernel"};
    struct trace_span_ref span;
    struct trace_reader *reader;
    struct trace_entry one, other;
    uint64_t self;

    span = trace_span_open_(&outer, 0, NULL);
    call.at.begin = trace_device_host()->now();
    usleep(1000);
    call.end = trace_device_host()->now();
    trace_span_leave_(span);
    trace_device_put(&call);
    call.at.begin += (call.end - call.at.begin) / 4;
    call.end -= (call.end - call.at.begin) / 4;
    call.name = "cuLaunchKernel";
    trace_device_put(&call);
    reader = test_read();
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "outer", &one));
    cr_assert(
        test_find(reader, TRACE_ENTRY_DEVICE, "cudaLaunchKernel", &other));
    self = one.end - one.time - (other.end - other.time);
    cr_assert_eq(trace_reader_rewind(reader), 0);
    add_from(STAT_SPAN, reader);
    cr_expect_eq(find("outer")->self, self);
}

Test(runners_sums_by_name, each_enter_of_a_span_has_self_time)
{
    struct trace_span_ref span;
    const struct sum *sum;

    span = trace_span_new_(&outer, 0, NULL);
    for (int i = 0; i < 2; i++) {
        struct trace_span_ref entered = trace_span_enter_(span);

        trace_span_leave_(trace_span_open_(&inner, 0, NULL));
        trace_span_leave_(entered);
    }
    trace_span_end(span);
    add(STAT_SPAN);
    sum = find("outer");
    cr_expect_eq(sum->durations.count, 2);
    cr_expect_eq(sum->self,
                 sum->durations.total - find("inner")->durations.total);
}

static void *nest(void *parent)
{
    trace_span_leave_(trace_span_enter_(*(struct trace_span_ref *)parent));
    return NULL;
}

Test(runners_sums_by_name, time_on_another_thread_is_not_taken_from_self_time)
{
    struct trace_span_ref around, span;

    around = trace_span_open_(&outer, 0, NULL);
    span = trace_span_new_(&inner, 0, NULL);
    test_thread(nest, &span);
    trace_span_end(span);
    trace_span_leave_(around);
    add(STAT_SPAN);
    cr_expect_eq(find("inner")->durations.count, 1, "it was entered once");
    cr_expect_eq(find("outer")->self, find("outer")->durations.total);
}

/* The second span begins within the first and ends after it. */
/* Such as a range of NVTX that any thread may end. */
Test(runners_sums_by_name, a_span_that_no_thread_is_in_takes_no_self_time)
{
    struct trace_span_ref around, beside;

    around = trace_span_begin_(&outer, 0, NULL);
    beside = trace_span_beside_(&inner, 0, NULL);
    trace_span_end(around);
    trace_span_end(beside);
    add(STAT_SPAN);
    cr_expect_eq(find("outer")->self, find("outer")->durations.total);
    cr_expect_gt(find("inner")->self, 0);
    cr_expect_eq(find("inner")->self, find("inner")->durations.total);
}

Test(runners_sums_by_name, overlapping_spans_share_no_self_time)
{
    struct trace_span_ref first, second;
    uint64_t both;

    first = trace_span_begin_(&outer, 0, NULL);
    second = trace_span_begin_(&inner, 0, NULL);
    trace_span_end(first);
    trace_span_end(second);
    add(STAT_SPAN);
    both = find("outer")->self + find("inner")->self;
    cr_expect_eq(find("inner")->self, find("inner")->durations.total);
    cr_expect_lt(find("outer")->self, find("outer")->durations.total);
    cr_expect_lt(both, find("outer")->durations.total +
                           find("inner")->durations.total);
}

Test(runners_sums_by_name, a_chain_of_overlapping_spans_stays_small)
{
    enum { MANY = 10000 };
    struct trace_span_ref before, next;

    before = trace_span_begin_(&outer, 0, NULL);
    for (int i = 0; i < MANY; i++) {
        next = trace_span_begin_(&outer, 0, NULL);
        trace_span_end(before);
        before = next;
    }
    trace_span_end(before);
    add(STAT_SPAN);
    cr_expect_eq(find("outer")->durations.count, MANY + 1);
    cr_expect_eq(find("outer")->self, find("outer")->durations.total);
}

Test(runners_sums_by_name, open_spans_end_with_the_recording)
{
    trace_span_begin_(&outer, 0, NULL);
    add(STAT_SPAN);
    cr_expect_gt(find("outer")->durations.total, 0);
    cr_expect_eq(find("outer")->self, find("outer")->durations.total);
}

Test(runners_sums_by_name, several_recordings_are_summed_up)
{
    trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    for (int i = 0; i < 3; i++)
        add(STAT_SPAN);
    cr_expect_eq(sums.count, 1);
    cr_expect_eq(find("outer")->durations.count, 3);
}

/* ---- Trees ---- */

static void expect_row(size_t row, const char *name, unsigned depth,
                       uint64_t count)
{
    cr_assert_lt(row, sums.count);
    cr_expect_str_eq(sums.all[row].texts[STAT_NAME], name);
    cr_expect_eq(sums.all[row].depth, depth, "%s", name);
    cr_expect_eq(sums.all[row].durations.count, count, "%s", name);
}

Test(runners_sums_by_name, a_tree_has_a_row_for_each_path)
{
    struct trace_span_ref one, two;

    for (int i = 0; i < 2; i++) {
        one = trace_span_open_(&outer, 0, NULL);
        two = trace_span_open_(&inner, 0, NULL);
        trace_span_leave_(trace_span_open_(&outer, 0, NULL));
        trace_span_leave_(two);
        trace_span_leave_(one);
    }
    trace_span_leave_(trace_span_open_(&inner, 0, NULL));
    add(STAT_TREE);
    cr_assert_eq(runners_sums_sort(&sums), 0);
    cr_assert_eq(sums.count, 4);
    expect_row(0, "outer", 0, 2);
    expect_row(1, "inner", 1, 2);
    expect_row(2, "outer", 2, 2);
    expect_row(3, "inner", 0, 1);
    cr_expect_eq(sums.all[0].self + sums.all[1].durations.total,
                 sums.all[0].durations.total);
}

Test(runners_sums_by_name,
     a_tree_has_the_spans_of_other_threads_below_their_parents)
{
    struct trace_span_ref around, span;

    around = trace_span_open_(&outer, 0, NULL);
    span = trace_span_new_(&inner, 0, NULL);
    test_thread(nest, &span);
    trace_span_end(span);
    trace_span_leave_(around);
    add(STAT_TREE);
    cr_assert_eq(runners_sums_sort(&sums), 0);
    expect_row(0, "outer", 0, 1);
    expect_row(1, "inner", 1, 1);
    cr_expect_eq(sums.all[0].self, sums.all[0].durations.total);
}

static void descend(int depth)
{
    struct trace_span_ref span = trace_span_open_(&outer, 0, NULL);

    if (depth > 1)
        descend(depth - 1);
    trace_span_leave_(span);
}

Test(runners_sums_by_name, a_tree_ends_at_a_depth)
{
    enum { DEEP = 300, DEPTH_MOST = 256 };

    descend(DEEP);
    add(STAT_TREE);
    cr_assert_eq(runners_sums_sort(&sums), 0);
    cr_assert_eq(sums.count, DEPTH_MOST);
    expect_row(DEPTH_MOST - 1, "outer", DEPTH_MOST - 1, DEEP - DEPTH_MOST + 1);
}

/* ---- Others ---- */

Test(runners_sums_by_name, kernels_have_no_part_in_the_time_of_spans)
{
    struct trace_span_ref span;
    struct trace_activity kernel;

    span = trace_span_open_(&outer, 0, NULL);
    kernel =
        test_kernel(trace_device_host()->now(), trace_device_host()->now());
    trace_device_put(&kernel);
    trace_span_leave_(span);
    add(STAT_SPAN);
    cr_expect_eq(sums.count, 1);
    cr_expect_eq(find("outer")->self, find("outer")->durations.total);
}

Test(runners_sums_by_name, lines_are_counted_by_target_and_level)
{
    log_at(ERROR, "one");
    log_at(DEBUG, "two");
    log_at(DEBUG, "three");
    add(STAT_TARGET);
    cr_assert_eq(sums.count, 1);
    cr_expect_eq(sums.all[0].lines[TRACE_LEVEL_OFF], 3);
    cr_expect_eq(sums.all[0].lines[TRACE_LEVEL_ERROR], 1);
    cr_expect_eq(sums.all[0].lines[TRACE_LEVEL_DEBUG], 2);
}

Test(runners_sums_by_name, a_test_has_its_duration_spans_and_lines)
{
    trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    log_at(INFO, "one");
    add(STAT_TEST);
    cr_assert_eq(sums.count, 1);
    cr_expect_str_eq(sums.all[0].texts[STAT_PROGRAM], "program");
    cr_expect_eq(find("suite/test")->spans, 1);
    cr_expect_eq(find("suite/test")->lines[TRACE_LEVEL_OFF], 1);
    cr_expect_eq(find("suite/test")->kernels, 0);
    cr_expect_gt(find("suite/test")->durations.total, 0);
}
