/* e2e_build_systems_test.c: projects of CMake, Meson and Automake use an
 * installed testlog. */
#include "harness/version.h"
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_build_systems, .init = e2e_begin, .timeout = 300);

#define PROJECTS SOURCE_DIR "/tests/build-systems"
#define LATEST   "testlog-runs/latest/"

static void need(const char *program)
{
    e2e_need(program);
    e2e_install();
}

/* ---- CMake ---- */

static void build_cmake(const char *mode)
{
    need("cmake");
    e2e_exits(0,
              "cp -r '" PROJECTS
              "' projects && cmake -S projects/cmake -B build -DMODE=%s "
              "-DCMAKE_PREFIX_PATH=$PWD/opt && cmake --build build",
              mode);
}

/* "outcome suite/test" of the latest run, sorted. */
static const char *outcomes(void)
{
    return e2e_run("cut -f 1,4 build/" LATEST
                   "results.tsv | tr '\\t' ' ' | sort -k 2")
        ->out;
}

static const char all[] = "failed store/fails\n"
                          "passed store/has_a_limit\n"
                          "passed store/passes\n"
                          "passed store/passes\n"
                          "skipped store/skips\n";

Test(e2e_build_systems, cmake_discovers_tests)
{
    const struct e2e *run;

    build_cmake("POST_BUILD");
    run = e2e_run("cd build && ctest");
    cr_expect_neq(run->code, 0);
    e2e_expect_has(run->out, "store/is_off ", "(Disabled)", "store/fails ",
                   "***Failed", "***Skipped", "out of 5\n");
    e2e_expect_is(outcomes(), all);
    cr_expect(e2e_exists("build/" LATEST "report.html"));
    cr_expect(
        e2e_exists("build/" LATEST "tests/store_test/store.fails/log.txt"));
    e2e_expect_has(e2e_read("build/store_test-testlog-list.cmake"),
                   "testlog_entry( [[store/has_a_limit]] "
                   "[[store/has_a_limit]] 16 0 0 [[store]] "
                   "[[--filter=store/has_a_limit]] [[",
                   "/projects/store.c]] ");
}

/* The processes of a ctest make one run, however it chooses or repeats tests;
 * each ctest makes another. */
Test(e2e_build_systems, one_ctest_is_one_run)
{
    build_cmake("POST_BUILD");
    e2e_run("cd build && ctest -j4");
    e2e_expect_is(outcomes(), all);
    e2e_expect_is(e2e_run("grep -c '^Test time' "
                          "build/Testing/Temporary/LastTest.log")
                      ->out,
                  "6\n"); /* it is as ctest wrote it */
    e2e_expect_has(e2e_run("cat build/testlog-runs/.history/*")->out,
                   "store/has_a_limit");
    e2e_run("cd build && ctest --rerun-failed");
    e2e_expect_is(outcomes(), "failed store/fails\n");
    e2e_run("cd build && ctest -R 'passes|skips' --repeat until-fail:3");
    e2e_expect_is(outcomes(), "passed store/passes\nskipped store/skips\n");
    e2e_run("ctest --test-dir build -L store -E fails");
    e2e_expect_is(outcomes(), "passed store/has_a_limit\n"
                              "passed store/passes\n"
                              "skipped store/skips\n");
    e2e_expect_is(e2e_run("ls -d build/testlog-runs/2* | wc -l")->out, "4\n");
    e2e_expect_is(e2e_run("ls build/testlog-runs/.joined | wc -l")->out, "1\n");
}

/* Adapters are targets: a line gives each test of a framework a log and a
 * trace, also with a main of the user's. */
