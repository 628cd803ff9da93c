/* e2e_stacks_test.c: the stacks of tests that crash or hang. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

/* Skips a test where nothing can be unwound. */
static void need_stacks(void)
{
    const struct e2e *look;

    if (!e2e_exists("%s/testlog-stacks", BUILD_DIR))
        cr_skip_test("testlog-stacks was not built: no libdw");
    look = e2e_run("sleep 9 & %s/testlog-stacks $!; kill $!", BUILD_DIR);
    if (strstr(look->out, "\nnote\t"))
        cr_skip_test("no permission to trace a process");
}

static void begin(void)
{
    e2e_begin();
    need_stacks();
}

TestSuite(e2e_stacks, .init = begin, .timeout = 300);

static const char variable[] = "TESTLOG_STACKS=" BUILD_DIR "/testlog-stacks";

static const struct e2e *all_of(const char *program)
{
    return e2e_once(program, "%s %s -j4", variable,
                    e2e_program(program, E2E_TRACED));
}

/* ---- Crashes ---- */

static const struct crash {
    const char *name, *reason, *frame;
} crashes[] = {
    {"null_pointer", "SIGSEGV: null pointer, in value_of (", ": second\n"},
    {"stack_overflow", "SIGSEGV: stack overflow, in descend (",
     "times more)\n"},
    {"assertion", "SIGABRT, in crashing_assertion_impl (",
     "assert_fail in libc"},
    {"aborts", "SIGABRT, in crashing_aborts_impl (", "abort in libc"},
    {"read_only", "SIGSEGV: read-only memory, in ",
     "crashing_read_only_impl\n"},
    {"unmapped", "SIGSEGV: unmapped page, in crashing_unmapped_impl (", ""},
    {"division", "SIGFPE: integer division by zero, in crashing_division_impl",
     ""},
    {"illegal_instruction", "SIGILL: illegal instruction, in ", ""},
    {"end_of_file", "SIGBUS: behind the end of a mapped file, in ", ""},
    {"double_free", "SIGABRT, in crashing_double_free_impl (", "free in libc"},
    {"thread", "SIGSEGV: null pointer + 0x10, in crash (",
     "waits for the end of thread"},
    {"after_a_race", "SIGSEGV: null pointer + 0x10, in crash (",
     "crashing_after_a_race_impl\n"},
    {"stack_overflow_of_a_thread", "SIGSEGV: stack overflow, in descend (",
     "times more)\n"},
    {"sent_by_kill", "SIGSEGV, in crashing_sent_by_kill_impl (", ""},
};

/* Expects how a test ended, and returns its block. */
static const char *expect_end(const struct e2e *all, const char *suite,
                              const char *outcome, const struct crash *crash)
{
    const cJSON *run = e2e_json("%s/testlog-runs/latest/run.json", all->folder);
    const char *block;
    char name[128];

    snprintf(name, sizeof(name), "%s/%s", suite, crash->name);
    block = e2e_block(all, name);
    e2e_expect_is(e2e_text(e2e_result(run, name), "outcome"), outcome);
    e2e_expect_has(e2e_text(e2e_result(run, name), "reason"), crash->reason);
    e2e_expect_has(block, crash->frame);
    return block;
}

static const char *expect_crash(const struct e2e *all, const char *suite,
                                const struct crash *crash)
{
    return expect_end(all, suite, "crashed", crash);
}

Test(e2e_stacks, explain_each_crash)
{
    const struct e2e *all = all_of("crashing");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
        e2e_expect_has(expect_crash(all, "crashing", &crashes[i]),
                       ", which crashed:\n", "crashing.c:");
    }
}

#define SURE                                                                   \
    "\n  the caller is taken from the return address; its call goes to this "  \
    "address\n"
#define FOUND   "\n  the caller is " /* tail calls depend on the compiler */
#define UNKNOWN "\n  the caller is unknown: there is no return address "

static const struct {
    struct crash crash;
    const char *certainty;
} calls[] = {
    {{"null_function", "call of a null function pointer, in apply (",
      ": calling_null_function_impl\n"},
     SURE},
    {{"null_member", "call of a null function pointer, in apply_member (",
      ": calling_null_member_impl\n"},
     SURE},
    {{"absent_function", "call of a null function pointer, in call_absent (",
      ": calling_absent_function_impl\n"},
     SURE},
    {{"null_function_last", "call of a null function pointer, in pass_on (",
      ": calling_null_function_last_impl\n"},
     FOUND},
    {{"null_function_in_the_test",
      "call of a null function pointer, in calling_null_function_in_the_test_",
      ": calling_null_function_in_the_test_impl\n"},
     FOUND},
    {{"null_function_in_a_thread",
      "call of a null function pointer, in apply (", ": call_there\n"},
     SURE},
    {{"unmapped", "call of an unmapped address, in apply (",
      ": calling_unmapped_impl\n"},
     SURE},
    {{"data", "call of memory that is not code of ", ": calling_data_impl\n"},
     SURE},
    {{"overwritten_return_address", "jump to an unmapped address, below ",
      ", which crashed:\n"},
     UNKNOWN},
};

