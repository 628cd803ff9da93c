/* e2e_capture_test.c: which output and lines of a test are shown, and when. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_capture, .init = e2e_begin, .timeout = 300);

/* Links the traced program into the test's folder, so that no golden file
 * contains its path.
 */
static const char *capture(void)
{
    static const char *path;

    if (path)
        return path;
    path = "./capture_test";
    cr_assert_eq(
        e2e_run("ln -s %s %s", e2e_program("capture", E2E_TRACED), path)->code,
        0);
    return path;
}

static const struct e2e *run_one(const char *flags, const char *test)
{
    return e2e_run("%s %s --filter '%s' 2>&1", capture(), flags, test);
}

/* ---- Captured ---- */

Test(e2e_capture, prints_nothing_of_passing_tests)
{
    const struct e2e *run = run_one("", "capture/prints_and_passes");

    e2e_expect_code(run, 0);
    e2e_expect_lacks(run->out, "printed by", "complained by", "logged by");
    e2e_expect_is(e2e_read("testlog-runs/latest/tests/capture_test/"
                           "capture.prints_and_passes/output.txt"),
                  "printed by a passing test\ncomplained by a passing test\n");
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/capture_test/"
                            "capture.prints_and_passes/log.txt"),
                   "INFO programs::capture: logged by a passing test\n");
}

static void expect_shown(const struct e2e *run)
{
    e2e_expect_code(run, 0);
    e2e_expect_has(run->out,
                   "---- capture/prints_and_passes: passed ----\noutput:\n"
                   "printed by a passing test\ncomplained by a passing test\n"
                   "log:\n",
                   "INFO programs::capture: logged by a passing test\n");
}

Test(e2e_capture, shows_passing_tests_with_show_output)
{
    expect_shown(run_one("--show-output", "capture/prints_and_passes"));
    expect_shown(e2e_run("SHOW_OUTPUT=1 %s --filter "
                         "'capture/prints_and_passes' 2>&1",
                         capture()));
}

static void expect_golden(const char *test, const char *golden)
{
    e2e_expect_is(e2e_normal(run_one("", test)->out),
                  e2e_read("%s/cases/e2e/%s.txt", TESTS_DIR, golden));
}

Test(e2e_capture, prints_a_failing_test_as_in_the_golden_file)
{
    expect_golden("capture/prints_and_fails", "failing");
}

Test(e2e_capture, prints_a_crashing_test_as_in_the_golden_file)
{
    expect_golden("capture/crashes_in_a_line", "crashing");
}

Test(e2e_capture, shows_output_and_open_spans_of_a_timeout)
{
    e2e_expect_has(e2e_normal(run_one("", "capture/hangs")->out),
                   "---- capture/hangs: timed out: after ",
                   "output:\nbefore it hangs\n"
                   "open spans:\nTHREAD: waiting\ntrace: ");
}

Test(e2e_capture, keeps_a_line_without_newline_after_a_crash)
{
    const struct e2e *run = run_one("", "capture/crashes_in_a_line");

    e2e_expect_code(run, 1);
    e2e_expect_is(e2e_read("testlog-runs/latest/tests/capture_test/"
                           "capture.crashes_in_a_line/output.txt"),
                  "a whole line\nand a part of one");
    e2e_expect_has(run->out, "\nand a part of one\nlog:\n");
}

/* A shell that is tested sees one message, as on a terminal. */
Test(e2e_capture, a_line_is_one_write)
{
    const struct e2e *run =
        e2e_writes("%s --nocapture --filter capture/prints_a_line_in_parts",
                   e2e_program("capture", E2E_TRACED));

    e2e_expect_has(run->out, "one line\n\036");
}

#define HIDDEN                                                                 \
    "DEBUG outer{number=7 text=\"red fox\"}: programs::capture: below the "    \
    "default\n"

Test(e2e_capture, marks_hidden_lines_of_a_failure)
{
    const struct e2e *run =
        run_one("--log-time=none", "capture/prints_and_fails");
    const struct e2e *debug =
        run_one("--log=debug", "capture/prints_and_fails");

    e2e_expect_has(run->out, "\nlog:\n~ " HIDDEN "   INFO outer",
                   ": assertion failed: nearly\ntrace: ");
    e2e_expect_lacks(debug->out, "\n~ ");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/junit.xml"), "recorded:\n");
    e2e_expect_has(
        run_one("--log-format=json", "capture/prints_and_fails")->out,
        "\nlog:\n{\"hidden\":true,\"timestamp\"", "\n{\"timestamp\"");
    e2e_expect_has(
        run_one("--color=always --log-time=none", "capture/prints_and_fails")
            ->out,
        "\n\033[2m~ DEBUG outer", "below the default\033[0m\n  \033[");
    e2e_expect_has(
        run_one("--nocapture --log-time=none", "capture/prints_and_fails")->out,
        "recorded:\n" HIDDEN);
    e2e_expect_has(debug->out,
                   "outer{number=7 text=\"red fox\"}: programs::capture: below "
                   "the default\n",
                   "outer{number=7 text=\"red fox\"}:inner: programs::capture: "
                   "evicted key=\"fox\" age=3\n");
}

