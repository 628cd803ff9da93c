/* e2e_functions_test.c: calls of functions in code without annotations, built
 * in the ways that the manual describes. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_functions, .init = e2e_begin, .timeout = 300);

#define PROGRAMS "'" TESTS_DIR "/programs'"
#define FLAGS                                                                  \
    "-g -D_GNU_SOURCE -DTRACING -I '" BUILD_DIR "/include' " SANITIZE_FLAGS    \
    " -fno-omit-frame-pointer -fno-optimize-sibling-calls "
#define STATIC " -L '" BUILD_DIR "' -ltestlog -lcriterion -lpcre2-8 -lpthread"
#define SHARED                                                                 \
    " -L '" BUILD_DIR "/shared' -Wl,-rpath,'" BUILD_DIR                        \
    "/shared' -ltestlog -lcriterion -lpcre2-8 -lpthread"

#define GCC "gcc -finstrument-functions "
#define GXX                                                                    \
    "g++ -finstrument-functions "                                              \
    "-finstrument-functions-exclude-file-list=/usr/include "
#define CLANG   "clang -finstrument-functions-after-inlining "
#define CLANGXX "clang++ -finstrument-functions-after-inlining "

static void expect_success(const struct e2e *result)
{
    cr_assert_eq(result->code, 0, "%s: %s", result->command, result->err);
}

/* Returns the stacks below main, without times, each once. */
static const char *stacks(const char *folder)
{
    return e2e_run("'" BUILD_DIR "/testlog' export --folded %s | sed -n "
                   "'s/^[^;]*;work//; T; s/ [0-9]*$//; /^$/d; /std::/d; "
                   "/Store::~*Store/d; p' | "
                   "LC_ALL=C sort -u",
                   folder)
        ->out;
}

/* X(name, compiler, tool, optimization) */
#define WAYS_OF_C(X)                                                           \
    X(gcc_0, GCC, "gcc", "-O0")                                                \
    X(gcc_2, GCC, "gcc", "-O2")                                                \
    X(gcc_3, GCC, "gcc", "-O3")                                                \
    X(clang_0, CLANG, "clang", "-O0")                                          \
    X(clang_2, CLANG, "clang", "-O2")

#define WAYS_OF_CXX(X)                                                         \
    X(gxx_0, GXX, "g++", "-O0")                                                \
    X(gxx_2, GXX, "g++", "-O2")                                                \
    X(clangxx_0, CLANGXX, "clang++", "-O0")                                    \
    X(clangxx_2, CLANGXX, "clang++", "-O2")

static void build(const char *compiler, const char *optimization,
                  const char *source, const char *program)
{
    expect_success(e2e_run("%s " FLAGS "%s " PROGRAMS "/%s -o %s" STATIC,
                           compiler, optimization, source, program));
}

/* Every function takes some time of its own. */
#define C_STACKS                                                               \
    ";descend\n"                                                               \
    ";descend;descend\n"                                                       \
    ";descend;descend;descend\n"                                               \
    ";descend;descend;descend;leaf\n"                                          \
    ";land\n"                                                                  \
    ";land;fall\n"                                                             \
    ";land;fall;jump\n"                                                        \
    ";land;fall;jump;leaf\n"                                                   \
    ";land;fill\n"                                                             \
    ";land;leaf\n"                                                             \
    ";listen\n"                                                                \
    ";listen;interrupt\n"                                                      \
    ";listen;interrupt;handle\n"                                               \
    ";listen;interrupt;handle;leaf\n"                                          \
    ";listen;interrupt;leaf\n"                                                 \
    ";listen;leaf\n"                                                           \
    ";sort\n"                                                                  \
    ";sort;compare\n"                                                          \
    ";sort;compare;leaf\n"                                                     \
    ";sort;leaf\n"

#define CXX_STACKS                                                             \
    ";fill\n"                                                                  \
    ";fill;kv::Store::put\n"                                                   \
    ";kv::Store::operator()\n"                                                 \
    ";kv::Store::operator();kv::twice<int>\n"                                  \
    ";leaf\n"

