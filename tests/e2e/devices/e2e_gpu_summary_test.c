/* e2e_gpu_summary_test.c: what a run says about the work of GPUs, with played
 * back records. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

/* `root` looks like a machine with a driver. */
TestSuite(e2e_gpu_summary, .init = e2e_begin_gpu, .timeout = 300);

/* The fixture's name follows. */
#define PLAYED                                                                 \
    "TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "                     \
    "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR "/tests/playback.so "  \
    "PLAYBACK_FIXTURE=" TESTS_DIR "/playback/"

/* The rows of that fixture, up to their times: ticks become nanoseconds that
 * may differ by one. */
static const char *const rows[] = {"gpu:\n",
                                   "\n  kernels   9 in 3.",
                                   " inner\n",
                                   "\n  HtoD      1 in ",
                                   ", 1.0 MiB, 2",
                                   "\n  DtoH      1 in ",
                                   ", 3.0 MiB, 3",
                                   "\n  memset    1 in ",
                                   ", 4.0 KiB, 13.",
                                   "\n  sync      1 in ",
                                   "\n  busy      37.5 % of ",
                                   "\xc2\xb5s before Memcpy DtoH\ntrace: "};

/* The last line about two such tests. */
static const char *const parts[] = {"testlog: GPU: kernels 18 in 7.",
                                    "; copies 4, 8.0 MiB; sync 2 in 19.",
                                    "\xc2\xb5s; busy 37.5 %\n"};

/* Expects each text once, in this order. */
static void expect_in_order(const char *text, const char *const *wanted,
                            size_t count)
{
    const char *at = text;

    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(e2e_count(text, wanted[i]), 1, "%s: %s", wanted[i], text);
        at = strstr(at, wanted[i]);
        cr_assert(at, "%s: %s", wanted[i], text);
    }
}

#define EXPECT_IN_ORDER(text, wanted)                                          \
    expect_in_order(text, wanted, sizeof(wanted) / sizeof(*(wanted)))

static const char *program(void)
{
    return e2e_program("gpu", E2E_TRACED);
}

static const cJSON *item(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    cr_assert(cJSON_IsObject(found), "no %s", name);
    return found;
}

static void expect_time(const cJSON *object, const char *name, double ns)
{
    double time = e2e_number(object, name);

    cr_expect(time > 0.99 * ns && time < 1.01 * ns, "%s: %g", name, time);
}

/* Checks the numbers of `tests` tests in an object of run.json. */
static void expect_summary(const cJSON *object, double tests)
{
    const cJSON *summary = item(object, "gpu_summary");
    const cJSON *copies = item(summary, "copies");

    cr_expect_eq(e2e_number(item(summary, "kernels"), "count"), 9 * tests);
    expect_time(item(summary, "kernels"), "time_ns", 3700 * tests);
    cr_expect_eq(e2e_number(item(copies, "DtoH"), "bytes"), tests * (3 << 20));
    expect_time(item(copies, "HtoD"), "bytes_per_second", 209715200000);
    cr_expect_eq(e2e_number(item(summary, "syncs"), "count"), tests);
    cr_expect_eq(e2e_number(item(summary, "compiles"), "count"), 0);
    expect_time(summary, "busy_ns", 18000 * tests);
    expect_time(summary, "span_ns", 48000 * tests);
    expect_time(item(summary, "longest_kernel"), "time_ns", 500);
    e2e_expect_is(e2e_text(item(summary, "longest_kernel"), "name"), "inner");
    expect_time(item(summary, "largest_gap"), "time_ns", 13500);
    e2e_expect_is(e2e_text(item(summary, "largest_gap"), "before"),
                  "Memcpy DtoH");
    cr_expect_eq(e2e_number(item(summary, "leaks"), "count"), 0);
}

Test(e2e_gpu_summary, ends_the_block_of_a_failed_test)
{
    const struct e2e *result =
        e2e_exits(1, PLAYED "plain.fixture %s --filter 'gpu/@(fails|uses_it)'",
                  program());
    const cJSON *run = e2e_run_json();

    EXPECT_IN_ORDER(result->err, rows);
    EXPECT_IN_ORDER(result->err, parts);
    expect_summary(run, 2);
    expect_summary(e2e_result(run, "gpu/fails"), 1);
    expect_summary(e2e_result(run, "gpu/uses_it"), 1);
}

