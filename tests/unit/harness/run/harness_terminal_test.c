/* harness_terminal_test.c: prints tests and runs on the terminal. */
#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/terminal/terminal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_output options;
static char *printed;
static size_t printed_size;

static void begin(void)
{
    test_folder();
    run.path = strdup(test_path(""));
    test_log_out = open_memstream(&printed, &printed_size);
}

static void end(void)
{
    fclose(test_log_out);
    free(printed);
    test_log_run_free(&run);
}

TestSuite(harness_terminal, .init = begin, .fini = end);

static struct test_log_result *add(const char *name,
                                   enum test_log_outcome outcome,
                                   const char *reason)
{
    struct test_log_result *result =
        runs_add_result(&run, "program", name, outcome, reason);

    result->filter = strdup("info");
    return result;
}

/* Gives a result a folder with this output and an empty recording. */
static void give_output(struct test_log_result *result, const char *output)
{
    char path[PATH_MAX];

    result->folder = strdup("folder");
    test_log_make_folders(test_path("folder"));
    snprintf(path, sizeof(path), "%s", test_path("folder/output.txt"));
    test_save(path, output, strlen(output));
    test_record();
    trace_close();
    snprintf(path, sizeof(path), "%s", test_path("recording"));
    cr_assert_eq(rename(path, test_path("folder/recording")), 0);
}

static void expect_has(const char *part)
{
    fflush(test_log_out);
    cr_expect_not_null(strstr(printed, part), "%s is not in:\n%s", part,
                       printed);
}

static void expect_lacks(const char *part)
{
    fflush(test_log_out);
    cr_expect_null(strstr(printed, part), "%s is in:\n%s", part, printed);
}

/* Prints the block of a failed test with this output. */
static void print_failed(const char *output)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_FAILED, NULL);

    give_output(result, output);
    test_log_print_block(&run, result, &options);
}

Test(harness_terminal, prints_a_notice_on_one_line)
{
    test_log_notice("%d of %s", 1, "many");
    fflush(test_log_out);
    cr_expect_str_eq(printed, "testlog: 1 of many\n");
}

Test(harness_terminal, escapes_control_bytes_in_notices)
{
    test_log_notice("%s", "\x1b[31mred\n\xff");
    fflush(test_log_out);
    cr_expect_str_eq(printed, "testlog: \\x1b[31mred\\n\\xff\n");
}

Test(harness_terminal, prefixes_every_complaint)
{
    struct trace_text complaints = {0};

    test_log_complain(&complaints);
    trace_text_string(&complaints, "LOG: a\n    x\n    ^\nLOG: b\n");
    test_log_complain(&complaints);
    trace_text_free(&complaints);
    fflush(test_log_out);
    cr_expect_str_eq(printed,
                     "testlog: LOG: a\n    x\n    ^\ntestlog: LOG: b\n");
}

/* ---- A test's block ---- */

Test(harness_terminal, cuts_long_output_at_a_line_and_names_the_file)
{
    enum { LINES = 20000 };
    char *output = calloc(LINES, 10);

    for (size_t i = 0; i < LINES; i++)
        snprintf(output + i * 9, 10, "%08zu\n", i);
    print_failed(output);
    expect_lacks("00000000\n");
    expect_has("00019999\n");
    expect_has("output:\n... ");
    expect_has(" bytes before this are in ");
    expect_has("folder/output.txt\n000");
    free(output);
}

Test(harness_terminal, shows_the_end_of_one_long_line)
{
    enum { SIZE = 100000 };
    char *output = calloc(1, SIZE + 1);

    memset(output, '.', SIZE);
    memcpy(output + SIZE - 8, "the end\n", 8);
    print_failed(output);
    expect_has("\n....");
    expect_has("....the end\n");
    free(output);
}

