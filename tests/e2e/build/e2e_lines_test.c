/* e2e_lines_test.c: lines in the order in which they ran, of code that is built
 * in the ways that the manual describes. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_lines, .init = e2e_begin, .timeout = 180);

#define PROGRAMS "'" TESTS_DIR "/programs'"
#define FLAGS                                                                  \
    "-g -D_GNU_SOURCE -DTRACING -I '" BUILD_DIR "/include' " SANITIZE_FLAGS    \
    " -fno-omit-frame-pointer -fno-optimize-sibling-calls "
#define LIBRARIES                                                              \
    " -L '" BUILD_DIR "' -ltestlog -lcriterion -lpcre2-8 -lpthread"
#define GCC     "gcc -fsanitize-coverage=trace-pc "
#define CLANG   "clang -fsanitize-coverage=trace-pc,bb,no-prune "
#define TESTLOG "'" BUILD_DIR "/testlog' "

static void build(const char *compiler, const char *flags)
{
    const struct e2e *run;
    char tool[16];

    sscanf(compiler, "%15s", tool);
    if (e2e_run("command -v %s", tool)->code)
        cr_skip_test("%s is not installed", tool);
    run = e2e_run("cp " PROGRAMS "/stepping.c . && %s " FLAGS
                  "%s stepping.c -o stepping_test" LIBRARIES,
                  compiler, flags);
    cr_assert_eq(run->code, 0, "%s", run->err);
}

static void record(const char *flags)
{
    const struct e2e *run =
        e2e_run("rm -rf testlog-runs; ./stepping_test %s", flags);

    cr_assert_eq(run->code, 0, "%s", run->err);
    e2e_expect_lacks(run->err, "--lines");
}

/* What the lines of look_up, with the keys 3 and 4, tell in all builds without
 * optimization: the first entry of three is not the one, the second is
 * negative, and the third is the one once. */
static void expect_lines(const char *table)
{
    e2e_expect_has(e2e_line(table, "if (items[i].key == key) {"), "    6 ");
    e2e_expect_has(e2e_line(table, "found = i;"), "    1 ");
    e2e_expect_has(e2e_line(table, "if (found < 0)"), "    2 ");
    e2e_expect_has(e2e_line(table, "return -1;"), "    1 ");
}

/* X(name, compiler, flags) */
#define WAYS(X)                                                                \
    X(gcc_0, GCC, "-O0")                                                       \
    X(clang_0, CLANG, "-O0")                                                   \
    X(clang_0_with_calls, CLANG, "-O0 -finstrument-functions-after-inlining")  \
    X(gcc_0_with_calls, GCC, "-O0 -finstrument-functions")

