/* e2e_perfetto_test.c: compares Perfetto's traces, as protoc decodes them, with
 * Chrome's traces of the same recordings.
 */
#include "tests/support/e2e.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runners/export/perfetto.h"
#include "tests/support/support.h"

#define TESTLOG "'" BUILD_DIR "/testlog' "

#define DECODE                                                                 \
    "protoc --decode=Trace -I '" TESTS_DIR "/perfetto' perfetto.proto "        \
    "<ours.pb >ours.txt"

E2E_FOLDER

TestSuite(e2e_perfetto, .init = e2e_begin, .timeout = 300);

/* Compares ours.pb with theirs.json; returns what compare.py prints. */
static const char *compared(void)
{
    const struct e2e *result;

    e2e_exits(0, DECODE);
    result = e2e_exits(0, "python3 '" TESTS_DIR
                          "/perfetto/compare.py' ours.txt theirs.json");
    e2e_expect_lacks(result->out, "only Perfetto has", " is ");
    return result->out;
}

static void need_tools(void)
{
    if (e2e_run("command -v protoc")->code)
        cr_skip_test("needs protoc, from Debian's protobuf-compiler");
    e2e_need("python3");
}

Test(e2e_perfetto, draws_a_run_as_chrome_s_trace_does)
{
    const char *out;

    need_tools();
    e2e_run(TESTLOG "run '%s' '%s' '%s' -- --filter '@(traced|slow|device)/*'",
            e2e_program("traced", E2E_TRACED), e2e_program("slow", E2E_TRACED),
            e2e_program("device", E2E_TRACED));
    e2e_exits(0, TESTLOG "export --perfetto -o ours.pb");
    e2e_exits(0, TESTLOG "export --chrome -o theirs.json");
    out = compared();
    e2e_expect_has(out, "\n1 counts\n3 arrows\n");
    e2e_expect_has(e2e_read("ours.txt"), "string_value: \"a \\\"b\\\"\\n\"",
                   "file_name: \"programs/traced.c\"");
    e2e_expect_has(e2e_run("readlink testlog-runs/latest")->out,
                   e2e_between(e2e_read("ours.txt"), "name: \"", "\""));
}

Test(e2e_perfetto, has_the_samples_of_threads)
{
    const struct e2e *run;

    need_tools();
    run = e2e_exits(0, "%s --sample --filter='sampled/starts_a_thread'",
                    e2e_program("sampled", E2E_TRACED));
    if (strstr(run->err, "no samples: "))
        cr_skip_test("%s", run->err);
    e2e_exits(0, TESTLOG "export --perfetto -o ours.pb");
    e2e_exits(0, DECODE);
    e2e_expect_has(e2e_read("ours.txt"), "thread_name: \"helper\"",
                   "name: \"seventy\"", "name: \"programs/sampled.c\"");
    /* Decoded, a field that the schema lacks is a number. */
    e2e_expect_is(e2e_run("grep -E '^ *[0-9]+[: ]' ours.txt")->out, "");
    e2e_expect_is(e2e_run("grep -c 'perf_sample {' ours.txt")->out,
                  e2e_run(TESTLOG "export --folded | awk '{ n += $NF } END "
                                  "{ print n / 1e6 }'")
                      ->out);
}

/* ---- One recording ---- */

/* Ends the recording and writes both traces of it. */
static void write_both(void)
{
    struct trace_reader *reader = test_read();
    FILE *ours = fopen("ours.pb", "we"), *theirs = fopen("theirs.json", "we");
    struct runners_perfetto perfetto;
    struct trace_chrome chrome;

    cr_assert(ours && theirs);
    runners_perfetto_begin(&perfetto, ours, "a run");
    cr_expect_eq(runners_perfetto_add(&perfetto, reader, "a test"), 0);
    trace_chrome_begin(&chrome, theirs);
    chrome.several = true;
    cr_expect_eq(trace_chrome_add(&chrome, reader, 7, "a test"), 0);
    trace_chrome_end(&chrome, NULL);
    fclose(ours);
    fclose(theirs);
}