#define TEST_C(name, compiler, tool, optimization)                             \
    Test(e2e_functions, records_c_calls_of_##name)                             \
    {                                                                          \
        e2e_need(tool);                                                        \
        build(compiler, optimization, "calls.c", "calls");                     \
        expect_success(e2e_run("./calls out"));                                \
        e2e_expect_is(stacks("out"), C_STACKS);                                \
    }

WAYS_OF_C(TEST_C)
#undef TEST_C

#define TEST_CXX(name, compiler, tool, optimization)                           \
    Test(e2e_functions, records_calls_that_exceptions_leave_in_##name)         \
    {                                                                          \
        e2e_need(tool);                                                        \
        build(compiler, optimization, "calls_cxx.cpp", "calls");               \
        expect_success(e2e_run("./calls out"));                                \
        e2e_expect_is(stacks("out"), CXX_STACKS);                              \
    }

WAYS_OF_CXX(TEST_CXX)
#undef TEST_CXX

/* ---- Modules ---- */

static void build_plugin(const char *name)
{
    expect_success(e2e_run(GCC FLAGS "-shared -fPIC -DNAME=%s " PROGRAMS
                                     "/calls_plugin.c -o %s.so" SHARED,
                           name, name));
}

/* Objects of one size take each other's addresses. */
Test(e2e_functions, names_functions_of_objects_at_one_address)
{
    const struct e2e *run;
    const char *out;

    e2e_need("gcc");
    build_plugin("one");
    build_plugin("two");
    expect_success(
        e2e_run("gcc " FLAGS PROGRAMS "/calls_loading.c -o loading" SHARED));
    run = e2e_run("./loading out ./one.so ./two.so ./one.so");
    expect_success(run);
    if (e2e_run("./loading out2 ./one.so ./two.so | uniq | wc -l")->out[0] !=
        '1')
        cr_skip_test("the objects were loaded at different addresses");
    out = e2e_run("'" BUILD_DIR "/testlog' stat out")->out;
    e2e_expect_has(e2e_line(out, "plugin_one"), "    2 ");
    e2e_expect_has(e2e_line(out, "plugin_two"), "    1 ");
    e2e_expect_has(e2e_line(out, "  run"), "    3 ");
}

Test(e2e_functions, names_functions_by_their_offsets_without_symbols)
{
    e2e_need("gcc");
    build(GCC, "-O0", "calls.c", "calls");
    expect_success(e2e_run("./calls out && strip calls"));
    e2e_expect_has(e2e_run("'" BUILD_DIR "/testlog' stat out")->out,
                   "  calls+0x");
    /* Another program took its place. */
    build(GCC, "-O1", "calls.c", "calls");
    e2e_expect_has(e2e_run("'" BUILD_DIR "/testlog' stat out")->out,
                   "  calls+0x");
}

/* ---- Filters ---- */

Test(e2e_functions, shows_functions_at_level_trace_in_chains_only)
{
    const char *hidden, *shown;

    e2e_need("gcc");
    expect_success(
        e2e_run(GCC FLAGS PROGRAMS "/calling.c -o calls_test" STATIC));
    hidden = e2e_run("./calls_test --log=info --log-time=none")->err;
    shown = e2e_run("./calls_test --log=trace --log-time=none")->err;
    e2e_expect_has(hidden, " INFO request:");
    e2e_expect_lacks(hidden, "look_up");
    e2e_expect_has(shown, "serve:request:look_up: ");
    e2e_expect_has(
        e2e_run("./calls_test --log=info,fn=trace --log-time=none")->err,
        "serve:request:look_up: ");
    e2e_expect_lacks(e2e_run("./calls_test --log=fn=trace 2>&1")->out,
                     "matches no");
}

Test(e2e_functions, tells_why_no_expectation_finds_a_function)
{
    const struct e2e *run;

    e2e_need("gcc");
    expect_success(
        e2e_run(GCC FLAGS PROGRAMS "/calling.c -o calls_test" STATIC));
    run = e2e_exits(1, "EXPECTS=1 ./calls_test --filter=calls/expects*");
    e2e_expect_has(run->err,
                   "; calls of functions have no names in a test, only "
                   "afterwards, so that no expectation finds them");
    run = e2e_exits(
        1, "EXPECTS=1 ./calls_test --filter=calls/expects* --functions=none");
    e2e_expect_lacks(run->err, "calls of functions");
}

/* ---- --functions ---- */

/* The functions that calls_test recorded, in order of their names. */
static const char *recorded(const char *flags)
{
    e2e_run("rm -rf testlog-runs; CALLS=3 ./calls_test %s", flags);
    return e2e_run("'" BUILD_DIR "/testlog' stat calls/serves --json | "
                   "grep -o '\"name\":\"[a-z_]*\"' | cut -d'\"' -f4 | "
                   "grep -v calls_serves | LC_ALL=C sort | tr '\\n' ' '")
        ->out;
}

Test(e2e_functions, records_the_functions_that_the_run_asks_for)
{
    e2e_need("gcc");
    expect_success(
        e2e_run(GCC FLAGS PROGRAMS "/calling.c -o calls_test" STATIC));
    e2e_expect_is(recorded(""), "look_up request serve step ");
    e2e_expect_is(recorded("--functions=none"), "request ");
    e2e_expect_is(recorded("--functions=step"), "request step ");
    e2e_expect_is(recorded("--functions='!step'"), "look_up request serve ");
    e2e_expect_is(recorded("--functions='s*,!serve'"), "request step ");
    e2e_expect_is(recorded("--functions='lib:calls_*,!s*'"),
                  "look_up request ");
    e2e_expect_is(recorded("--functions=!lib:calls_test"), "request ");
    e2e_expect_is(recorded("--functions=serve,step --functions-depth=1"),
                  "request serve ");
    e2e_expect_is(recorded("--functions-min=1s"), "look_up request serve ");
    e2e_expect_is(recorded("--functions=step --retries 1"), "request step ");
}

Test(e2e_functions, names_globs_that_match_no_function)
{
    const struct e2e *run;

    e2e_need("gcc");
    expect_success(
        e2e_run(GCC FLAGS PROGRAMS "/calling.c -o calls_test" STATIC));
    run = e2e_run("./calls_test --functions='step,zip_*'");
    e2e_expect_has(run->err,
                   "testlog: --functions: zip_* matched no function\n");
    e2e_expect_lacks(run->err, "--functions: step");
    run = e2e_run("TRACE_FUNCTIONS='!zip_*' ./calls_test");
    e2e_expect_has(run->err,
                   "testlog: TRACE_FUNCTIONS: !zip_* matched no function\n");
    run = e2e_run("'" BUILD_DIR "/testlog' run --functions 'step,zip_*' "
                  "--functions-min=1s ./calls_test");
    e2e_expect_has(run->err,
                   "testlog: --functions: zip_* matched no function\n");
    run = e2e_run("%s --functions=step", e2e_program("small", E2E_TRACED));
    e2e_expect_has(run->err,
                   "testlog: --functions has no effect: the program calls no "
                   "function that was built with -finstrument-functions\n");
}

static const char *const refused[][2] = {
    {"--functions=", "--functions: \"\" names no functions: a glob is empty; "
                     "write none, or globs as in store_*,!*_cmp,lib:libz*\n"},
    {"--functions=a,none", "none stands alone"},
    {"--functions=[a", "\"[a\" names no functions: a [ without a ]"},
    {"--functions-depth=-1", "--functions-depth: \"-1\" is not a number of "
                             "calls; write 0 to 10000\n"},
    {"--functions-min=1", "--functions-min: \"1\" is not a time; write one "
                          "such as 500ns or 1us\n"},
};

Test(e2e_functions, refuses_what_names_no_functions)
{
    const char *program = e2e_program("small", E2E_TRACED);

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct e2e *run = e2e_exits(2, "%s '%s'", program, refused[i][0]);

        e2e_expect_has(run->err, refused[i][1]);
        run = e2e_exits(2, "'" BUILD_DIR "/testlog' run '%s' %s", refused[i][0],
                        program);
        e2e_expect_has(run->err, refused[i][1]);
    }
    e2e_expect_has(e2e_run("'" BUILD_DIR "/testlog' run --functions -- a")->err,
                   "run: --functions needs a value: --functions=none|GLOBS\n");
}

/* ---- Limits ---- */

/* The last record reaches to the end of the file, which has zeros there. */
Test(e2e_functions, reads_all_calls_of_a_compressed_recording)
{
    e2e_need("gcc");
    expect_success(
        e2e_run(GCC FLAGS PROGRAMS "/calling.c -o calls_test" STATIC));
    e2e_run("CALLS=9000 ./calls_test --filter=calls/serves");
    e2e_expect_has(e2e_run("ls testlog-runs/latest/tests/*/*")->out,
                   "recording.zst\n");
    e2e_expect_has(
        e2e_line(e2e_run("'" BUILD_DIR "/testlog' stat")->out, "  step"),
        " 9000 ");
}

/* ---- Programs without annotations ---- */

/* A program whose only trace of testlog are the hooks. */
static void build_hooked(const char *libraries)
{
    e2e_run("cat >hooked.c <<'END'\n"
            "#include <stdlib.h>\n"
            "#include <unistd.h>\n"
            "volatile int sink;\n"
            "void leaf(void) { sink++; }\n"
            "void work(void) { leaf(); leaf(); }\n"
            "int main(int argc, char **argv)\n"
            "{ do { work(); if (argc > 1) usleep(100); } while (argc > 1);"
            " return 0; }\nEND");
    expect_success(
        e2e_run(GCC FLAGS "hooked.c -o hooked -L '" BUILD_DIR "%s", libraries));
}

static const char *const hooked_libraries[] = {
    "' -l:libtestlog-core.a -lpcre2-8 -lpthread -ldl",
    "/shared' -Wl,-rpath,'" BUILD_DIR "/shared' -ltestlog-core"};

static const char *counts(void)
{
    return e2e_run("'" BUILD_DIR "/testlog' stat --csv | tail -n +2 | "
                   "sed 's/,.*,/,/' | LC_ALL=C sort -t, -k 2")
        ->out;
}

Test(e2e_functions, records_a_program_that_only_has_hooks)
{
    e2e_need("gcc");
    for (size_t i = 0; i < 2; i++) {
        build_hooked(hooked_libraries[i]);
        expect_success(e2e_run("'" BUILD_DIR "/testlog' record -- ./hooked"));
        e2e_expect_is(counts(), "2,leaf\n1,main\n1,work\n");
    }
}

Test(e2e_functions, records_the_functions_that_record_asks_for)
{
    static const char *const cases[][2] = {
        {"--functions='!leaf'", "1,main\n1,work\n"},
        {"--functions=leaf", "2,leaf\n"},
        {"--functions=none", ""},
        {"--functions-depth=2", "1,main\n1,work\n"}};

    e2e_need("gcc");
    build_hooked(hooked_libraries[1]);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        e2e_run("'" BUILD_DIR "/testlog' record %s -- ./hooked", cases[i][0]);
        e2e_expect_is(counts(), cases[i][1]);
    }
    e2e_expect_has(e2e_run("'" BUILD_DIR
                           "/testlog' record --functions=no_such -- ./hooked")
                       ->err,
                   "no_such");
    e2e_expect_has(e2e_run("'" BUILD_DIR "/testlog' record --functions=leaf -- "
                           "sh -c ./hooked")
                       ->err,
                   "--functions has no effect: ");
}