Test(e2e_build_systems, cmake_links_adapters)
{
    const struct e2e *run;

    need("cmake");
    if (e2e_run("echo '#include <gtest/gtest.h>' | g++ -fsyntax-only -xc++ -")
            ->code)
        cr_skip_test("no GoogleTest");
    e2e_run("mkdir projects; cat >projects/stock_test.cpp <<'END'\n"
            "#include <gtest/gtest.h>\n"
            "#include <testlog/core.h>\n"
            "TEST(Stock, Fails) { log_info(\"seen\"); EXPECT_EQ(1, 2); }\n"
            "TEST(Stock, Passes) {}\n"
            "#ifdef OWN_MAIN\n"
            "int main(int c, char **v)\n"
            "{ testing::InitGoogleTest(&c, v); return RUN_ALL_TESTS(); }\n"
            "#endif\nEND\n"
            "cat >projects/CMakeLists.txt <<'END'\n"
            "cmake_minimum_required(VERSION 3.14)\nproject(stock CXX)\n"
            "find_package(GTest REQUIRED)\n"
            "find_package(testlog CONFIG REQUIRED)\n"
            "find_package(testlog CONFIG REQUIRED)\n"
            "add_executable(stock_test stock_test.cpp)\n"
            "target_link_libraries(stock_test GTest::gtest_main "
            "testlog::gtest)\n"
            "add_executable(own_test stock_test.cpp)\n"
            "target_compile_definitions(own_test PRIVATE OWN_MAIN)\n"
            "target_link_libraries(own_test GTest::gtest testlog::gtest)\n"
            "END\n");
    e2e_expect_code(e2e_run("cmake -S projects -B build "
                            "-DCMAKE_PREFIX_PATH=$PWD/opt && "
                            "cmake --build build"),
                    0);
    run = e2e_run("'" BUILD_DIR "/testlog' run build/stock_test "
                  "build/own_test");
    e2e_expect_code(run, 1);
    e2e_expect_is(e2e_last(run->out), "2 passed, 2 failed, 0 skipped");
    cr_expect_eq(e2e_count(run->err, " INFO projects::stock_test: seen\n"), 2,
                 "%s", run->err);
    e2e_expect_is(e2e_run("ls $(PKG_CONFIG_PATH=$PWD/opt/lib/pkgconfig "
                          "pkg-config --variable=adapters testlog-core)")
                      ->out,
                  "boost_adapter.cpp\ncatch2_adapter.cpp\ncheck_adapter.h\n"
                  "cmocka_adapter.h\ndoctest_adapter.cpp\n"
                  "gtest_adapter.cpp\n");
}

static const char *const stock[] = {
    "stock_test.cpp",
    "#include <cstdlib>\n#include <gtest/gtest.h>\n"
    "TEST(Stock, Counts) { EXPECT_STREQ(std::getenv(\"USERS\"), \"1\"); "
    "EXPECT_EQ(std::getenv(\"TESTLOG_JOIN\"), nullptr); }\n"
    "TEST(Stock, Fails) { EXPECT_EQ(1, 2); }\n"
    "TEST(Stock, DISABLED_Later) {}\n"
    "TEST(Stock, Skips) { GTEST_SKIP() << \"no device\"; }\n"
    "TEST(Other, Counts) {}\n",
    "CMakeLists.txt",
    "cmake_minimum_required(VERSION 3.14)\nproject(stock CXX)\n"
    "enable_testing()\nfind_package(GTest REQUIRED)\n"
    "find_package(testlog CONFIG REQUIRED)\n"
    "add_executable(stock_test stock_test.cpp)\n"
    "target_link_libraries(stock_test GTest::gtest_main testlog::gtest)\n"
    "testlog_discover_tests(stock_test TEST_LIST all\n"
    "    EXTRA_ARGS --gtest_print_time=0 PROPERTIES ENVIRONMENT USERS=1)\n"
    "add_executable(plain_test stock_test.cpp)\n"
    "target_link_libraries(plain_test GTest::gtest_main)\n"
    "testlog_discover_tests(plain_test TEST_PREFIX plain. "
    "DISCOVERY_TIMEOUT 60\n    TEST_FILTER Other.* "
    "EXTRA_ARGS --gtest_print_time=0)\n"
    "testlog_discover_tests(stock_test TEST_PREFIX \"no; users/\"\n"
    "    TEST_FILTER Stock.Counts)\n"};

