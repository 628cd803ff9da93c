/* e2e_frameworks_test.c: the same eight tests of six frameworks give the same
 * report. Those whose packages are missing are left out. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_frameworks, .init = e2e_begin, .timeout = 300);

/* AddressSanitizer would handle the crash before the framework. */
#define NOT_HANDLED "ASAN_OPTIONS=detect_leaks=0:handle_segv=0 "

#define TESTLOG "'" BUILD_DIR "/testlog' "

/* A framework, what builds its program, and the arguments that choose its
 * tests: all that return, the one that crashes, the one that hangs. */
struct framework {
    const char *name, *header, *compiler, *libraries;
    const char *returning, *crashing, *hanging;
    const char *suite;
    const char *leaving; /* a test that throws; NULL: it exits, when chosen */
};

static const struct framework frameworks[] = {
    {"gtest", "gtest/gtest.h", "g++ gtest_adapter.cpp gtest_eight.cpp",
     "-lgtest_main -lgtest", "'--gtest_filter=-*.crashes:*.hangs'",
     "'--gtest_filter=*.crashes'", "'--gtest_filter=*.hangs'", "eight",
     "throws"},
    {"catch2", "catch2/catch.hpp", "g++ catch2_adapter.cpp catch2_eight.cpp",
     "", "'~crashes' '~hangs'", "crashes", "hangs", "eight_test", "throws"},
    {"doctest", "doctest/doctest.h",
     "g++ doctest_adapter.cpp doctest_eight.cpp", "",
     "--test-case-exclude=crashes,hangs", "--test-case=crashes",
     "--test-case=hangs", "eight_test", "throws"},
    {"boost", "boost/test/unit_test.hpp",
     "g++ -DBOOST_TEST_DYN_LINK boost_adapter.cpp boost_eight.cpp",
     "-lboost_unit_test_framework", "'--run_test=!crashes:!hangs'",
     "--run_test=crashes", "--run_test=hangs", "eight", "throws"},
    {"cmocka", "cmocka.h", "gcc cmocka_eight.c", "-lcmocka", "", NULL, "hangs",
     "eight_test", NULL},
    {"check", "check.h", "gcc check_eight.c", "$(pkg-config --libs check)", "",
     NULL, NULL, "eight_test", NULL},
};

static bool build(const struct framework *framework)
{
    const char *language = framework->compiler[1] == '+' ? "c++" : "c";

    if (e2e_run("printf '#include <stdarg.h>\\n#include <stddef.h>\\n#include "
                "<stdint.h>\\n#include <setjmp.h>\\n#include <%s>\\n' | "
                "%.3s -fsyntax-only -x%s -",
                framework->header, framework->compiler, language)
            ->code)
        return false;
    e2e_exits(
        0,
        "d=$PWD; cd '" SOURCE_DIR
        "/examples/frameworks' && %s -g -Wall -Wextra -DTRACING " SANITIZE_FLAGS
        " -I '" BUILD_DIR "/include' -o $d/eight_test %s '" BUILD_DIR
        "/libtestlog-core.a' -lpcre2-8 -lpthread",
        framework->compiler, framework->libraries);
    return true;
}

/* Returns the outcomes of the latest run, "passed suite/test\n..." by name. */
static const char *outcomes(void)
{
    e2e_run(TESTLOG "list");
    return e2e_run("cut -f 1,4 testlog-runs/latest/results.tsv | tr '\\t' ' ' "
                   "| sort -k 2")
        ->out;
}

static void expect_outcome(const struct framework *framework,
                           const char *outcome, const char *test)
{
    char line[128];

    snprintf(line, sizeof(line), "%s %s/%s\n", outcome, framework->suite, test);
    e2e_expect_has(outcomes(), line);
}

/* Some frameworks handle the signal, and the test has failed. */
static void expect_crash(const struct framework *framework)
{
    char line[128];

    snprintf(line, sizeof(line), "passed %s/crashes\n", framework->suite);
    e2e_expect_lacks(outcomes(), line);
    e2e_expect_has(outcomes(), strchr(line, ' '));
}

