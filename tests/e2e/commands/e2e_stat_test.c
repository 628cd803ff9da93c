/* e2e_stat_test.c: testlog stat, and what testlog diff prints about spans and
 * kernels, also with played back records of a GPU. */
#include "tests/support/e2e.h"

#include "tests/support/support.h"

#include "trace/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TESTLOG "'" BUILD_DIR "/testlog' "

E2E_FOLDER

/* `root` looks like a machine with a driver. */
TestSuite(e2e_stat, .init = e2e_begin_gpu, .timeout = 300);

static void run_nested(void)
{
    e2e_exits(0, "%s --filter 'traced/@(nests|logs_all_levels)'",
              e2e_program("traced", E2E_TRACED));
}

static void play(const char *fixture, const char *arguments)
{
    e2e_run("TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "
            "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR
            "/tests/playback.so PLAYBACK_FIXTURE=" TESTS_DIR
            "/playback/%s.fixture %s %s",
            fixture, e2e_program("gpu", E2E_TRACED), arguments);
}

static void run_gpu(void)
{
    play("plain", "--filter 'gpu/@(fails|uses_it)'");
}

/* Returns the rows of `testlog stat --json ARGUMENTS`. */
static const cJSON *rows_of(const char *arguments)
{
    const cJSON *rows;

    e2e_exits(0, TESTLOG "stat --json %s >stat.json", arguments);
    rows = cJSON_GetObjectItem(e2e_json("stat.json"), "rows");
    cr_assert(cJSON_IsArray(rows));
    return rows;
}

static const cJSON *row_of(const cJSON *rows, const char *name)
{
    const cJSON *row;

    cJSON_ArrayForEach(row, rows)
    {
        if (!strcmp(e2e_text(row, "name"), name))
            return row;
    }
    cr_assert_fail("no row of %s", name);
    return NULL;
}

/* ---- Spans ---- */

Test(e2e_stat, sums_up_spans_and_their_self_time)
{
    const cJSON *rows, *outer, *inner, *second;

    run_nested();
    rows = rows_of("");
    cr_expect_eq(cJSON_GetArraySize(rows), 4);
    outer = row_of(rows, "outer");
    inner = row_of(rows, "inner");
    second = row_of(rows, "second");
    cr_expect_eq(e2e_number(outer, "count"), 1);
    cr_expect_gt(e2e_number(inner, "total_ns"), 0);
    cr_expect_eq(e2e_number(inner, "self_ns"), e2e_number(inner, "total_ns"));
    cr_expect_eq(e2e_number(outer, "self_ns"),
                 e2e_number(outer, "total_ns") - e2e_number(inner, "total_ns") -
                     e2e_number(second, "total_ns"));
    cr_expect_eq(e2e_number(outer, "median_ns"), e2e_number(outer, "max_ns"));
    cr_expect_eq(e2e_number(outer, "p99_ns"), e2e_number(outer, "min_ns"));
    cr_expect_eq(e2e_number(outer, "average_ns"), e2e_number(outer, "max_ns"));
    for (int i = 1; i < 4; i++)
        cr_expect_geq(e2e_number(cJSON_GetArrayItem(rows, i - 1), "total_ns"),
                      e2e_number(cJSON_GetArrayItem(rows, i), "total_ns"));
}

Test(e2e_stat, prints_a_name_of_digits_as_text)
{
    e2e_link("traced", E2E_TRACED, "12");
    e2e_run("./12 --filter traced/nests");
    cr_assert_str_eq(
        e2e_text(cJSON_GetArrayItem(rows_of("--by=test"), 0), "program"), "12");
}

Test(e2e_stat, aligns_columns_and_puts_the_name_last)
{
    const struct e2e *stat;

    run_nested();
    stat = e2e_exits(0, TESTLOG "stat latest 'traced/n*'");
    e2e_expect_is(stat->err, "");
    e2e_expect_has(stat->out, "Count", "  Max  Span\n    1  ", "s  outer\n");
    e2e_expect_lacks(stat->out, "span of trace");
    cr_expect_eq(e2e_count(stat->out, "\n"), 4);
}

