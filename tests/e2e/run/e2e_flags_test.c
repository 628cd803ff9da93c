/* e2e_flags_test.c: flags, variables and filters, as users see them. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_flags, .init = e2e_begin, .timeout = 300);

static const char *program_in(enum e2e_build build)
{
    return e2e_program("small", build);
}

/* Runs a command, in which PROGRAM means the program of a build. */
static const struct e2e *run_in(enum e2e_build build, const char *command)
{
    const char *at = strstr(command, "PROGRAM");

    cr_assert_not_null(at, "%s", command);
    return e2e_run("%.*s%s%s", (int)(at - command), command, program_in(build),
                   at + strlen("PROGRAM"));
}

static const struct e2e *run(const char *command)
{
    return run_in(E2E_TRACED, command);
}

/* ---- Bad values ---- */

static const struct {
    const char *command, *line;
} refused[] = {
    {"PROGRAM --nonsense", "unknown flag --nonsense; --help=all lists all"},
    {"PROGRAM --nocpature",
     "unknown flag --nocpature; did you mean --nocapture?"},
    {"PROGRAM -Z", "unknown flag -Z; --help=all lists all"},
    {"PROGRAM ''", "an empty word selects all tests; leave it out"},
    {"PROGRAM --gtest_filter=lru.*", "unknown flag --gtest_filter; write "
                                     "--filter='SUITE/TEST', once for each "
                                     "pattern"},
    {"PROGRAM -k lru", "unknown flag -k; write a part of the test's name, as "
                       "in: PROGRAM lru evict"},
    {"PROGRAM -run=lru", "unknown flag -run; write a part of the test's name, "
                         "as in: PROGRAM lru evict"},
    {"PROGRAM --test-threads=1", "unknown flag --test-threads; write --jobs=N"},
    {"PROGRAM --output-on-failure", "unknown flag --output-on-failure; leave "
                                    "it out: failed tests print their output"},
    {"PROGRAM --log", "--log needs a value: --log=FILTER"},
    {"PROGRAM -j", "-j needs a value: --jobs=N"},
    {"PROGRAM --nocapture=1", "--nocapture takes no value"},
    {"PROGRAM --jobs=many",
     "--jobs: \"many\" is not a number of jobs; write 0 to 10000"},
    {"PROGRAM -j -1",
     "--jobs: \"-1\" is not a number of jobs; write 0 to 10000"},
    {"PROGRAM --jobs=1.5",
     "--jobs: \"1.5\" is not a number of jobs; write 0 to 10000"},
    {"PROGRAM --timeout=soon",
     "--timeout: \"soon\" is not a number of seconds; write 0 to 1000000000"},
    {"PROGRAM --retries=some",
     "--retries: \"some\" is not a number of tries; write 0 to 10000"},
    {"PROGRAM --repeat 1.5",
     "--repeat: \"1.5\" is not a number of times; write 0 to 10000"},
    {"PROGRAM --slow=-1",
     "--slow: \"-1\" is not a number of seconds; write 0 to 1000000000"},
    {"PROGRAM --retries 1 --xml=x", "--retries: Criterion's reports contain "
                                    "only the last try; remove them and "
                                    "use the run's junit.xml"},
    {"PROGRAM --log-time=noon",
     "--log-time: unknown value \"noon\"; write utc, uptime, relative or none"},
    {"PROGRAM --log-span-events=some",
     "--log-span-events: unknown value \"some\"; write new, enter, exit, "
     "close, active, full or none"},
    {"PROGRAM --log-fields=thread,colour",
     "--log-fields: unknown value \"colour\"; write thread, location, pid or "
     "none"},
    {"LOG_FIELDS=file PROGRAM",
     "LOG_FIELDS: unknown value \"file\"; write thread, location, pid or none"},
    {"PROGRAM --trace-limit=lots",
     "--trace-limit: \"lots\" is not a size; write bytes, as in 64M"},
    {"PROGRAM --trace-limit=512k",
     "--trace-limit: \"512k\" is not a size; write 512K"},
    {"PROGRAM --trace-limit=k",
     "--trace-limit: \"k\" is not a size; write bytes, as in 64M"},
    {"PROGRAM --trace-limit=1",
     "--trace-limit: \"1\" is out of range; write 256K to 64G"},
    {"PROGRAM --trace-options=pc=1",
     "--trace-options: unknown option \"pc\"; testlog-flags(7) lists all"},
    {"PROGRAM --trace-options=device_tracer_level=2",
     "--trace-options: device_tracer_level: unknown value \"2\"; write 0 or 1"},
    {"PROGRAM --trace-options=tpu_trace_mode=1",
     "--trace-options: tpu_trace_mode is not supported: testlog traces no TPU; "
     "leave it out"},
    {"PROGRAM --trace-options=python_tracer_level=1",
     "--trace-options: python_tracer_level=1 is not supported: there is no "
     "Python in a C test; leave it out"},
    {"PROGRAM --trace-options=gpu_max_activity_api_event=1",
     "--trace-options: unknown option \"gpu_max_activity_api_event\"; did you "
     "mean gpu_max_activity_api_events?"},
    {"TRACE_FILTER=warn PROGRAM --trace-options=host_tracer_level=1",
     "host_tracer_level and TRACE_FILTER both decide what is recorded; leave "
     "one out"},
    {"PROGRAM --color=red",
     "--color: unknown value \"red\"; write auto, always or never"},
    {"PROGRAM --filter '@(a'",
     "--filter: \"@(a\" is not a pattern: a ( without a )"},
    {"PROGRAM --filter 'a|b'",
     "--filter: \"a|b\" is not a pattern: a | outside of ( )"},
    {"PROGRAM --filter 'small/p[ab'",
     "--filter: \"small/p[ab\" is not a pattern: a [ without a ]"},
    {"PROGRAM --output=xml",
     "--output: \"xml\" has no file; write FORMAT:FILE"},
    {"PROGRAM --output=html:x",
     "--output: unknown value \"html\"; write tap, xml or json"},
    {"PROGRAM --debug=nothing",
     "--debug: unknown value \"nothing\"; write gdb, lldb or idle"},
    {"PATH=/nowhere PROGRAM --debug",
     "--debug=gdb: gdbserver is not in PATH; install it, or write --debug=idle "
     "and attach a debugger"},
    {"PATH=/nowhere PROGRAM --debug=lldb",
     "--debug=lldb: lldb-server is not in PATH; install it, or write "
     "--debug=idle and attach a debugger"},
    {"PROGRAM --verbose=loud",
     "--verbose: \"loud\" is not a level; write 0 to 10000"},
    {"LOG_TIME=noon PROGRAM",
     "LOG_TIME: unknown value \"noon\"; write utc, uptime, relative or none"},
    {"LOG_SPAN_EVENTS=some PROGRAM",
     "LOG_SPAN_EVENTS: unknown value \"some\"; write new, enter, exit, close, "
     "active, full or none"},
    {"PROGRAM --log-span-events='new, Clsoe,exit'",
     "--log-span-events: unknown value \"Clsoe\"; write new, enter, exit, "
     "close, active, full or none"},
    {"PROGRAM --log-span-events=new,",
     "--log-span-events: unknown value \"\"; write new, enter, exit, close, "
     "active, full or none"},
    {"TRACE_LIMIT=lots PROGRAM",
     "TRACE_LIMIT: \"lots\" is not a size; write bytes, as in 64M"},
    {"TRACE_OPTIONS=pc=1 PROGRAM",
     "TRACE_OPTIONS: unknown option \"pc\"; testlog-flags(7) lists all"},
    {"TRACE_OPTIONS=device_trace_level=1 PROGRAM",
     "TRACE_OPTIONS: unknown option \"device_trace_level\"; did you mean "
     "device_tracer_level?"},
    {"NOCAPTURE=maybe PROGRAM",
     "NOCAPTURE: unknown value \"maybe\"; write 0 or 1"},
    {"SHOW_OUTPUT=2 PROGRAM", "SHOW_OUTPUT: unknown value \"2\"; write 0 or 1"},
    {"CRITERION_JOBS=x PROGRAM",
     "CRITERION_JOBS: \"x\" is not a number of jobs; write 0 to 10000"},
    {"CRITERION_TEST_PATTERN='a)' PROGRAM",
     "CRITERION_TEST_PATTERN: \"a)\" is not a pattern: a ) without a ("},
    {"CRITERION_OUTPUTS=tap PROGRAM",
     "CRITERION_OUTPUTS: \"tap\" has no file; write FORMAT:FILE"},
    {"CRITERION_OUTPUTS=tap:a,html:b PROGRAM",
     "CRITERION_OUTPUTS: unknown value \"html\"; write tap, xml or json"},
};

