/* e2e_tools_test.c: tests under sanitizers, valgrind, gdb and gcov. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_tools, .init = e2e_begin, .timeout = 300);

#define SHARED "/shared' -Wl,-rpath,'" BUILD_DIR "/shared"

/* Builds findings.c as ./findings_test. The library, in `folder`, is the usual
 * one: it must work with any tool. */
static void build_with(const char *folder, const char *compiler,
                       const char *flags)
{
    const struct e2e *result;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("a sanitized library cannot be used with other tools");
    e2e_need(compiler);
    result = e2e_run("%s -g -O0 -D_GNU_SOURCE -DTRACING %s -I '%s/include' "
                     "'%s/programs/findings.c' -o findings_test -L'%s%s' "
                     "-ltestlog -lcriterion -lpcre2-8 -lpthread",
                     compiler, flags, BUILD_DIR, TESTS_DIR, BUILD_DIR, folder);
    if (result->code && strstr(result->err, "cannot find"))
        cr_skip_test("%s has no %s", compiler, flags);
    cr_assert_eq(result->code, 0, "%s", result->err);
}

static void build(const char *compiler, const char *flags)
{
    build_with("", compiler, flags);
}

static const struct e2e *run_tests(const char *filter)
{
    return e2e_run("ASAN_OPTIONS= ./findings_test -j2 --filter '%s'", filter);
}

static const char *output_of(const char *test)
{
    return e2e_read("testlog-runs/latest/tests/findings_test/%s/output.txt",
                    test);
}

static void expect_reason(const char *name, const char *reason)
{
    const cJSON *run = e2e_run_json();
    const cJSON *test = e2e_result(run, name);

    e2e_expect_is(e2e_text(test, "outcome"), reason[0] ? "failed" : "passed");
    e2e_expect_has(e2e_text(test, "reason"), reason);
}

/* ---- Sanitizers ---- */

/* The first frame is not the sanitizer's. */
#define USED_AFTER_FREE                                                        \
    "AddressSanitizer: heap-use-after-free in memory_used_after_free_impl "
#define FREED_TWICE "AddressSanitizer: double-free in memory_freed_twice_impl "

static void expect_address_findings(const char *compiler, const char *flags)
{
    const struct e2e *run;

    build(compiler, flags);
    run = run_tests("@(memory|findings)/*");
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "2 passed, 2 failed, 0 skipped");
    expect_reason("memory/used_after_free", USED_AFTER_FREE);
    expect_reason("memory/freed_twice", FREED_TWICE);
    e2e_expect_has(
        e2e_between(run->err, "---- memory/used_after_free: failed", "trace: "),
        "ERROR: AddressSanitizer: heap-use-after-free on ");
    e2e_expect_has(run->err, "before it is used\n");
    e2e_expect_has(output_of("memory.used_in_a_child"), "heap-use-after-free");
    expect_reason("memory/used_in_a_child", "");
}

Test(e2e_tools, fails_with_asans_report)
{
    expect_address_findings("gcc", "-fsanitize=address");
}

Test(e2e_tools, fails_with_asans_report_with_clang)
{
    expect_address_findings("clang", "-fsanitize=address");
}

static void expect_leaks(const char *compiler, const char *flags)
{
    const struct e2e *run;

    build(compiler, flags);
    run = run_tests("@(leaks*|findings)/*");
    if (strstr(run->err, "the leak checker does not work here"))
        cr_skip_test("the leak checker has no permission to trace");
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "6 passed, 3 failed, 0 skipped");
    expect_reason("leaks/in_the_test", "leaked 1234 bytes");
    expect_reason("leaks/in_the_tear_down", "leaked 77 bytes");
    expect_reason("leaks/and_fails", "its own reason");
    e2e_expect_has(e2e_between(run->err,
                               "---- leaks/in_the_test: failed: "
                               "leaked 1234 bytes ----\n",
                               "trace: "),
                   "Direct leak of 1234 byte(s)");
    e2e_expect_is(output_of("leaks.not_after_the_tear_down"), "");
    e2e_expect_is(output_of("leaks.of_a_theory"), "");
    e2e_expect_is(output_of("leaks.of_an_instance[1]"), "");
}

Test(e2e_tools, fails_a_test_that_leaks)
{
    expect_leaks("gcc", "-fsanitize=address");
    cr_expect_eq(e2e_count(output_of("leaks.in_the_test"), "SUMMARY: "), 1,
                 "%s", output_of("leaks.in_the_test"));
}

Test(e2e_tools, fails_a_test_that_leaks_with_clang)
{
    expect_leaks("clang", "-fsanitize=address");
}

Test(e2e_tools, fails_a_test_that_leaks_without_asan)
{
    expect_leaks("gcc", "-fsanitize=leak");
}

/* The leak checker cannot trace under another tracer. It also checks the runner
 * and then sets its exit code. */