Test(e2e_stat, takes_runs_tests_and_recordings)
{
    run_nested();
    e2e_expect_has(e2e_run(TESTLOG "stat traced/nests")->out, "  outer\n");
    e2e_expect_has(e2e_run(TESTLOG "stat testlog-runs/latest/tests/"
                                   "traced_test/traced.nests")
                       ->out,
                   "  outer\n");
    e2e_expect_has(e2e_run(TESTLOG "stat testlog-runs/latest/tests/"
                                   "traced_test/traced.nests/recording")
                       ->out,
                   "  outer\n");
}

Test(e2e_stat, csv_quotes_names)
{
    const struct e2e *stat;

    run_gpu();
    stat = e2e_run(TESTLOG "stat --csv --by=kernel");
    e2e_expect_has(
        stat->out,
        "time_percent,total_ns,instances,avg_ns,med_ns,min_ns,max_ns,stddev_ns,"
        "grid,block,registers,shared_memory,occupancy_percent,name\n",
        ",\"(8, 64, 1)\",\"(256, 1, 1)\",32,0,48,\"void saxpy<float>(float*, "
        "float const*, float, int)\"\n");
    run_nested();
    stat = e2e_run(TESTLOG "stat --csv");
    e2e_expect_has(stat->out,
                   "count,total_ns,self_ns,average_ns,min_ns,median_ns,"
                   "p99_ns,max_ns,name\n1,");
}

/* ---- Trees ---- */

Test(e2e_stat, prints_a_tree_of_spans)
{
    const struct e2e *stat;
    const cJSON *rows;

    run_nested();
    stat = e2e_exits(0, TESTLOG "stat traced/nests --tree");
    e2e_expect_has(stat->out, "  Count  Span\n", "      1  outer\n",
                   "      1    inner\n", "      1    second\n");
    rows = rows_of("traced/nests --tree");
    cr_expect_eq(cJSON_GetArraySize(rows), 3);
    e2e_expect_is(e2e_text(cJSON_GetArrayItem(rows, 0), "name"), "outer");
    cr_expect_eq(e2e_number(row_of(rows, "outer"), "depth"), 0);
    cr_expect_eq(e2e_number(row_of(rows, "second"), "depth"), 1);
    e2e_expect_has(e2e_run(TESTLOG "stat --tree --csv")->out,
                   "total_ns,self_ns,count,depth,name\n");
}

/* ---- Kernels ---- */

static bool is_about(double ns, double expected)
{
    return ns > 0.99 * expected && ns < 1.01 * expected;
}

/* Each test launches nine kernels; see plain.expect. */
Test(e2e_stat, sums_up_kernels_by_name_and_shape)
{
    const cJSON *rows, *row;
    double share = 0, instances = 0;

    run_gpu();
    rows = rows_of("--by kernel");
    cr_expect_eq(cJSON_GetArraySize(rows), 9);
    cJSON_ArrayForEach(row, rows)
    {
        share += e2e_number(row, "time_percent");
        instances += e2e_number(row, "instances");
    }
    cr_expect(share > 99.99 && share < 100.01, "%g", share);
    cr_expect_eq(instances, 18);
    row = cJSON_GetArrayItem(rows, 0);
    e2e_expect_is(e2e_text(row, "name"), "inner");
    e2e_expect_is(e2e_text(row, "grid"), "(1, 1, 1)");
    e2e_expect_is(e2e_text(row, "block"), "(1024, 1, 1)");
    cr_expect_eq(e2e_number(row, "registers"), 32);
    cr_expect_eq(e2e_number(row, "shared_memory"), 0);
    cr_expect_eq(e2e_number(row, "occupancy_percent"), 0);
    cr_expect(is_about(e2e_number(row, "total_ns"), 1000));
    cr_expect(is_about(e2e_number(row, "avg_ns"), 500));
    cr_expect(is_about(e2e_number(row, "med_ns"), 500));
    cr_expect_lt(e2e_number(row, "stddev_ns"), 2);
    row = row_of(rows, "identity_f16");
    cr_expect(is_about(e2e_number(row, "max_ns"), 400));
    cr_expect(is_about(e2e_number(row, "time_percent"), 100.0 * 800 / 7400));
}