Test(e2e_flags, reports_a_bad_value_in_one_line_and_runs_nothing)
{
    char line[256];

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct e2e *result = run(refused[i].command);

        snprintf(line, sizeof(line), "testlog: %s\n", refused[i].line);
        e2e_expect_code(result, 2);
        e2e_expect_is(result->err, line);
        e2e_expect_is(result->out, "");
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_flags, refuses_bad_values_without_tracing)
{
    e2e_exits(2, "%s --nonsense", program_in(E2E_PLAIN));
    e2e_exits(2, "TRACE_LIMIT=x %s", program_in(E2E_PLAIN));
    cr_expect_not(e2e_exists("testlog-runs"));
}

static const char *const variables[] = {"LOG",
                                        "TRACE_FILTER",
                                        "LOG_FORMAT",
                                        "LOG_SPAN_EVENTS",
                                        "LOG_FIELDS",
                                        "LOG_TIME",
                                        "NOCAPTURE",
                                        "TRACE_DIR",
                                        "SHOW_OUTPUT",
                                        "TRACE_LIMIT",
                                        "TRACE_OPTIONS",
                                        "NO_COLOR",
                                        "FORCE_COLOR",
                                        "TESTLOG_RUN",
                                        "CRITERION_TEST_PATTERN",
                                        "CRITERION_OUTPUTS",
                                        "CRITERION_JOBS",
                                        "TEST_LOG_ALL"};

