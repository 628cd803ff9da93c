/* cupti_decode_test.c: decodes recorded buffers as an independent reader does.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

#include "tests/fuzz/fuzz_activity.c"

TestSuite(cupti_decode, .init = devices_init);

static char *load_expected(const char *fixture)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/playback/%s.expect", TESTS_DIR, fixture);
    return test_load(path, NULL);
}

/* Plays a fixture; returns its lines and opens `reader`. */
static char *play(const char *fixture, struct trace_reader **reader)
{
    devices_play(fixture);
    devices_begin();
    *reader = test_read();
    return devices_lines(*reader);
}

/* Compares a fixture's lines; returns the reader. */
static struct trace_reader *compared(const char *fixture)
{
    struct trace_reader *reader;

    cr_expect_str_eq(play(fixture, &reader), load_expected(fixture));
    cr_expect_str_eq(devices_meta(reader, "lost"), "0");
    cr_expect_str_eq(devices_meta(reader, "orphans"), "0");
    cr_expect_str_eq(devices_meta(reader, "undecoded"), "0");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 0,
                 "reported a loss");
    return reader;
}

static void expect_as_the_oracle(const char *fixture)
{
    compared(fixture);
}

Test(cupti_decode, decodes_plain_kernels)
{
    expect_as_the_oracle("plain");
}

Test(cupti_decode, decodes_memory_of_all_kinds)
{
    expect_as_the_oracle("leak");
}

Test(cupti_decode, decodes_memory_of_pools)
{
    expect_as_the_oracle("pool_leak");
}

Test(cupti_decode, decodes_a_reset_as_a_release)
{
    expect_as_the_oracle("reset");
}

Test(cupti_decode, decodes_graphs)
{
    expect_as_the_oracle("graph");
}

Test(cupti_decode, decodes_jit_compilations)
{
    expect_as_the_oracle("jit");
}

/* A time in the future would count as another clock's. */
Test(cupti_decode, plays_a_long_fixture_until_its_end)
{
    expect_as_the_oracle("slow");
}

/* The programs counted what they did: h100/NAME.counts. */
static const struct recorded {
    const char *fixture, *kernel;
    size_t kernels, copies, sets;
} recorded[] = {
    {"plain", "launches_empty", 50, 0, 0},
    {"graph", "launches_empty", 60, 0, 0},
    {"capture", "launches_empty", 60, 0, 0},
    {"jit", "launches_jit", 10, 0, 0},
    {"copies", "launches_add", 10, 20, 10},
    {"memory", "launches_add", 5, 10, 5},
};

ParameterizedTestParameters(cupti_decode, decodes_what_a_gpu_recorded)
{
    static int numbers[sizeof(recorded) / sizeof(*recorded)];
    const size_t count = sizeof(numbers) / sizeof(*numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = (int)i;
    return cr_make_param_array(int, numbers, count);
}

ParameterizedTest(int *number, cupti_decode, decodes_what_a_gpu_recorded)
{
    const struct recorded *made = &recorded[*number];
    struct trace_reader *reader;
    char name[64];

    snprintf(name, sizeof(name), "h100/%s", made->fixture);
    play(name, &reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, made->kernel),
                 made->kernels);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "Memcpy HtoD") +
                     test_count(reader, TRACE_ENTRY_DEVICE, "Memcpy DtoH"),
                 made->copies);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "Memset"), made->sets);
    cr_expect_str_eq(devices_meta(reader, "lost"), "0");
    cr_expect_str_eq(devices_meta(reader, "orphans"), "0");
    cr_expect_str_eq(devices_meta(reader, "undecoded"), "0");
    cr_expect_str_eq(devices_meta(reader, "bad_times"), "0");
}

/* A launch into a capturing stream runs nothing. */
Test(cupti_decode, counts_captured_launches)
{
    struct trace_reader *reader = compared("capture");

    cr_expect_str_eq(devices_meta(reader, "launches"), "6");
    cr_expect_str_eq(devices_meta(reader, "launched"), "2");
    cr_expect_str_eq(devices_meta(reader, "captured"), "4");
}

/* Failed calls and long ones are shown. */
Test(cupti_decode, drops_calls_without_information)
{
    char *lines = load_expected("noise");

    expect_as_the_oracle("noise");
    cr_expect_eq(e2e_count(lines, "cudaSetDevice"), 2);
    cr_expect_eq(e2e_count(lines, "\n"), 2 + 4 + 4);
}

