/* e2e_lines_test.c: lines in the order in which they ran, of code that is built
 * in the ways that the manual describes. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_lines, .init = e2e_begin, .timeout = 300);

#define PROGRAMS "'" TESTS_DIR "/programs'"
#define FLAGS                                                                  \
    "-g -D_GNU_SOURCE -DTRACING -I '" BUILD_DIR "/include' " SANITIZE_FLAGS    \
    " -fno-omit-frame-pointer -fno-optimize-sibling-calls "
#define LIBRARIES                                                              \
    " -L '" BUILD_DIR "' -ltestlog -lcriterion -lpcre2-8 -lpthread"
#define GCC     "gcc -fsanitize-coverage=trace-pc "
#define CLANG   "clang -fsanitize-coverage=trace-pc,bb,no-prune "
#define TESTLOG "'" BUILD_DIR "/testlog' "

static void build_program(const char *compiler, const char *flags,
                          const char *program)
{
    const struct e2e *run;
    char tool[16];

    sscanf(compiler, "%15s", tool);
    e2e_need(tool);
    run = e2e_run("cp " PROGRAMS "/%s.c . && %s " FLAGS
                  "%s %s.c -o %s_test" LIBRARIES,
                  program, compiler, flags, program, program);
    cr_assert_eq(run->code, 0, "%s", run->err);
}

static void build(const char *compiler, const char *flags)
{
    build_program(compiler, flags, "stepping");
}

static void record(const char *flags)
{
    const struct e2e *run =
        e2e_run("rm -rf testlog-runs; ./stepping_test %s", flags);

    cr_assert_eq(run->code, 0, "%s", run->err);
    e2e_expect_lacks(run->err, "--lines");
}

/* look_up searches three entries for the keys 3 and 4: the first entry has
 * another key, the second a negative one, and the third has the key 3. Without
 * optimization, all builds count its lines alike. */
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
    X(gcc_0_without_plt, GCC, "-O0 -fno-plt")                                  \
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

/* ---- Counts ---- */

/* The comments of lined.c tell how often its lines run. */
static void expect_counts(const char *compiler, const char *flags)
{
    const char *table;

    build_program(compiler, flags, "lined");
    e2e_exits(0, "./lined_test --lines=lined.c:1-50");
    table = e2e_run(TESTLOG "stat --lines")->out;
    if (!strstr(flags, "-finstrument-functions") || strstr(compiler, "clang"))
        e2e_expect_has(e2e_line(table, "never"), "    0 ");
    e2e_expect_has(e2e_line(table, "once: skips ends"), "    1 ");
    e2e_expect_has(e2e_line(table, "once: first"), "    1 ");
    e2e_expect_has(e2e_line(table, "twice: second *"), "    2 ");
    e2e_expect_has(e2e_line(table, "twice: second goes on"), "    2 ");
    e2e_expect_has(e2e_line(table, "three times: returns"), "    3 ");
    e2e_expect_has(e2e_line(table, "once: in the middle"), "    1 ");
}

