/* e2e_ctest_test.c: testlog run --ctest: the programs of a build by CMake. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_ctest, .init = e2e_begin, .timeout = 300);

static void script(const char *name, const char *text)
{
    test_save(name, text, strlen(text));
    cr_assert_eq(chmod(name, 0755), 0);
}

/* Makes a build folder with the tests that lines of CMake describe. */
static void configure(const char *tests)
{
    char text[4096];

    e2e_need("ctest");
    snprintf(text, sizeof(text),
             "cmake_minimum_required(VERSION 3.14)\nproject(some NONE)\n"
             "enable_testing()\nset(SMALL \"%s\")\nset(OUTCOMES \"%s\")\n"
             "set(SLOW \"%s\")\n%s\n",
             e2e_program("small", E2E_TRACED),
             e2e_program("outcomes", E2E_TRACED),
             e2e_program("hanging", E2E_TRACED), tests);
    test_save("CMakeLists.txt", text, strlen(text));
    cr_assert_eq(e2e_run("mkdir -p sub && cmake -S . -B build")->code, 0);
}

static void expect_refused(const struct e2e *run, const char *message)
{
    e2e_expect_code(run, 2);
    e2e_expect_is(run->out, "");
    cr_expect_eq(e2e_count(run->err, "testlog: "), 1, "%s", run->err);
    e2e_expect_has(run->err, message);
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_ctest, takes_programs_arguments_folders_and_variables)
{
    const struct e2e *run;

    configure("add_test(NAME first COMMAND ${SMALL} --filter other/passes\n"
              "  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/sub)\n"
              "set_tests_properties(first PROPERTIES ENVIRONMENT "
              "\"SMALL=other;EMPTY=\" RUN_SERIAL TRUE)\n"
              "add_test(NAME second COMMAND ${SMALL} --filter small/passes)");
    run = e2e_exits(1, TESTLOG " run --ctest=build");
    e2e_expect_closing(run, "1 passed, 1 failed, 0 skipped");
    cr_expect(e2e_exists("testlog-runs/latest/tests/first/other.passes"));
    cr_expect(e2e_exists("testlog-runs/latest/tests/second/small.passes"));
    cr_expect_not(e2e_exists("sub/testlog-runs"));
    e2e_expect_has(run->err, TESTLOG " run --ctest=build -- --filter "
                                     "'other/passes'\n");
    e2e_exits(1, "cd build && TRACE_DIR=runs " TESTLOG
                 " run --ctest -- --log=off");
    cr_expect(e2e_exists("build/runs/latest/run.json"));
}

Test(e2e_ctest, works_without_a_folder_of_runs)
{
    configure("add_test(NAME here COMMAND ${SMALL} --report=tap:here.tap "
              "--filter small/passes "
              "WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/sub)\n");
    e2e_exits(0, "TRACE_DIR=/proc/none " TESTLOG " run --ctest=build");
}

Test(e2e_ctest, applies_timeouts_to_tests)
{
    configure("add_test(NAME slow COMMAND ${SLOW})\n"
              "set_tests_properties(slow PROPERTIES TIMEOUT 0.5)");
    e2e_run(TESTLOG " run --ctest=build");
    e2e_expect_has(e2e_read("testlog-runs/latest/run.json"),
                   "\"outcome\":\"timeout\"");
}

Test(e2e_ctest, names_tests_that_only_ctest_can_judge)
{
    const struct e2e *run;

    configure("add_test(NAME ours COMMAND ${SMALL} --filter small/passes)\n"
              "add_test(NAME shell COMMAND sh -c \"exit 1\")\n"
              "add_test(NAME inverted COMMAND ${SMALL})\n"
              "set_tests_properties(inverted PROPERTIES WILL_FAIL TRUE)\n"
              "add_test(NAME changed COMMAND ${SMALL})\n"
              "set_tests_properties(changed PROPERTIES "
              "ENVIRONMENT_MODIFICATION \"SMALL=set:other\")\n"
              "add_test(NAME off COMMAND ${SMALL})\n"
              "set_tests_properties(off PROPERTIES DISABLED TRUE)");
    run = e2e_exits(0, TESTLOG " run --ctest=build");
    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(
        run->err,
        "testlog: --ctest: 3 tests are only for ctest, such as shell: ",
        "testlog: --ctest: 1 test is disabled\n");
}

Test(e2e_ctest, refuses_what_it_cannot_list)
{
    configure("add_test(NAME gone COMMAND nothing_of_this_name)");
    expect_refused(e2e_run(TESTLOG " run --ctest=build"),
                   "the program of gone cannot be run; build it\n");
    expect_refused(e2e_run(TESTLOG " run --ctest=sub"),
                   "there is no CTestTestfile.cmake in sub; write "
                   "--ctest=BUILD_FOLDER\n");
    expect_refused(e2e_run(TESTLOG " run --ctest=build ./program"),
                   "leave out ./program\n");
    expect_refused(e2e_run(TESTLOG " run --ctest=build --launch mpirun"),
                   "leave out --launch\n");
    expect_refused(e2e_run("mkdir bin; ln -s \"$(command -v sh)\" bin/sh; "
                           "PATH=$PWD/bin " TESTLOG " run --ctest=build"),
                   "there is no ctest in PATH; install cmake\n");
    configure("add_test(NAME shell COMMAND sh -c \"exit 1\")");
    e2e_expect_has(e2e_run(TESTLOG " run --ctest=build")->err,
                   "no test of build runs a program with testlog or another "
                   "framework; --preload takes Criterion's\n");
    e2e_exits(4, TESTLOG " run --ctest=build");
}