Test(e2e_stat, prints_kernels_as_a_table)
{
    const char *out;

    run_gpu();
    out = e2e_run(TESTLOG "stat gpu/uses_it --by=kernel")->out;
    e2e_expect_has(e2e_line(out, "StdDev"), "Occupancy  Kernel");
    e2e_expect_has(e2e_line(out, "inner"), "(1024, 1, 1)         32       0",
                   "13.5%  ");
}

/* ---- Critical paths ---- */

/* A thread of a pool hangs in a job, and the test waits for it. */
Test(e2e_stat, critical_path_leads_to_the_thread_that_hangs)
{
    const struct e2e *stat;

    if (!strstr(VARIANT_DIR, "-trace"))
        cr_skip_test("the examples are built without TRACING");
    e2e_run("LOG=trace '%s/examples/failures_test' --filter "
            "failures/hangs_in_a_thread",
            VARIANT_DIR);
    stat = e2e_exits(0, TESTLOG "stat --critical");
    e2e_expect_is(stat->err, "");
    e2e_expect_has(e2e_line(stat->out, "Where"), "Source ");
    e2e_expect_has(e2e_line(stat->out, "  pool_new"), "examples/pool.c:");
    e2e_expect_has(e2e_line(stat->out, "  hang"), "  pool ");
    e2e_expect_has(stat->out, "  Pieces  Name\n");
}

/* Returns whether the names of pieces are these, one after the other. */
static bool has_pieces(const cJSON *pieces, const char *const *names,
                       size_t count)
{
    for (int i = 0; i < cJSON_GetArraySize(pieces); i++) {
        size_t same = 0;

        while (same < count) {
            const cJSON *piece = cJSON_GetArrayItem(pieces, i + (int)same);
            const cJSON *name = cJSON_GetObjectItem(piece, "name");

            if (strcmp(cJSON_IsString(name) ? name->valuestring : "",
                       names[same]) != 0)
                break;
            same++;
        }
        if (same == count)
            return true;
    }
    return false;
}

/* The fixture has a copy in the midst of its call, and kernels that begin a
 * while after their launch. The test waits for them in no span. */
Test(e2e_stat, critical_path_leads_to_work_on_a_gpu)
{
    static const char *const copy[] = {"cudaMemcpy", "Memcpy HtoD",
                                       "cudaMemcpy"};
    static const char *const launch[] = {
        "cudaLaunchKernel", "",
        "void saxpy<float>(float*, float const*, float, int)"};
    const cJSON *test, *pieces, *piece;
    double end, body = 0;

    play("plain", "--filter gpu/uses_it_too");
    test = cJSON_GetArrayItem(rows_of("--critical"), 0);
    end = -e2e_number(test, "setup_ns");
    cr_expect_lt(end, 0);
    e2e_expect_is(e2e_text(test, "test"), "gpu/uses_it_too");
    pieces = cJSON_GetObjectItem(test, "pieces");
    cr_expect(has_pieces(pieces, copy, 3));
    cr_expect(has_pieces(pieces, launch, 3));
    cJSON_ArrayForEach(piece, pieces)
    {
        cr_expect_eq(e2e_number(piece, "start_ns"), end);
        end += e2e_number(piece, "duration_ns");
        if (!strcmp(e2e_text(piece, "phase"), "body"))
            body += e2e_number(piece, "duration_ns");
    }
    cr_expect_eq(body, e2e_number(test, "body_ns"));
    cr_expect_gt(e2e_number(test, "teardown_ns"), 0);
    cr_expect_eq(end, body + e2e_number(test, "teardown_ns"));
    cr_expect_eq(end + e2e_number(test, "setup_ns"),
                 e2e_number(test, "duration_ns"));
    e2e_expect_has(e2e_run(TESTLOG "stat --critical --csv")->out,
                   ",\"GPU 0: NVIDIA H200, stream 7\",,Memcpy HtoD,body\n");
}