static void expect_returning(const struct framework *framework)
{
    expect_outcome(framework, "failed", "fails");
    expect_outcome(framework, "passed", "forks");
    expect_outcome(framework, "passed", "logs_from_a_thread");
    expect_outcome(framework, "passed", "passes");
    expect_outcome(framework, "skipped", "skips");
    if (framework->leaving)
        expect_outcome(framework, "failed", framework->leaving);
    e2e_expect_has(e2e_run(TESTLOG "log latest '*/fails' --time=none")->out,
                   " INFO add{a=1 b=2}: ");
    e2e_expect_has(e2e_run(TESTLOG "log latest '*/forks' --time=none")->out,
                   "in the child\n");
    e2e_expect_has(
        e2e_run(TESTLOG "log latest '*/logs_from_a_thread' --time=none")->out,
        "in the thread\n");
}

static void check(const struct framework *framework)
{
    const struct e2e *result;

    if (!build(framework))
        cr_skip_test("%s is not installed", framework->header);
    result = e2e_run(NOT_HANDLED "./eight_test %s", framework->returning);
    cr_expect_neq(result->code, 0);
    e2e_expect_has(result->out, "\n3 passed, ");
    e2e_expect_has(result->err, "fails: failed");
    expect_returning(framework);
    if (framework->crashing)
        e2e_run(NOT_HANDLED "./eight_test %s", framework->crashing);
    expect_crash(framework);
    if (!framework->leaving && framework->hanging)
        e2e_run("./eight_test exits");
    if (!framework->leaving)
        expect_outcome(framework, "failed", "exits");
    if (framework->hanging)
        e2e_run("./eight_test %s & until grep -qs 'about to hang' "
                "testlog-runs/latest/tests/*/recording.live; do "
                "sleep 0.01; done; kill -KILL $!; wait $!",
                framework->hanging);
    expect_outcome(framework, "crashed", "hangs");
}

Test(e2e_frameworks, google_test)
{
    check(&frameworks[0]);
}

Test(e2e_frameworks, catch2)
{
    check(&frameworks[1]);
}

Test(e2e_frameworks, doctest)
{
    check(&frameworks[2]);
}

Test(e2e_frameworks, boost_test)
{
    check(&frameworks[3]);
}

Test(e2e_frameworks, cmocka)
{
    check(&frameworks[4]);
}

Test(e2e_frameworks, check)
{
    check(&frameworks[5]);
}

/* A death test of the style "threadsafe" starts the program again. */
Test(e2e_frameworks, death_tests_are_a_part_of_their_test)
{
    const struct e2e *result;

    if (!build(&frameworks[0]))
        cr_skip_test("no GoogleTest");
    e2e_run("echo '#include <gtest/gtest.h>\n#include <testlog/core.h>\n"
            "TEST(death, dies) { EXPECT_DEATH({ log_info(\"x %%d\", 1); "
            "abort(); }, \"\"); }\nTEST(death, exits) { EXPECT_EXIT({ "
            "log_info(\"y %%d\", 1); exit(3); }, testing::ExitedWithCode(3), "
            "\"\"); }' | sed 's/\\\\n/\\n/g' >death.cpp");
    e2e_exits(0, "g++ -g -DTRACING " SANITIZE_FLAGS " -I '" BUILD_DIR
                 "/include' -o death death.cpp '" SOURCE_DIR
                 "/examples/frameworks/gtest_adapter.cpp' -lgtest_main -lgtest "
                 "'" BUILD_DIR "/libtestlog-core.a' -lpcre2-8 -lpthread");
    for (int i = 0; i < 2; i++) {
        result = e2e_exits(0, NOT_HANDLED "./death --gtest_death_test_style=%s",
                           i ? "threadsafe" : "fast");
        e2e_expect_has(result->out, "\n2 passed, 0 failed, 0 skipped\n");
        e2e_expect_is(e2e_run("ls -d testlog-runs/2* | wc -l")->out,
                      i ? "2\n" : "1\n");
        if (!i)
            e2e_expect_has(e2e_run(TESTLOG "log latest death/dies")->out,
                           "x 1\n");
    }
}