Test(e2e_stacks, find_the_caller_of_what_is_no_code)
{
    const struct e2e *all = all_of("crashing");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        e2e_expect_has(expect_crash(all, "calling", &calls[i].crash),
                       calls[i].certainty);
}

Test(e2e_stacks, leave_tests_alone_that_did_not_crash)
{
    const struct e2e *all = all_of("crashing");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    e2e_expect_has(all->out, "3 passed, 27 failed, 0 skipped");
}

Test(e2e_stacks, stand_in_all_files)
{
    const struct e2e *all = all_of("crashing");
    const cJSON *run = e2e_json("%s/testlog-runs/latest/run.json", all->folder);
    const cJSON *test = e2e_result(run, "crashing/null_pointer");
    const cJSON *stack =
        cJSON_GetArrayItem(cJSON_GetObjectItem(test, "stacks"), 0);
    const cJSON *frame =
        cJSON_GetArrayItem(cJSON_GetObjectItem(stack, "frames"), 0);
    const char *folder = "testlog-runs/latest/tests/crashing_test";

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(test, "crash"), "signal"),
                  "SIGSEGV");
    e2e_expect_is(e2e_text(frame, "function"), "value_of");
    cr_expect_gt(e2e_number(frame, "line"), 0);
    e2e_expect_has(
        e2e_between(e2e_read("%s/testlog-runs/latest/junit.xml", all->folder),
                    "name=\"null_pointer\"", "</error>"),
        ": second\n");
    e2e_expect_has(
        e2e_read("%s/%s/crashing.null_pointer/log.txt", all->folder, folder),
        ": second\n");
    e2e_expect_has(
        e2e_read("%s/%s/crashing.null_pointer/trace.json", all->folder, folder),
        "SIGSEGV at 0");
}

/* The trace of the test, that of the run, and one that is written again. */
Test(e2e_stacks, stand_at_the_test_in_each_trace)
{
    static const char *const commands[] = {
        "cat testlog-runs/latest/tests/*/crashing.null_pointer/trace.json",
        "cat testlog-runs/latest/trace.json",
        "'" BUILD_DIR "/testlog' export crashing/null_pointer",
    };
    const struct e2e *all = all_of("crashing");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        e2e_expect_has(e2e_run("cd '%s' && %s", all->folder, commands[i])->out,
                       "\"stacks\":\"  SIGSEGV at 0: null pointer");
}

/* ---- Crashes that are hard to look at ---- */

static const char null_plus_16[] = "SIGSEGV: null pointer + 0x10, in crash (";

static const struct crash hostile[] = {
    {"handles_sigcont", null_plus_16, ": crash\n"},
    {"two_threads_crash", null_plus_16, ": crash_there\n"},
    {"last_of_many_threads_crashes", null_plus_16, ": crash_there\n"},
    {"page_is_mapped_after_the_crash", "SIGSEGV: memory without access, in ",
     ": write_to\n"},
    {"main_thread_has_ended", null_plus_16, ": crash_there\n"},
    {"crashes_in_init",
     "in its setup: SIGSEGV: null pointer + 0x10, in crash (", ": crash\n"},
    {"crashes_in_fini", "in its teardown: SIGSEGV: null pointer + 0x10",
     ": crash\n"},
    {"crashes_in_fini_after_a_failure",
     "in its teardown: SIGSEGV: null pointer + 0x10, in crash (", ": crash\n"},
    {"crashes_after_a_failure", null_plus_16, ": crash\n"},
    {"crashes_in_atexit", "in its teardown: SIGSEGV: null pointer + 0x10",
     ": crash\n"},
    {"may_write_no_file", null_plus_16, ": crash\n"},
};

Test(e2e_stacks, explain_crashes_that_are_hard_to_look_at)
{
    const struct e2e *all = all_of("hostile");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
        expect_crash(all, "hostile", &hostile[i]);
}

static void expect_same_outcomes(const cJSON *with, const cJSON *without)
{
    const cJSON *test;

    cJSON_ArrayForEach(test, cJSON_GetObjectItem(without, "tests"))
    {
        const cJSON *same = e2e_result(with, e2e_text(test, "name"));

        cr_expect(!strcmp(e2e_text(same, "outcome"), e2e_text(test, "outcome")),
                  "%s: %s, without stacks: %s", e2e_text(test, "name"),
                  e2e_text(same, "outcome"), e2e_text(test, "outcome"));
    }
}