Test(e2e_flags, ignores_empty_variables)
{
    char command[512] = "";

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        snprintf(command + strlen(command), sizeof(command) - strlen(command),
                 "%s= ", variables[i]);

    const struct e2e *result =
        e2e_exits(0, "%s %s -j1", command, program_in(E2E_TRACED));

    e2e_expect_closing(result, "16 passed, 0 failed, 0 skipped");
    e2e_expect_is(e2e_line(result->err, "lines shown"),
                  "testlog: lines shown: info (default); recorded: trace "
                  "(default)");
    cr_expect(e2e_exists("testlog-runs/latest/run.json"));
}

/* ---- Which filter applies ---- */

static const struct {
    const char *command, *notice, *shown, *hidden;
} filters[] = {
    {"PROGRAM", "info (default)", ": plain\n", ": fine\n"},
    {"LOG=debug PROGRAM", "debug (LOG)", ": fine\n", ": finest\n"},
    {"LOG=debug PROGRAM --log=warn", "warn (--log)", ": careful\n",
     ": plain\n"},
    {"LOG=error PROGRAM --log trace", "trace (--log)", ": finest\n", ": no\n"},
    {"LOG=programs::small=debug PROGRAM", "programs::small=debug (LOG)",
     ": fine\n", ": finest\n"},
    {"LOG=warn,programs=error PROGRAM", "warn,programs=error (LOG)", ": bad\n",
     ": careful\n"},
    {"LOG='!kv' PROGRAM", "info,!kv (LOG)", ": plain\n", ": fine\n"},
    {"PROGRAM --log '^warn'", "info,^warn (--log)", ": careful\n", ": plain\n"},
    {"LOG=off PROGRAM", "off (LOG)", "\nrun: testlog-runs/", ": bad\n"},
};

Test(e2e_flags, flag_beats_LOG_beats_default)
{
    char command[256], notice[256];

    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        const struct e2e *result;

        snprintf(command, sizeof(command),
                 "%s --show-output --filter small/passes", filters[i].command);
        snprintf(notice, sizeof(notice),
                 "testlog: lines shown: %s; recorded: trace (default)\n",
                 filters[i].notice);
        result = run(command);
        e2e_expect_code(result, 0);
        e2e_expect_has(result->err, notice, filters[i].shown);
        e2e_expect_lacks(result->err, filters[i].hidden);
    }
}