Test(harness_terminal, prints_only_a_header_without_files)
{
    test_log_print_block(&run, add("a", TEST_LOG_OUTCOME_FAILED, "f.c:1: no"),
                         &options);
    fflush(test_log_out);
    cr_expect_str_eq(printed, "---- suite/a: failed ----\nf.c:1: no\n\n");
}

static const struct {
    enum test_log_outcome outcome;
    const char *reason, *header;
} headers[] = {
    {TEST_LOG_OUTCOME_PASSED, NULL, "---- suite/a: passed ----\n"},
    {TEST_LOG_OUTCOME_CRASHED, "SIGSEGV", "suite/a: crashed: SIGSEGV ----\n"},
    {TEST_LOG_OUTCOME_TIMEOUT, "after 1 s", ": timed out: after 1 s ----\n"},
    {TEST_LOG_OUTCOME_FAILED, "one\ntwo", "suite/a: failed: one ... ----\n"},
    {TEST_LOG_OUTCOME_FAILED, "", "suite/a: failed ----\n"},
};

Test(harness_terminal, prints_outcome_and_reason_in_the_header)
{
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        struct test_log_result *result =
            add("a", headers[i].outcome, headers[i].reason);

        give_output(result, "text\n");
        test_log_print_block(&run, result, &options);
        expect_has(headers[i].header);
    }
}

Test(harness_terminal, prints_no_block_for_a_good_test_without_text)
{
    enum test_log_outcome outcomes[] = {TEST_LOG_OUTCOME_PASSED,
                                        TEST_LOG_OUTCOME_SKIPPED};

    for (size_t i = 0; i < 2; i++) {
        struct test_log_result *result = add("a", outcomes[i], NULL);

        give_output(result, "");
        test_log_print_block(&run, result, &options);
    }
    fflush(test_log_out);
    cr_expect_str_eq(printed, "");
}

Test(harness_terminal, prints_paths_relative_to_the_working_directory)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_FAILED, NULL);

    give_output(result, "");
    run.path[strlen(run.path) - 1] = '\0';
    cr_assert_eq(chdir(run.path), 0);
    test_log_print_block(&run, result, &options);
    expect_has("\ntrace: folder/trace.json\n");
}

Test(harness_terminal, ends_output_with_a_newline)
{
    print_failed("no newline");
    expect_has("output:\nno newline\ntrace: ");
}

Test(harness_terminal, names_the_trace_only_with_a_recording)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_FAILED, NULL);

    give_output(result, "text\n");
    cr_assert_eq(remove(test_path("folder/recording")), 0);
    test_log_print_block(&run, result, &options);
    expect_has("output:\ntext\n\n");
    expect_lacks("trace: ");
}

Test(harness_terminal, shows_output_unchanged)
{
    print_failed("\033[1mbold\033[0m \377\n\n");
    expect_has("output:\n\033[1mbold\033[0m \377\n\ntrace: ");
}

Test(harness_terminal, prints_no_heading_for_empty_output)
{
    print_failed("");
    expect_lacks("output:");
}

Test(harness_terminal, does_not_repeat_live_output)
{
    options.live = true;
    print_failed("printed before\n");
    expect_lacks("printed before");
}

Test(harness_terminal, shows_output_despite_a_corrupt_recording)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_CRASHED, NULL);
    char path[PATH_MAX];

    give_output(result, "printed\n");
    snprintf(path, sizeof(path), "%s", test_path("folder/recording"));
    test_save(path, "no recording at all", 19);
    test_log_print_block(&run, result, &options);
    expect_has("output:\nprinted\n\n");
    expect_lacks("trace: ");
}