#define TEST(name, compiler, flags)                                            \
    Test(e2e_lines, counts_right_in_code_of_##name)                            \
    {                                                                          \
        expect_counts(compiler, flags);                                        \
    }

WAYS(TEST)
#undef TEST

/* The block begins before the line that is asked for. */
Test(e2e_lines, records_blocks_that_have_a_line)
{
    const char *line;

    build_program(GCC, "-O0", "lined");
    line = e2e_run("grep -n 'middle of a block' lined.c | cut -d: -f1")->out;
    e2e_expect_has(e2e_run("./lined_test --lines=lined.c:%.*s",
                           (int)strcspn(line, "\n"), line)
                       ->out,
                   "1 passed");
    e2e_expect_has(
        e2e_line(e2e_run(TESTLOG "stat --lines")->out, "middle of a block"),
        "    1 ");
}

/* In a shared object, the hook has another address. */
Test(e2e_lines, records_lines_of_shared_objects)
{
    build_program(GCC, "-O0", "lined");
    cr_assert_eq(e2e_run(GCC FLAGS "-O0 -fPIC -shared -Dmain=unused "
                                   "-include stdlib.h lined.c -o liblined.so")
                     ->code,
                 0);
    cr_assert_eq(
        e2e_run("printf '#include <testlog/test_log.h>\n"
                "void second(void);\n"
                "TEST_LOG(other, runs) { second(); second(); }\n' >other.c && "
                "gcc " FLAGS
                "other.c -o other_test -L. -llined -Wl,-rpath,. " LIBRARIES)
            ->code,
        0);
    e2e_run("./other_test --filter='other/*' --lines=second");
    e2e_expect_has(
        e2e_line(e2e_run(TESTLOG "stat --lines")->out, "twice: second goes on"),
        "    2 ");
}

/* The stack then has other things where frames should be. */
Test(e2e_lines, changes_no_verdict_without_frame_pointers)
{
    static const char *const compilers[] = {GCC, CLANG};

    for (size_t i = 0; i < 2; i++) {
        if (e2e_run("command -v clang")->code && i)
            continue;
        cr_assert_eq(e2e_run("%s -g -O2 -D_GNU_SOURCE -DTRACING -I '" BUILD_DIR
                             "/include' " SANITIZE_FLAGS
                             " -fomit-frame-pointer " PROGRAMS
                             "/lined.c -o lined_test" LIBRARIES,
                             compilers[i])
                         ->code,
                     0);
        e2e_exits(0, "./lined_test --lines=lined.c:1-50");
    }
}

Test(e2e_lines, says_what_it_cannot_show)
{
    const struct e2e *run;

    build(GCC, "-O0 -g0");
    e2e_exits(0, "./stepping_test --lines=look_up");
    run = e2e_run(TESTLOG "stat --lines");
    e2e_expect_has(run->err, "has no debugging information; build it with -g");
    build(GCC, "-O0 -finstrument-functions");
    run = e2e_run("./stepping_test --lines=look_up --functions-depth=1");
    e2e_expect_has(run->err, "testlog: --functions-depth has no effect with "
                             "--lines: lines would count as calls\n");
}

Test(e2e_lines, has_them_in_order)
{
    const char *order;

    build(GCC, "-O0");
    record("--lines=look_up,twice");
    order = e2e_run(TESTLOG "stat --lines=order --csv | cut -d, -f5 | uniq | "
                            "tr '\\n' ' '")
                ->out;
    e2e_expect_is(order,
                  "line 13 15 16 18 15 16 18 19 15 16 17 15 22 24 25 13 15 "
                  "16 18 15 16 18 19 15 16 18 15 22 23 25 29 31 ");
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
    run = e2e_exits(0, TESTLOG "stat --lines");
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
        const struct e2e *run =
            e2e_exits(2, "%s '--lines=%s'", program, refused[i]);

        e2e_expect_has(run->err, "names no lines: ");
        run = e2e_exits(2, TESTLOG "run '--lines=%s' %s", refused[i], program);
        e2e_expect_has(run->err, "names no lines: ");
    }
    e2e_expect_has(e2e_run(TESTLOG "run --lines -- a")->err,
                   "run: --lines needs a value: "
                   "--lines=FILE:FIRST-LAST|FUNCTION\n");
}

Test(e2e_lines, refuses_tables_that_exclude_each_other)
{
    e2e_exits(2, TESTLOG "stat --lines --tree");
    e2e_exits(2, TESTLOG "stat --lines --by=test");
    e2e_exits(2, TESTLOG "stat --lines --critical");
    e2e_expect_has(e2e_run(TESTLOG "stat --lines=both")->err, "\"both\"");
}

Test(e2e_lines, counts_them_beyond_the_limit)
{
    const struct e2e *run;

    build(GCC, "-O0");
    run = e2e_exits(0, "STEPS=100000 ./stepping_test --lines=step "
                       "--trace-options=functions_limit=256K");
    e2e_expect_has(run->err, "calls of functions were only counted after "
                             "functions_limit was reached: stepping.c:");
    e2e_expect_has(e2e_line(e2e_run(TESTLOG "stat --lines")->out, "steps++;"),
                   "100000 ");
}