Test(e2e_flags, combines_TRACE_FILTER_with_the_default)
{
    e2e_expect_has(run("TRACE_FILTER='!kv' PROGRAM --filter small/passes")->err,
                   "testlog: lines shown: info (default); recorded: trace,!kv "
                   "(TRACE_FILTER)\n");
}

Test(e2e_flags, escapes_control_bytes_of_a_filter)
{
    const struct e2e *result =
        run("LOG=\"$(printf 'm\\033[31m=info,%0999d=info')\" PROGRAM "
            "--filter small/passes");

    e2e_expect_code(result, 0);
    e2e_expect_lacks(result->err, "\x1b");
    e2e_expect_has(result->err, "lines shown: m\\x1b[31m=info,000",
                   "000... (LOG); recorded: trace (default)\n",
                   "000... matched no call site\n");
}

Test(e2e_flags, suggests_brackets_for_a_spans_name)
{
    const struct e2e *result = e2e_run(
        "LOG=outer=off,info TRACE_FILTER=inner '%s' --filter traced/nests",
        e2e_program("traced", E2E_TRACED));

    e2e_expect_has(
        result->err,
        "testlog: LOG: outer=off matched no call site; did you mean "
        "![outer]?\n",
        "TRACE_FILTER: inner matched no call site; did you mean [inner]?\n");
}

Test(e2e_flags, advises_once_and_runs_the_tests)
{
    const struct e2e *result =
        run("LOG='info,[order{customer=\"bob\"}],a=x,b=y' PROGRAM");

    e2e_expect_code(result, 0);
    cr_expect_eq(e2e_count(result->err, "a value in quotes"), 1, "%s",
                 result->err);
    e2e_expect_has(result->err,
                   "testlog: LOG: [order{customer=\"bob\"}]: a value in quotes "
                   "matches only text that is printed in quotes; write "
                   "customer=bob, or customer~=\"bob\"\n");
    cr_expect_eq(e2e_count(result->err, "testlog: LOG: unknown level"), 2);
}

static const struct {
    const char *command;
    bool careful;
} defaults[] = {
    {"PROGRAM", false},
    {"LOG=info PROGRAM", true},
    {"PROGRAM --log=info", true},
    {"LOG= PROGRAM", false},
};

Test(e2e_flags, applies_a_tests_default_without_flag_and_LOG)
{
    char command[256];

    for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++) {
        const struct e2e *result;

        snprintf(command, sizeof(command),
                 "%s --show-output --filter small/has_a_default",
                 defaults[i].command);
        result = run(command);
        e2e_expect_has(result->err, ": bad\n");
        cr_expect_eq(e2e_count(result->err, ": careful\n"), defaults[i].careful,
                     "%s: %s", command, result->err);
    }
}

Test(e2e_flags, points_once_at_a_bad_directive)
{
    const struct e2e *result =
        run("LOG=info,kv=loud,programs=debug PROGRAM --show-output");

    e2e_expect_code(result, 0);
    cr_expect_eq(e2e_count(result->err, "loud"), 3, "%s", result->err);
    e2e_expect_has(result->err, "testlog: LOG: unknown level \"loud\"",
                   "\n    info,kv=loud,programs=debug\n"
                   "            ^");
    cr_expect_eq(e2e_count(result->err, "        ^"), 1);
    e2e_expect_has(result->err, ": fine\n");
}

Test(e2e_flags, applies_the_default_if_no_directive_is_valid)
{
    const struct e2e *result =
        run("LOG=kv=loud PROGRAM --show-output --filter small/passes");

    e2e_expect_code(result, 0);
    e2e_expect_has(result->err, ": plain\n");
    e2e_expect_lacks(result->err, ": fine\n");
}