Test(harness_terminal, prints_lines_and_open_spans_separately)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_CRASHED, NULL);
    static struct trace_site span = TEST_SITE(SPAN, INFO, "open", "t", NULL, 0);
    static struct trace_site event =
        TEST_SITE(EVENT, INFO, "line", "t", NULL, 0);

    test_record();
    trace_span_begin_(&span, 0, NULL);
    trace_event_(&event, 0, NULL);
    test_read();
    run.path[strlen(run.path) - 1] = '\0'; /* the folder is the run itself */
    result->folder = strdup(".");
    options.style.time = LOG_TIME_NONE;
    test_log_print_block(&run, result, &options);
    expect_has("log:\n INFO open: t: line\nopen spans:\n");
    expect_has(": open\ntrace: ");
}

/* tests/web/address_test.js expects the same of the page's own addresses. */
Test(harness_terminal, escapes_names_as_addresses_of_the_page_do)
{
    struct test_log_result *result =
        add("a b'\"&#%+?\\{x=1}[07]\u00e9", TEST_LOG_OUTCOME_FAILED, NULL);
    struct trace_text text = {0};

    test_log_page_fragment(&text, &run, result);
    cr_expect_str_eq(text.data,
                     "#view=log&test=suite/a%20b'%22%26%23%25%2B%3F%5C{x=1}"
                     "[07]%C3%A9");
    trace_text_clear(&text);
    run.parent.beside = true;
    test_log_page_fragment(&text, &run, result);
    cr_expect(!strncmp(text.data, "#view=log&test=program:suite/a%20", 33),
              "%s", text.data);
    trace_text_free(&text);
}

/* ---- The end ---- */

Test(harness_terminal, lists_failures_and_a_command_to_rerun)
{
    struct test_log_result *result;

    add("a", TEST_LOG_OUTCOME_PASSED, NULL);
    result = add("b[07]", TEST_LOG_OUTCOME_FAILED, "f.c:7: no");
    result->file = strdup("f.c");
    result->line = 5;
    add("c", TEST_LOG_OUTCOME_SKIPPED, "no");
    result = add("d", TEST_LOG_OUTCOME_CRASHED, "SIGABRT");
    result->file = strdup("e.c");
    result->line = 9;
    add("d", TEST_LOG_OUTCOME_TIMEOUT, "in another program");
    test_log_print_summary(&run, "./program", "./b");
    expect_has("\nfailed:\nf.c:7: suite/b[07]: failed: no\n"
               "e.c:9: suite/d: crashed: SIGABRT\n"
               "suite/d: timed out: in another program\n"
               "run them again:\n"
               "    ./program --filter 'suite/b[07]' --filter 'suite/d'\n"
               "debug the first one:\n"
               "    ./b --filter 'suite/b[07]' --debug-failed\n"
               "run: ");
}

Test(harness_terminal, debugs_no_test_that_timed_out)
{
    add("d", TEST_LOG_OUTCOME_TIMEOUT, NULL);
    test_log_print_summary(&run, "./program", "./program");
    expect_lacks("debug");
}

Test(harness_terminal, names_each_failure_once_in_the_command)
{
    struct trace_text expected = {0};
    char name[16];

    trace_text_string(&expected, "run them again:\n    ./program");
    for (int i = 0; i < 2 * 40; i++) {
        snprintf(name, sizeof(name), "a%d#%d", i / 2, i % 2 + 1);
        add(name, TEST_LOG_OUTCOME_FAILED, NULL);
        if (i % 2)
            trace_text_printf(&expected, " --filter 'suite/a%d'", i / 2);
    }
    trace_text_char(&expected, '\n');
    test_log_print_summary(&run, "./program", NULL);
    expect_has(expected.data);
    trace_text_free(&expected);
}

Test(harness_terminal, leaves_the_shard_of_a_variable)
{
    run.shard = (struct test_log_shard){.total = 3, .origin = "TEST_SHARD"};
    add("a", TEST_LOG_OUTCOME_FAILED, NULL);
    test_log_print_summary(&run, "./program", "./program");
    expect_has("    ./program --shard 1/1 --filter 'suite/a'\n");
    expect_has("    ./program --shard 1/1 --filter 'suite/a' --debug-failed\n");
    run.shard.origin = "--shard";
    test_log_print_summary(&run, "./again", "./again");
    expect_has("    ./again --filter 'suite/a'\n");
}