#define HIDDEN_IN_XML                                                          \
    "recorded:\nDEBUG outer{number=7 text=&quot;red fox&quot;}: "              \
    "programs::capture: below the default\n</system-err>"

Test(e2e_capture, writes_hidden_lines_of_a_failure_to_junit)
{
    run_one("--log-time=none", "capture/prints_and_fails");
    e2e_expect_has(e2e_read("testlog-runs/latest/junit.xml"), HIDDEN_IN_XML);
    run_one("--log-time=none --fail-log=0", "capture/prints_and_fails");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/junit.xml"), "recorded:");
    e2e_run("%s run %s -- --log-time=none --filter=capture/prints_and_fails",
            BUILD_DIR "/testlog", e2e_program("capture", E2E_TRACED));
    e2e_expect_has(e2e_read("testlog-runs/latest/junit.xml"), "recorded:\n",
                   "below the default\n</system-err>");
}

Test(e2e_capture, shows_as_many_hidden_lines_as_fail_log_says)
{
    const struct e2e *run = run_one("--log-time=none --log=off --fail-log=3",
                                    "capture/prints_and_fails");

    e2e_expect_has(
        run->out,
        "log:\n"
        "~  INFO outer{number=7 text=\"red fox\"}: programs::capture: "
        "an answer of 41\n",
        "1 more line was recorded: testlog log "
        "capture/prints_and_fails --filter trace\ntrace: ");
    e2e_expect_lacks(run->out, "below the default");
}

Test(e2e_capture, names_the_command_for_hidden_lines)
{
    const struct e2e *run = run_one("--log=off --fail-log=0 --trace-dir='a b'",
                                    "capture/prints_and_fails");
    const char *command =
        e2e_between(run->out, "4 more lines were recorded: testlog ", "\n");

    e2e_expect_lacks(run->out, "log:\n");
    e2e_expect_has(command, "log 'a b/2");
    e2e_expect_has(
        e2e_run("'%s/testlog' %s --time none", BUILD_DIR, command)->out,
        HIDDEN);
}

Test(e2e_capture, hides_lines_of_a_passing_test)
{
    e2e_expect_lacks(
        run_one("--show-output --log=off", "capture/prints_and_passes")->out,
        "\n~ ");
}

Test(e2e_capture, captures_the_output_of_children)
{
    e2e_expect_has(run_one("", "capture/prints_in_a_child")->out,
                   "output:\nout of a child\nerr of a child\nlog:\n");
}

Test(e2e_capture, lets_a_test_redirect_its_streams)
{
    e2e_expect_code(run_one("", "capture/redirects_*"), 0);
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/capture_test/"
                            "capture.redirects_stderr/log.txt"),
                   "ERROR programs::capture: not for the test\n");
    e2e_expect_code(run_one("--nocapture", "capture/redirects_*"), 0);
    e2e_expect_code(run_one("--nocapture -j1", "capture/redirects_stderr"), 0);
}

Test(e2e_capture, prints_live_lines_of_a_redirected_test)
{
    e2e_expect_has(run_one("--nocapture -j1", "capture/redirects_stderr")->out,
                   "ERROR programs::capture: not for the test\n");
}

Test(e2e_capture, applies_a_tests_own_default_without_LOG)
{
    const char *text = "TRACE programs::capture: shown by the test's own "
                       "default\n";

    e2e_expect_has(run_one("", "capture/has_a_default")->out, text);
    e2e_expect_lacks(
        run_one("--log=info --fail-log=0", "capture/has_a_default")->out, text);
    e2e_expect_lacks(e2e_run("LOG=info %s --fail-log=0 --filter "
                             "capture/has_a_default 2>&1",
                             capture())
                         ->out,
                     text);
}

/* ---- Tests side by side ---- */

/* Expects a block with everything that its test printed, in order, and nothing
 * else. */
static void expect_whole(const char *text, char name)
{
    char from[64], line[64], log[64];
    const char *output, *lines;
    int i = 0;

    snprintf(from, sizeof(from), "---- many/%c: ", name);
    output = e2e_between(text, from, "\ntrace: ");
    lines = strstr(output, "\nlog:\n");
    cr_assert_not_null(lines, "%.2000s", output);
    for (; i < 200 && output; i++) {
        snprintf(line, sizeof(line), "\n%c prints %d\n", name, i);
        snprintf(log, sizeof(log), "programs::capture: %c logs %d\n", name, i);
        output = strstr(output, line);
        lines = strstr(lines ? lines : "", log);
        cr_assert(output && lines, "%c misses %d", name, i);
        output += strlen(line) - 1;
    }
    cr_expect_eq(e2e_count(text, from), 1);
}

Test(e2e_capture, does_not_mix_tests_that_run_side_by_side)
{
    const char *text = run_one("-j4", "many/*")->out;

    for (char name = 'a'; name <= 'd'; name++) {
        expect_whole(text, name);
    }
    cr_expect_eq(e2e_count(text, " prints "), 4 * 200);
    cr_expect_eq(e2e_count(text, " logs "), 4 * 200);
}

