/* e2e_zones_test.c: zones of kernels on a real OpenCL device. */
#include "tests/support/chrome.h"
#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define FOLDER  "testlog-runs/latest/tests/zones_test/zones."
#define FOUND                                                                  \
    "mkdir -p ../pocl; export POCL_CACHE_DIR=$PWD/../pocl; "                   \
    "TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "

enum { NO_DEVICE = 77 };

E2E_FOLDER

static void begin(void)
{
    const struct e2e *device;

    e2e_begin();
    device = e2e_once("device", "%s look", e2e_any("opencl_answers"));
    if (device->code == NO_DEVICE)
        cr_skip_test("no OpenCL device (make deps-opencl)");
}

TestSuite(e2e_zones, .init = begin, .timeout = 300);

static void run(void)
{
    const struct e2e *result =
        e2e_once("run", FOUND "%s", e2e_program("zones", E2E_TRACED));

    e2e_expect_code(result, 1);
    cr_assert_eq(chdir(result->folder), 0);
}

static const char *lines_of(const char *test)
{
    return e2e_run(TESTLOG " log 'zones/%s' --filter=trace", test)->out;
}

static int count_in(const char *test)
{
    return atoi(e2e_run(TESTLOG " log 'zones/%s' --filter=trace | "
                                "grep -c gpu::zone:",
                        test)
                    ->out);
}

static const cJSON *trace_of(const char *test)
{
    return e2e_json(FOLDER "%s/trace.json", test);
}

/* ---- What is recorded ---- */

Test(e2e_zones, puts_zones_below_the_span_that_launched_them)
{
    const char *lines;

    run();
    lines = lines_of("nests");
    e2e_expect_has(lines, "TRACE first: gpu::zone: Executing zone name=outer "
                          "kernel=nest group=0 item=0");
    /* Both readings of a coarse clock may be equal: then it has no duration. */
    e2e_expect_has(lines, "TRACE second: gpu::zone: Executing zone name=inner "
                          "kernel=nest group=3 item=0");
    cr_expect_eq(count_in("nests"), 16);
}

Test(e2e_zones, draws_a_track_for_each_work_group)
{
    const cJSON *trace, *event;
    size_t tracks = 0, zones = 0;
    double device = 0;

    run();
    trace = trace_of("nests");
    device = chrome_number(chrome_event(trace, "X", "nest"), "pid");
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(trace, "traceEvents"))
    {
        const cJSON *args = cJSON_GetObjectItem(event, "args");

        tracks += !strncmp(chrome_text(args, "name"), "work-group ", 11);
        if (strcmp(chrome_text(event, "cat"), "zone") != 0)
            continue;
        zones++;
        cr_expect_eq(chrome_number(event, "pid"), device);
    }
    cr_expect_eq(tracks, 4);
    cr_expect_eq(zones, 16);
    chrome_check_nesting(cJSON_GetObjectItem(trace, "traceEvents"));
    chrome_check_keys(trace);
}

/* Both clocks are exact here, up to a microsecond. */
Test(e2e_zones, places_zones_within_their_kernel)
{
    const cJSON *trace, *kernel, *zone;
    double begin, end;

    run();
    trace = trace_of("reads_a_copy");
    kernel = chrome_event(trace, "X", "nest");
    zone = chrome_event(trace, "X", "outer");
    begin = chrome_number(zone, "ts") - chrome_number(kernel, "ts");
    end = begin + chrome_number(zone, "dur") - chrome_number(kernel, "dur");
    cr_expect_gt(begin, -1);
    cr_expect_lt(end, 1);
}

Test(e2e_zones, reads_a_ring_at_each_wait)
{
    run();
    cr_expect_eq(count_in("launches_often"), 80);
}

Test(e2e_zones, reads_rings_of_tests_that_fail)
{
    run();
    cr_expect_eq(count_in("fails"), 8);
}

Test(e2e_zones, reads_a_ring_before_it_is_released)
{
    run();
    cr_expect_eq(count_in("releases_its_ring"), 16);
}

Test(e2e_zones, reads_copies_for_the_program)
{
    run();
    cr_expect_eq(count_in("reads_a_copy"), 24);
}

Test(e2e_zones, writes_nothing_without_a_ring)
{
    run();
    e2e_expect_lacks(lines_of("gives_no_ring"), "zone");
}

/* ---- Losses ---- */

Test(e2e_zones, warns_of_records_that_found_no_room)
{
    run();
    e2e_expect_has(lines_of("overflows"),
                   " WARN gpu: zones: 12 records dropped "
                   "by full rings");
    e2e_expect_is(
        e2e_text(cJSON_GetObjectItem(trace_of("overflows"), "otherData"),
                 "gpu.zones.dropped"),
        "12");
}

Test(e2e_zones, warns_of_zones_that_do_not_match)
{
    run();
    e2e_expect_has(
        lines_of("forgets"),
        "WARN gpu: zones: 1 end without a beginning, 1 zone without an end",
        "name=outer kernel=forget group=0 item=0 unfinished=true");
}

Test(e2e_zones, counts_all_in_run_json)
{
    const cJSON *zones;

    run();
    zones = cJSON_GetObjectItem(e2e_run_json(), "zones");
    cr_expect_geq(e2e_number(zones, "recorded"), 145);
    cr_expect_eq(e2e_number(zones, "dropped"), 12);
    cr_expect_geq(e2e_number(zones, "unfinished"), 1);
    cr_expect_geq(e2e_number(zones, "stray_ends"), 1);
    cr_expect_eq(e2e_number(zones, "unread"), 0);
    cr_expect_eq(e2e_number(zones, "invalid"), 0);
    /* PoCL's clock is the processor's counter. */
    if (strstr(e2e_run("cat /sys/devices/system/clocksource/clocksource0/"
                       "current_clocksource")
                   ->out,
               "tsc"))
        e2e_expect_is(e2e_text(zones, "clock"), "the recording's");
    else
        e2e_expect_has(e2e_text(zones, "clock"), "fitted, error ");
}