Test(harness_terminal, names_no_test_if_many_of_a_whole_run_failed)
{
    char name[16];

    run.whole = true;
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        add(name, TEST_LOG_OUTCOME_FAILED, NULL);
    }
    test_log_print_summary(&run, "./program", NULL);
    expect_has("    ./program --filter 'suite/a0' --filter 'suite/a1'");
    add("b", TEST_LOG_OUTCOME_FAILED, NULL);
    test_log_print_summary(&run, "./program", NULL);
    expect_has("run them again:\n    ./program --failed\n");
    run.dir_given = true;
    free(run.path);
    run.path = strdup("my runs/1");
    test_log_print_summary(&run, "./program", NULL);
    expect_has("    ./program --failed --trace-dir 'my runs'\n");
}

Test(harness_terminal, escapes_terminal_control_bytes)
{
    static const char evil[] = "\033[31mred\r\nmore";
    struct test_log_result *flaky;
    struct test_log_try before = {.outcome = TEST_LOG_OUTCOME_FAILED,
                                  .reason = strdup(evil)};

    flaky = add("flaky", TEST_LOG_OUTCOME_PASSED, NULL);
    flaky->duration = 2000000000;
    flaky->earlier = malloc(sizeof(before));
    flaky->earlier[flaky->earlier_count++] = before;
    add("skips\033", TEST_LOG_OUTCOME_SKIPPED, evil);
    test_log_print_block(&run, add("fails", TEST_LOG_OUTCOME_FAILED, evil),
                         &options);
    options.slow = 1000000000;
    test_log_print_slow(&run, &options);
    test_log_print_summary(&run, "./program", NULL);
    expect_lacks("\033");
    expect_lacks("\r");
    expect_has("---- suite/fails: failed: \\x1b[31mred\\r ... ----\n");
    expect_has("    suite/flaky: passed on try 2; the first failed: "
               "\\x1b[31mred\\r ...\n");
    expect_has("    suite/skips\\x1b: skipped: \\x1b[31mred\\r ...\n");
    expect_has("\nsuite/fails: failed: \\x1b[31mred\\r ...\n");
    expect_has("    suite/flaky: 2.00 s\n");
}

Test(harness_terminal, groups_tests_skipped_for_the_same_reason)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};

    for (size_t i = 0; i < 5; i++)
        add(names[i], TEST_LOG_OUTCOME_SKIPPED, i == 1 ? "other" : "no GPU");
    test_log_print_summary(&run, "program", NULL);
    expect_has("skipped:\n"
               "    4 tests: no GPU (suite/a, ...)\n"
               "    suite/b: skipped: other\n"
               "run: ");
}

Test(harness_terminal, lists_three_tests_skipped_for_the_same_reason)
{
    add("a", TEST_LOG_OUTCOME_SKIPPED, "no GPU");
    add("b", TEST_LOG_OUTCOME_SKIPPED, NULL);
    add("c", TEST_LOG_OUTCOME_SKIPPED, "no GPU");
    add("d", TEST_LOG_OUTCOME_SKIPPED, "no GPU");
    test_log_print_summary(&run, "program", NULL);
    expect_has("skipped:\n"
               "    suite/a: skipped: no GPU\n"
               "    suite/c: skipped: no GPU\n"
               "    suite/d: skipped: no GPU\n"
               "    suite/b: skipped\n");
}

Test(harness_terminal, names_the_run_if_all_tests_passed)
{
    add("a", TEST_LOG_OUTCOME_PASSED, NULL);
    test_log_print_summary(&run, "./program", NULL);
    expect_lacks("failed");
    expect_has("run: ");
}

Test(harness_terminal, names_no_run_without_a_folder)
{
    free(run.path);
    run.path = NULL;
    test_log_print_summary(&run, "./program", NULL);
    fflush(test_log_out);
    cr_expect_str_eq(printed, "");
}