Test(e2e_stat, critical_path_has_a_row_for_each_test_of_a_run)
{
    const struct e2e *stat;
    const cJSON *rows;

    run_nested();
    stat = e2e_run(TESTLOG "stat --critical");
    e2e_expect_has(stat->out, "Longest");
    e2e_expect_has(e2e_line(stat->out, "traced/nests"), "outer ");
    cr_expect_eq(e2e_count(stat->out, "\n"), 3);
    rows = rows_of("--critical");
    cr_expect_eq(cJSON_GetArraySize(rows), 2);
    cr_expect_not(cJSON_HasObjectItem(cJSON_GetArrayItem(rows, 0), "pieces"));
    stat = e2e_run(TESTLOG "stat --critical --csv");
    e2e_expect_has(stat->out,
                   "duration_ns,setup_ns,body_ns,teardown_ns,covered_ns,"
                   "covered_percent,longest,program,test\n",
                   ",traced_test,traced/nests\n");
}

/* A failed assertion jumps out of the body of gpu/fails, and a device's work is
 * recorded until the last fixture ends. */
Test(e2e_stat, critical_paths_have_the_phases_of_all_tests)
{
    const cJSON *rows, *row;

    run_gpu();
    rows = rows_of("--critical");
    cr_expect_eq(cJSON_GetArraySize(rows), 2);
    cJSON_ArrayForEach(row, rows)
    {
        cr_expect_gt(e2e_number(row, "setup_ns"), 0);
        cr_expect_gt(e2e_number(row, "body_ns"), 0);
        cr_expect_gt(e2e_number(row, "teardown_ns"), 0);
        cr_expect_eq(e2e_number(row, "duration_ns"),
                     e2e_number(row, "setup_ns") + e2e_number(row, "body_ns") +
                         e2e_number(row, "teardown_ns"));
    }
}

/* Makes the notes of phases unknown, as in recordings of older versions. */
static void forget_phases(const char *path)
{
    size_t size, count = 0;
    char *bytes = test_load(path, &size);

    for (size_t at = TRACE_HEADER_SIZE; at < size; at += TRACE_SLOT_SIZE) {
        struct trace_record *record = (struct trace_record *)(bytes + at);

        if (record->kind != TRACE_KIND_META || record->count ||
            record->slots != 1 || !record->end ||
            record->end >= TRACE_PHASE_COUNT)
            continue;
        record->end = UINT64_MAX;
        count++;
    }
    cr_expect_geq(count, 4);
    test_save(path, bytes, size);
}

static const cJSON *first_piece(void)
{
    const cJSON *test =
        cJSON_GetArrayItem(rows_of("--critical traced/nests"), 0);

    cr_expect_eq(e2e_number(test, "setup_ns") + e2e_number(test, "body_ns") +
                     e2e_number(test, "teardown_ns"),
                 0);
    return cJSON_GetArrayItem(cJSON_GetObjectItem(test, "pieces"), 0);
}

/* The runner noted that the test began before its first record. */
Test(e2e_stat, critical_path_without_phases_begins_as_the_runner_noted)
{
    run_nested();
    forget_phases("testlog-runs/latest/tests/traced_test/traced.nests/"
                  "recording");
    cr_expect_eq(e2e_number(first_piece(), "start_ns"), 0);
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(first_piece(), "name")));
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(first_piece(), "phase")));
    e2e_expect_has(e2e_run(TESTLOG "stat --critical traced/nests")->out,
                   "  (nothing recorded)\n");
    cr_assert_eq(rename("testlog-runs/latest/run.json", "moved"), 0);
    e2e_expect_is(e2e_text(first_piece(), "name"), "outer");
}

/* ---- Lines and tests ---- */