Test(e2e_flags, reports_a_directive_that_matches_no_call_site)
{
    const struct e2e *result = run("LOG=info,nothing::here=debug PROGRAM "
                                   "--filter small/passes 2>&1");

    cr_expect_eq(e2e_count(result->out, "matched no call site"), 1);
    e2e_expect_has(result->out,
                   "testlog: LOG: nothing::here=debug matched no call site\n");
    e2e_expect_is(e2e_last(result->out), "1 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(run("LOG=programs::small=debug PROGRAM 2>&1")->out,
                     "matched no");
    e2e_expect_has(run("TRACE_FILTER=nothing=info PROGRAM 2>&1")->out,
                   "testlog: TRACE_FILTER: nothing=info matched no call site");
}

Test(e2e_flags, suggests_a_level_for_a_mistyped_word)
{
    const struct e2e *result = run("LOG=inof PROGRAM --show-output 2>&1");

    e2e_expect_lacks(result->out, ": bad\n");
    e2e_expect_has(result->out, "testlog: LOG: inof matched no call site; did "
                                "you mean the level info?\n");
}

static const struct {
    const char *command, *asks; /* "": no warning */
} compiled_out[] = {
    {"PROGRAM", ""},
    {"LOG= PROGRAM", ""},
    {"LOG=info,programs=warn TRACE_FILTER=info PROGRAM", ""},
    {"LOG=programs=trace,programs=info PROGRAM", ""},
    {"LOG='off,[order{id=1}]=info' PROGRAM", ""},
    {"LOG=trace,^info PROGRAM", ""},
    {"LOG=debug PROGRAM", "LOG asks for debug"},
    {"LOG=off,programs=TRACE PROGRAM -q", "LOG asks for trace"},
    {"LOG=trace PROGRAM --log=warn,programs=4", "--log asks for debug"},
    {"TRACE_FILTER=programs PROGRAM", "TRACE_FILTER asks for trace"},
    {"LOG=debug PROGRAM --trace-filter=trace", "LOG asks for debug"},
};

Test(e2e_flags, warns_once_about_a_level_that_is_compiled_out)
{
    const char *text = "but this was built with LOG_STATIC_MAX=info\n";

    for (size_t i = 0; i < sizeof(compiled_out) / sizeof(*compiled_out); i++) {
        const char *asks = compiled_out[i].asks;
        const struct e2e *result = run_in(E2E_INFO, compiled_out[i].command);

        e2e_expect_code(result, 0);
        cr_expect_eq(e2e_count(result->err, text), *asks != '\0', "%s: %s",
                     result->command, result->err);
        cr_expect_eq(e2e_count(result->err, "STATIC_MAX"), *asks != '\0');
        e2e_expect_has(result->err, asks);
        e2e_expect_lacks(run(compiled_out[i].command)->err, "STATIC_MAX");
    }
    e2e_expect_lacks(run_in(E2E_PLAIN, "LOG=debug PROGRAM")->err, "STATIC_MAX");
    e2e_expect_has(
        e2e_run("LOG=debug %s", e2e_program("annotated_cxx", E2E_INFO))->err,
        text);
}

Test(e2e_flags, prints_no_lines_of_a_level_that_is_compiled_out)
{
    const struct e2e *result = run_in(E2E_INFO, "LOG=trace PROGRAM "
                                                "--show-output --filter "
                                                "small/passes");

    e2e_expect_has(result->err, ": plain\n");
    e2e_expect_lacks(result->err, ": fine");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/trace.json"), "fine");
}

/* ---- Which tests run ---- */

static const struct {
    const char *flags;
    int passed;
} selections[] = {
    {"", 16},
    {"--filter small/passes", 1},
    {"--filter 'small/*'", 15},
    {"--filter '*/passes'", 2},
    {"--filter 'small/sizes[07]'", 1},
    {"--filter small/sizes", 12},
    {"--filter 'small/sizes*'", 12},
    {"--filter 'small/sizes[07]' --filter 'small/sizes[08]'", 2},
    {"--filter 'small/sizes[07]' --filter 'small/sizes[07]'", 1},
    {"--filter small/passes --filter 'other/*'", 2},
    {"--filter '@(small|other)/passes'", 2},
    {"--filter 'small/!(sizes*)'", 3},
    {"--filter 'small/[ph]*'", 2},
    {"--pattern small/passes", 1},
};