Test(harness_terminal, suggests_fixes_for_unmatched_directives)
{
    run.unmatched = calloc(4, sizeof(*run.unmatched));
    run.unmatched[run.unmatched_count++] = strdup("LOG: nowhere=debug");
    run.unmatched[run.unmatched_count++] = strdup("--log: inof");
    run.unmatched[run.unmatched_count++] = strdup("of another version");
    run.meant = calloc(4, sizeof(*run.meant));
    run.meant[run.unmatched_count] = strdup("net=debug");
    run.unmatched[run.unmatched_count++] = strdup("LOG: net:debug");
    test_log_print_unmatched(&run);
    fflush(test_log_out);
    cr_expect_str_eq(printed,
                     "testlog: LOG: nowhere=debug matched no call site\n"
                     "testlog: --log: inof matched no call site; did you mean "
                     "the level info?\n"
                     "testlog: of another version matched no call site\n"
                     "testlog: LOG: net:debug matched no call site; did you "
                     "mean net=debug?\n");
}

Test(harness_terminal, names_at_most_ten_unmatched_directives)
{
    struct trace_text text = {0};
    size_t lines = 0;

    run.unmatched = calloc(1000, sizeof(*run.unmatched));
    for (int i = 0; i < 1000; i++) {
        trace_text_clear(&text);
        trace_text_printf(&text, "LOG: \x1b[1m%01000d", i);
        run.unmatched[run.unmatched_count++] = strdup(text.data);
    }
    trace_text_free(&text);
    test_log_print_unmatched(&run);
    fflush(test_log_out);
    for (const char *c = printed; *c; c++)
        lines += *c == '\n';
    cr_expect_eq(lines, 11);
    cr_expect_lt(strlen(printed), 11 * 250);
    expect_lacks("\x1b");
    expect_has("0... matched no call site\n");
    expect_has("testlog: 990 more directives matched no call site\n");
}

static const struct {
    bool live, folder, report;
    const char *out, *err;
} closings[] = {
    {false, true, false, "1 passed, 0 failed, 0 skipped\n", ""},
    {true, true, false, "\n1 passed, 0 failed, 0 skipped\n", ""},
    {false, false, false, "\n1 passed, 0 failed, 0 skipped\n", ""},
    {false, true, true, "", "1 passed, 0 failed, 0 skipped\n"},
    {true, true, true, "", "1 passed, 0 failed, 0 skipped\n"},
};

Test(harness_terminal, prints_the_closing_line_on_a_line_of_its_own)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_PASSED, NULL);
    struct trace_text expected = {0};

    cr_redirect_stdout();
    for (size_t i = 0; i < sizeof(closings) / sizeof(*closings); i++) {
        options.live = closings[i].live;
        options.report_on_stdout = closings[i].report;
        free(result->folder);
        result->folder = closings[i].folder ? strdup("folder") : NULL;
        rewind(test_log_out);
        test_log_print_closing(&run, &options);
        fflush(test_log_out);
        cr_expect_eq(strncmp(printed, closings[i].err, strlen(closings[i].err)),
                     0, "row %zu: %s", i, printed);
        trace_text_string(&expected, closings[i].out);
    }
    fflush(stdout);
    cr_expect_stdout_eq_str(expected.data);
    trace_text_free(&expected);
}

Test(harness_terminal, ignores_small_differences_of_times)
{
    enum { MS = 1000000 };

    cr_expect(test_log_is_longer(1600 * (uint64_t)MS, 1000 * MS));
    cr_expect_not(test_log_is_longer(1400 * (uint64_t)MS, 1000 * MS));
    cr_expect(test_log_is_longer(201 * MS, 100 * MS));
    cr_expect_not(test_log_is_longer(199 * MS, 100 * MS), "under 0.1 s more");
}