Test(e2e_stat, counts_lines_by_target_and_level)
{
    run_nested();
    e2e_expect_is(e2e_run(TESTLOG "stat --by=target")->out,
                  "Lines  Error  Warn  Info  Debug  Trace  Target\n"
                  "    7      1     2     2      1      1  "
                  "programs::traced\n");
    cr_expect_eq(
        e2e_number(row_of(rows_of("--by=target"), "programs::traced"), "warn"),
        2);
}

Test(e2e_stat, sums_up_tests)
{
    const cJSON *rows, *row;

    run_gpu();
    rows = rows_of("--by=test");
    cr_expect_eq(cJSON_GetArraySize(rows), 2);
    row = row_of(rows, "gpu/fails");
    e2e_expect_is(e2e_text(row, "program"), "gpu_test");
    cr_expect_eq(e2e_number(row, "spans"), 2);
    cr_expect_eq(e2e_number(row, "kernels"), 9);
    cr_expect_gt(e2e_number(row, "duration_ns"), 0);
}

/* ---- What tests and spans use ---- */

static double used(const char *test, const char *member)
{
    const cJSON *one;

    cJSON_ArrayForEach(one, cJSON_GetObjectItem(e2e_run_json(), "tests"))
    {
        if (!strcmp(e2e_text(one, "name"), test))
            return e2e_number(cJSON_GetObjectItem(one, "usage"), member);
    }
    return -1;
}

Test(e2e_stat, sums_up_the_processor_time_of_spans)
{
    const char *noise = e2e_program("noise", E2E_TRACED);
    const cJSON *row;

    e2e_run("%s --filter single/span --trace-options=cpu=1", noise);
    row = cJSON_GetArrayItem(rows_of(""), 0);
    e2e_expect_is(e2e_text(row, "name"), "span 150");
    cr_expect_gt(e2e_number(row, "cpu_ns"), 0);
    cr_expect_leq(e2e_number(row, "cpu_ns"), e2e_number(row, "total_ns"));
    e2e_expect_has(e2e_run(TESTLOG "stat")->out, "  CPU  Span\n");
    cr_expect_geq(used("single/span", "cpu_ns"), e2e_number(row, "cpu_ns"));
    e2e_run("%s --filter single/span", noise);
    e2e_expect_lacks(e2e_run(TESTLOG "stat")->out, "CPU");
}

/* The processor time of a test that is slower by a factor of 5 has grown,
 * however busy the machine is. */
Test(e2e_stat, diff_compares_processor_time)
{
    const char *noise = e2e_program("noise", E2E_TRACED);
    const struct e2e *diff;

    e2e_run("%s --filter single/span --trace-options=cpu=1; SLOW=5 %s "
            "--filter single/span --trace-options=cpu=1",
            noise, noise);
    diff = e2e_exits(1, TESTLOG "diff --by=cpu --fail-over=50%%");
    e2e_expect_has(diff->out, "\nslower spans:\n    span 150: ");
    e2e_exits(0, TESTLOG "diff latest~1 latest~1 --by=cpu --fail-over=50%%");
}

/* Memory is compared without repetitions. */
Test(e2e_stat, diff_compares_memory)
{
    const char *small = e2e_program("small", E2E_TRACED);
    const struct e2e *diff;

    e2e_run("%s --filter small/passes; %s --filter small/passes", small, small);
    e2e_run("sed -i 's/\"peak_rss_bytes\":[0-9]*/\"peak_rss_bytes\":10485760/' "
            "testlog-runs/2*/run.json && sed -i 's/10485760/20971520/' "
            "testlog-runs/latest/run.json");
    diff = e2e_exits(1, TESTLOG "diff --by=memory --fail-over=10%%");
    e2e_expect_has(diff->out, "\nby: peak of memory\n\nslower:\n"
                              "    small/passes: 10.0 MiB -> 20.0 MiB (earlier "
                              "passes: at most 10.0 MiB)\n");
    e2e_exits(0, TESTLOG "diff latest latest --by=memory --fail-over=1%%");
}