/* An entry of a program with an adapter is the program itself, which joins the
 * others; editors find where its test is. */
Test(e2e_build_systems, ctest_debugs_the_program_of_an_adapter)
{
    const struct e2e *run;

    need("cmake");
    if (e2e_run("echo '#include <gtest/gtest.h>' | g++ -fsyntax-only -xc++ -")
            ->code)
        cr_skip_test("no GoogleTest");
    for (size_t i = 0; i < 4; i += 2)
        test_save(stock[i], stock[i + 1], strlen(stock[i + 1]));
    e2e_exits(0, "cmake -S . -B build -DCMAKE_PREFIX_PATH=$PWD/opt && "
                 "cmake --build build");
    run = e2e_run("cd build && ctest -j2 --output-on-failure");
    e2e_expect_has(run->out, "\n    ctest --test-dir /",
                   "/build -R 'Stock\\.Fails$'\n");
    e2e_expect_has(run->out, "Stock.Counts ", "Stock.Later (Disabled)",
                   "Stock.Skips (Skipped)", "plain.Other.Counts ", "trace: /",
                   "report: /", "2 tests failed out of 6");
    e2e_expect_is(
        e2e_run("cut -f 1,3,4 build/" LATEST "results.tsv | tr '\t' ' ' | sort")
            ->out,
        "failed no__users_stock_test Stock/Counts\n"
        "failed stock_test Stock/Fails\n"
        "passed plain.plain_test Other/Counts\n"
        "passed stock_test Other/Counts\n"
        "passed stock_test Stock/Counts\n"
        "skipped stock_test Stock/Skips\n");
    e2e_expect_is(e2e_run("ls -d build/testlog-runs/2* | wc -l")->out, "1\n");
    e2e_expect_is(e2e_run("cd build/" LATEST "tests && "
                          "ls | grep -v 'process[.]' && "
                          "ls stock_test | grep -v 'process[.][1-5]$'")
                      ->out,
                  "no__users_stock_test\nplain.plain_test\nstock_test\n"
                  "Stock.Fails\n");
    run = e2e_exits(1, "cd build && '" BUILD_DIR "/testlog' show");
    e2e_expect_has(run->out, "run them again:\n    ctest -R 'Stock\\.",
                   "/tests/stock_test/Stock.Fails/trace.json\n");
    run = e2e_exits(0, "cd build && '" BUILD_DIR "/testlog' log");
    e2e_expect_lacks(run->err, "cannot read");
    e2e_expect_has(e2e_run("cd build && ctest -R '^Stock.C'")->out,
                   "100% tests passed, 0 tests failed out of 1");
    e2e_expect_has(e2e_run("cd build && ctest --show-only=json-v1 | "
                           "tr -d ' \\n\\t'")
                       ->out,
                   "/stock_test.cpp\"", "\"line\":4}",
                   "/build/stock_test\",\"--gtest_filter=Stock.Fails\",");
    run = e2e_run("'" BUILD_DIR "/testlog' run --ctest=build");
    e2e_expect_is(e2e_last(run->out), "2 passed, 2 failed, 1 skipped");
    e2e_expect_is(
        e2e_run("cut -f 3 testlog-runs/latest/results.tsv | sort -u")->out,
        "stock_test\nstock_test~2\n");
}

Test(e2e_build_systems, uninstall_leaves_nothing)
{
    need("make");
    e2e_expect_code(
        e2e_run("opt=$(readlink -f opt); there=$PWD/there; set -e; "
                "make() { command make -s -C ${opt%%/opt}/copy $1 TRACING=0 "
                "PREFIX=$opt DESTDIR=$there; }; "
                "make install; [ -f $there$opt/lib/libtestlog.a ]; "
                "touch $there$opt/share/man/man1/other.1; make uninstall; "
                "! [ -e $there$opt/lib/testlog ]"),
        0);
    e2e_expect_is(
        e2e_run("cd there$(readlink -f opt) && find . ! -type d")->out,
        "./share/man/man1/other.1\n");
}