/* An old ctest lists tests in words; others may print anything. */
Test(e2e_ctest, refuses_other_answers_in_one_line)
{
    static const char *const answers[] = {
        "Test project /x\n  Test #1: one",
        "",
        "{",
        "[]",
        "null",
        "{\"kind\":\"ctestInfo\",\"version\":{\"major\":2}}",
        "{\"kind\":7,\"version\":{\"major\":1}}",
        "{\"kind\":\"ctestInfo\",\"version\":1}",
    };
    char text[256];

    configure("");
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        snprintf(text, sizeof(text), "#!/bin/sh\ncat <<'EOF'\n%s\nEOF\n",
                 answers[i]);
        script("ctest", text);
        expect_refused(e2e_run("PATH=$PWD:$PATH " TESTLOG " run --ctest=build"),
                       "--ctest: ctest --show-only=json-v1 prints no list of "
                       "tests; CMake 3.14 and newer do\n");
    }
}

Test(e2e_ctest, survives_hostile_lists)
{
    static const char *const tests[] = {
        "",
        "7",
        "null,{}",
        "{\"name\":7}",
        "{\"name\":\"a\",\"command\":7}",
        "{\"name\":\"a\",\"command\":[]}",
        "{\"name\":\"a\",\"command\":[7,\"x\"]}",
        "{\"name\":\"a\",\"command\":[\"/bin/true\",{}],"
        "\"properties\":{\"name\":\"TIMEOUT\"}}",
        "{\"name\":\"a\",\"command\":[\"/\"],\"properties\":[7,[],"
        "{\"name\":\"DISABLED\"}]}",
    };
    char text[512];

    configure("");
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        snprintf(text, sizeof(text),
                 "#!/bin/sh\ncat <<'EOF'\n{\"kind\":\"ctestInfo\","
                 "\"version\":{\"major\":1},\"tests\":[%s]}\nEOF\n",
                 tests[i]);
        script("ctest", text);
        e2e_exits(i < 4 || i > 6 ? 4 : 2,
                  "PATH=$PWD:$PATH " TESTLOG " run --ctest=build");
    }
}

/* gtest_discover_tests makes a test of ctest of each test, with an expression
 * for those that are skipped. They are one program. */
Test(e2e_ctest, takes_programs_of_other_frameworks)
{
    const struct e2e *run;

    configure("");
    if (e2e_run("cat >g.cpp <<'END'\n#include <gtest/gtest.h>\n"
                "#include <unistd.h>\n"
                "TEST(A, passes) { EXPECT_STREQ(getenv(\"PLACE\"), "
                "\"here\"); EXPECT_EQ(access(\"mark\", F_OK), 0); }\n"
                "TEST(A, fails) { EXPECT_EQ(1, 2); }\n"
                "TEST(A, crashes) { abort(); }\n"
                "TEST(A, hangs) { pause(); }\n"
                "TEST(A, DISABLED_later) {}\n"
                "TEST(B, skips) { GTEST_SKIP(); }\nEND\n"
                "g++ -o g g.cpp -lgtest_main -lgtest -lpthread")
            ->code)
        cr_skip_test("no GoogleTest");
    configure("foreach(test A.passes A.fails A.crashes A.hangs B.skips)\n"
              "add_test(NAME my_${test} COMMAND ${CMAKE_SOURCE_DIR}/g "
              "--gtest_filter=${test} --gtest_also_run_disabled_tests)\n"
              "set_tests_properties(my_${test} PROPERTIES WORKING_DIRECTORY "
              "${CMAKE_SOURCE_DIR}/sub ENVIRONMENT PLACE=here TIMEOUT 2 "
              "SKIP_REGULAR_EXPRESSION \"\\\\[  SKIPPED \\\\]\")\n"
              "endforeach()\n"
              "add_test(NAME off COMMAND g --gtest_filter=A.DISABLED_later)\n"
              "set_tests_properties(off PROPERTIES DISABLED TRUE)\n"
              "add_test(NAME all COMMAND ${CMAKE_SOURCE_DIR}/g "
              "--gtest_filter=A.p* WORKING_DIRECTORY "
              "${CMAKE_SOURCE_DIR}/sub)\n");
    run = e2e_exits(1, "touch sub/mark; " TESTLOG " run --ctest=build");
    e2e_expect_is(
        e2e_run("cut -f 1,3,4 testlog-runs/latest/results.tsv")->out,
        "passed\tg\tA/passes\nfailed\tg\tA/fails\ncrashed\tg\tA/crashes\n"
        "timeout\tg\tA/hangs\nskipped\tg\tB/skips\nfailed\tall\t"
        "A/passes\n");
    run = e2e_exits(0, TESTLOG " run --ctest=build -- skips");
    e2e_expect_has(run->out, "\n0 passed, 0 failed, 1 skipped\n");
}

Test(e2e_ctest, separates_programs_by_the_names_of_tests)
{
    configure("add_test(NAME ../../up/one COMMAND ${SMALL} passes)\n"
              "add_test(NAME .hidden COMMAND ${SMALL} passes)\n"
              "add_test(NAME a+b COMMAND ${SMALL} passes)");
    e2e_exits(0, TESTLOG " run --ctest=build");
    cr_expect(e2e_exists("testlog-runs/latest/tests/one/run.json"));
    cr_expect(e2e_exists("testlog-runs/latest/tests/_hidden/run.json"));
    cr_expect(e2e_exists("testlog-runs/latest/tests/a+b/run.json"));
}