Test(e2e_stat, diff_says_that_there_is_no_processor_time)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("%s --filter small/passes; %s --filter small/passes; "
            "sed -i 's/\"usage\"/\"unused\"/' testlog-runs/2*/run.json",
            small, small);
    e2e_expect_is(
        e2e_run(TESTLOG "diff --by=cpu")->err,
        "testlog: diff: no test or span of both sides has a processor "
        "time\n");
}

/* One thread computes until the timeout, others wait. */
Test(e2e_stat, tells_what_tests_used_that_timed_out)
{
    e2e_run("%s --filter hanging/livelock --filter hanging/semaphore",
            e2e_program("hanging", E2E_TRACED));
    cr_expect_gt(used("hanging/livelock", "cpu_ns"), 50e6);
    cr_expect_lt(used("hanging/semaphore", "cpu_ns"), 50e6);
    cr_expect_gt(used("hanging/semaphore", "peak_rss_bytes"), 1e5);
    cr_expect_geq(used("hanging/semaphore", "voluntary_switches"), 1);
    e2e_expect_has(e2e_run(TESTLOG "stat --by=test")->out, "  Peak RSS  ");
}

/* ---- Changes from one run to another ---- */

/* Each test launches one kernel of 500 ns in "jit", and four of 400 ns in
 * "noise". */
Test(e2e_stat, diff_prints_slower_kernels)
{
    const struct e2e *diff;
    const cJSON *json, *kernel;

    play("noise", "--filter gpu/uses_it --repeat=5");
    play("jit", "--filter gpu/uses_it --repeat=5");
    diff = e2e_exits(0, TESTLOG "diff");
    e2e_expect_has(diff->out, "\nslower kernels:\n    void saxpy<float>(",
                   " grid=(4, 64, 1) block=(", ", 1.25 times as long");
    e2e_expect_lacks(diff->out, "frequent");
    e2e_exits(1, TESTLOG "diff --fail-over=20%%");
    diff = e2e_exits(0, TESTLOG "diff --fail-over=300%%");
    e2e_expect_lacks(diff->out, "slower kernels");
    e2e_exits(1, TESTLOG "diff --fail-over 20 --json >diff.json");
    json = e2e_json("diff.json");
    kernel = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "kernels"), 0);
    e2e_expect_is(e2e_text(kernel, "change"), "slower");
    e2e_expect_has(e2e_text(kernel, "name"), "void saxpy<float>(");
    e2e_expect_is(e2e_text(kernel, "grid"), "(4, 64, 1)");
    cr_expect_eq(e2e_number(cJSON_GetObjectItem(kernel, "old"), "count"), 20);
    cr_expect_eq(e2e_number(cJSON_GetObjectItem(kernel, "new"), "count"), 5);
    cr_expect(is_about(e2e_number(kernel, "ratio"), 1.25));
}

Test(e2e_stat, diff_prints_more_frequent_kernels)
{
    play("jit", "--filter gpu/uses_it");
    play("noise", "--filter gpu/uses_it");
    e2e_expect_has(e2e_exits(1, TESTLOG "diff --fail-over=200%%")->out,
                   "\nmore frequent kernels:\n    void saxpy<float>(",
                   ": 1 -> 4 calls, 4.00 times as many\n");
}

Test(e2e_stat, diff_compares_only_tests_of_both_runs)
{
    play("jit", "--filter gpu/uses_it");
    play("noise", "--filter gpu/fails");
    e2e_expect_lacks(e2e_run(TESTLOG "diff --fail-over=0")->out, "kernels");
}

