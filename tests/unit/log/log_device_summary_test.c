/* log_device_summary_test.c: sums up what devices did, and finds memory that
 * was not released. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/devices/device_summary.h"
#include "trace/base/clock.h"

static uint64_t zero;

/* The clock counts nanoseconds. */
static void begin(void)
{
    test_folder();
    trace_clock_choose();
    trace_clock_chosen = TRACE_CLOCK_MONOTONIC;
    test_record();
    zero = trace_device_host()->now();
}

TestSuite(log_device_summary, .init = begin, .timeout = 60);

/* Ends the recording and sums it up. */
static struct log_device_summary *summed(void)
{
    return log_device_summary_read(test_read());
}

static struct log_device_summary *expect_table(const char *expected)
{
    struct log_device_summary *summary = summed();
    struct trace_text text = {0};

    cr_assert_not_null(summary);
    log_device_table(&text, summary);
    cr_expect_str_eq(text.data ? text.data : "", expected, "%s", text.data);
    trace_text_free(&text);
    return summary;
}

static void expect_line(const struct log_device_summary *summary,
                        const char *expected)
{
    struct trace_text text = {0};

    log_device_line(&text, summary);
    cr_expect_str_eq(text.data, expected, "%s", text.data);
    trace_text_free(&text);
}

/* ---- Counters ---- */

static void put_sample(uint64_t begins, uint64_t ends, double active,
                       double rate)
{
    static const char *const names[] = {"SM active %", "PCIe read bytes/s",
                                        "a__b.sum"};
    struct trace_value values[] = {trace_f64_(active), trace_f64_(rate),
                                   trace_f64_(1234567)};
    struct trace_activity sample = {.at = {.begin = zero + begins,
                                           .kind = TRACE_ACTIVITY_COUNTERS,
                                           .on_device = true},
                                    .end = zero + ends,
                                    .name = "counters",
                                    .fields = names,
                                    .field_count = 3,
                                    .values = values};

    trace_device_put(&sample);
}

/* Means are weighted by time. */
Test(log_device_summary, sums_up_counters)
{
    struct log_device_summary *all, *one;
    struct trace_text text = {0};

    put_sample(1000, 2000, 90, 3 << 20);
    put_sample(2000, 5000, 50, NAN);
    all = expect_table("  counters  SM active 60 %, at most 90 %\n"
                       "            PCIe read 3.0 MiB/s, at most 3.0 MiB/s\n"
                       "            a__b.sum 1234567, at most 1234567\n");
    cr_expect(log_device_summary_some(all));
    test_record();
    zero = trace_device_host()->now();
    put_sample(0, 4000, 20, 0);
    one = summed();
    log_device_summary_add(all, one);
    log_device_table(&text, all);
    cr_expect(strstr(text.data, "SM active 40 %, at most 90 %\n"), "%s",
              text.data);
    trace_text_free(&text);
    log_device_summary_free(all);
    log_device_summary_free(one);
}

/* An activity has at most 24 fields. */
Test(log_device_summary, sums_up_as_many_counters_as_a_sample_may_have)
{
    static char names[TRACE_ACTIVITY_FIELDS][16];
    const char *fields[TRACE_ACTIVITY_FIELDS];
    struct trace_value values[TRACE_ACTIVITY_FIELDS];
    struct trace_activity sample = {.at = {.begin = zero,
                                           .kind = TRACE_ACTIVITY_COUNTERS,
                                           .on_device = true},
                                    .end = zero + 1000,
                                    .name = "counters",
                                    .fields = fields,
                                    .field_count = TRACE_ACTIVITY_FIELDS,
                                    .values = values};
    struct trace_text text = {0};
    struct log_device_summary *all;

    for (int i = 0; i < TRACE_ACTIVITY_FIELDS; i++) {
        snprintf(names[i], sizeof(names[i]), "counter%d %%", i);
        fields[i] = names[i];
        values[i] = trace_f64_(i ? -5 * i : 1e300);
    }
    trace_device_put(&sample);
    all = summed();
    cr_assert_eq(all->counters.count, TRACE_ACTIVITY_FIELDS);
    log_device_table(&text, all);
    cr_expect(strstr(text.data, "counter0 1e+300 %, at most 1e+300 %\n"));
    cr_expect(strstr(text.data, "counter23 -115 %, at most -115 %\n"));
    trace_text_free(&text);
    log_device_summary_free(all);
}

