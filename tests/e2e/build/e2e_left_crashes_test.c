/* e2e_left_crashes_test.c: programs of GoogleTest, and without a framework,
 * show where they crashed: testlog run loads a library that notes it. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_left_crashes, .init = e2e_begin, .timeout = 300);

#define RUN "'" BUILD_DIR "/testlog' run "

/* ---- Programs without a framework ---- */

static void build(const char *flags)
{
    e2e_exits(0,
              "cc -g -w -o dies %s '" SOURCE_DIR
              "/tests/cases/frameworks/dies.c' -lpthread",
              flags);
}

/* Runs it in a way. */
static const struct e2e *die(const char *how)
{
    e2e_run("printf '[program dies]\\nargs = %s\\n' >testlog.conf", how);
    return e2e_run(RUN "./dies");
}

Test(e2e_left_crashes, a_program_shows_where_it_crashed)
{
    static const struct {
        const char *how, *reason, *line;
    } ways[] = {
        {"null", "SIGSEGV: null pointer, in crash (", ": crash\n"},
        {"threads", "SIGSEGV: null pointer, in crash (", ": crash_in_thread\n"},
        {"overflow", "SIGSEGV: stack overflow, in overflow (", ": overflow\n"},
        {"abort", "SIGABRT, in main (", ": main\n"},
        {"moved", "SIGSEGV: null pointer, in crash (", ": crash\n"},
    };

    build("");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const struct e2e *result = die(ways[i].how);
        char head[128];

        snprintf(head, sizeof(head),
                 "---- dies: crashed: the program died of %s", ways[i].reason);
        e2e_expect_code(result, 1);
        e2e_expect_has(result->err, head, ways[i].line);
        e2e_expect_has(e2e_read("testlog-runs/latest/junit.xml"), ways[i].line);
    }
    e2e_expect_lacks(e2e_run(RUN "./dies -- --stacks=off")->err, "stacks:");
    e2e_expect_has(e2e_run("GITHUB_ACTIONS=true " RUN "./dies")->err,
                   "::error file=", "dies.c,line=14,title=dies::");
}

Test(e2e_left_crashes, beside_other_programs_too)
{
    build("");
    e2e_run("printf '[program dies]\\nargs = null\\n' >testlog.conf");
    e2e_expect_has(e2e_exits(1, RUN "-j2 ./dies /bin/true")->err,
                   "stacks:\n  SIGSEGV at 0: null pointer\n");
}

Test(e2e_left_crashes, the_library_stays_out_of_the_way)
{
    const struct e2e *result;

    build("");
    e2e_expect_code(die("fork"), 0);
    e2e_expect_code(die("exec"), 0);
    result = die("handler");
    e2e_expect_has(result->err, "dies: failed: the program exited with 11\n");
    e2e_expect_lacks(result->err, "stacks:");
    e2e_expect_lacks(die("variables")->out, "LD_PRELOAD=", "TESTLOG_CRASH=");
    result = e2e_run("LD_PRELOAD=libm.so.6 " RUN "./dies");
    e2e_expect_is(e2e_between(result->out, "LD_PRELOAD=", "\n"), "libm.so.6");
    cr_expect_eq(e2e_count(result->out, "LD_PRELOAD=libm.so.6\n"), 2);
    e2e_expect_lacks(result->out, "TESTLOG_CRASH=");
}

/* Where it is not loaded, the program does not see its variables either. */
Test(e2e_left_crashes, programs_that_cannot_load_it_start_as_before)
{
    static const char *const flags[] = {"-static", "-fsanitize=address",
                                        "-fsanitize=undefined",
                                        "-fsanitize=thread",
                                        "-DR='\"RUST_"
                                        "BACKTRACE\"' -include rust.h"};

    e2e_run("echo 'const char *rust = R;' >rust.h");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        build(flags[i]);
        e2e_expect_lacks(die("variables")->out,
                         "LD_PRELOAD=", "TESTLOG_CRASH=");
        e2e_expect_code(die("null"), 1);
    }
}

/* ---- GoogleTest ---- */

static void build_gtest_of(const char *name, const char *more)
{
    const struct e2e *built = e2e_run(
        "g++ -g -w -o death '" SOURCE_DIR
        "/tests/programs/frameworks/gtest_%s.cpp' %s -lgtest_main "
        "-lgtest %s -lpthread",
        name, more,
        strstr(more, "adapter") ? "'" BUILD_DIR "/libtestlog-core.a' -lpcre2-8"
                                : "");

    if (built->code && strstr(built->err, "No such file"))
        cr_skip_test("GoogleTest is not installed");
    e2e_expect_code(built, 0);
}