/* A run of several frameworks is one run. */
Test(e2e_frameworks, share_a_run)
{
    if (!build(&frameworks[0]))
        cr_skip_test("no GoogleTest");
    e2e_run("mv eight_test gtest_eight");
    if (!build(&frameworks[5]))
        cr_skip_test("no Check");
    e2e_run("printf '#!/bin/sh\\nexec ./gtest_eight %s\\n' >run; chmod +x run",
            frameworks[0].returning);
    e2e_exits(1, TESTLOG "run ./run ./eight_test '%s'",
              e2e_program("small", E2E_TRACED));
    e2e_expect_has(outcomes(), "failed eight/throws\n",
                   "crashed eight_test/crashes\n", "passed small/");
}

/* Our flags choose tests, and limit and repeat them. */
Test(e2e_frameworks, flags_reach_programs_with_an_adapter)
{
    if (!build(&frameworks[0]))
        cr_skip_test("no GoogleTest");
    e2e_exits(1, NOT_HANDLED TESTLOG
              "run ./eight_test -- --timeout=5 --log=debug --filter='*/hangs' "
              "--filter='*/passes' --filter='*/crashes' --filter='*/forks'");
    e2e_expect_is(outcomes(), "crashed eight/crashes\npassed eight/forks\n"
                              "timeout eight/hangs\npassed eight/passes\n");
    e2e_expect_has(e2e_run(TESTLOG "log latest eight/forks --time=none")->out,
                   "in the child");
    e2e_expect_has(e2e_run("ls testlog-runs/latest/tests/*/*hangs")->out,
                   "stacks");
    e2e_exits(1, TESTLOG "run ./eight_test -- --retries=1 --filter='*/fails'");
    e2e_expect_is(e2e_run("grep -c '\"earlier\":\\[{' "
                          "testlog-runs/latest/run.json")
                      ->out,
                  "1\n");
}

/* Each repetition has a log of its own. */
Test(e2e_frameworks, tests_with_an_adapter_are_repeated)
{
    if (!build(&frameworks[0]))
        cr_skip_test("no GoogleTest");
    e2e_exits(1, TESTLOG "run ./eight_test --repeat=2 --filter='eight.f*'");
    e2e_expect_is(outcomes(), "failed eight/fails#1\nfailed eight/fails#2\n"
                              "passed eight/forks#1\npassed eight/forks#2\n");
    e2e_expect_is(e2e_run("grep -c '\"event\":\"test\"' "
                          "testlog-runs/latest/results.jsonl")
                      ->out,
                  "4\n");
    e2e_expect_has(
        e2e_run(TESTLOG "log latest 'eight.forks#2' --time=none")->out,
        "in the child");
}

/* Time limits, stacks and reasons are those of Criterion's tests. */
Test(e2e_frameworks, a_test_with_an_adapter_shows_what_one_of_criterion_shows)
{
    const struct e2e *result;
    const cJSON *test;

    if (!build(&frameworks[0]))
        cr_skip_test("no GoogleTest");
    result =
        e2e_exits(1, NOT_HANDLED TESTLOG "run ./eight_test -- --timeout=1");
    e2e_expect_has(result->err, "---- eight.hangs: timed out: after 1.");
    e2e_expect_lacks(result->err, "eight.hangs: crashed");
    e2e_expect_has(result->err, ": eight_hang\n", "output:\nwaiting\n",
                   ": eight_crash\n",
                   "eight.fails: failed: Expected equality of these values: "
                   "eight_add(1, 2) Which is: 3 4");
    test = e2e_latest("eight/hangs");
    cr_expect_geq(e2e_number(test, "duration_ns"), 9e8);
}

/* A process that died alone is judged, and its stack read, later. */
Test(e2e_frameworks, a_crash_has_a_stack)
{
    const char *stacks = "testlog-runs/latest/tests/eight_test/eight.crashes/"
                         "stacks";

    if (!build(&frameworks[0]))
        cr_skip_test("no GoogleTest");
    e2e_run(NOT_HANDLED "./eight_test --gtest_filter='*crashes'; " TESTLOG
                        "list");
    e2e_expect_has(e2e_read("%s", stacks), "\teight_crash\t");
}