Test(log_device_summary, goes_on_with_known_counters_if_there_are_too_many)
{
    struct log_device_counters all = {.count = 0};
    char name[16];
    struct log_device_counter one = {name, .sum = 2, .time = 1, .count = 1};

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            snprintf(name, sizeof(name), "counter %d", i);
            one.most = i + round;
            cr_assert(log_counters_merge(
                &all, &(struct log_device_counters){&one, 1, 1}));
        }
    cr_expect_eq(all.count, 256);
    cr_expect_eq(all.all[0].count, 2);
    cr_expect_eq(all.all[255].most, 256);
    cr_expect_eq(log_counter_mean(&all.all[0]), 2);
    log_counters_free(&all);
}

/* ---- Activities ---- */

static void put_kernel(const char *name, uint64_t begins, uint64_t ends,
                       uint32_t stream)
{
    struct trace_activity kernel = test_kernel(zero + begins, zero + ends);

    kernel.name = name;
    kernel.at.stream = stream;
    trace_device_put(&kernel);
}

static void put_transfer(unsigned kind, const char *name, uint64_t begins,
                         uint64_t ends, uint64_t bytes)
{
    static const char *const fields[] = {"bytes"};
    const struct trace_value values[] = {trace_u64_(bytes)};
    const struct trace_activity copy = {
        .at = {.begin = zero + begins,
               .stream = 7,
               .kind = (uint16_t)kind,
               .on_device = 1},
        .end = zero + ends,
        .name = name,
        .fields = fields,
        .field_count = 1,
        .values = values,
    };

    trace_device_put(&copy);
}

static void put_host(unsigned kind, uint64_t begins, uint64_t ends,
                     uint32_t thread, unsigned level)
{
    const struct trace_activity activity = {
        .at = {.begin = zero + begins,
               .thread = thread,
               .kind = (uint16_t)kind},
        .end = zero + ends,
        .level = level,
        .name = "host",
    };

    trace_device_put(&activity);
}

static void put_memory(unsigned kind, uint64_t time, uintptr_t address,
                       uint64_t bytes, const char *memory, bool async)
{
    static const char *const fields[] = {"bytes", "address", "memory", "async"};
    struct trace_value values[] = {trace_u64_(bytes),
                                   trace_pointer_((void *)address),
                                   trace_text_(memory), trace_bool(true)};
    const struct trace_activity activity = {
        .at = {.begin = zero + time, .kind = (uint16_t)kind},
        .end = zero + time,
        .span = trace_device_host()->current(),
        .name = "memory",
        .fields = fields,
        .field_count = async ? 4 : 3,
        .values = values,
    };

    values[2].type = TRACE_TYPE_DISPLAY;
    trace_device_put(&activity);
}

static void allocate(uintptr_t address, uint64_t bytes, const char *memory)
{
    put_memory(TRACE_ACTIVITY_ALLOCATE, address, address, bytes, memory, false);
}

static void release(uintptr_t address)
{
    put_memory(TRACE_ACTIVITY_RELEASE, address + 0x10000, address, 0, "device",
               false);
}

/* ---- Numbers ---- */

Test(log_device_summary, has_none_without_activities)
{
    cr_expect_null(summed());
}

Test(log_device_summary, prints_nothing_about_calls_alone)
{
    put_host(TRACE_ACTIVITY_RUNTIME, 0, 100, 1, 0);
    log_device_summary_free(expect_table(""));
}

/* The kernels overlap on two streams and are recorded in another order. */
Test(log_device_summary, sums_up_all_kinds_of_work)
{
    struct log_device_summary *all;

    put_transfer(TRACE_ACTIVITY_MEMCPY, "Memcpy DtoH", 9000, 10000, 3000);
    put_kernel("late", 4000, 6000, 13);
    put_kernel("long", 2000, 4500, 7);
    put_kernel("within", 2500, 3000, 13);
    put_transfer(TRACE_ACTIVITY_MEMCPY, "Memcpy HtoD", 0, 1000, 1 << 20);
    put_transfer(TRACE_ACTIVITY_MEMCPY, "Memcpy HtoD", 1000, 1500, 1 << 20);
    put_transfer(TRACE_ACTIVITY_MEMCPY, "Memcpy AtoA", 1500, 1500, 16);
    put_transfer(TRACE_ACTIVITY_MEMSET, "Memset", 6000, 6100, 256);
    all = expect_table(
        "  kernels   3 in 5.00\xc2\xb5s, longest 2.50\xc2\xb5s long\n"
        "  HtoD      2 in 1.50\xc2\xb5s, 2.0 MiB, 1398.1 GB/s\n"
        "  DtoH      1 in 1.00\xc2\xb5s, 2.9 KiB, 3.0 GB/s\n"
        "  other     1 in 0.00ns, 16 B\n"
        "  memset    1 in 100ns, 256 B, 2.6 GB/s\n"
        "  busy      66.0 % of 10.0\xc2\xb5s, largest gap 2.90\xc2\xb5s "
        "before Memcpy DtoH\n");
    expect_line(all, "kernels 3 in 5.00\xc2\xb5s, longest 2.50\xc2\xb5s long; "
                     "copies 4, 2.0 MiB; busy 66.0 %");
    log_device_summary_free(all);
}