Test(e2e_functions, captures_a_program_that_only_has_hooks)
{
    e2e_need("gcc");
    build_hooked(hooked_libraries[1]);
    e2e_run("export XDG_RUNTIME_DIR=$PWD/x; mkdir -m 700 x; TRACE_SERVER=1 "
            "./hooked serve & p=$!; "
            "until [ -S x/testlog/$p.sock ] || ! kill -0 $p; do sleep 0.01; "
            "done; '" BUILD_DIR "/testlog' capture --pid=$p --ms=300; kill $p");
    e2e_expect_has(counts(), ",leaf\n");
}

/* A recursive call lies in the time of its outermost call. */
Test(e2e_functions, counts_the_time_of_recursion_once)
{
    e2e_need("gcc");
    build(GCC, "-O0", "calls.c", "calls");
    expect_success(e2e_run("./calls out"));
    e2e_expect_is(e2e_run("'" BUILD_DIR "/testlog' stat --csv out | awk -F, "
                          "'{ total[$9] = $2; count[$9] = $1 } END { print "
                          "(count[\"descend\"] > 1), (total[\"descend\"] > 0), "
                          "(total[\"descend\"] <= total[\"work\"]) }'")
                      ->out,
                  "1 1 1\n");
}

Test(e2e_functions, counts_calls_beyond_the_limit)
{
    e2e_need("gcc");
    expect_success(
        e2e_run(GCC FLAGS PROGRAMS "/calling.c -o calls_test" STATIC));
    e2e_expect_has(e2e_run("CALLS=100000 ./calls_test "
                           "--trace-options=functions_limit=256K")
                       ->err,
                   "calls of functions were only counted after "
                   "functions_limit was reached: step ");
    e2e_expect_has(
        e2e_run("./calls_test --trace-options=functions_limit=1")->err,
        "functions_limit");
}