Test(e2e_tools, passes_tests_if_the_leak_checker_cannot_work)
{
    const struct e2e *run;

    e2e_need("strace");
    build("gcc", "-fsanitize=address");
    run = e2e_run("ASAN_OPTIONS= strace -f -o /dev/null ./findings_test "
                  "--filter findings/none");
    if (strstr(run->err, "ptrace(PTRACE_TRACEME"))
        cr_skip_test("strace has no permission to trace");
    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    cr_expect_eq(e2e_count(run->err, "the leak checker does not work here"), 1,
                 "%s", run->err);
}

static void expect_undefined(const char *compiler, const char *flags)
{
    static const char *const names[] = {
        "undefined/in_the_test", "undefined/in_a_thread",
        "undefined/in_the_tear_down", "undefined/in_a_child"};
    const struct e2e *run;

    build(compiler, flags);
    run = run_tests("@(undefined|findings)/*");
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "1 passed, 4 failed, 0 skipped");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        expect_reason(names[i], "undefined behavior: ");
    e2e_expect_has(run->err, "goes on\n");
    e2e_expect_has(output_of("undefined.in_the_test"), "runtime error: ");
    e2e_expect_has(e2e_line(run->err, "ERROR"), "assertion failed: undefined");
}

Test(e2e_tools, fails_a_test_with_undefined_behavior)
{
    expect_undefined("gcc", "-fsanitize=undefined");
}

Test(e2e_tools, fails_a_test_with_undefined_behavior_with_clang)
{
    expect_undefined("clang", "-fsanitize=undefined");
}

Test(e2e_tools, fails_a_test_with_undefined_behavior_beside_asan)
{
    expect_undefined("gcc", "-fsanitize=address,undefined");
}

Test(e2e_tools, fails_findings_with_the_shared_library)
{
    build_with(SHARED, "gcc", "-fsanitize=address,undefined");
    e2e_expect_is(e2e_last(run_tests("!(covered)/*")->out),
                  "7 passed, 10 failed, 0 skipped");
    expect_reason("leaks/in_the_test", "leaked memory");
    expect_reason("undefined/in_the_test", "undefined behavior: ");
    expect_reason("memory/used_after_free", USED_AFTER_FREE);
    expect_reason("memory/freed_twice", FREED_TWICE);
}

/* ---- Coverage ---- */

static void expect_covered(const char *lines, const char *message)
{
    const char *line = e2e_line(lines, message);

    cr_expect(line[0] && !strstr(line, "#####"), "%s: \"%s\"", message, line);
}

Test(e2e_tools, keeps_coverage_after_a_crash)
{
    static const char *const covered[] = {"passes",    "exits", "aborts",
                                          "segfaults", "hangs", "raises"};
    const char *lines;
    char message[64];

    e2e_need("gcov");
    build("gcc", "--coverage");
    e2e_expect_is(e2e_last(run_tests("covered/*")->out),
                  "2 passed, 4 failed, 0 skipped");
    expect_reason("covered/raises_as_expected", "");
    e2e_exits(0, "gcov -o . findings_test-findings.gcda");
    lines = e2e_read("findings.c.gcov");
    for (size_t i = 0; i < sizeof(covered) / sizeof(*covered); i++) {
        snprintf(message, sizeof(message), "a line that %s", covered[i]);
        expect_covered(lines, message);
    }
    e2e_expect_has(e2e_line(lines, "before it is used"), "#####");
}

/* ---- Valgrind and gdb ---- */