/* Loading code compiles it, and a wait for a stream waits for events. */
Test(log_device_summary, counts_nested_compilations_and_waits_once)
{
    struct log_device_summary *all;

    put_host(TRACE_ACTIVITY_COMPILE, 1000, 5000, 1, 0);
    put_host(TRACE_ACTIVITY_COMPILE, 1500, 4500, 1, 0);
    put_host(TRACE_ACTIVITY_COMPILE, 2000, 6000, 2, 0);
    put_host(TRACE_ACTIVITY_SYNC, 1000, 1100, 1, 0);
    put_host(TRACE_ACTIVITY_SYNC, 1000, 2100, 1, 0);
    put_host(TRACE_ACTIVITY_SYNC, 3000, 3100, 1, 0);
    all = expect_table("  compile   2 in 8.00\xc2\xb5s\n"
                       "  sync      2 in 1.20\xc2\xb5s\n");
    expect_line(all, "compile 2 in 8.00\xc2\xb5s; sync 2 in 1.20\xc2\xb5s");
    log_device_summary_free(all);
}

Test(log_device_summary, adds_up_and_keeps_the_largest)
{
    struct log_device_summary all = {.longest = 5,
                                     .longest_name = strdup("a"),
                                     .gap = 9,
                                     .gap_before = strdup("b"),
                                     .busy = 10,
                                     .span = 20};
    struct log_device_summary one = {
        .works = {{2, 7, 0}},
        .longest = 6,
        .longest_name = (char *)"c",
        .gap = 8,
        .gap_before = (char *)"d",
        .busy = 5,
        .span = 10,
        .leaks = {
            .count = 1, .bytes = 3, .largest = 3, .memory = (char *)"device"}};

    log_device_summary_add(&all, &one);
    log_device_summary_add(&all, &one);
    expect_line(&all, "kernels 4 in 14.0ns, longest 6.00ns c; busy 50.0 %; "
                      "leaked 6 B");
    cr_expect_eq(all.gap, 9);
    cr_expect_str_eq(all.gap_before, "b");
    cr_expect_eq(all.leaks.largest, 3);
    free(all.longest_name);
    free(all.gap_before);
    free(all.leaks.memory);
}

/* ---- Memory ---- */

Test(log_device_summary, names_memory_that_was_not_released)
{
    static struct trace_site site = TEST_SITE(SPAN, INFO, "step", "m", NULL, 0);
    struct trace_span_ref span;

    allocate(0x1000, 100, "device");
    allocate(0x2000, 200, "device");
    span = trace_span_open_(&site, 0, NULL);
    allocate(0x3000, 3 << 20, "managed");
    trace_span_leave_(span);
    put_memory(TRACE_ACTIVITY_ALLOCATE, 0x4000, 0x4000, 1024, "device", true);
    release(0x2000);
    release(0x9000); /* allocated before the recording */
    log_device_summary_free(expect_table(
        "  leaked    3.0 MiB in 3 allocations; the largest 3.0 MiB of managed "
        "memory in step; 1.0 KiB came from memory pools\n"));
}

Test(log_device_summary, expects_no_release_of_other_memory)
{
    allocate(0x1000, 100, "pageable");
    allocate(0x2000, 100, "device_static");
    allocate(0x3000, 100, "managed_static");
    allocate(0x4000, 100, "unknown");
    log_device_summary_free(expect_table(""));
}

Test(log_device_summary, an_address_can_be_allocated_again)
{
    allocate(0x1000, 100, "device");
    release(0x1000);
    put_memory(TRACE_ACTIVITY_ALLOCATE, 0x30000, 0x1000, 7, "device", false);
    log_device_summary_free(
        expect_table("  leaked    7 B in 1 allocation of device memory\n"));
}