Test(cupti_decode, shows_how_far_a_kernel_is_before_its_call)
{
    char *lines = load_expected("skew");

    expect_as_the_oracle("skew");
    e2e_expect_has(e2e_line(lines, "KERNEL void saxpy<float>(float*, float "
                                   "const*, float, int) corr=2"),
                   "local=0 clock_skew_ns=9000 correlation=2");
    cr_expect_eq(e2e_count(lines, "clock_skew_ns"), 1);
    cr_expect_eq(e2e_count(lines, "queue_delay"), 1);
}

/* Also a stream's name. */
Test(cupti_decode, decodes_events_and_unified_memory)
{
    struct trace_reader *reader = compared("details");

    cr_expect_str_eq(devices_meta(reader, "stream.1.7.name"), "copies");
    cr_expect_str_eq(devices_meta(reader, "context.1.name"), "main");
    cr_expect_str_eq(devices_meta(reader, "bad_times"), "0");
}

/* Device records arrive before their calls. */
Test(cupti_decode, decodes_buffers_in_any_order)
{
    devices_set("REVERSE", "1");
    expect_as_the_oracle("plain");
}

Test(cupti_decode, matches_kernels_that_arrive_before_their_calls)
{
    char *lines, *right = load_expected("jit");

    devices_set("REVERSE", "1");
    devices_set("LATE", "1");
    devices_play("jit");
    devices_begin();
    trace_device_flush(false);
    lines = devices_lines(test_read());
    cr_expect_str_eq(lines, right);
}

Test(cupti_decode, decodes_buffers_completed_on_another_thread)
{
    devices_set("THREAD", "1");
    expect_as_the_oracle("jit");
}

/* ---- Damaged and missing records ---- */

static struct trace_reader *reader_of(const char *fixture)
{
    struct trace_reader *reader;

    play(fixture, &reader);
    return reader;
}

/* Expects one event, which reports the losses. */
static void expect_reported(struct trace_reader *reader, const char *message)
{
    e2e_expect_has(e2e_line(test_plain(reader), "WARN gpu: "), message);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 1);
}

Test(cupti_decode, counts_a_truncated_record)
{
    devices_set("TRUNCATE", "8");

    struct trace_reader *reader = reader_of("graph");

    cr_expect_str_eq(devices_meta(reader, "undecoded"), "1");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "node2"), 1);
    expect_reported(reader, "0 launches have no kernel record; 0 dropped, 1 "
                            "undecoded");
}

Test(cupti_decode, drops_the_rest_of_a_buffer_after_an_unknown_kind)
{
    devices_set("UNKNOWN", "3");

    struct trace_reader *reader = reader_of("graph");

    cr_expect_str_eq(devices_meta(reader, "undecoded"), "1");
    cr_expect_str_eq(devices_meta(reader, "orphans"), "3");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "node0"), 2,
                 "lost a kernel without a call");
    expect_reported(reader, "1 undecoded, 3 without a call");
}

Test(cupti_decode, puts_kernels_without_times_at_the_end_of_their_call)
{
    struct trace_reader *reader;

    devices_set("ZERO", "1");
    e2e_expect_has(e2e_line(play("graph", &reader), "KERNEL node0 corr=100"),
                   "ts=1900 dur=0 device=0/1/7", "ts_estimated=true");
    cr_expect_str_eq(devices_meta(reader, "bad_times"), "6");
    expect_reported(reader, "6 without times");
}

Test(cupti_decode, puts_incomplete_kernels_at_the_end)
{
    devices_set("INCOMPLETE", "1");

    struct trace_reader *reader = reader_of("graph");

    cr_expect_str_eq(devices_meta(reader, "bad_times"), "6");
    cr_expect_str_eq(devices_meta(reader, "launched"), "2");
}

Test(cupti_decode, counts_launches_without_kernels_as_lost)
{
    struct trace_reader *reader;

    devices_set("STRIDE", "1:96");
    devices_set("UNKNOWN", "0");
    devices_play("graph");
    devices_begin();
    cupti.disable(CUPTI_KIND_CONCURRENT_KERNEL); /* as CUPTI 12.4U1 does */
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "launches"), "2");
    cr_expect_str_eq(devices_meta(reader, "launched"), "0");
    cr_expect_str_eq(devices_meta(reader, "lost"), "2");
    expect_reported(reader, "2 launches have no kernel record; 0 dropped, 0 "
                            "undecoded");
}

Test(cupti_decode, reports_dropped_records)
{
    devices_set("DROPPED", "5");

    struct trace_reader *reader = reader_of("graph");

    cr_expect_str_eq(devices_meta(reader, "dropped"), "5");
    expect_reported(reader, "5 dropped");
}