/* ---- Live ---- */

Test(e2e_capture, prints_live_lines_in_order_with_output)
{
    const struct e2e *run = run_one("--nocapture -j1", "live/first");
    const char *expected =
        "printed first\n"
        "TIME  INFO span{text=\"two\\nlines\"}: programs::capture: logged "
        "second\n"
        "TIME  WARN span{text=\"two\\nlines\"}: programs::capture: "
        "two\\nlines\n"
        "printed last\n";

    e2e_expect_has(e2e_normal(run->out), expected);
    e2e_expect_code(run, 0);
    cr_expect_not(e2e_exists("testlog-runs/latest/tests/capture_test/"
                             "live.first/output.txt"));
    cr_expect(e2e_exists("testlog-runs/latest/tests/capture_test/"
                         "live.first/log.txt"));
}

static const char *const live_ways[] = {"--nocapture", "--verbose",
                                        "--verbose=1"};

Test(e2e_capture, prints_live_with_each_flag_and_variable)
{
    for (size_t i = 0; i < sizeof(live_ways) / sizeof(*live_ways); i++)
        e2e_expect_has(run_one(live_ways[i], "live/first")->out,
                       "printed first\n");
    e2e_expect_has(
        e2e_run("NOCAPTURE=1 %s --filter live/first 2>&1", capture())->out,
        "printed first\n");
    e2e_expect_lacks(
        e2e_run("NOCAPTURE=0 %s --filter live/first 2>&1", capture())->out,
        "printed first\n");
}

Test(e2e_capture, keeps_live_output_on_its_stream)
{
    const struct e2e *run =
        e2e_run("%s --nocapture -j1 --filter live/first", capture());

    e2e_expect_is(run->out, "printed first\nprinted last\n\n"
                            "1 passed, 0 failed, 0 skipped\n");
    e2e_expect_has(run->err, "programs::capture: logged second\n");
}

Test(e2e_capture, starts_the_closing_line_on_a_line_of_its_own)
{
    const struct e2e *run =
        e2e_run("%s --nocapture --filter live/leaves_a_line_open", capture());

    e2e_expect_is(run->out, "no newline\n1 passed, 0 failed, 0 skipped\n");
}

Test(e2e_capture, prefixes_live_tests_that_run_side_by_side)
{
    const char *text = run_one("--nocapture -j4", "live/*")->out;
    const char *alone = run_one("--nocapture -j1", "live/*")->out;

    e2e_expect_has(e2e_normal(text),
                   "[live/first] TIME  WARN span{text=\"two\\nlines\"}: "
                   "programs::capture: two\\nlines\n");
    e2e_expect_has(text, "[live/second] ");
    e2e_expect_lacks(alone, "[live/");
    e2e_expect_has(alone, " INFO programs::capture: of the second test\n");
}

Test(e2e_capture, does_not_prefix_a_single_live_test)
{
    e2e_expect_lacks(run_one("--nocapture -j4", "live/second")->out, "[live/");
}

static void expect_one_line(const char *write, size_t size)
{
    const char *newline = memchr(write, '\n', size);

    cr_expect(newline == write + size - 1, "several writes for one line: %.*s",
              (int)size, write);
    cr_expect(!strncmp(write, "20", 2) || !strncmp(write, "[live/", 6),
              "a write that begins within a line: %.*s", (int)size, write);
}

Test(e2e_capture, writes_a_live_line_in_one_call)
{
    const struct e2e *run =
        e2e_writes("%s --nocapture -j4 --filter 'live/*'", capture());
    size_t lines = 0;

    for (const char *at = run->out; *at; at += strcspn(at, "\036") + 1) {
        size_t size = strcspn(at, "\036");

        if (!memmem(at, size, "programs::capture: ", 19))
            continue;
        expect_one_line(at, size);
        lines++;
    }
    cr_expect_eq(lines, 4);
    e2e_expect_code(run, 0);
}

Test(e2e_capture, does_not_repeat_live_lines_after_a_failure)
{
    const struct e2e *run = run_one("--nocapture", "capture/crashes_in_a_line");

    cr_expect_eq(e2e_count(run->out, "about to crash"), 1);
    cr_expect_eq(e2e_count(run->out, "and a part of one"), 1);
    e2e_expect_has(e2e_normal(run->out),
                   "open spans:\nTHREAD: outer:inner{depth=2}\n");
}

/* ---- Without TRACING ---- */

Test(e2e_capture, leaves_output_to_criterion_without_tracing)
{
    const struct e2e *run =
        e2e_exits(1, "%s --filter 'capture/prints_and_fails'",
                  e2e_program("capture", E2E_PLAIN));

    e2e_expect_has(run->out, "to stdout, ");
    e2e_expect_has(run->err, "to stderr, ");
    e2e_expect_lacks(run->err, "an answer of");
}
