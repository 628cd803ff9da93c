/* soak_clock_test.c: a monotonic clock that steps must not produce absurd
 * durations or change a verdict. `make soak` runs 60 programs, `make test` a
 * few.
 */
#include "tests/support/support.h"

#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(soak_clock, .init = e2e_begin, .timeout = 3600);

enum { MOST_SECONDS = 100 };

static const char *clock_library(void)
{
    const struct e2e *built = e2e_once(
        "clock",
        "cc -shared -fPIC -O1 -D_GNU_SOURCE -o clock.so '%s/faults/clock.c'",
        TESTS_DIR);

    cr_assert_eq(built->code, 0, "%s", built->err);
    return built->folder;
}

/* Checks every number that follows `key`. */
static void expect_small(const char *text, const char *key, double most)
{
    for (; (text = strstr(text, key)); text += strlen(key)) {
        double number = strtod(text + strlen(key), NULL);

        cr_assert(number >= 0 && number < most, "%.80s", text);
    }
}

static void expect_durations(const struct e2e *result)
{
    const char *lines = e2e_read("testlog-runs/latest/results.jsonl");

    expect_small(lines, "\"duration_ns\":", MOST_SECONDS * 1e9);
    expect_small(e2e_read("testlog-runs/latest/run.json"),
                 "\"duration_ns\":", MOST_SECONDS * 1e9);
    expect_small(e2e_read("testlog-runs/latest/junit.xml"), " time=\"",
                 MOST_SECONDS);
    expect_small(e2e_read("testlog-runs/latest/trace.json"),
                 "\"dur\":", MOST_SECONDS * 1e6);
    expect_small(result->err, ": failed: after ", MOST_SECONDS);
    e2e_expect_lacks(result->err, "\nslow, ");
}

static void run(const char *prefix)
{
    const char *program = e2e_program("losing", E2E_TRACED);
    int times = getenv("SOAK") ? 30 : 2;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    for (int i = 0; i < times; i++) {
        const struct e2e *result =
            e2e_exits(1,
                      "%s sh -c '%s CLOCK_STEP=%d LOSING_WAIT=1000 "
                      "LD_PRELOAD=%s/clock.so " TESTLOG
                      " run %s -- -j%d --slow=%d --log-span-events=full'",
                      prefix[0] ? "unshare -m" : "", prefix, 1 + i * i % 50,
                      clock_library(), program, 1 + i % 3, MOST_SECONDS);

        e2e_expect_is(e2e_last(result->out), "14 passed, 5 failed, 1 skipped");
        expect_durations(result);
    }
}

Test(soak_clock, survives_steps_of_the_runners_clock)
{
    run("");
}

/* Without /sys, recordings use the monotonic clock, not the processor's
 * counter. */
Test(soak_clock, survives_steps_of_the_recordings_clock)
{
    if (e2e_run("unshare -m mount -t tmpfs none /sys")->code)
        cr_skip_test("no permission to hide /sys");
    run("mount -t tmpfs none /sys && ");
}