/* ---- Failed calls ---- */

Test(cupti_decode, names_the_error_of_a_failed_call)
{
    struct trace_reader *reader;
    char *lines;

    devices_object("libcudart.so.13",
                   "const char *cudaGetErrorName(int code)\n"
                   "{ return code == 2 ? \"cudaErrorMemoryAllocation\" : "
                   "\"other\"; }\n");
    lines = play("plain", &reader);
    e2e_expect_has(e2e_line(lines, "WARN RUNTIME cudaMalloc"),
                   "result=2 error=cudaErrorMemoryAllocation");
    cr_expect_eq(e2e_count(lines, "WARN "), 1,
                 "warned of a result that is no failure");
}

/* ---- Other versions ---- */

static void expect_kernels(const char *stride, bool clusters)
{
    struct trace_reader *reader;
    char *lines;

    devices_set("STRIDE", stride);
    lines = play("plain", &reader);
    cr_expect_eq(e2e_count(lines, " KERNEL "), 9);
    cr_expect_eq(e2e_count(lines, "cluster=(2, 1, 1)"), clusters);
}

Test(cupti_decode, decodes_kernels_of_216_bytes)
{
    expect_kernels("10:216", true);
}

Test(cupti_decode, decodes_kernels_of_208_bytes)
{
    expect_kernels("10:208", true);
}

Test(cupti_decode, decodes_kernels_of_200_bytes)
{
    expect_kernels("10:200", true);
}

Test(cupti_decode, decodes_kernels_of_160_bytes)
{
    expect_kernels("10:160", false);
}

Test(cupti_decode, ignores_additional_bytes_of_longer_records)
{
    devices_set("STRIDE", "10:240,5:48,52:96");
    expect_as_the_oracle("jit");
}

/* Records of this size cannot be kernels. */
Test(cupti_decode, switches_off_if_the_layout_is_unknown)
{
    struct trace_reader *reader;

    devices_set("STRIDE", "10:72");
    reader = reader_of("plain");
    cr_expect_str_eq(devices_meta(reader, "state"), "too-old");
    cr_expect_str_eq(devices_meta(reader, "notice"),
                     "GPU trace off: unknown record layout, API 130001");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, NULL), 0);
}

/* ---- Implausible kernels ---- */

static size_t put_kernels(uint8_t *bytes, size_t count, uint32_t grid)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t words[54] = {CUPTI_KIND_CONCURRENT_KERNEL};

        words[13] = grid; /* its X */
        for (size_t at = 14; at <= 18; at++)
            words[at] = 1;
        memcpy(bytes + i * sizeof(words), words, sizeof(words));
    }
    return count * 216;
}

static bool is_on_after(size_t implausible)
{
    static uint8_t bytes[216 * 10];
    size_t size;

    fuzz_begin();
    cupti.decoder.library.strides[CUPTI_KIND_CONCURRENT_KERNEL] = 216;
    size = put_kernels(bytes, implausible, 0);
    size += put_kernels(bytes + size, 1, 4);
    size += put_kernels(bytes + size, 3, 0);
    fuzz_decode(bytes, size, true);
    return cupti_is_on();
}

Test(cupti_decode, continues_after_two_implausible_kernels)
{
    cr_expect(is_on_after(2));
    cr_expect_eq(fuzz_seen.puts, 2 + 1 + 3);
}

Test(cupti_decode, switches_off_after_three_implausible_kernels)
{
    cr_expect_not(is_on_after(3));
    cr_expect_eq(fuzz_seen.puts, 0);
    cr_expect_str_eq(cupti.state, "too-old");
}

Test(cupti_decode, shows_kernels_without_a_name)
{
    expect_as_the_oracle("unnamed");
}

/* ---- Random input ---- */

static size_t put_random(uint8_t *bytes, size_t room, size_t *activities)
{
    static const uint8_t kinds[] = {1,  2,  4,  5,  8,  9,  10,
                                    17, 22, 37, 38, 39, 49, 52};
    uint32_t kind = kinds[test_below(sizeof(kinds))];
    size_t stride = cupti.decoder.library.strides[kind];

    if (stride > room)
        return 0;
    test_random_bytes(bytes, stride);
    memcpy(bytes, &kind, sizeof(kind));
    *activities += kind != 8 && kind != 9 && kind != 37 && kind != 39;
    return stride;
}

static size_t random_records(uint8_t *bytes, size_t room, size_t *activities)
{
    size_t size = 0, added;

    while ((added = put_random(bytes + size, room - size, activities)))
        size += added;
    return size;
}