Test(e2e_flags, filters_select_tests)
{
    char closing[96];

    for (int build = E2E_PLAIN; build <= E2E_TRACED; build++)
        for (size_t i = 0; i < sizeof(selections) / sizeof(*selections); i++) {
            const struct e2e *result =
                e2e_exits(0, "%s -j2 %s", program_in((enum e2e_build)build),
                          selections[i].flags);

            snprintf(closing, sizeof(closing), "%d passed, 0 failed, 0 skipped",
                     selections[i].passed);
            e2e_expect_closing(result, closing);
        }
}

Test(e2e_flags, exits_with_4_if_no_test_matches)
{
    const struct e2e *result = run("PROGRAM --filter none/here");

    e2e_expect_code(result, 4);
    e2e_expect_closing(result, "0 passed, 0 failed, 0 skipped");
    e2e_expect_has(result->err, "testlog: no test matched");
    e2e_expect_code(run("PROGRAM --filter 'small/sizes[7]'"), 4);
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_flags, takes_the_pattern_variable_as_a_filter)
{
    e2e_expect_closing(run("CRITERION_TEST_PATTERN='other/*' PROGRAM"),
                       "1 passed, 0 failed, 0 skipped");
}

/* ---- Runs without tests ---- */

/* One CI variable may apply to many programs and exclude most of them. */
Test(e2e_flags, passes_without_tests_if_a_variable_excludes_all)
{
    const struct e2e *result = run("CRITERION_TEST_PATTERN='no/*' PROGRAM");

    e2e_expect_closing(result, "0 passed, 0 failed, 0 skipped");
    e2e_expect_code(result, 0);
    e2e_expect_has(result->err, "testlog: CRITERION_TEST_PATTERN matched no "
                                "test of this program, so none ran\n");
    cr_expect_eq(e2e_count(result->err, "testlog: "), 2, "%s", result->err);
    result = run("CRITERION_TEST_PATTERN='no/*' PROGRAM --filter 'no/*'");
    e2e_expect_code(result, 4);
    result =
        run("CRITERION_TEST_PATTERN='no/*' " BUILD_DIR "/testlog run PROGRAM");
    e2e_expect_code(result, 4);
    e2e_expect_code(run("TESTBRIDGE_TEST_ONLY='no/*' PROGRAM"), 0);
}

Test(e2e_flags, passes_without_tests_on_request)
{
    static const char *const commands[] = {
        "PROGRAM --pass-with-no-tests --filter 'no/*'",
        BUILD_DIR "/testlog run PROGRAM -- --pass-with-no-tests --filter no"};

    for (size_t i = 0; i < 2; i++) {
        const struct e2e *result = run(commands[i]);

        e2e_expect_code(result, 0);
        e2e_expect_closing(result, "0 passed, 0 failed, 0 skipped");
        e2e_expect_has(result->err,
                       " matched, so none ran (--pass-with-no-tests)\n");
        e2e_expect_lacks(result->err, "did you mean");
    }
}