Test(e2e_stacks, change_no_outcome)
{
    static const char *const programs[] = {"crashing", "hanging", "hostile",
                                           "throws"};

    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        const struct e2e *with = all_of(programs[i]);
        const struct e2e *without =
            e2e_run("%s --stacks=off -j4 --trace-dir=off-%zu",
                    e2e_program(programs[i], E2E_TRACED), i);

        e2e_expect_lacks(without->err, "no stacks");
        e2e_expect_is(e2e_last(with->out), e2e_last(without->out));
        expect_same_outcomes(
            e2e_json("%s/testlog-runs/latest/run.json", with->folder),
            e2e_json("%s/off-%zu/latest/run.json", without->folder, i));
    }
}

Test(e2e_stacks, lose_no_worker_of_forty)
{
    const struct e2e *run =
        e2e_run("%s %s -j8 --repeat=40 --filter hostile/main_thread_has_ended",
                variable, e2e_program("hostile", E2E_TRACED));

    e2e_expect_has(run->out, "0 passed, 40 failed");
}

/* ---- C++ exceptions ---- */

#define MISSING "std::runtime_error: open /nonexistent/x, in "

static const struct crash exceptions[] = {
    {"below_the_test", "uncaught " MISSING "open_file", ": load"},
    {"in_init", "in its setup: uncaught " MISSING "open_file", ": load"},
    {"in_fini", "in its teardown: uncaught " MISSING "open_file", ": load"},
    {"again", "uncaught " MISSING "thrown_again_impl (",
     ", which threw it again:\n"},
    {"by_a_pointer", "uncaught " MISSING "thrown_by_a_pointer_impl (",
     ", which threw it again:\n"},
    {"while_another_is_caught",
     "uncaught std::logic_error: cannot load, in thrown_while_", ""},
};

Test(e2e_stacks, show_where_an_uncaught_exception_was_thrown)
{
    const struct e2e *all = all_of("throws");
    size_t count = sizeof(exceptions) / sizeof(*exceptions);

    for (size_t i = 0; i < count; i++) {
        const char *block = expect_end(all, "thrown", "failed", &exceptions[i]);
        const char *stack = e2e_between(block, ", which threw it", "log:");

        e2e_expect_has(e2e_between(stack, ":\n", "\n"), "programs/throws.cpp:");
    }
}

static const struct crash terminations[] = {
    {"in_a_thread", "SIGABRT: std::terminate after " MISSING "open_file",
     ": load"},
    {"out_of_noexcept", "SIGABRT: std::terminate after " MISSING "load",
     ": thrown_out_of_noexcept_impl\n"},
};

Test(e2e_stacks, name_the_exception_of_std_terminate)
{
    const struct e2e *all = all_of("throws");

    for (size_t i = 0; i < sizeof(terminations) / sizeof(*terminations); i++)
        expect_crash(all, "thrown", &terminations[i]);
}

static const struct crash kinds[] = {
    {"text", "uncaught char const*: only a text, in kinds_text_impl (", ""},
    {"wrong_pointer", "uncaught char const*, in kinds_wrong_pointer_impl (",
     ""},
    {"second_and_virtual_base", "uncaught shop::refused: refused by the",
     "  uncaught shop::refused: refused by the shop\n"},
    {"no_exception_of_the_library", "uncaught shop::box<int>, in kinds_no_",
     ""},
    {"no_memory", "uncaught std::bad_alloc: std::bad_alloc, in kinds_no_", ""},
    {"no_text", "uncaught silent, in kinds_no_text_impl (", ""},
    {"foreign", "Caught some unexpected exception during the test execution.",
     ""},
    {"endless_text", "uncaught std::runtime_error: xxxxxxxx",
     "kinds_endless_text_impl\n"},
};

Test(e2e_stacks, name_exceptions_of_any_type)
{
    const struct e2e *all = all_of("throws");

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        expect_end(all, "kinds", "failed", &kinds[i]);
    expect_end(all, "throws", "failed",
               &(struct crash){"a_number", "uncaught int: 42, in throws_", ""});
    if (!e2e_sanitized())
        expect_crash(
            all, "kinds",
            &(struct crash){"text_that_crashes",
                            "SIGSEGV: null pointer + 0x8, in broken::what",
                            ": kinds_text_that_crashes_impl\n"});
}