Test(e2e_stat, diff_refuses_a_bad_percentage)
{
    static const char *const bad[] = {"x", "", "-1", "10%%%%", "10x", "nan"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        e2e_expect_has(
            e2e_exits(2, TESTLOG "diff --fail-over='%s'", bad[i])->err,
            "testlog: diff: --fail-over needs a percentage such as 10%, not "
            "\"");
}

/* ---- Parts of a test ---- */

/* A part may have no slice of the name. */
static double total_of(const char *arguments, const char *name)
{
    const cJSON *rows = rows_of(arguments), *row;

    cJSON_ArrayForEach(row, rows)
    {
        if (!strcmp(e2e_text(row, "name"), name))
            return e2e_number(row, "total_ns") + e2e_number(row, "self_ns");
    }
    return 0;
}

Test(e2e_stat, parts_of_a_test_add_up_to_it)
{
    static const char *const names[] = {"outer", "inner"};

    run_nested();
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (int us = 1; us < 1000; us *= 3) {
            char before[64], after[64];

            snprintf(before, sizeof(before), "nests --to=%dus", us);
            snprintf(after, sizeof(after), "nests --from=%dus", us);
            cr_expect_eq(total_of(before, names[i]) + total_of(after, names[i]),
                         total_of("nests", names[i]), "%s, %d us", names[i],
                         us);
        }
}

Test(e2e_stat, parts_have_only_their_lines)
{
    run_nested();
    e2e_expect_has(e2e_run(TESTLOG "stat --by=target --to=-1ms")->err,
                   "testlog-runs/latest at that time");
    e2e_expect_has(e2e_run(TESTLOG "stat --by=target --from=-1s")->out,
                   "traced");
}

Test(e2e_stat, refuses_bad_times)
{
    static const struct {
        const char *arguments, *message;
    } bad[] = {
        {"--from=5", "--from=5 is not a time; write one such as 0, 250us, "
                     "1.2ms or 3s, from the test's beginning"},
        {"--to=soon", "--to=soon is not a time"},
        {"--from=2ms --to=1ms", "--to must be later than --from"},
        {"--from=1ms --to=1ms", "--to must be later than --from"},
        {"--critical --to=1ms", "--critical follows the whole test; leave out "
                                "--from and --to"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        e2e_expect_has(e2e_exits(2, TESTLOG "stat %s", bad[i].arguments)->err,
                       bad[i].message);
}

/* ---- Refusals ---- */

Test(e2e_stat, reports_that_nothing_was_recorded)
{
    const struct e2e *stat;

    run_nested();
    stat = e2e_exits(0, TESTLOG "stat --by=kernel");
    e2e_expect_is(stat->out, "");
    e2e_expect_is(stat->err, "testlog: stat: no GPU kernel was recorded in "
                             "testlog-runs/latest; --by=test lists tests\n");
}

/* A suite that is not annotated has tests all the same. */
Test(e2e_stat, names_the_table_of_tests_if_nothing_else_was_recorded)
{
    e2e_exits(0, "'%s' --filter=ends/passes", e2e_program("whole", E2E_ALL));
    e2e_expect_has(e2e_run(TESTLOG "stat")->err,
                   "stat: no span was recorded in testlog-runs/latest; "
                   "--by=test lists tests\n");
    e2e_expect_has(e2e_run(TESTLOG "stat --by=test")->out, "ends/passes");
}

Test(e2e_stat, reports_missing_records)
{
    e2e_run("TRACE_LIMIT=256K %s --filter losses/limit",
            e2e_program("losses", E2E_TRACED));
    e2e_expect_has(e2e_run(TESTLOG "stat")->err,
                   "testlog: stat: records of 1 test are missing: "
                   "losses/limit: ");
    e2e_expect_has(e2e_run(TESTLOG "log")->err,
                   "testlog: log: records of 1 test are missing: "
                   "losses/limit: ");
}

Test(e2e_stat, refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"--by=name", "testlog: --by: unknown value \"name\"; write span, "
                      "kernel, target, test, function, line, finding or "
                      "counter\n"},
        {"--by=test --tree",
         "testlog: stat: --tree shows spans only; leave out --by\n"},
        {"--critical --tree", "testlog: stat: --critical prints its own table; "
                              "leave out --tree\n"},
        {"--by", "testlog: stat: --by needs a value"},
        {"--jsom", "testlog: stat: unknown flag --jsom; did you mean --json?"},
        {"nowhere", "testlog: stat: cannot find nowhere: "},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct e2e *stat =
            e2e_exits(2, TESTLOG "stat %s", rows[i].arguments);

        e2e_expect_has(stat->err, rows[i].error);
        e2e_expect_is(stat->out, "");
    }
}