#define TEST(name, compiler, flags)                                            \
    Test(e2e_lines, counts_lines_of_##name)                                    \
    {                                                                          \
        build(compiler, flags);                                                \
        record("--lines=stepping.c:1-30");                                     \
        expect_lines(e2e_run(TESTLOG "stat --lines")->out);                    \
    }

WAYS(TEST)
#undef TEST

/* Optimized code has other blocks, but runs what it runs. */
#define OPTIMIZED(X)                                                           \
    X(gcc_g, GCC, "-Og")                                                       \
    X(gcc_2, GCC, "-O2")                                                       \
    X(clang_2, CLANG, "-O2")

#define TEST(name, compiler, flags)                                            \
    Test(e2e_lines, has_lines_of_##name)                                       \
    {                                                                          \
        build(compiler, flags);                                                \
        record("--lines=look_up");                                             \
        e2e_expect_has(e2e_run(TESTLOG "stat --lines")->out, "stepping.c:");   \
    }

OPTIMIZED(TEST)
#undef TEST

Test(e2e_lines, has_them_in_order)
{
    const char *order;

    build(GCC, "-O0");
    record("--lines=look_up,twice");
    order = e2e_run(TESTLOG "stat --lines=order --csv | cut -d, -f5 | uniq | "
                            "tr '\\n' ' '")
                ->out;
    e2e_expect_is(order, "line 13 15 16 18 15 16 18 15 16 17 15 22 24 13 15 16 "
                         "18 15 16 18 15 16 18 15 22 23 24 29 31 ");
    e2e_expect_has(e2e_run(TESTLOG "stat --lines=order")->out,
                   "stepping.c:13-15  look_up   int found = -1;\n");
}

Test(e2e_lines, shows_lines_that_did_not_run)
{
    const char *table;

    build(GCC, "-O0");
    record("--lines=look_up,never");
    table = e2e_run(TESTLOG "stat --lines")->out;
    e2e_expect_has(e2e_line(table, "return n + 1;"),
                   "    0       -        -  ");
    e2e_expect_lacks(table, "int a = n;");
}

Test(e2e_lines, ends_lines_with_their_function_if_its_calls_are_recorded)
{
    const char *stacks;

    build(GCC, "-O0 -finstrument-functions");
    record("--lines=twice");
    stacks = e2e_run(TESTLOG "export --folded")->out;
    e2e_expect_has(stacks, ";twice;stepping.c:28-31 ");
    e2e_expect_lacks(stacks, "stepping.c:28-31;");
    e2e_expect_lacks(stacks, "stepping.c:31-32");
    e2e_expect_has(stacks, ";look_up ");
    record("--lines=twice --functions=none");
    stacks = e2e_run(TESTLOG "export --folded")->out;
    e2e_expect_has(stacks, ";stepping.c:28-31 ");
    e2e_expect_lacks(stacks, "twice");
}

Test(e2e_lines, records_none_unless_asked)
{
    const struct e2e *run;

    build(GCC, "-O0");
    record("");
    run = e2e_run(TESTLOG "stat --lines");
    e2e_expect_code(run, 0);
    e2e_expect_is(run->out, "");
    e2e_expect_has(run->err, "has no lines; run the tests with "
                             "--lines=FILE:FIRST-LAST\n");
}

Test(e2e_lines, names_items_that_match_nothing)
{
    build(GCC, "-O0");
    e2e_expect_has(
        e2e_run("./stepping_test --lines=stepping.c:1-3,look_up")->err,
        "testlog: --lines: stepping.c:1-3 matched no line\n");
    e2e_expect_has(
        e2e_run(TESTLOG "run --lines look_down ./stepping_test")->err,
        "testlog: --lines: look_down matched no line\n");
    e2e_expect_has(
        e2e_run("TRACE_LINES=x.c:1 %s", e2e_program("small", E2E_TRACED))->err,
        "testlog: TRACE_LINES has no effect: no file of the program was built "
        "with -fsanitize-coverage=trace-pc\n");
}

Test(e2e_lines, refuses_what_names_no_lines)
{
    static const char *const refused[] = {"", "store.c", "a.c:3-2", "a.c:x"};
    const char *program = e2e_program("small", E2E_TRACED);

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct e2e *run = e2e_run("%s '--lines=%s'", program, refused[i]);

        e2e_expect_code(run, 2);
        e2e_expect_has(run->err, "names no lines: ");
        run = e2e_run(TESTLOG "run '--lines=%s' %s", refused[i], program);
        e2e_expect_code(run, 2);
        e2e_expect_has(run->err, "names no lines: ");
    }
    e2e_expect_has(e2e_run(TESTLOG "run --lines -- a")->err,
                   "--lines needs lines or a function; for example "
                   "--lines=src/store.c:40-80\n");
}

Test(e2e_lines, refuses_tables_that_exclude_each_other)
{
    e2e_expect_code(e2e_run(TESTLOG "stat --lines --tree"), 2);
    e2e_expect_code(e2e_run(TESTLOG "stat --lines --by=test"), 2);
    e2e_expect_code(e2e_run(TESTLOG "stat --lines --critical"), 2);
    e2e_expect_has(e2e_run(TESTLOG "stat --lines=both")->err, "\"both\"");
}

Test(e2e_lines, counts_them_beyond_the_limit)
{
    const struct e2e *run;

    build(GCC, "-O0");
    run = e2e_run("STEPS=100000 ./stepping_test --lines=step "
                  "--trace-options=functions_limit=256K");
    e2e_expect_code(run, 0);
    e2e_expect_has(run->err, "calls of functions were only counted after "
                             "functions_limit was reached: stepping.c:");
}