Test(e2e_gpu_summary, is_shown_with_the_output_of_a_passing_test)
{
    const struct e2e *result = e2e_exits(
        0,
        PLAYED "plain.fixture %s --filter gpu/uses_it --show-output --log=off",
        program());

    e2e_expect_has(result->err, "---- gpu/uses_it: passed ----\ngpu:\n");
    EXPECT_IN_ORDER(result->err, rows);
}

Test(e2e_gpu_summary, adds_up_the_programs_of_a_run)
{
    const struct e2e *result =
        e2e_exits(0,
                  PLAYED "plain.fixture " TESTLOG
                         " run %s %s -- --filter '*/@(uses_it|passes)'",
                  program(), program());
    const cJSON *run = e2e_run_json();

    EXPECT_IN_ORDER(result->err, parts);
    expect_summary(run, 2);
    expect_summary(e2e_result(run, "gpu/uses_it"), 1);
}

Test(e2e_gpu_summary, is_missing_without_gpu_activity)
{
    const struct e2e *result = e2e_exits(
        0, PLAYED "plain.fixture %s --filter gpu/leaves_it_alone --show-output",
        program());

    e2e_expect_lacks(result->err, "GPU:", "gpu:\n");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/run.json"),
                     "\"gpu_summary\":");
}

Test(e2e_gpu_summary, of_a_retried_test_is_that_of_its_last_try)
{
    e2e_exits(1, PLAYED "plain.fixture %s --filter gpu/fails --retries=1",
              program());
    expect_summary(e2e_run_json(), 1);
}

Test(e2e_gpu_summary, is_printed_for_a_recorded_program)
{
    const struct e2e *result =
        e2e_run(PLAYED "plain.fixture " TESTLOG " record -- %s init",
                e2e_any("gpu_any"));

    e2e_expect_has(result->err, "testlog: GPU: kernels 9 in ");
    expect_summary(e2e_run_json(), 1);
}

/* The stub reports a kernel when it begins, at the end of the body, and when
 * the recording ends. */
Test(e2e_gpu_summary, is_complete_when_a_failed_test_is_shown)
{
    const struct e2e *result =
        e2e_exits(1,
                  "TESTLOG_GPU_LIBRARY=%s TESTLOG_GPU_ROOT=$PWD/root %s "
                  "--filter gpu/fails",
                  e2e_stub(), program());

    e2e_expect_has(result->err, "\n  kernels   3 in ");
}

Test(e2e_gpu_summary, counts_graphs_that_are_traced_as_a_whole)
{
    e2e_exits(0,
              PLAYED
              "graph_trace.fixture %s --filter gpu/uses_it "
              "--trace-options=gpu_enable_cupti_activity_graph_trace=true",
              program());

    const cJSON *summary = item(e2e_run_json(), "gpu_summary");

    cr_expect_eq(e2e_number(item(summary, "graphs"), "count"), 2);
    expect_time(item(summary, "graphs"), "time_ns", 5600);
    cr_expect_eq(e2e_number(item(summary, "kernels"), "count"), 1);
    expect_time(summary, "busy_ns", 6400);
}

/* ---- Leaks ---- */

/* gpu/uses_it enters the span "step" before it uses the GPU. */
static const struct e2e *run_leaks(int code, const char *fixture,
                                   const char *option)
{
    return e2e_exits(code,
                     PLAYED "%s.fixture %s --filter gpu/uses_it "
                            "--trace-options=%s",
                     fixture, program(), option);
}

#define LEAK                                                                   \
    "leaked GPU memory: 4.0 MiB in 2 allocations; the largest 4.0 MiB of "     \
    "device memory in step"

Test(e2e_gpu_summary, warns_of_leaks_by_default)
{
    const struct e2e *result =
        e2e_exits(0, PLAYED "leak.fixture %s --filter gpu/uses_it", program());
    const cJSON *leaks, *test;

    cr_expect_eq(
        e2e_count(result->err, "testlog: gpu/uses_it: warning: " LEAK "\n"), 1,
        "%s", result->err);
    e2e_expect_has(result->err, "testlog: GPU: leaked 4.0 MiB\n");
    test = e2e_latest("gpu/uses_it");
    leaks = item(item(test, "gpu_summary"), "leaks");
    cr_expect_eq(e2e_number(leaks, "count"), 2);
    cr_expect_eq(e2e_number(leaks, "bytes"), (4 << 20) + 1024);
    cr_expect_eq(e2e_number(leaks, "pool_bytes"), 0);
    cr_expect_eq(e2e_number(item(leaks, "largest"), "bytes"), 4 << 20);
    e2e_expect_is(e2e_text(item(leaks, "largest"), "memory"), "device");
    e2e_expect_is(e2e_text(item(leaks, "largest"), "spans"), "step");
}