static void build_gtest(const char *more)
{
    build_gtest_of("dies", more);
}

#define ADAPTER                                                                \
    "-DTRACING " SANITIZE_FLAGS " -I '" BUILD_DIR "/include' '" SOURCE_DIR     \
    "/examples/frameworks/gtest_adapter.cpp'"

static void expect_crashes(const struct e2e *result)
{
    const char *block = e2e_block(result, "Death.Comes");

    e2e_expect_code(result, 1);
    e2e_expect_has(result->out, "\n2 passed, 2 failed, 1 skipped\n");
    e2e_expect_has(result->err,
                   "\n    Later.DISABLED_Runs: skipped: disabled (",
                   "./death -- --filter 'Death.Comes' --debug-failed\n");
    e2e_expect_has(block, "SIGSEGV: null pointer, in crash (",
                   ": Death_Comes_Test::TestBody()\n", " frames of the system");
    e2e_expect_lacks(block, "testing::");
    e2e_expect_has(e2e_block(result, "Fixture.Dies"), ": crash\n",
                   ": Fixture::SetUp()\n");
}

Test(e2e_left_crashes, google_test)
{
    build_gtest("");
    expect_crashes(e2e_run(RUN "./death"));
    e2e_expect_has(e2e_read("testlog-runs/latest/junit.xml"), ": crash\n",
                   "Death_Comes_Test::TestBody()");
    e2e_expect_has(
        e2e_run("DIE_AT_THE_END=1 " RUN "./death -- --filter='Later.*'")->err,
        "---- death: crashed: the program died of SIGSEGV outside of its tests "
        "----\nstacks:\n",
        ": Environment::TearDown()\n");
}

/* The signal that ends the run is no crash of the program. */
Test(e2e_left_crashes, an_interrupt_is_no_crash)
{
    const struct e2e *result;

    build_gtest("");
    result = e2e_exits(130, "exec env --default-signal=INT INTERRUPT=1 " RUN
                            "./death -- --filter='Later.*'");
    e2e_expect_has(result->out, "\n0 passed, 0 failed, 1 skipped\n");
    e2e_expect_has(result->err, "    Later.Passes: skipped: interrupted\n");
    /* No gate passes by such a run; a later try of its tests is the first. */
    e2e_exits(130, "exec env --default-signal=INT INTERRUPT=1 " RUN
                   "./death -- --filter='Later.*' --shard=1/1 --trace-dir=cut");
    result = e2e_exits(1, "'" BUILD_DIR "/testlog' merge cut/latest -o alone");
    e2e_expect_has(result->err, "shard 1 of 1: failed: interrupted\n");
    e2e_exits(0, RUN "./death -- --filter='Later.*' --shard=1/1 "
                     "--trace-dir=whole");
    result = e2e_exits(0, "'" BUILD_DIR "/testlog' merge cut/latest "
                          "whole/latest -o both");
    e2e_expect_lacks(result->err, "flaky");
    result = e2e_exits(2, "'" BUILD_DIR "/testlog' diff whole/latest "
                          "cut/latest");
    e2e_expect_has(result->err, " was interrupted by SIGINT, so it is not "
                                "finished; ");
}

Test(e2e_left_crashes, google_test_with_an_adapter)
{
    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    build_gtest(ADAPTER);
    expect_crashes(e2e_run(RUN "./death"));
}

/* ---- Failures that are not of one test ---- */

static void expect_outside(const char *fails, const char *closing,
                           const char *failed)
{
    const struct e2e *result;

    result = e2e_run("rm -f flipped; ASAN_OPTIONS= FAIL=%s " RUN
                     "./death -- --retries=1",
                     fails);
    e2e_expect_code(result, 1);
    e2e_expect_is(e2e_last(result->out), closing);
    e2e_expect_has(result->err, failed);
}

