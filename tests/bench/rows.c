/* rows.c: the rows to measure and their budgets. A new one is a function that
 * takes the number of repetitions and returns ns, and a row. Another tracer is
 * a program that works as peers/peer.h describes, a rule in bench.mk, a line in
 * peers/installed, and its packages in BENCH_DEPS. Under CALLGRIND=1, our rows
 * pay for clock_gettime, because valgrind has no invariant clock. */
#include "bench.h"

enum {
    OFF = 3200000,
    FRESH = 128 * 1024,
    EACH = 1024, /* of many threads: less than a chunk */
    LINES = 4096,
    SELDOM = 64,
    RENDERED = 100000, /* by others */
    TESTS = 1000,
    MERGED = 10000,
    OPENCL_BATCHES = 8 * 256,
    BURNT = 10000000, /* about 10 ms */
};

#define OURS(group_, name_, run_, count_, times_, ...)                         \
    {                                                                          \
        .group = group_, .name = name_, .run = run_, .work = #run_,            \
        .count = count_, .times = times_, __VA_ARGS__                          \
    }
#define PEER(group_, name_, peer_, work_, count_, times_, ...)                 \
    {                                                                          \
        .group = group_, .name = name_, .peer = peer_, .work = work_,          \
        .count = count_, .times = times_, __VA_ARGS__                          \
    }

#define UFTRACE "@/uftrace.sh @/uftrace"
#define SAMPLED "@/sampled.sh "
#define LTTNG   "@/lttng.sh @/lttng"
#define OPENCL  "env BENCH_LAYER=@/../../../libtestlog-gpu.so @/opencl"

static double bench_2_us(size_t count)
{
    (void)count;
    return 2e3;
}

static double bench_20_us(size_t count)
{
    (void)count;
    return 20e3;
}

static double bench_10_ms(size_t count)
{
    (void)count;
    return 10e6;
}

static double bench_1_us(size_t count)
{
    (void)count;
    return 1e3;
}

