/* harness_test_stacks_test.c: formats the stacks of a test. */
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_result result;
static struct trace_text text;

static void begin(void)
{
    test_folder();
    run.path = strdup(test_path(""));
    test_log_make_folders(test_path("folder"));
    result = (struct test_log_result){.suite = strdup("suite"),
                                      .test = strdup("test"),
                                      .folder = strdup("folder")};
}

static void end(void)
{
    free(result.suite);
    free(result.test);
    free(result.folder);
    free(run.path);
    trace_text_free(&text);
}

TestSuite(harness_test_stacks, .init = begin, .fini = end);

static void save(const char *bytes, size_t size)
{
    test_save(test_path("folder/" TEST_LOG_STACKS_FILE), bytes, size);
}

static void expect_text(const char *lines, const char *expected)
{
    save(lines, strlen(lines));
    trace_text_clear(&text);
    test_log_stacks_text(&text, &run, &result);
    cr_expect_str_eq(text.data ? text.data : "", expected);
}

static void expect_reason(const char *lines, const char *expected)
{
    char *reason;

    save(lines, strlen(lines));
    reason = test_log_stacks_reason(&run, &result, ", below a.c:1");
    cr_expect_str_eq(reason ? reason : "", expected);
    free(reason);
}

static void expect_where(const char *lines, const char *expected)
{
    save(lines, strlen(lines));
    trace_text_clear(&text);
    test_log_stacks_where(&text, &run, &result);
    cr_expect_str_eq(text.data ? text.data : "", expected);
}

#define FRAME(function, line, module)                                          \
    "frame\t0x10" line "\t" function "\tlist.c\t" line "\t" module             \
    "\t0x1" line "\t\n"
#define BARE(function, module)                                                 \
    "frame\t0xabc\t" function "\t\t\t" module "\t0xc\t\n"
#define PROCESS "process\t1\tprogram\n"

/* ---- Frames ---- */

Test(harness_test_stacks, end_with_the_tests_own_function)
{
    expect_text(PROCESS "thread\t1\tprogram\tR\t\n" FRAME("sum", "9", "/p")
                    FRAME("suite_test_impl", "20", "/p")
                        FRAME("run_body", "30", "/p"),
                "  thread 1 program:\n"
                "    list.c:9: sum\n"
                "    list.c:20: suite_test_impl\n");
}

Test(harness_test_stacks, count_the_systems_frames_but_the_called_one)
{
    expect_text(
        PROCESS "thread\t1\tprogram\tS\tmutex 0x8\n" BARE("a", "/l/libc.so.6")
            BARE("b", "/l/libstdc++.so.6") FRAME("c", "1", "/l/libc.so.6")
                FRAME("take", "2", "/p") BARE("start", "/l/libc.so.6"),
        "  thread 1 program, waits for mutex 0x8:\n"
        "    (2 frames of the system)\n"
        "    list.c:1: c\n"
        "    list.c:2: take\n"
        "    (1 frame of the system)\n");
}

Test(harness_test_stacks, count_the_frames_that_call_a_fixture)
{
    expect_text(PROCESS "thread\t1\tprogram\tR\t\n" FRAME("fail", "1", "/p")
                    FRAME("set_up", "2", "/p") BARE(
                        "criterion_internal_test_setup", "/l/libcriterion.so.3")
                        FRAME("test_log_watch_exceptions", "3", "/p")
                            FRAME("suite_test_jmp", "4", "/p")
                                FRAME("test_log_trampoline", "5", "/p")
                                    BARE("main", "/l/libc.so.6")
                                        BARE("_start", "/p"),
                "  thread 1 program:\n"
                "    list.c:1: fail\n"
                "    list.c:2: set_up\n"
                "    (6 frames of the system)\n");
}

Test(harness_test_stacks, show_main_and_count_what_called_it)
{
    expect_text(PROCESS
                "thread\t1\tprogram\tR\t\n" FRAME("test_log_mine", "1", "/p")
                    FRAME("_started", "2", "/p") FRAME("main", "3", "/p")
                        BARE("_start", "/p"),
                "  thread 1 program:\n"
                "    list.c:1: test_log_mine\n"
                "    list.c:2: _started\n"
                "    list.c:3: main\n"
                "    (1 frame of the system)\n");
}