/* Before ctest runs tests, it asks a program that is newer than the list. */
Test(e2e_build_systems, cmake_discovers_tests_before_they_run)
{
    build_cmake("PRE_TEST");
    cr_expect_not(e2e_exists("build/store_test-testlog-list.cmake"));
    e2e_expect_has(e2e_run("cd build && ctest -N")->out, "store/passes\n");
    e2e_run("sed -i 's/store, passes/store, is_new/' projects/store.c && "
            "cmake --build build");
    e2e_expect_has(e2e_run("cd build && ctest -N")->out, "store/is_new\n");
}

Test(e2e_build_systems, ctest_without_a_program_says_so)
{
    build_cmake("POST_BUILD");
    e2e_run("rm build/*-list.cmake");
    e2e_expect_has(e2e_run("cd build && ctest")->out, "store_test_NOT_BUILT");
}

/* A run whose folder cannot be used does not change a verdict. */
Test(e2e_build_systems, a_run_that_cannot_be_joined_changes_nothing)
{
    const struct e2e *run;

    build_cmake("POST_BUILD");
    run = e2e_exits(
        0, "touch build/testlog-runs; cd build && ctest -R passes --verbose");
    e2e_expect_has(run->out, "--join: cannot use ");
}

/* Programs of one name in two folders do not take each other's results. */
Test(e2e_build_systems, two_programs_may_have_one_name)
{
    need("cmake");
    e2e_run("cmake -S '" PROJECTS "/same-name' -B build "
            "-DCMAKE_PREFIX_PATH=$PWD/opt && cmake --build build && ctest "
            "--test-dir build");
    e2e_expect_is(e2e_run("cut -f 1,3,4 build/" LATEST
                          "results.tsv | tr '\\t' ' ' | sort")
                      ->out,
                  "failed unit_unit unit/test\n"
                  "passed unit_unit~2 unit/test\n");
}

/* Tests of Catch2 may have any name. */
Test(e2e_build_systems, names_keep_their_signs)
{
    const struct e2e *run;

    need("cmake");
    if (e2e_run("echo '#include <catch2/catch.hpp>' | c++ -fsyntax-only -x c++ "
                "-")
            ->code)
        cr_skip_test("no Catch2");
    run =
        e2e_run("cmake -S '" PROJECTS "/names' -B build "
                "-DCMAKE_PREFIX_PATH=$PWD/opt && cmake --build build && ctest "
                "--test-dir build");
    e2e_expect_has(run->out, "1 tests failed out of 8\n");
    e2e_expect_lacks(run->err, "Warning");
    e2e_expect_is(e2e_run("cut -f 1,4 build/" LATEST "results.tsv | sort")->out,
                  "failed\tnames/fails [x]\n"
                  "passed\tnames/back\\slash\n"
                  "passed\tnames/dollar ${HOME} $ENV{HOME} @x@\n"
                  "passed\tnames/ends with a bracket [fast]\n"
                  "passed\tnames/eq ]=] end]=\n"
                  "passed\tnames/one [\n"
                  "passed\tnames/paren (a) # b\n"
                  "passed\tnames/semi;colon \"quoted\" * ? !\n");
}

/* A process that ctest kills is a crashed test of the run. */
Test(e2e_build_systems, killed_processes_are_in_the_run)
{
    build_cmake("POST_BUILD");
    e2e_run("sed -i 's/^    log_info(\"about.*/    for (;;) {}/' "
            "projects/store.c && cmake --build build && cd build && ctest "
            "--timeout 2");
    e2e_expect_is(outcomes(), "crashed store/fails\n"
                              "passed store/has_a_limit\n"
                              "passed store/passes\n"
                              "passed store/passes\n"
                              "skipped store/skips\n");
    /* Nobody is left who could write the files, until the next ctest. */
    e2e_run("cd build && ctest --timeout 2 -R fails; readlink -f " LATEST
            " >killed; ctest -R passes");
    e2e_expect_is(e2e_run("cut -f 1,4 build/testlog-runs/$(basename $(cat "
                          "build/killed))/results.tsv")
                      ->out,
                  "crashed\tstore/fails\n");
}