/* Its release was not recorded. */
Test(log_device_summary, an_address_replaces_what_was_allocated_there)
{
    allocate(0x1000, 100, "device");
    put_memory(TRACE_ACTIVITY_ALLOCATE, 0x30000, 0x1000, 7, "pageable", false);
    log_device_summary_free(expect_table(""));
}

Test(log_device_summary, a_reset_releases_everything)
{
    allocate(0x1000, 100, "device");
    put_host(TRACE_ACTIVITY_RELEASE, 0x2000, 0x2100, 1, 0);
    allocate(0x3000, 7, "pinned");
    log_device_summary_free(
        expect_table("  leaked    7 B in 1 allocation of pinned memory\n"));
}

Test(log_device_summary, a_failed_reset_releases_nothing)
{
    allocate(0x1000, 100, "device");
    put_host(TRACE_ACTIVITY_RELEASE, 0x2000, 0x2100, 1, TRACE_LEVEL_WARN);
    log_device_summary_free(
        expect_table("  leaked    100 B in 1 allocation of device memory\n"));
}

Test(log_device_summary, keeps_no_memory_of_many_allocations)
{
    for (uintptr_t i = 0; i < 20000; i++) {
        put_memory(TRACE_ACTIVITY_ALLOCATE, 2 * i, 0x1000 + i % 3, 8, "device",
                   false);
        put_memory(TRACE_ACTIVITY_RELEASE, 2 * i + 1, 0x1000 + i % 3, 8,
                   "device", false);
    }
    log_device_summary_free(expect_table(""));
}

/* ---- Errors of kernels ---- */

static void put_call(const char *name, uint64_t begins, uint32_t correlation,
                     int64_t result)
{
    static const char *const fields[] = {"result", "error"};
    struct trace_value values[] = {trace_i64_(result),
                                   trace_text_("cudaErrorIllegalAddress")};
    const struct trace_activity activity = {
        .at = {.begin = zero + begins,
               .thread = 5,
               .correlation = correlation,
               .kind = TRACE_ACTIVITY_RUNTIME},
        .end = zero + begins + 10,
        .span = trace_device_host()->current(),
        .level = result ? TRACE_LEVEL_WARN : 0,
        .name = name,
        .fields = fields,
        .field_count = result ? 2 : 0,
        .values = values,
    };

    values[1].type = TRACE_TYPE_DISPLAY;
    trace_device_put(&activity);
}

static struct trace_activity kernel_of(uint32_t correlation)
{
    struct trace_activity kernel =
        test_kernel(zero + 1000 * correlation, zero + 1000 * correlation + 10);

    kernel.at.correlation = correlation;
    return kernel;
}

static void launch_in(const char *name, uint32_t correlation)
{
    static struct trace_site sites[16];
    struct trace_site *site = &sites[correlation];
    struct trace_span_ref span;

    *site = (struct trace_site)TEST_SITE(SPAN, INFO, name, "m", NULL, 0);
    span = trace_span_begin_(site, 0, NULL);
    put_call("cudaLaunchKernel", 1000 * correlation - 500, correlation, 0);
    trace_span_end(span);
}

static const char *fault_text(struct log_device_summary **summary)
{
    static struct trace_text text;

    *summary = summed();
    cr_assert_not_null(*summary);
    trace_text_clear(&text);
    if ((*summary)->fault.error)
        log_device_fault_text(&text, &(*summary)->fault);
    return text.size ? text.data : "";
}

/* The kernel that failed has no record, and a later call has the error. */
Test(log_device_summary, names_launches_before_an_asynchronous_error)
{
    struct log_device_summary *summary;
    struct trace_activity good;

    launch_in("good", 1);
    good = kernel_of(1);
    trace_device_put(&good);
    launch_in("bad", 2);
    launch_in("also", 3);
    put_call("cudaDeviceSynchronize", 9000, 4, 700);
    launch_in("later", 11);
    cr_expect_str_eq(
        fault_text(&summary),
        "cudaErrorIllegalAddress, returned by cudaDeviceSynchronize; 2 "
        "launches before it have no record, the first one in bad; "
        "compute-sanitizer finds the place, and so does "
        "CUDA_LAUNCH_BLOCKING=1");
    log_device_summary_free(summary);
}

Test(log_device_summary, has_no_fault_for_errors_of_the_call_itself)
{
    struct log_device_summary *summary;

    launch_in("bad", 2);
    put_call("cudaMalloc", 9000, 4, 2);
    cr_expect_str_eq(fault_text(&summary), "");
    log_device_summary_free(summary);
}