Test(harness_test_stacks, leave_out_an_expectations_own_frames)
{
    expect_text(PROCESS "assertion\tlist.c:7\nthread\t1\tprogram\tR\t\n" FRAME(
                    "report", "1", "/p") FRAME("test_log_expect_", "2", "/p")
                    FRAME("check", "3", "/p")
                        FRAME("suite_test_impl", "4", "/p"),
                "  thread 1 program, assertion at list.c:7:\n"
                "    list.c:3: check\n"
                "    list.c:4: suite_test_impl\n");
}

Test(harness_test_stacks, end_with_the_body_of_a_theory)
{
    expect_text(PROCESS "thread\t1\tprogram\tR\t\n" FRAME("sum", "9", "/p")
                    FRAME("suite_test_theory", "20", "/p")
                        BARE("ffi_call", "/l/libffi.so.8")
                            FRAME("suite_test_impl", "20", "/p"),
                "  thread 1 program:\n"
                "    list.c:9: sum\n"
                "    list.c:20: suite_test_theory\n");
}

Test(harness_test_stacks, leave_out_threads_of_the_system)
{
    expect_text(PROCESS "thread\t2\tprogram\tS\tepoll\n" BARE(
                    "poll", "/l/libnanomsg.so.5"),
                "");
}

Test(harness_test_stacks, count_repeated_frames)
{
    expect_text(PROCESS "thread\t1\tprogram\tR\t\n" FRAME("deep", "9", "/p")
                    FRAME("deep", "9", "/p") FRAME("deep", "9", "/p")
                        FRAME("top", "10", "/p") "more\n",
                "  thread 1 program:\n"
                "    list.c:9: deep\n"
                "    (the same 2 times more)\n"
                "    list.c:10: top\n"
                "    ... (and more)\n");
}

Test(harness_test_stacks, name_the_module_without_debug_information)
{
    expect_text(PROCESS "thread\t1\tprogram\tR\t\n" BARE("sum", "/l/liba.so")
                    BARE("", "/l/liba.so") "frame\t0xdef\t\t\t\t\t\t\n",
                "  thread 1 program:\n"
                "    sum in liba.so + 0xc\n"
                "    0xabc in liba.so + 0xc\n"
                "    0xdef\n");
}

Test(harness_test_stacks, mark_inlined_functions)
{
    expect_text(PROCESS "thread\t1\tprogram\tR\t\n"
                        "frame\t0x1\tsmall\ta.c\t1\t/p\t0x1\ti\n",
                "  thread 1 program:\n"
                "    a.c:1: small (inlined)\n");
}

/* ---- Threads and processes ---- */

Test(harness_test_stacks, say_where_each_thread_hung)
{
    static const char lines[] =
        PROCESS "thread\t1\tprogram\tS\tmutex 0x8\n" BARE(
            "wait", "/l/libc.so.6") FRAME("take", "9", "/p")
            FRAME("suite_test_impl", "20", "/p") "thread\t2\tpool\tR\t\n" BARE(
                "spin",
                "/p") "thread\t3\tprogram\tS\tepoll\n" BARE("poll",
                                                            "/l/"
                                                            "libnanomsg.so.5");

    expect_where(lines, "");
    result.outcome = TEST_LOG_OUTCOME_TIMEOUT;
    expect_where(lines, "main thread in take (list.c:9), waits for mutex 0x8\n"
                        "thread pool in spin\n");
}

Test(harness_test_stacks, name_child_processes)
{
    expect_text(
        PROCESS "thread\t1\tprogram\tS\tsleep\n" FRAME(
            "a", "1", "/p") "process\t2\tchild\n"
                            "thread\t2\tchild\tR\t\n" FRAME("b", "2", "/p"),
        "  thread 1 program, waits for sleep:\n"
        "    list.c:1: a\n"
        "  child process 2:\n"
        "  thread 2 child:\n"
        "    list.c:2: b\n");
}

Test(harness_test_stacks, show_why_something_is_missing)
{
    expect_text(PROCESS "note\tprocess 1 cannot be stopped\n"
                        "thread\t1\tprogram\tD\tthe kernel's do_exit\n",
                "  process 1 cannot be stopped\n"
                "  thread 1 program, waits for the kernel's do_exit:\n");
}

/* ---- Crashes ---- */

#define HANDLER                                                                \
    FRAME("on_crash", "3", "/p")                                               \
    "frame\t0x5\trestore_rt\t\t\t/l/libc.so.6\t0x5\ts\n"