/* A driver's thread records for the test that launched a kernel. */
Test(e2e_frameworks, a_kernel_is_in_the_log_of_its_test)
{
    static const char library[] =
        "TESTLOG_GPU_LIBRARY='" BUILD_DIR "/libtestlog-gpu.so' ";
    const struct e2e *result =
        e2e_run("cd '" SOURCE_DIR "/examples/frameworks' && g++ -g -Wall "
                "-Wextra -DTRACING -I '" BUILD_DIR "/include' -o \"$OLDPWD/"
                "kernels\" gtest_opencl.cpp gtest_adapter.cpp -lgtest_main "
                "-lgtest '" BUILD_DIR
                "/libtestlog-core.a' -lpcre2-8 -lpthread -l:libOpenCL.so.1");
    const char *log;

    if (result->code && (strstr(result->err, "No such file") ||
                         strstr(result->err, "cannot find -l")))
        cr_skip_test("no GoogleTest or no OpenCL");
    e2e_expect_code(result, 0);
    for (int i = 0; i < 2; i++) {
        result =
            e2e_exits(0, "%s%s ./kernels", library, i ? TESTLOG "run" : "");
        if (strstr(result->out, "2 skipped"))
            cr_skip_test("no OpenCL device");
        e2e_expect_is(e2e_last(result->out), "2 passed, 0 failed, 0 skipped");
        log = e2e_run(TESTLOG "log latest --filter trace --time none")->out;
        cr_expect_eq(e2e_count(log, "Executing kernel"), 4, "%s", log);
        log = strstr(log, " Twice.DoublesThreeTimes ----\n");
        cr_assert_not_null(log);
        cr_expect_eq(e2e_count(log, "Executing kernel"), 3, "%s", log);
        cr_expect_eq(e2e_count(log, "Copying memory"), 1, "%s", log);
    }
}

/* ---- One more framework ---- */

/* Links testlog again, with a row for a stub before the first one. */
#define WITH_ROW                                                               \
    "sed 's|^static const struct framework frameworks.. = {|&\\n"              \
    "    {.name = \"stub\", .title = \"Stub\", .marker = \"STUB_FRAMEWORK:\"," \
    " .report = {\"--xml=%%s/report.xml\"}, .list = {\"--list\"},"             \
    " .chosen = {\"--only=%%s\"}, .form = FRAMEWORK_LIST_NAMES,"               \
    " .choice = FRAMEWORK_EACH},|' " SOURCE_DIR                                \
    "/runners/programs/frameworks.c >frameworks.c && "                         \
    "cc -w " SANITIZE_FLAGS " -D_GNU_SOURCE -DTRACE_BUILD -I" SOURCE_DIR       \
    " -I" SOURCE_DIR "/runners/programs -I" BUILD_DIR                          \
    "/include -c frameworks.c && "                                             \
    "cc " SANITIZE_FLAGS " -o testlog frameworks.o $(cd " SOURCE_DIR           \
    " && find runners -name '*.c' ! -path '*/stacks/*' ! -name frameworks.c "  \
    "! -name no_view.c | sed 's|^|" BUILD_DIR "/|; s|c$|o|') "                 \
    "$(ls " BUILD_DIR "/harness/run/page/*_page.o | grep -v index) " BUILD_DIR \
    "/libtestlog.a -lpcre2-8 -lcjson -lm -lpthread"

Test(e2e_frameworks, one_more_needs_a_row)
{
    const struct e2e *result;

    e2e_exits(0, WITH_ROW);
    e2e_exits(0, "cc -o stub " SOURCE_DIR "/tests/cases/frameworks/stub.c");
    result = e2e_exits(1, "./testlog run ./stub");
    e2e_expect_closing(result, "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, "stub.c:7: fails: failed: on purpose\n");
    e2e_expect_has(outcomes(), "passed stub/passes\n");
    e2e_expect_closing(e2e_run("./testlog run --failed ./stub"),
                       "0 passed, 1 failed, 0 skipped");
    e2e_expect_closing(e2e_run("./testlog run ./stub -- pass"),
                       "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(e2e_run("./testlog run --list=json ./stub")->out,
                   "\"stub/passes\"");
    e2e_expect_has(e2e_run("./testlog run --fail-leaky ./stub")->err,
                   "cannot take --fail-leaky, because it uses Stub; ");
    e2e_run("printf '#!/bin/sh\nexec ./stub \"$@\"\n' >script; "
            "chmod +x script; "
            "printf '[program script]\nkind = stub\n' >testlog.conf");
    e2e_expect_closing(e2e_run("./testlog run ./script"),
                       "1 passed, 1 failed, 0 skipped");
}
