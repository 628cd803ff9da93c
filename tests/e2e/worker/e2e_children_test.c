/* e2e_children_test.c: child processes that crash. */
#include "tests/support/e2e.h"
#include "tests/support/page.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    if (!e2e_exists("%s/testlog-stacks", BUILD_DIR))
        cr_skip_test("testlog-stacks was not built: no libdw");
    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
}

TestSuite(e2e_children, .init = begin, .timeout = 300);

static const char *command(void)
{
    static char text[3 * PATH_MAX];

    snprintf(text, sizeof(text),
             "CRASHER=%s TESTLOG_STACKS=%s/testlog-stacks "
             "%s",
             e2e_program("crasher", E2E_TRACED), BUILD_DIR,
             e2e_program("children", E2E_TRACED));
    return text;
}

static const struct e2e *all(void)
{
    return e2e_once("children", "%s -j4", command());
}

static const struct e2e *run(const char *flags)
{
    return e2e_run("%s %s", command(), flags);
}

static const char *file_of(const struct e2e *run, const char *test,
                           const char *file)
{
    return e2e_read("%s/testlog-runs/latest/tests/children_test/%s/%s",
                    run->folder, test, file);
}

static const struct crash {
    const char *name, *signal, *frames[3];
} crashes[] = {
    {"null_pointer",
     "SIGSEGV at 0: null pointer\n",
     {": store\n", ": crash_here\n", ": children_null_pointer_impl\n"}},
    {"assertion",
     "SIGABRT\n",
     {"__assert_fail in libc", ": children_assertion_impl\n", ""}},
    {"stack_overflow",
     ": stack overflow\n",
     {": descend\n", "times more)\n", ""}},
    {"thread", "SIGSEGV at 0: ", {": store\n", ": crash_in_thread\n", ""}},
    {"grandchild",
     "SIGSEGV at 0: ",
     {": crash_here\n", ": children_grandchild_impl\n", ""}},
    {"vfork", "SIGABRT\n", {"abort in libc", ": children_vfork_impl\n", ""}},
    {"raw_clone",
     "SIGSEGV at 0: ",
     {": crash_here\n", ": children_raw_clone_impl\n", ""}},
    {"undumpable",
     "SIGSEGV at 0: ",
     {": crash_here\n", ": children_undumpable_impl\n", ""}},
    {"of_another_user", "SIGSEGV at 0: ", {": crash_here\n", "", ""}},
    {"in_another_root", "SIGSEGV at 0: ", {"    0x", "", ""}},
    {"without_descriptors",
     "SIGSEGV at 0: ",
     {": crash_here\n", ": children_without_descriptors_impl\n", ""}},
    {"null_function",
     "SIGSEGV at 0: call of a null function pointer\n",
     {"the caller is ", ": children_null_function_impl\n", ""}},
    {"in_a_log_line",
     "SIGSEGV at 0x10: null pointer + 0x10\n",
     {": children_in_a_log_line_impl\n", "", ""}},
    {"while_recording",
     " crashed: SIGABRT\n",
     {": children_while_recording_impl\n",
      "\n  36 more child processes crashed\n", ""}},
    {"five", "SIGSEGV at 0: ", {"\n  1 more child process crashed\n", "", ""}},
    {"timeout",
     " crashed: SIGSEGV at 0: null pointer\n",
     {", waits for a signal:\n", ": children_timeout_impl\n",
      ": crash_here\n"}},
    {"crash_in_teardown",
     " crashed: SIGSEGV at 0: null pointer\n",
     {": children_crash_in_teardown_impl\n", ": crash_here\n", ""}},
    {"started_program",
     "crasher_test crashed: SIGSEGV at 0: null pointer\n",
     {": crash_in_helper\n", ": main\n", ""}},
    {"two_generations",
     "crasher_test crashed: SIGSEGV at 0: null pointer\n",
     {": crash_here\n", ": crash_in_helper\n", ""}},
};

Test(e2e_children, explain_each_crash)
{
    for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
        const struct crash *crash = &crashes[i];
        char name[128];
        const char *block;

        snprintf(name, sizeof(name), "children/%s", crash->name);
        block = e2e_block(all(), name);
        if (!block[0] && getuid())
            continue; /* skipped: only root can become another user */
        e2e_expect_has(block, " child process ", crash->signal);
        for (int j = 0; j < 3; j++)
            e2e_expect_has(block, crash->frames[j]);
    }
}

/* Each test compares the status that its child leaves; parents that wait for
 * stopped children see none. */
Test(e2e_children, do_not_change_how_children_end)
{
    e2e_expect_lacks(all()->err, "wrong status", "records were lost");
    cr_expect_eq(e2e_count(all()->err, ": failed: the child crashed\n"),
                 17 + (getuid() ? 0 : 2));
}

Test(e2e_children, stand_in_all_files)
{
    const cJSON *test =
        e2e_result(e2e_json("%s/testlog-runs/latest/run.json", all()->folder),
                   "children/null_pointer");
    const cJSON *child =
        cJSON_GetArrayItem(cJSON_GetObjectItem(test, "crashed_children"), 0);
    const char *junit =
        e2e_between(e2e_read("%s/testlog-runs/latest/junit.xml", all()->folder),
                    "name=\"null_pointer\"", "</failure>");
    bool found = false;
    const cJSON *stack;

    cr_expect_eq(e2e_number(test, "child_crashes"), 1);
    e2e_expect_is(e2e_text(child, "signal"), "SIGSEGV");
    e2e_expect_is(e2e_text(child, "fault"), "null pointer");
    cJSON_ArrayForEach(stack, cJSON_GetObjectItem(test, "stacks")) found =
        found ||
        !strcmp(e2e_text(stack, "process"), e2e_text(child, "process"));
    cr_expect(found, "no stack has the child's process");
    e2e_expect_has(junit, "crashed: SIGSEGV at 0: null pointer\n",
                   ": crash_here\n");
    e2e_expect_has(file_of(all(), "children.null_pointer", "log.txt"),
                   "ERROR crash_here: crash: SIGSEGV at 0\n",
                   "crashed: SIGSEGV at 0: null pointer\n");
    e2e_expect_has(file_of(all(), "children.null_pointer", "trace.json"),
                   "crashed: SIGSEGV at 0: null pointer\\n");
}