const struct bench_row bench_rows[] = {
    OURS("off", "a relaxed load and a branch", bench_load_and_branch, OFF, 31,
         .counted = true),
    OURS("off", "call site off", bench_off, OFF, 31, .budget = 1.1,
         .counted = true),
    OURS("off", "call site off outside a span", bench_outside, OFF, 31,
         .budget = 8, .counted = true),
    PEER("off", "LTTng-UST", LTTNG, "off", OFF, 31),
    PEER("off", "Rust, event", "@/rust off", "off", OFF, 31, .counted = true),
    PEER("off", "spdlog", "@/spdlog", "off", OFF / 16, 31, .counted = true),

    OURS("span", "floor", bench_floor, BENCH_BATCH, BENCH_BATCHES,
         .counted = true),
    OURS("span", "span", bench_span, BENCH_BATCH, BENCH_BATCHES, .budget = 1.2,
         .counted = true),
    OURS("span", "span, three fields", bench_span_fields, BENCH_BATCH,
         BENCH_BATCHES, .budget = 1.6, .counted = true),
    OURS("span", "field recorded late", bench_span_late, BENCH_BATCH,
         BENCH_BATCHES, .budget = 1.5, .counted = true),
    OURS("span", "span lost in a full recording", bench_span_lost, BENCH_BATCH,
         BENCH_BATCHES, .budget = 0.4, .counted = true),
    OURS("span", "log line lost in a full recording", bench_line_lost,
         BENCH_BATCH, BENCH_BATCHES, .budget = 0.4, .counted = true),
    OURS("span", "event, three fields", bench_event, BENCH_BATCH, BENCH_BATCHES,
         .counted = true),
    OURS("span", "log line, three arguments", bench_line, BENCH_BATCH,
         BENCH_BATCHES, .budget = 1.3, .counted = true),
    OURS("span", "two clock_gettime, two stores", bench_clock_gettime,
         BENCH_BATCH, BENCH_BATCHES, .counted = true),
    PEER("span", "LTTng-UST, two events", LTTNG, "span", BENCH_BATCH,
         BENCH_BATCHES),
    PEER("span", "LTTng-UST, event, three fields", LTTNG, "event", BENCH_BATCH,
         BENCH_BATCHES),
    PEER("span", "Rust, span, not shown", "@/rust null", "span", BENCH_BATCH,
         BENCH_BATCHES, .counted = true),
    PEER("span", "Rust, span, three fields", "@/rust null", "span_fields",
         BENCH_BATCH, BENCH_BATCHES, .counted = true),
    PEER("span", "spdlog, line to /dev/null", "@/spdlog", "line", BENCH_BATCH,
         BENCH_BATCHES, .counted = true),

    OURS("fresh file", "bare loop", bench_floor_fresh, FRESH, 21),
    OURS("fresh file", "span", bench_span_fresh, FRESH, 21, .budget = 1.15),

    OURS("call", "floor", bench_floor, BENCH_BATCH, BENCH_BATCHES,
         .counted = true),
    OURS("call", "call of a function", bench_call, BENCH_BATCH, BENCH_BATCHES,
         .budget = 1.15, .counted = true),
    OURS("call", "call while nothing is recorded", bench_call_off, BENCH_BATCH,
         BENCH_BATCHES, .budget = 0.3, .counted = true),
    OURS("call", "call that --functions leaves out", bench_call_unwanted,
         BENCH_BATCH, BENCH_BATCHES, .budget = 0.3, .counted = true),
    OURS("call", "call that --functions-min leaves out", bench_call_short,
         BENCH_BATCH, BENCH_BATCHES, .counted = true),
    OURS("call", "call lost beyond functions_limit", bench_call_lost,
         BENCH_BATCH, BENCH_BATCHES, .counted = true),
    PEER("call", "-finstrument-functions, two stores", "@/hooks", "span",
         BENCH_BATCH, BENCH_BATCHES),
    PEER("call", "uftrace", UFTRACE, "span", BENCH_BATCH, BENCH_BATCHES),
    OURS("calls, fresh file", "two records a call", bench_two_fresh, FRESH, 21),
    OURS("calls, fresh file", "call of a function", bench_call_fresh, FRESH, 21,
         .budget = 0.6),

    OURS("lines", "floor", bench_floor, BENCH_BATCH, BENCH_BATCHES,
         .counted = true),
    OURS("lines", "block of lines", bench_block, BENCH_BATCH, BENCH_BATCHES,
         .counted = true),
    OURS("lines", "block outside of --lines", bench_block_outside, BENCH_BATCH,
         BENCH_BATCHES, .counted = true),
    OURS("lines", "block while no lines are recorded", bench_block_off,
         BENCH_BATCH, BENCH_BATCHES, .counted = true),

    PEER("samples", "a loop, not sampled", "@/burn", "loop", BURNT, 31),
    PEER("samples", "1,000 a second", SAMPLED "pointers @/burn", "loop", BURNT,
         31),
    PEER("samples", "1,000 a second, whole stacks", SAMPLED "dwarf @/burn",
         "loop", BURNT, 31),
    PEER("samples", "250 a second, by timers", SAMPLED "timers @/burn", "loop",
         BURNT, 31),
    PEER("samples", "perf record -g, 1,000 a second",
         "env PERF=@/perf " SAMPLED "perf @/burn", "loop", BURNT, 31),

    OURS("2 threads", "floor in 2 threads", bench_floor_two, BENCH_OF_THREAD,
         31),
    OURS("2 threads", "span", bench_span_two, BENCH_OF_THREAD, 31,
         .budget = 1.1),
    OURS("64 threads", "floor in 64 threads", bench_floor_many, EACH, 31),
    OURS("64 threads", "span", bench_span_many, EACH, 31, .budget = 1.1),

    OURS("line, /dev/null", "write alone", bench_write_null, LINES, 21,
         .counted = true),
    OURS("line, /dev/null", "snprintf and write", bench_snprintf_null, LINES,
         21, .counted = true),
    OURS("line, /dev/null", "live line", bench_live_null, LINES, 21,
         .budget = 0.25, .against = "Rust", .counted = true),
    OURS("line, /dev/null", "live line, after a pause", bench_live_seldom,
         SELDOM, 21),
    OURS("line, /dev/null", "live line, spans with fields", bench_live_fields,
         LINES, 21, .counted = true),
    PEER("line, /dev/null", "Rust", "@/rust null", "live", LINES, 21,
         .counted = true),
    PEER("line, /dev/null", "Rust, spans with fields", "@/rust null",
         "live_fields", LINES, 21, .counted = true),
    PEER("line, /dev/null", "spdlog, flushed", "@/spdlog", "live_null", LINES,
         21, .counted = true),

    OURS("line, file", "write alone", bench_write_file, LINES, 21),
    OURS("line, file", "snprintf and write", bench_snprintf_file, LINES, 21),
    OURS("line, file", "live line", bench_live_file, LINES, 21, .budget = 1.5),
    PEER("line, file", "Rust", "@/rust file", "live", LINES, 21),
    PEER("line, file", "spdlog, flushed", "@/spdlog", "live_file", LINES, 21),

    OURS("rendering", "1 us", bench_1_us, 1, 11),
    OURS("rendering", "captured line, full", bench_full, 1, 11, .budget = 1),
    OURS("rendering", "captured line, json", bench_json, 1, 11, .budget = 1),
    OURS("rendering", "fprintf of the same text", bench_fprintf, RENDERED, 11),
    OURS("a message", "snprintf", bench_snprintf, RENDERED, 11),
    OURS("a message", "rendered from its record", bench_message, RENDERED, 11),
    OURS("trace events", "cJSON, small objects", bench_cjson, RENDERED, 11),
    OURS("trace events", "event or span", bench_chrome, 1, 11, .budget = 0.1),

    OURS("a test", "file made and mapped", bench_make_file, 20, 21),
    OURS("a test", "start and end in the worker", bench_start_and_end, 20, 21,
         .budget = 1.5),

    OURS("no GPU", "20 us", bench_20_us, 1, 21),
    OURS("no GPU", "a test that uses none", bench_no_gpu, 20, 21, .budget = 1),
    OURS("OpenCL launch", "2 us", bench_2_us, 1, 21),
    PEER("OpenCL launch", "added by the layer", OPENCL, "added", OPENCL_BATCHES,
         21, .budget = 1),
    OURS("a filter", "10 ms", bench_10_ms, 1, 11),
    OURS("a filter", "200 directives, 10,000 call sites", bench_set_filter, 1,
         11, .budget = 1),
    OURS("1,000 tests, -j2", "Criterion alone", bench_suite_plain, TESTS, 9),
    OURS("1,000 tests, -j2", "recorded and rendered", bench_suite_logged, TESTS,
         9, .budget = 1.05),
    OURS("10,000 tests of 100 shards", "cp -rl", bench_link_runs, MERGED, 5),
    OURS("10,000 tests of 100 shards", "testlog merge", bench_merge, MERGED, 5,
         .budget = 8),
};

const size_t bench_row_count = sizeof(bench_rows) / sizeof(*bench_rows);