#define CRASH                                                                  \
    "crash\t11\t1\t0x8\t7\nfault\tnull pointer + 0x8\n" PROCESS                \
    "thread\t7\tworker\tT\t\n" HANDLER FRAME("sum", "9", "/p")

Test(harness_test_stacks, begin_behind_the_signals_handler)
{
    expect_text(CRASH, "  SIGSEGV at 0x8: null pointer + 0x8\n"
                       "  thread 7 worker, which crashed:\n"
                       "    list.c:9: sum\n");
}

Test(harness_test_stacks, give_the_reason_of_a_crash)
{
    expect_reason(CRASH, "SIGSEGV: null pointer + 0x8, in sum (list.c:9)");
    expect_reason("crash\t6\t-6\t0x0\t7\n" PROCESS
                  "thread\t7\tworker\tT\t\n" HANDLER BARE(
                      "abort", "/l/libc.so.6") BARE("sum", "/p"),
                  "SIGABRT, in sum");
    expect_reason("crash\t11\t1\t0x8\t7\n", "SIGSEGV at 0x8, below a.c:1");
    expect_reason(PROCESS, "");
}

/* ---- Exceptions ---- */

#define THROW                                                                  \
    BARE("_Unwind_RaiseException", "/l/libgcc_s.so.1")                         \
    BARE("__cxa_throw", "/p") FRAME("load", "9", "/p")

Test(harness_test_stacks, begin_at_the_throw_of_an_exception)
{
    expect_text("throw\t7\t\nexception\tno_file\topen x\n" PROCESS
                "thread\t7\tworker\tT\t\n" FRAME("stop", "3", "/p") THROW,
                "  uncaught no_file: open x\n"
                "  thread 7 worker, which threw it:\n"
                "    list.c:9: load\n");
    expect_text("throw\t7\tagain\nexception\tint\t\n" PROCESS
                "thread\t7\tworker\tT\t\n" THROW,
                "  uncaught int\n"
                "  thread 7 worker, which threw it again:\n"
                "    list.c:9: load\n");
}

Test(harness_test_stacks, give_the_reason_of_an_exception)
{
    expect_reason("throw\t7\t\nexception\tno_file\topen x\n" PROCESS
                  "thread\t7\tworker\tT\t\n" THROW,
                  "uncaught no_file: open x, in load (list.c:9)");
    expect_reason(
        "crash\t6\t-6\t0x0\t7\nexception\tint\t42\n" PROCESS
        "thread\t7\tworker\tT\t\n" HANDLER BARE("std::terminate()", "/p") THROW,
        "SIGABRT: std::terminate after int: 42, in load (list.c:9)");
    expect_reason("throw\t7\t\n" PROCESS, "");
}

Test(harness_test_stacks, count_inline_functions_of_installed_headers)
{
    expect_text(
        PROCESS
        "thread\t1\tprogram\tR\t\n"
        "frame\t0x1\tat\t/usr/include/c++/12/vector\t7\t/p\t0x1\ti\n"
        "frame\t0x1\tget\t/usr/include/c++/12/vector\t8\t/p\t0x1\t\n" FRAME(
            "sum", "9", "/p"),
        "  thread 1 program:\n"
        "    (1 frame of the system)\n"
        "    /usr/include/c++/12/vector:8: get\n"
        "    list.c:9: sum\n");
}

/* ---- Damaged files ---- */

Test(harness_test_stacks, survive_any_bytes)
{
    static const char bytes[] =
        "\t\t\tframe\nthread\nprocesscrash11 \nthrow\nexception";
    char lines[2048];

    for (int i = 0; i < 500; i++) {
        for (size_t j = 0; j < sizeof(lines); j++)
            lines[j] = test_random() % 50
                           ? bytes[test_random() % (sizeof(bytes) - 1)]
                           : (char)test_random();
        save(lines, sizeof(lines));
        trace_text_clear(&text);
        test_log_stacks_text(&text, &run, &result);
        free(test_log_stacks_reason(&run, &result, ""));
        free(test_log_stacks_thrown(&run, &result));
    }
    cr_expect_not(text.failed);
}

Test(harness_test_stacks, are_missing_without_a_file)
{
    test_log_stacks_text(&text, &run, &result);
    cr_expect_eq(text.size, 0);
    cr_expect_null(test_log_stacks_reason(&run, &result, ""));
}