Test(e2e_children, stand_in_the_report)
{
    struct page_block run;
    size_t rows;
    bool found = false;

    if (!page_can_read())
        cr_skip_test("no zlib");
    run = page_block(
        e2e_read("%s/testlog-runs/latest/report.html", all()->folder), "run");
    rows = page_rows(&run, "failures");
    for (size_t i = 0; i < rows; i++)
        found = found ||
                strstr(page_text(&run, "failures", "stacks", i),
                       " crasher_test crashed: SIGSEGV at 0: null pointer\n");
    cr_expect(found);
}

Test(e2e_children, show_the_first_few_and_count_the_rest)
{
    const char *block = e2e_block(all(), "children/hundred");
    const cJSON *test =
        e2e_result(e2e_json("%s/testlog-runs/latest/run.json", all()->folder),
                   "children/hundred");

    cr_expect_eq(e2e_count(block, " crashed: SIGSEGV at 0: "), 4);
    cr_expect_eq(e2e_count(block, "(the same stack)\n"), 3);
    e2e_expect_has(block, "\n  96 more child processes crashed\n");
    cr_expect_eq(e2e_number(test, "child_crashes"), 100);
}

Test(e2e_children, keep_hostile_names_in_their_line)
{
    const char *block = e2e_block(all(), "children/hostile_name");

    cr_expect_eq(e2e_count(block, " child process "), 1);
    e2e_expect_has(block, " crashed: SIGSEGV at 0: null pointer\n");
}

Test(e2e_children, stand_once_in_a_block_that_is_printed_again)
{
    const char *log = file_of(all(), "children.crash_in_teardown", "log.txt");

    cr_expect_eq(e2e_count(log, " child process "), 1);
    e2e_expect_has(log, ": crash_later\n");
}

/* ---- Tests that pass ---- */

Test(e2e_children, are_quiet_if_the_test_passes)
{
    const struct e2e *result = run("--filter 'harmless/*'");

    e2e_expect_closing(result, "4 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(result->err, "crash", "lost");
    e2e_expect_has(file_of(result, "harmless.expected_crash", "log.txt"),
                   "ERROR crash_here: crash: SIGSEGV at 0\n");
    e2e_expect_has(file_of(result, "harmless.nobody_waits", "log.txt"),
                   "ERROR crash_here: crash: SIGSEGV at 0\n");
    e2e_expect_is(file_of(result, "harmless.own_handler", "log.txt"), "");
    e2e_expect_is(file_of(result, "harmless.ignored_signal", "log.txt"), "");
}

Test(e2e_children, are_shown_with_the_output_of_passing_tests)
{
    const struct e2e *result =
        run("--filter harmless/expected_crash --show-output");

    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(result->err, " crashed: SIGSEGV at 0: null pointer\n",
                   ": harmless_expected_crash_impl\n");
}

/* The child's stack has the letters. */
Test(e2e_children, leave_no_copy_of_their_stacks)
{
    const struct e2e *result =
        run("--filter harmless/expected_crash --trace-options=compress=false; "
            "grep -c ABCDEFGHIJKLMNOP testlog-runs/latest/tests/*/*/recording");

    e2e_expect_has(result->out, "1 passed, 0 failed, 0 skipped\n0\n");
}

/* ---- What is missing ---- */

Test(e2e_children, leave_nothing_without_stacks)
{
    e2e_expect_lacks(run("--filter children/null_pointer --stacks=off")->err,
                     "stacks:", "SIGSEGV");
}

Test(e2e_children, leave_their_signals_in_a_full_recording)
{
    const struct e2e *result =
        run("--filter children/hundred --trace-limit=256K");
    const char *block = e2e_block(result, "children/hundred");

    e2e_expect_has(block, " crashed: SIGSEGV at 0",
                   " more child processes crashed\n");
    e2e_expect_lacks(block, "wrong status");
}

Test(e2e_children, have_no_frames_without_the_program_for_stacks)
{
    const struct e2e *result =
        e2e_run("TESTLOG_STACKS=/dev/null %s --filter children/null_pointer",
                e2e_program("children", E2E_TRACED));
    const char *block = e2e_block(result, "children/null_pointer");

    e2e_expect_has(block, " crashed: SIGSEGV at 0\n");
    e2e_expect_lacks(block, ": crash_here\n");
}

/* ---- Open spans ---- */

Test(e2e_children, leave_no_open_spans_if_they_exit)
{
    e2e_expect_lacks(e2e_block(all(), "spans/child_that_exits"), "open spans");
    e2e_expect_lacks(e2e_block(all(), "spans/crash_beside_children"),
                     "has_exited");
    e2e_expect_has(e2e_block(all(), "spans/crash_beside_children"),
                   ": in_the_test\n");
}

Test(e2e_children, have_open_spans_if_they_hang)
{
    const char *block = e2e_block(all(), "spans/child_that_hangs");

    e2e_expect_has(block, ": hangs\n");
    e2e_expect_lacks(block, "has_exited");
}