/* A retry of another test explains none of them, nor does a test that fails. */
static void expect_all_outside(void)
{
    expect_outside("up,flip", "3 passed, 1 failed, 1 skipped",
                   ": Up.SetUpTestSuite or TearDownTestSuite: failed: up is "
                   "bad\n");
    expect_outside("down,flip", "4 passed, 1 failed, 0 skipped",
                   ": Down.SetUpTestSuite or TearDownTestSuite: failed: ");
    expect_outside("end,flip", "4 passed, 1 failed, 0 skipped",
                   ": death: failed: ");
    e2e_expect_has(e2e_run("FAIL=down " RUN "./death")->err,
                   "./death -- --filter 'Down.*'\n");
    /* GitHub would follow commands in the output of tests. */
    e2e_expect_lacks(e2e_run("GITHUB_ACTIONS=true " RUN "./death")->out,
                     "Passes");
}

Test(e2e_left_crashes, suites_and_environments_of_google_test_fail)
{
    build_gtest_of("outside", "");
    expect_all_outside();
    e2e_exits(1, "FAIL=down " RUN "./death");
    e2e_expect_is(
        e2e_last(e2e_exits(1, "FAIL=down " RUN "./death -- --failed")->out),
        "4 passed, 1 failed, 0 skipped");
    e2e_exits(0, RUN "./death -- --failed");
    e2e_expect_has(e2e_exits(0, RUN "./death -- --failed")->err,
                   "all tests passed when they last ran");
}

Test(e2e_left_crashes, so_they_do_with_an_adapter)
{
    const struct e2e *result;

    build_gtest_of("outside", ADAPTER);
    expect_all_outside();
    result = e2e_exits(1, "FAIL=up,end ./death");
    e2e_expect_has(result->out, "\n3 passed, 2 failed, 1 skipped\n");
    e2e_expect_has(e2e_exits(1, "'" BUILD_DIR "/testlog' show")->out,
                   "    testlog run ", "/death -- --filter 'Up.*'\n");
}

Test(e2e_left_crashes, leaks_of_google_test_fail)
{
    if (e2e_sanitized())
        cr_skip_test("it is built with another one");
    build_gtest_of("outside", "-fsanitize=address");
    expect_outside("leak,flip", "4 passed, 1 failed, 0 skipped",
                   "death: failed: a sanitizer found an error that is not of "
                   "one test, such as a leak\n");
    build_gtest_of("outside", "-fsanitize=address " ADAPTER);
    expect_outside("leak,flip", "4 passed, 1 failed, 0 skipped",
                   "death: failed: a sanitizer found an error that is not of "
                   "one test, such as a leak\n");
}

/* A program that is started by itself prints why it dies at once. */
#define IN_PATH "PATH='" BUILD_DIR "':\"$PATH\" "

Test(e2e_left_crashes, a_program_with_an_adapter_prints_its_block_at_once)
{
    const struct e2e *result;

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    build_gtest(ADAPTER);
    result = e2e_run(IN_PATH "./death --gtest_filter='Death.*:Later.*'");
    e2e_expect_code(result, 128 + 11);
    e2e_expect_has(e2e_block(result, "Death.Comes"),
                   "SIGSEGV: null pointer, in crash (",
                   ": Death_Comes_Test::TestBody()\n");
    e2e_expect_has(result->err, "\nrun: testlog-runs/2");
    e2e_expect_has(result->out, "\n1 passed, 1 failed, 0 skipped\n");
    e2e_expect_has(e2e_read("testlog-runs/latest/run.json"), "\"crashed\"");
    e2e_expect_lacks(e2e_run("'" BUILD_DIR "/testlog' list")->err, "judged");
    result =
        e2e_run("DIE_AT_THE_END=1 " IN_PATH "./death --gtest_filter='Later.*'");
    e2e_expect_has(result->err, "death: crashed: the program died of SIGSEGV "
                                "outside of its tests\n");
    e2e_expect_has(result->out, "\n1 passed, 1 failed, 1 skipped\n");
}

Test(e2e_left_crashes, so_does_one_that_a_sanitizer_ends)
{
    const struct e2e *result;

    build_gtest("-fsanitize=address " ADAPTER);
    result = e2e_run("ASAN_OPTIONS=detect_leaks=0 " IN_PATH
                     "./death --gtest_filter='Death.Comes:Later.*'");
    e2e_expect_code(result, 1);
    e2e_expect_has(e2e_block(result, "Death.Comes"),
                   "crashed: AddressSanitizer: SEGV in crash ",
                   "ERROR: AddressSanitizer: SEGV");
    e2e_expect_has(result->out, "\n0 passed, 1 failed, 0 skipped\n");
}