Test(e2e_gpu_summary, fails_a_test_that_leaks_if_asked)
{
    const struct e2e *result = run_leaks(1, "leak", "gpu_leaks=fail");

    e2e_expect_has(result->err, "---- gpu/uses_it: failed: " LEAK " ----\n",
                   "  leaked    4.0 MiB in 2 allocations; ");
    e2e_expect_lacks(result->err, "warning: ");
    e2e_expect_is(e2e_text(e2e_latest("gpu/uses_it"), "reason"), LEAK);
}

Test(e2e_gpu_summary, ignores_leaks_if_asked)
{
    e2e_expect_lacks(run_leaks(0, "leak", "gpu_leaks=off")->err, "leaked");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/run.json"), "largest\":{");
}

Test(e2e_gpu_summary, finds_no_leak_in_released_memory)
{
    static const char *const fixtures[] = {"plain", "pool", "reset"};

    for (size_t i = 0; i < sizeof(fixtures) / sizeof(*fixtures); i++)
        e2e_expect_lacks(run_leaks(0, fixtures[i], "gpu_leaks=fail")->err,
                         "leaked");
}

Test(e2e_gpu_summary, tells_memory_of_pools_apart)
{
    e2e_expect_has(run_leaks(1, "pool_leak", "gpu_leaks=fail")->err,
                   "leaked GPU memory: 3.0 KiB in 1 allocation of device "
                   "memory in step; 3.0 KiB came from memory pools ----\n");
}

Test(e2e_gpu_summary, finds_leaks_after_a_reset_that_failed)
{
    const struct e2e *result = run_leaks(1, "reset_failed", "gpu_leaks=fail");

    e2e_expect_has(result->err, "leaked GPU memory: 4.0 MiB in 1 allocation");
}

Test(e2e_gpu_summary, judges_no_leaks_if_records_are_missing)
{
    const struct e2e *result = e2e_exits(
        0,
        "PLAYBACK_DROPPED=3 " PLAYED
        "leak.fixture %s --filter gpu/uses_it --trace-options=gpu_leaks=fail",
        program());

    e2e_expect_has(result->err, "testlog: gpu/uses_it: not judged, because "
                                "records are missing: " LEAK "\n");
}

/* The limit drops the records of releases. */
Test(e2e_gpu_summary, judges_no_leaks_if_limits_drop_records)
{
    const struct e2e *result =
        run_leaks(0, "pool", "gpu_leaks=fail,gpu_max_activity_api_events=3");

    e2e_expect_has(result->err, "not judged, because records are missing: "
                                "leaked GPU memory: 3.0 KiB");
}

Test(e2e_gpu_summary, keeps_the_reason_of_a_failed_assertion)
{
    const struct e2e *result = e2e_exits(
        1,
        PLAYED
        "leak.fixture %s --filter gpu/fails --trace-options=gpu_leaks=fail",
        program());

    e2e_expect_has(result->err, "---- gpu/fails: failed ----\nprograms/gpu.c:",
                   "  leaked    4.0 MiB");
    e2e_expect_lacks(result->err, "leaked GPU memory");
}

Test(e2e_gpu_summary, adds_up_the_leaks_of_a_run)
{
    const struct e2e *result = e2e_exits(
        0, PLAYED "leak.fixture " TESTLOG " run %s %s -- --filter gpu/uses_it",
        program(), program());
    const cJSON *leaks;

    e2e_expect_has(result->err, "testlog: GPU: leaked 8.0 MiB\n");
    leaks = item(item(e2e_run_json(), "gpu_summary"), "leaks");
    cr_expect_eq(e2e_number(leaks, "count"), 4);
    cr_expect_eq(e2e_number(item(leaks, "largest"), "bytes"), 4 << 20);
}