Test(e2e_stacks, leave_tests_alone_that_catch_their_exceptions)
{
    const struct e2e *all = all_of("throws");

    e2e_expect_has(all->out, "4 passed, 19 failed, 0 skipped");
    e2e_expect_lacks(
        e2e_run("ls '%s'/testlog-runs/latest/tests/*/thrown.and_caught*",
                all->folder)
            ->out,
        "stacks");
}

Test(e2e_stacks, stand_in_all_files_after_an_exception)
{
    const struct e2e *all = all_of("throws");
    const cJSON *run = e2e_json("%s/testlog-runs/latest/run.json", all->folder);
    const cJSON *test = e2e_result(run, "thrown/below_the_test");
    const cJSON *exception = cJSON_GetObjectItem(test, "exception");
    const cJSON *stack =
        cJSON_GetArrayItem(cJSON_GetObjectItem(test, "stacks"), 0);
    const cJSON *frame =
        cJSON_GetArrayItem(cJSON_GetObjectItem(stack, "frames"), 0);

    e2e_expect_is(e2e_text(exception, "type"), "std::runtime_error");
    e2e_expect_is(e2e_text(exception, "what"), "open /nonexistent/x");
    e2e_expect_has(e2e_text(frame, "function"), "open_file");
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(stack, "threw")));
    e2e_expect_has(
        e2e_between(e2e_read("%s/testlog-runs/latest/junit.xml", all->folder),
                    "name=\"below_the_test\"", "</failure>"),
        ": load");
    e2e_expect_has(
        e2e_run("cat '%s'/testlog-runs/latest/tests/*/thrown.below*/trace.json",
                all->folder)
            ->out,
        "\"stacks\":\"  uncaught std::runtime_error: open /nonexistent/x");
}

Test(e2e_stacks, name_an_exception_without_a_look_at_its_stack)
{
    const struct e2e *run = e2e_run("%s --stacks=off --filter thrown/in_init",
                                    e2e_program("throws", E2E_TRACED));

    e2e_expect_has(run->err, "thrown/in_init: failed: in its setup: uncaught "
                             "std::runtime_error: open /nonexistent/x ----\n");
    e2e_expect_lacks(run->err, "stacks:");
}

/* ---- Failed assertions ---- */

Test(e2e_stacks, show_who_called_the_function_of_an_assertion)
{
    e2e_expect_has(e2e_block(all_of("crashing"), "asserting/in_a_helper"),
                   ", assertion at programs/crashing.c:", ": check\n",
                   ": asserting_in_a_helper_impl\n");
}

Test(e2e_stacks, leave_out_an_assertion_of_the_test_itself)
{
    const struct e2e *all = all_of("crashing");

    e2e_expect_lacks(e2e_block(all, "asserting/in_the_test"), "stacks:");
    e2e_expect_lacks(e2e_block(all, "asserting/ten_times"), "stacks:");
}

Test(e2e_stacks, look_at_eight_assertions_at_most)
{
    const struct e2e *all = all_of("crashing");
    const cJSON *run = e2e_json("%s/testlog-runs/latest/run.json", all->folder);
    const cJSON *test = e2e_result(run, "asserting/ten_times");

    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(test, "stacks")), 8);
}

Test(e2e_stacks, say_how_many_assertions_have_a_stack)
{
    const char *block =
        e2e_block(all_of("crashing"), "asserting/many_in_a_helper");

    cr_expect_eq(e2e_count(block, ": check_again\n"), 8, "%s", block);
    e2e_expect_has(block,
                   "\n  (only the first 8 failed assertions have a stack)\n");
    e2e_expect_lacks(e2e_block(all_of("crashing"), "asserting/in_a_helper"),
                     "only the first");
}

/* ---- Hangs ---- */

static const struct hang {
    const char *name, *texts[5];
} hangs[] = {
    {"deadlock",
     {"waits for mutex 0x", " (one) of thread ", " (two) of thread ",
      "lock_one_and_two\n", "lock_two_and_one\n"}},
    {"locks_twice",
     {"\n  deadlock: thread ", " waits for one, which it holds\n"}},
    {"semaphore", {"waits for semaphore 0x", " (queue + 0x10000):\n"}},
    {"condition",
     {" a tab, waits for condition 0x", "hanging_condition_impl\n"}},
    {"livelock", {": spin\n", "hanging_livelock_impl\n"}},
    {"reads_an_empty_pipe",
     {"waits for read of descriptor ", "(pipe:[", "empty_pipe_impl\n"}},
    {"child", {"child process ", ": wait_forever\n", "hanging_child_impl\n"}},
    {"stopped", {"hanging_stopped_impl\n"}},
    {"parent_of_vfork", {"waits for the exec or end of a child process"}},
    {"deep_in_a_recursion", {": spin\n", "(and more)"}},
};

