/* e2e_samples_test.c: samples of tests, their threads and their processes. */
#include "tests/support/e2e.h"
#include "tests/support/sampled.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_samples, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog'"
#define LATEST  "testlog-runs/latest"

/* Runs tests with samples; skips if the kernel takes none. */
static const struct e2e *sample(const char *filter, const char *flags)
{
    const struct e2e *run =
        e2e_run("%s --filter='sampled/%s' %s",
                e2e_program("sampled", E2E_TRACED), filter, flags);

    if (strstr(run->err, "no samples: "))
        cr_skip_test("%s", run->err);
    return run;
}

Test(e2e_samples, show_where_time_goes)
{
    e2e_expect_code(sample("@(calls|starts_a_thread|forks)", "--sample"), 0);
    e2e_expect_share("sampled/calls", ";seventy;burn ", ";thirty;burn ", 70);
    e2e_expect_share("sampled/starts_a_thread", ";seventy;burn ",
                     "helper [0-9]*;.*;thirty;burn ", 70);
    e2e_expect_share("sampled/forks", ";seventy;burn ",
                     "of child [0-9]*;.*;thirty;burn ", 70);
    cr_expect_eq(e2e_sampled("sampled/calls", "helper|of child"), 0);
}

Test(e2e_samples, follow_other_programs)
{
    e2e_expect_code(sample("executes", "--sample=2000"), 0);
    cr_expect_gt(e2e_sampled("sampled/executes", "of child"), 10);
    cr_expect_lt(e2e_sampled("sampled/executes", "sampled_executes"), 10);
}

Test(e2e_samples, outlive_a_crash)
{
    const struct e2e *run = sample("crashes_later", "--sample");

    e2e_expect_code(run, 1);
    e2e_expect_has(run->out, "0 passed, 1 failed");
    cr_expect_gt(e2e_sampled("sampled/crashes_later", ";seventy;burn "), 50);
}

Test(e2e_samples, interrupt_no_system_call)
{
    e2e_expect_code(sample("waits", "--sample=10000"), 0);
}

Test(e2e_samples, are_of_their_own_test)
{
    const char *names[] = {"calls", "starts_a_thread", "forks"};
    char other[64];

    e2e_expect_code(
        sample("@(calls|starts_a_thread|forks|executes)", "--sample --jobs=4"),
        0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(other, sizeof(other), "sampled/%s", names[i]);
        cr_expect_gt(e2e_sampled(other, "seventy"), 50, "%s", other);
        for (size_t j = 0; j < 3; j++)
            if (i != j)
                cr_expect_eq(e2e_sampled(other, names[j]), 0, "%s", other);
    }
}

/* ---- What shows them ---- */

Test(e2e_samples, are_summed_up_by_function_and_line)
{
    const cJSON *row;

    sample("calls", "--sample");
    e2e_run(TESTLOG " stat --by=function --json >sums.json");
    row = cJSON_GetArrayItem(cJSON_GetObjectItem(e2e_json("sums.json"), "rows"),
                             0);
    cr_expect_str_eq(e2e_text(row, "name"), "burn");
    cr_expect_gt(e2e_number(row, "self_percent"), 50);
    e2e_run(TESTLOG " stat --by=line --json >sums.json");
    row = cJSON_GetArrayItem(cJSON_GetObjectItem(e2e_json("sums.json"), "rows"),
                             0);
    cr_expect_str_eq(e2e_text(row, "name"), "burn");
    cr_expect(strstr(e2e_text(row, "file"), "sampled.c"));
    cr_expect_gt(e2e_number(row, "line"), 1);
    e2e_expect_has(e2e_run("cd '" TESTS_DIR "' && " TESTLOG
                           " stat \"$OLDPWD/" LATEST "\" --by=line")
                       ->out,
                   "sink += i * 7;");
    e2e_expect_has(e2e_run(TESTLOG " stat --by=function --from=9s")->err,
                   "has no samples at that time; run the tests with --sample");
}

Test(e2e_samples, are_exported_instead_of_spans)
{
    const char *trace;

    sample("calls", "--sample");
    e2e_expect_has(e2e_run(TESTLOG " export --folded")->out, ";seventy;burn ");
    trace = e2e_run(TESTLOG " export --folded=spans")->out;
    e2e_expect_has(trace, ";work ");
    e2e_expect_lacks(trace, "burn");
    e2e_exits(0, TESTLOG " export --speedscope -o trace.json");
    trace = e2e_read("trace.json");
    cr_expect_not_null(e2e_json("trace.json"));
    e2e_expect_has(trace, "{\"type\":\"sampled\",\"name\":\"sampled_test ",
                   "\"name\":\"burn\",\"file\":");
    e2e_expect_lacks(trace, "\"evented\"");
    e2e_expect_has(e2e_run(TESTLOG " export --speedscope=spans")->out,
                   "\"evented\"");
}

Test(e2e_samples, are_not_there_without_the_flag)
{
    e2e_run("%s --filter='sampled/calls'", e2e_program("sampled", E2E_TRACED));
    e2e_expect_has(e2e_run(TESTLOG " export --folded")->out, ";work ");
    e2e_expect_is(e2e_run(TESTLOG " export --folded=samples")->out, "");
    e2e_expect_has(e2e_run(TESTLOG " stat --by=function")->err,
                   "has no samples; run the tests with --sample");
}

Test(e2e_samples, come_from_all_programs_of_a_run)
{
    sample("calls", "--sample");
    e2e_exits(0, TESTLOG " run --sample %s -- --filter=*/calls",
              e2e_program("sampled", E2E_TRACED));
    cr_expect_gt(e2e_sampled("sampled/calls", ";seventy;burn "), 50);
}