Test(e2e_flags, prints_help_and_lists_without_a_closing_line)
{
    static const struct {
        const char *flag, *part;
    } informs[] = {{"--help", "Usage: "},     {"-h", "Exit codes: "},
                   {"--version", "testlog "}, {"-v", "testlog "},
                   {"--list", "passes"},      {"-l", "has_a_default"}};

    for (size_t i = 0; i < sizeof(informs) / sizeof(*informs); i++) {
        const struct e2e *result =
            e2e_exits(0, "%s %s", program_in(E2E_TRACED), informs[i].flag);

        e2e_expect_has(result->out, informs[i].part);
        e2e_expect_lacks(result->out, "passed, 0 failed");
        e2e_expect_is(result->err, "");
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

/* ---- Colors ---- */

static const struct {
    const char *command;
    bool color;
} colors[] = {
    {"PROGRAM", false},
    {"FORCE_COLOR=1 PROGRAM", true},
    {"CLICOLOR_FORCE=1 PROGRAM", true},
    {"FORCE_COLOR=0 PROGRAM", false},
    {"NO_COLOR=1 FORCE_COLOR=1 PROGRAM", false},
    {"NO_COLOR= FORCE_COLOR=1 PROGRAM", true},
    {"NO_COLOR=1 PROGRAM --color=always", true},
    {"NO_COLOR=1 PROGRAM --color", true},
    {"FORCE_COLOR=1 PROGRAM --color=never", false},
    {"FORCE_COLOR=1 PROGRAM --color=auto", true},
    {"PROGRAM --color=auto", false},
};

Test(e2e_flags, colors_follow_flag_then_NO_COLOR_then_force)
{
    char command[256];

    for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++) {
        const struct e2e *result;

        snprintf(command, sizeof(command),
                 "%s --show-output --filter small/passes", colors[i].command);
        result = run(command);
        cr_expect_eq(strstr(result->err, "\033[32m INFO\033[0m") != NULL,
                     colors[i].color, "%s: %s", command, result->err);
        e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
        e2e_expect_lacks(e2e_read("testlog-runs/latest/tests/small_test/"
                                  "small.passes/log.txt"),
                         "\033");
    }
}

Test(e2e_flags, hands_colors_on_to_Criterion)
{
    char command[256];

    for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++) {
        snprintf(command, sizeof(command), "%s --verbose", colors[i].command);
        cr_expect_eq(strchr(e2e_line(run(command)->err, "Synthesis"), '\033') !=
                         NULL,
                     colors[i].color, "%s", command);
    }
}

/* ---- Reports ---- */

static const struct {
    const char *command, *begins;
} reports[] = {
    {"PROGRAM --xml=-", "<?xml"},
    {"PROGRAM --xml", "<?xml"},
    {"PROGRAM --tap=-", "TAP version"},
    {"PROGRAM --json=/dev/stdout", "{"},
    {"PROGRAM -O tap:-", "TAP version"},
    {"CRITERION_OUTPUTS=xml:- PROGRAM", "<?xml"},
};

Test(e2e_flags, prints_nothing_else_beside_a_report_on_stdout)
{
    char command[256];

    for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
        const struct e2e *result;

        snprintf(command, sizeof(command), "%s --filter small/passes",
                 reports[i].command);
        result = run(command);
        e2e_expect_code(result, 0);
        cr_expect(
            !strncmp(result->out, reports[i].begins, strlen(reports[i].begins)),
            "%s: %s", command, result->out);
        e2e_expect_lacks(result->out, " passed, ");
        e2e_expect_is(e2e_last(result->err), "1 passed, 0 failed, 0 skipped");
    }
}

Test(e2e_flags, keeps_stdout_if_a_report_goes_to_a_file)
{
    e2e_expect_closing(run("PROGRAM --xml=report.xml --filter '*/passes'"),
                       "2 passed, 0 failed, 0 skipped");
    e2e_expect_has(e2e_read("report.xml"), "name=\"passes\"");
}

/* ---- The layout of lines ---- */

Test(e2e_flags, log_time_chooses_the_clock)
{
    const char *base = "PROGRAM --show-output --filter small/passes";
    char command[256];

    snprintf(command, sizeof(command), "%s --log-time=none", base);
    e2e_expect_has(run(command)->err,
                   "\n INFO outer: programs::small: plain\n");
    snprintf(command, sizeof(command), "LOG_TIME=uptime %s", base);
    e2e_expect_lacks(run(command)->err, "Z  INFO outer");
    e2e_expect_has(run(command)->err,
                   "s  INFO outer: programs::small: plain\n");
    snprintf(command, sizeof(command), "LOG_TIME=none %s --log-time utc", base);
    e2e_expect_has(e2e_normal(run(command)->err),
                   "\nTIME  INFO outer: programs::small: plain\n");
}

Test(e2e_flags, prints_only_failures_with_quiet)
{
    const struct e2e *result =
        run("SMALL=other PROGRAM -q --filter '*/passes'");

    e2e_expect_code(result, 1);
    e2e_expect_closing(result, "1 passed, 1 failed, 0 skipped");
    e2e_expect_lacks(result->err, "----");
    e2e_expect_has(result->err, "other/passes: failed");
}