Test(e2e_stacks, explain_each_hang)
{
    const struct e2e *all = all_of("hanging");

    e2e_expect_has(all->out, "0 passed, 10 failed, 0 skipped");
    for (size_t i = 0; i < sizeof(hangs) / sizeof(*hangs); i++) {
        char name[128];
        const char *block;

        snprintf(name, sizeof(name), "hanging/%s", hangs[i].name);
        block = e2e_block(all, name);
        e2e_expect_has(block, "timed out");
        for (size_t j = 0; j < 5 && hangs[i].texts[j]; j++)
            e2e_expect_has(block, hangs[i].texts[j]);
    }
}

Test(e2e_stacks, say_a_deadlock_in_one_line)
{
    const char *block = e2e_block(all_of("hanging"), "hanging/deadlock");
    const char *line = strstr(block, "  deadlock: thread ");
    int first, second, held;

    cr_assert_not_null(line, "%s", block);
    cr_assert_eq(sscanf(line,
                        "  deadlock: thread %d waits for %*s (held by thread "
                        "%d), which waits for %*s (held by thread %d)",
                        &first, &second, &held),
                 3, "%s", line);
    cr_expect_eq(first, held);
    cr_expect_neq(first, second);
    cr_expect_eq(e2e_count(block, "deadlock: "), 1, "%s", block);
    e2e_expect_lacks(e2e_block(all_of("hanging"), "hanging/condition"),
                     "deadlock: ");
}

/* ---- Where there are no stacks ---- */

static const struct e2e *crash_without(const char *stacks)
{
    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    return e2e_run("TESTLOG_STACKS=%s %s --filter 'crashing/thread'", stacks,
                   e2e_program("crashing", E2E_TRACED));
}

Test(e2e_stacks, name_the_program_that_is_missing)
{
    const struct e2e *run = crash_without("/missing");

    e2e_expect_has(run->err,
                   "testlog: no stacks: cannot find testlog-stacks beside ",
                   "crashing/thread: crashed: SIGSEGV at 0x10, below "
                   "programs/crashing.c:");
    e2e_expect_code(run, 1);
}

Test(e2e_stacks, show_an_address_without_libdw)
{
    const struct e2e *build = e2e_run(
        "cc -D_GNU_SOURCE -I '" TESTS_DIR "/..' -o stacks $(ls " TESTS_DIR
        "/../runners/stacks/*.c | grep -v /frames.c)");
    const struct e2e *run = crash_without("$PWD/stacks");
    const char *stack = e2e_between(run->err, ", which crashed:\n", "thread ");

    cr_assert_eq(build->code, 0, "%s", build->err);
    e2e_expect_has(run->err, "testlog was built without libdw",
                   ": null pointer + 0x10\n");
    e2e_expect_has(stack, "    0x", " in crashing_test + 0x");
}

Test(e2e_stacks, say_that_a_process_cannot_be_traced)
{
    const struct e2e *look;

    if (getuid() || e2e_run("command -v setpriv")->code)
        cr_skip_test("no root or no setpriv");
    look = e2e_run("chmod 755 .; sleep 9 & cp %s/testlog-stacks .; "
                   "setpriv --reuid=65534 --clear-groups --inh-caps=-all "
                   "./testlog-stacks --fault=11,1,10,0,abcd $!; kill $!",
                   BUILD_DIR);
    e2e_expect_has(look->out, "note\tno stacks of process ", "frame\t0xabcd\t",
                   "\nend\n");
}

/* ---- The flag ---- */

Test(e2e_stacks, are_left_out_on_request)
{
    const struct e2e *run =
        e2e_run("%s %s --stacks=off --filter 'crashing/null_pointer'", variable,
                e2e_program("crashing", E2E_TRACED));

    e2e_expect_lacks(run->err, "stacks:");
    e2e_expect_has(run->out, "0 passed, 1 failed");
}

Test(e2e_stacks, show_the_crashing_thread_alone_on_request)
{
    const struct e2e *run =
        e2e_run("%s %s --stacks=crashing --filter 'crashing/thread'", variable,
                e2e_program("crashing", E2E_TRACED));

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    e2e_expect_has(run->err, ", which crashed:");
    e2e_expect_lacks(run->err, "waits for");
}

Test(e2e_stacks, refuse_an_unknown_choice)
{
    const struct e2e *run = e2e_exits(2, "%s %s --stacks=some", variable,
                                      e2e_program("crashing", E2E_TRACED));

    e2e_expect_has(run->err, "--stacks: unknown value \"some\"; write all, "
                             "crashing or off");
}