/* ---- Meson and Automake ---- */

Test(e2e_build_systems, meson_counts_tests_as_failed)
{
    const struct e2e *run;

    need("meson");
    run = e2e_exits(1, E2E_INSTALLED "mkdir p && cp '" PROJECTS
                                     "'/meson/* '" PROJECTS
                                     "/store.c' p && meson setup b p && meson "
                                     "compile -C b && meson test -C b");
    e2e_expect_has(run->out, "store FAIL ", "2/3 subtests passed");
    e2e_expect_lacks(run->out, "ERROR");
}

/* The folder `to` gets a testlog that is built, but not installed. */
static void copy_built(const char *to)
{
    need("meson");
    e2e_exits(0,
              "mkdir -p %s && cp -a \"$(dirname $(readlink opt))\"/copy/* %s",
              to, to);
}

Test(e2e_build_systems, meson_builds_testlog_as_a_subproject)
{
    const struct e2e *run;

    copy_built("p/subprojects/testlog");
    run = e2e_exits(1, "cp '" PROJECTS "/meson/meson.build' '" PROJECTS
                       "/store.c' p && printf '[wrap-git]\nurl = testlog.git\n"
                       "revision = v0.2.0\n[provide]\n"
                       "dependency_names = testlog, testlog-core\n' "
                       ">p/subprojects/testlog.wrap && meson setup "
                       "--force-fallback-for=testlog b p && meson compile -C b "
                       "&& meson test -C b");
    e2e_expect_has(run->out,
                   "Dependency testlog found: YES " TEST_LOG_VERSION
                   " (overridden)\n",
                   "2/3 subtests passed");
}

Test(e2e_build_systems, meson_prints_why_make_failed)
{
    copy_built("built");
    e2e_expect_has(e2e_exits(1, "meson setup 'a b' built")->out,
                   "testlog: PREFIX and LIBDIR cannot have blanks");
}

Test(e2e_build_systems, automake_has_no_additional_error)
{
    const struct e2e *run;

    need("autoreconf");
    run = e2e_run(
        E2E_INSTALLED
        "mkdir p && cp '" PROJECTS "'/automake/* '" PROJECTS
        "/store.c' p && cd p && autoreconf -i && ./configure && "
        "make check >out; code=$?; sed 's/test [0-9] /test N /' out; exit "
        "$code");
    cr_expect_neq(run->code, 0);
    e2e_expect_has(run->out, "FAIL: store_test N - store::fails",
                   "# FAIL:  1\n", "# ERROR: 0\n");
}

/* ---- Suites that are not changed ---- */

Test(e2e_build_systems, the_shadow_of_criterion_links_testlog)
{
    need("cc");
    e2e_exits(0, E2E_INSTALLED
              "export PKG_CONFIG_PATH=$(pkg-config --variable=shadow testlog) "
              "&& printf '#include <criterion/criterion.h>\\nTest(a, b) {}\\n' "
              "| cc -o plain_test -x c - -x none $(pkg-config --cflags --libs "
              "criterion) && ./plain_test");
    cr_expect(e2e_exists(LATEST "tests/plain_test/a.b/recording"));
    /* As CMake links what find_library() has found. */
    e2e_exits(
        0, E2E_INSTALLED
        "shadow=$(pkg-config --variable=shadow testlog) && printf '#include "
        "<criterion/criterion.h>\\nTest(a, b) {}\\n' | cc -o found_test -x c - "
        "-x none -Wl,-rpath,$shadow $shadow/libcriterion.so && ./found_test");
}