Test(e2e_tools, valgrind_finds_only_errors_of_the_test)
{
    const struct e2e *run;

    e2e_need("valgrind");
    build("gcc", "");
    run = e2e_exits(
        1,
        "valgrind -q --trace-children=yes --log-file=log.%%p ./findings_test "
        "-j1 --filter memory/used_after_free --filter findings/none");
    e2e_expect_closing(run, "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, "memory/used_after_free: failed: valgrind found ");
    cr_expect(e2e_exists("testlog-runs/latest/tests/findings_test/"
                         "findings.none/trace.json"));
    run = e2e_run("cat log.*; test $(cat log.* | grep -c ' at 0x') = 3");
    e2e_expect_code(run, 0); /* where it was used, freed and allocated */
    e2e_expect_has(run->out, "Invalid read of size 1");
}

/* The recording contains the leaked pointer. */
Test(e2e_tools, fails_leaks_under_valgrind_even_if_logged)
{
    const struct e2e *run;

    e2e_need("valgrind");
    build("gcc", "");
    run = e2e_exits(
        1,
        "valgrind -q --trace-children=yes --leak-check=full --error-exitcode=9 "
        "--suppressions='%s/harness/valgrind.supp' ./findings_test -j1 "
        "--filter leaks/in_the_tear_down --filter logged/leaks --filter "
        "findings/none",
        SOURCE_DIR);
    e2e_expect_closing(run, "1 passed, 2 failed, 0 skipped");
    e2e_expect_has(run->err, "logged/leaks: failed: leaked 99 bytes",
                   "leaks/in_the_tear_down: failed: leaked 77 bytes");
    run = e2e_exits(
        0,
        "valgrind -q --trace-children=yes --leak-check=full --error-exitcode=9 "
        "--suppressions='%s/harness/valgrind.supp' ./findings_test -j1 "
        "--filter findings/none",
        SOURCE_DIR);
    e2e_expect_lacks(run->err, "lost in loss record");
}

/* The test waits until a debugger lets it continue. */
Test(e2e_tools, gdb_stops_in_a_test)
{
    const struct e2e *run;

    e2e_need("gdb");
    build("gcc", "");
    run = e2e_run("./findings_test -j1 --debug=idle --filter "
                  "undefined/in_the_test >run 2>&1 & until "
                  "pid=$(sed -n 's/.*test has PID \\([0-9]*\\).*/\\1/p' run) "
                  "&& [ -n \"$pid\" ]; do sleep 0.05; done; "
                  "gdb -q -nx -batch -p $pid "
                  "-ex 'handle SIGSTOP SIGCONT nostop noprint pass' "
                  "-ex 'break overflow' -ex 'signal SIGCONT' -ex bt "
                  "-ex continue; kill -CONT $pid 2>/dev/null; wait");
    if (strstr(run->err, "ptrace: Operation not permitted"))
        cr_skip_test("gdb has no permission to trace");
    e2e_expect_has(run->out, "in undefined_in_the_test_impl ()");
    e2e_expect_is(e2e_last(e2e_read("run")), "1 passed, 0 failed, 0 skipped");
}

static const struct e2e *debug(const char *program, const char *test,
                               const char *commands)
{
    const struct e2e *run;

    e2e_need("gdb");
    run = e2e_run("{ %s; } | HOME=. TESTLOG_STACKS=" BUILD_DIR
                  "/testlog-stacks timeout -k 1 200 %s --debug-failed %s 2>&1",
                  commands, e2e_program(program, E2E_TRACED), test);
    if (strstr(run->out, "ptrace: Operation not permitted"))
        cr_skip_test("gdb has no permission to trace");
    return run;
}

/* gdb may print its prompt after the counts. */
static void expect_counts(const struct e2e *run, const char *counts)
{
    char line[64];

    snprintf(line, sizeof(line), "\n%s\n", counts);
    e2e_expect_has(run->out, line);
}

Test(e2e_tools, debugs_a_crash_at_its_instruction)
{
    const struct e2e *run =
        debug("crashing", "crashing/thread", "echo bt; echo p address");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    e2e_expect_has(run->out, "has crashed: SIGSEGV: null pointer + 0x10, in ",
                   " received signal SIGSEGV", "#0  0x",
                   "$1 = (void *) 0x10\n");
    expect_counts(run, "0 passed, 1 failed, 0 skipped");
}

Test(e2e_tools, debugs_a_failing_assertion_in_its_function)
{
    const struct e2e *run =
        debug("crashing", "asserting/ten asserting/in_a",
              "echo info frame; echo p value == getpid\\(\\)");

    e2e_expect_has(run->out, "testlog: asserting/in_a_helper has failed; gdb ",
                   " in check (");
    expect_counts(run, "0 passed, 1 failed, 1 skipped");
}

Test(e2e_tools, debugs_an_assertion_of_the_new_kind)
{
    const struct e2e *run = debug("new_assert", "--filter new_assert/fails",
                                  "echo p legs; echo continue");

    e2e_expect_has(run->out, "$1 = 6\n", "new_assert.c:");
    expect_counts(run, "0 passed, 1 failed, 0 skipped");
}

Test(e2e_tools, debugs_an_exception_at_its_throw)
{
    static const struct {
        const char *test, *function;
    } throws[] = {
        {"thrown/below_the_test", " in open_file"},
        {"thrown/again", " in thrown_again_impl"},
        {"thrown/by_a_pointer", " in thrown_by_a_pointer_impl"},
    };

    for (size_t i = 0; i < sizeof(throws) / sizeof(*throws); i++) {
        const struct e2e *run =
            debug("throws", throws[i].test, "echo info frame; echo continue");

        e2e_expect_has(run->out, " has failed: uncaught std::runtime_error: "
                                 "open /nonexistent/x, in ");
        e2e_expect_has(e2e_between(run->out, "(gdb) ", "saved"),
                       throws[i].function);
        expect_counts(run, "0 passed, 1 failed, 0 skipped");
    }
}

Test(e2e_tools, runs_tests_that_pass_without_a_debugger)
{
    const struct e2e *run = debug("crashing", "expected/dies", "echo bt");

    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    e2e_expect_lacks(run->out, "gdb");
    expect_counts(run, "1 passed, 0 failed, 0 skipped");
}

Test(e2e_tools, refuses_to_debug_without_a_terminal_or_debugger)
{
    const char *program = e2e_program("crashing", E2E_TRACED);
    const struct e2e *run =
        e2e_run("'" BUILD_DIR "/testlog' run %s -- --debug-failed", program);

    e2e_expect_has(run->err, "--debug-failed needs the terminal; run the "
                             "program itself, without testlog run");
    run = e2e_exits(2, "PATH=/nowhere %s --debug-failed", program);
    e2e_expect_has(run->err, "--debug-failed: gdb is not in PATH; install it");
    run = e2e_exits(2, "%s --debug-failed=dbx", program);
    e2e_expect_has(run->err, "unknown value \"dbx\"; write gdb or lldb");
}