static void begin_recording(void)
{
    need_tools();
    test_folder();
    test_record();
}

Test(e2e_perfetto, draws_every_kind_of_entry)
{
    begin_recording();
    test_rich();
    write_both();
    compared();
}

static void *enters(void *span)
{
    struct trace_span_ref entered =
        trace_span_enter_(*(struct trace_span_ref *)span);

    trace_span_leave_(entered);
    return NULL;
}

/* There is no arrow to the second enter of a thread. */
Test(e2e_perfetto, draws_an_arrow_to_each_thread_that_enters_a_span)
{
    static struct trace_site site = TEST_SITE(SPAN, INFO, "task", "m", NULL, 0);
    struct trace_span_ref span;

    begin_recording();
    span = trace_span_new_(&site, 0, NULL);
    for (int i = 0; i < 3; i++)
        test_thread(enters, &span);
    enters(&span);
    trace_span_end(span);
    write_both();
    e2e_expect_has(compared(), "\n3 arrows\n");
}

static void put_call(uint64_t begin, uint64_t end, uint32_t correlation)
{
    struct trace_activity call = {.at = {.begin = begin,
                                         .thread = (uint32_t)getpid(),
                                         .correlation = correlation,
                                         .kind = TRACE_ACTIVITY_RUNTIME},
                                  .end = end,
                                  .name = "cudaGraphLaunch"};

    trace_device_put(&call);
}

/* The clocks disagree about the second call: its work begins before it. */
Test(e2e_perfetto, draws_arrows_from_a_call_to_all_its_work)
{
    struct trace_activity kernel;
    uint64_t now;

    begin_recording();
    now = trace_device_host()->now();
    for (uint32_t call = 1; call <= 2; call++) {
        for (uint64_t i = 0; i < 3; i++) {
            uint64_t begin = now + call * 1000000 + i * 100000;

            kernel = test_kernel(begin, begin + 150000); /* overlapping */
            kernel.at.correlation = call;
            trace_device_put(&kernel);
        }
        put_call(now + call * 1000000 - 50000 + (call - 1) * 60000,
                 now + call * 1000000 + 20000, call);
    }
    write_both();
    e2e_expect_has(compared(), "\n6 arrows\n");
}

Test(e2e_perfetto, draws_the_memory_of_a_device)
{
    static const char *const names[] = {"bytes", "in_use"};
    const struct trace_value values[] = {trace_u64_(8), trace_u64_(1 << 20)};
    struct trace_activity allocation = {
        .at = {.thread = (uint32_t)getpid(), .kind = TRACE_ACTIVITY_ALLOCATE},
        .name = "Allocate",
        .fields = names,
        .field_count = 2,
        .values = values};

    begin_recording();
    allocation.at.begin = allocation.end = trace_device_host()->now();
    trace_device_put(&allocation);
    write_both();
    e2e_expect_has(compared(), "\n1 counts\n");
    e2e_expect_has(e2e_read("ours.txt"), "counter_value: 1048576");
}

/* ---- Faults ---- */

Test(e2e_perfetto, reports_that_memory_is_exhausted)
{
    struct trace_reader *reader;
    FILE *nowhere = fopen("/dev/null", "we");
    struct runners_perfetto perfetto;
    size_t nth = 0;
    int result;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer provides malloc");
    test_folder();
    test_record();
    test_rich();
    reader = test_read();
    runners_perfetto_begin(&perfetto, nowhere, "a run");
    do {
        errno = 0;
        test_fail_memory(++nth, true);
        result = runners_perfetto_add(&perfetto, reader, "a test");
        cr_expect(!result || errno == ENOMEM);
        test_fail_memory(0, false);
    } while (nth < 3 || result);
    cr_expect_gt(nth, 3);
    fclose(nowhere);
}