/* A program without testlog has no recording of its own. */
Test(e2e_samples, come_from_any_program)
{
    const struct e2e *run;

    if (e2e_run("echo 'static inline __attribute__((always_inline)) void "
                "add(unsigned i) { sink += i; sink ^= i; }' >inlined.h && "
                "printf '%%s\n' 'static volatile unsigned sink;' "
                "'#include \"inlined.h\"' "
                "'__attribute__((noinline)) static void spin(void)"
                "{ for (volatile unsigned i = 0; i < 100000000; i++) add(i); }"
                "int main(void) { spin(); return 0; }' >plain.c && "
                "gcc -g -O1 -fno-omit-frame-pointer -o plain plain.c")
            ->code)
        cr_skip_test("gcc is missing");
    run = e2e_exits(0, TESTLOG " record --sample -- sh -c './plain; ./plain'");
    if (strstr(run->err, "no samples: "))
        cr_skip_test("%s", run->err);
    cr_expect_gt(e2e_sampled("", ";spin "), 50);
    e2e_expect_has(e2e_run(TESTLOG " stat --by=function")->out, "  spin\n");
    e2e_expect_is(e2e_run(TESTLOG " stat --by=function --csv | grep ',spin,' | "
                                  "sed 's/.*,//'")
                      ->out,
                  "plain.c\n"); /* one row, of all files with its code */
    e2e_expect_has(e2e_run(TESTLOG " stat --by=line")->out, "inlined.h:");
    e2e_exits(0, TESTLOG " record --sample -- ls /");
}

Test(e2e_samples, come_from_a_program_that_records_itself)
{
    const struct e2e *run;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    /* 200 ms */
    run = e2e_exits(0, TESTLOG " record --sample -- %s 1 1 9000000",
                    e2e_program("busy", E2E_TRACED));
    if (strstr(run->err, "no samples: "))
        cr_skip_test("%s", run->err);
    cr_expect_gt(e2e_sampled("", "work"), 1);
    e2e_expect_has(e2e_run(TESTLOG " stat")->out, "work");
}

/* ---- Code without frame pointers ---- */

static void build_deep(const char *compiler, const char *flags)
{
    e2e_need(compiler);
    cr_assert_not(e2e_run("%s -g -fomit-frame-pointer %s -o deep '" TESTS_DIR
                          "/programs/deep.c'",
                          compiler, flags)
                      ->code);
}

/* Functions may have suffixes: "middle.constprop.0". */
static void expect_deep(const char *compiler, const char *flags)
{
    const struct e2e *run;

    build_deep(compiler, flags);
    run = e2e_exits(0,
                    TESTLOG " record --sample --sample-stacks=dwarf -- ./deep");
    if (strstr(run->err, "the kernel refuses"))
        cr_skip_test("%s", run->err);
    cr_expect_gt(e2e_sampled("",
                             "deep [0-9]*;.*;main;variable[^;]*;aligned[^;]*;"
                             "middle[^;]*;leaf"),
                 20, "%s %s: %s", compiler, flags,
                 e2e_run(TESTLOG " export --folded=samples")->out);
}

/* X(name, compiler, flags) */
#define WITHOUT_POINTERS(X)                                                    \
    X(gcc_0, "gcc", "-O0")                                                     \
    X(gcc_2, "gcc", "-O2 -fno-optimize-sibling-calls")                         \
    X(clang_2, "clang", "-O2 -fno-optimize-sibling-calls")

#define TEST(name, compiler, flags)                                            \
    Test(e2e_samples, unwind_code_without_frame_pointers_of_##name)            \
    {                                                                          \
        expect_deep(compiler, flags);                                          \
    }

WITHOUT_POINTERS(TEST)
#undef TEST

Test(e2e_samples, of_tests_have_whole_stacks_too)
{
    e2e_expect_code(sample("calls", "--sample=200 --sample-stacks=dwarf"), 0);
    cr_expect_gt(e2e_sampled("sampled/calls",
                             ";__libc_start_call_main;.*;sampled_calls_impl;"
                             "seventy;burn"),
                 20);
}

/* ---- What is refused ---- */

static const char *const refused[][2] = {
    {"--sample=0", "--sample: \"0\" is not a number of samples a second; "
                   "write 1 to 10000\n"},
    {"--sample=10001", "--sample: \"10001\" is not a number of samples"},
    {"--sample=fast", "--sample: \"fast\" is not a number of samples"},
    {"--sample=", "--sample: \"\" is not a number of samples"},
};

Test(e2e_samples, refuse_a_bad_number)
{
    const char *program = e2e_program("sampled", E2E_TRACED);

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        e2e_expect_has(e2e_exits(2, "%s '%s'", program, refused[i][0])->err,
                       refused[i][1]);
    e2e_expect_has(e2e_run("TRACE_SAMPLE=0 %s", program)->err,
                   "TRACE_SAMPLE: \"0\" is not a number of samples");
    e2e_expect_has(e2e_run("%s --sample-stacks=all", program)->err,
                   "--sample-stacks: unknown value \"all\"; write pointers or "
                   "dwarf\n");
    e2e_exits(2, TESTLOG " export --folded=all");
    e2e_expect_has(e2e_run(TESTLOG " export --folded=all")->err,
                   "--folded: unknown value \"all\"; write spans or samples\n");
    e2e_exits(2, TESTLOG " export --chrome=all");
}
