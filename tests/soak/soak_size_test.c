/* soak_size_test.c: many tests, events and threads, deep spans, long strings;
 * the runner's memory does not grow. `make soak` runs them at full size.
 */
#include "tests/support/support.h"

#include "runners/export/export.h"
#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(soak_size, .init = e2e_begin, .timeout = 3600);

static bool soaking(void)
{
    return getenv("SOAK") != NULL;
}

Test(soak_size, runs_many_tests_in_a_program)
{
    unsigned tests = soaking() ? 10000 : 100;
    const struct e2e *result = e2e_exits(
        1, "LARGE_TESTS=%u LOG=error exec %s --filter large/one_of_many -q -j2",
        tests, e2e_program("large", E2E_TRACED));
    char closing[64];

    snprintf(closing, sizeof(closing), "%u passed, 1 failed, 0 skipped",
             tests - 1);
    cr_expect_str_eq(e2e_last(result->out), closing, "%.1000s\n%.1000s",
                     result->out, result->err);
    test_remove_tree("testlog-runs");
}

/* ---- Many events in a test ---- */

#define RECORDS "testlog-runs/latest/tests/large_test/large.records_much/"

static void expect_all(unsigned events)
{
    struct trace_reader *reader = trace_reader_open(RECORDS "recording");
    struct trace_summary summary;

    cr_assert_not_null(reader);
    summary = trace_reader_summary(reader);
    cr_expect(summary.ended && !summary.dropped, "%llu were dropped",
              (unsigned long long)summary.dropped);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "step"), events / 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event %zu"),
                 events / 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "deep"), 1001);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "long"), 1);
    trace_reader_close(reader);
}

/* Counts line by line, because the trace has gigabytes. */
static void expect_trace(unsigned events)
{
    FILE *file = fopen(RECORDS "trace.json", "re");
    char *line = NULL, last[8] = "";
    size_t room = 0, steps = 0;

    cr_assert_not_null(file);
    while (getline(&line, &room, file) > 0) {
        steps += strstr(line, "\"name\":\"step\"") != NULL;
        snprintf(last, sizeof(last), "%s", line);
    }
    cr_expect_eq(steps, events / 2);
    cr_expect_eq(strncmp(last, "],\"othe", 7), 0, "%s", last);
    free(line);
    fclose(file);
}

/* -d limits the memory of each process, except for files. Small stacks leave it
 * to the heap. */
Test(soak_size, records_many_events_in_a_test)
{
    unsigned events = soaking() ? 64 * 80000 : 64 * 2000;
    const char *limits =
        SANITIZE_FLAGS[0] ? "" : "ulimit -s 512; ulimit -d 65536;";
    const struct e2e *result = e2e_exits(
        0,
        "%s LARGE_EVENTS=%u TRACE_LIMIT=4G LOG=error exec %s --filter "
        "large/records_much -q --render=all --trace-options=compress=0",
        limits, events, e2e_program("large", E2E_TRACED));

    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    expect_all(events);
    expect_trace(events);
    test_remove_tree("testlog-runs");
}

/* The shared pages of the recording don't count as data. */
Test(soak_size, exports_many_events_in_little_memory)
{
    static const char *const formats[] = {
#define X(format, flag, values, help) flag,
        RUNNERS_EXPORT_FORMATS(X)
#undef X
    };
    const char *limits =
        SANITIZE_FLAGS[0] ? "" : "ulimit -s 512; ulimit -d 6144;";

    e2e_run("LARGE_EVENTS=%u TRACE_LIMIT=4G LOG=error exec %s --filter "
            "large/records_much -q --trace-options=compress=0",
            soaking() ? 64 * 80000 : 64 * 16000,
            e2e_program("large", E2E_TRACED));
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        const struct e2e *result =
            e2e_run("%s '" BUILD_DIR "/testlog' export --%s | tail -c 1000",
                    limits, formats[i]);

        e2e_expect_is(result->err,
                      strcmp(formats[i], "folded") != 0
                          ? ""
                          : "testlog: export: what is nested more than 256 "
                            "deep is summed up at that depth\n");
        cr_expect_str_neq(result->out, "");
    }
    test_remove_tree("testlog-runs");
}