Test(cupti_decode, puts_every_activity_of_random_records)
{
    static uint8_t bytes[1 << 16];

    for (uint64_t seed = 1; seed < 300; seed++) {
        size_t activities = 0, size;

        test_seed(seed);
        fuzz_begin();
        cupti.decoder.counts.plausible = 1;
        for (size_t kind = 1; kind < CUPTI_KIND_LIMIT; kind++)
            cupti.decoder.library.strides[kind] =
                (uint16_t)(16 + 8 * test_below(30));
        size = random_records(bytes, test_below(sizeof(bytes)), &activities);
        fuzz_decode(bytes, size, false);
        size = random_records(bytes, test_below(sizeof(bytes)), &activities);
        fuzz_decode(bytes, size, true);
        cr_expect_eq(fuzz_seen.puts, activities, "seed %d: %zu of %zu",
                     (int)seed, fuzz_seen.puts, activities);
        cr_expect_eq(cupti.decoder.counts.undecoded, 0);
    }
}

Test(cupti_decode, sorts_a_round_by_time)
{
    static uint8_t bytes[40 * 100];

    fuzz_begin();
    cupti.decoder.library.strides[CUPTI_KIND_RUNTIME] = 40;
    for (size_t at = 0; at < sizeof(bytes); at += 40) {
        uint64_t begin = 1 + test_random();

        memcpy(bytes + at, (uint32_t[]){CUPTI_KIND_RUNTIME}, 4);
        memcpy(bytes + at + 8, &begin, 8);
        memcpy(bytes + at + 16, &begin, 8);
    }
    fuzz_decode(bytes, sizeof(bytes), true);
    cr_expect_eq(fuzz_seen.puts, 100);
    cr_expect_not(fuzz_seen.disorder);
}

Test(cupti_decode, survives_any_bytes)
{
    static uint8_t bytes[4096];
    size_t puts = 0;

    for (uint64_t seed = 1; seed < 2000; seed++) {
        size_t size;

        test_seed(seed);
        size = test_below(sizeof(bytes));
        test_random_bytes(bytes, size);
        for (size_t at = 56; at + 8 < size; at += 8)
            if (seed % 2 || test_below(2)) /* many look like kinds */
                memcpy(bytes + at, (uint32_t[]){test_below(56), 0}, 8);
        LLVMFuzzerTestOneInput(bytes, size);
        puts += fuzz_seen.puts;
    }
    cr_expect_gt(puts, 1000);
}

/* ---- Lack of memory ---- */

static size_t puts_without(size_t nth, bool once)
{
    static uint8_t bytes[8192];
    size_t activities = 0, size;
    struct cupti_range range;

    test_seed(1);
    fuzz_begin();
    cupti.decoder.counts.plausible = 1;
    for (size_t kind = 1; kind < CUPTI_KIND_LIMIT; kind++)
        cupti.decoder.library.strides[kind] = 128;
    size = random_records(bytes, sizeof(bytes), &activities);
    range = fuzz_range(bytes, size);
    test_fail_memory(nth, once);
    cupti_decode(&cupti.decoder, &range, false);
    cupti_decode(&cupti.decoder, &range, true);
    cr_expect_eq(fuzz_seen.puts, 2 * activities, "allocation %zu", nth);
    return test_fail_memory(0, false);
}

Test(cupti_decode, puts_every_activity_without_memory)
{
    size_t count;

    if (!test_can_fail_memory())
        cr_skip("a sanitizer owns the memory");
    count = puts_without(0, false);
    cr_expect_gt(count, 10);
    for (size_t nth = 1; nth <= count; nth++) {
        puts_without(nth, true);
        puts_without(nth, false);
    }
}

/* ---- The independent reader ---- */

Test(cupti_decode, agrees_with_a_new_run_of_the_independent_reader)
{
    static const char *const names[] = {
        "plain", "graph",     "jit",     "capture",     "noise",
        "skew",  "unnamed",   "details", "slow",        "leak",
        "pool",  "pool_leak", "reset",   "reset_failed"};
    char command[1024];

    if (system("python3 -c '' 2>/dev/null"))
        cr_skip("no python3");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(command, sizeof(command),
                 "cd %s/playback && PYTHONDONTWRITEBYTECODE=1 python3 "
                 "oracle.py %s.fixture | cmp - %s.expect",
                 TESTS_DIR, names[i], names[i]);
        cr_expect_eq(system(command), 0, "%s", names[i]);
    }
}
