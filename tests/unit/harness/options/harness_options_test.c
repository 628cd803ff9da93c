/* harness_options_test.c: parses flags and variables. */
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

static struct test_log_options options;

static const char *const variables[] = {"LOG",
                                        "TRACE_FILTER",
                                        "LOG_FORMAT",
                                        "LOG_SPAN_EVENTS",
                                        "LOG_FIELDS",
                                        "LOG_TIME",
                                        "NOCAPTURE",
                                        "SHOW_OUTPUT",
                                        "TEST_LOG_ALL",
                                        "TRACE_DIR",
                                        "NO_COLOR",
                                        "FORCE_COLOR",
                                        "CLICOLOR_FORCE",
                                        "TRACE_KEEP",
                                        "TRACE_LIMIT",
                                        "TRACE_OPTIONS",
                                        "TRACE_FUNCTIONS",
                                        "TRACE_FUNCTIONS_DEPTH",
                                        "TRACE_FUNCTIONS_MIN",
                                        "CRITERION_OUTPUTS",
                                        "CRITERION_JOBS",
                                        "CRITERION_TEST_PATTERN",
                                        "XML_OUTPUT_FILE",
                                        "TESTBRIDGE_TEST_ONLY",
                                        "TEST_UNDECLARED_OUTPUTS_DIR",
                                        "TEST_SHARD",
                                        "TEST_SHARD_INDEX",
                                        "TEST_TOTAL_SHARDS",
                                        "TESTLOG_SESSION"};

/* Captures error messages, which other tests check. */
static void clear(void)
{
    cr_redirect_stdout();
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
    test_log_session_forget();
}

static void tell(const struct test_log_session *session)
{
    test_log_session_export(session);
    test_log_session_forget();
}

static void forget(void)
{
    test_log_options_free(&options);
}

TestSuite(harness_options, .init = clear, .fini = forget);

enum { ARGUMENTS = 8 };

/* Parses a line of flags, separated by spaces. */
static int parse(const char *line)
{
    static char words[512];
    char *argv[ARGUMENTS + 1] = {NULL}, *rest = words;
    int argc = 0, code = 0;

    snprintf(words, sizeof(words), "program %s", line);
    while (argc < ARGUMENTS && (argv[argc] = strtok_r(rest, " ", &rest)))
        argc++;
    return test_log_options_read(&options, argv, &code) ? code + 100 : 0;
}

static bool passes_on(const char *argument)
{
    for (int i = 0; i < options.criterion_count; i++)
        if (!strcmp(options.criterion[i], argument))
            return true;
    return false;
}

Test(harness_options, has_these_defaults)
{
    cr_assert_eq(parse(""), 0);
    cr_expect_str_eq(options.show.value, "info");
    cr_expect_str_eq(options.show.origin, "default");
    cr_expect_str_eq(options.record.value, "trace");
    cr_expect_str_eq(options.record.origin, "default");
    cr_expect_str_eq(options.dir, "testlog-runs");
    cr_expect_eq(options.limit, UINT64_C(256) << 20);
    cr_expect_not(options.output.live || options.output.show_output ||
                  options.output.quiet);
    cr_expect_not(options.fail_fast || options.output.report_on_stdout);
    cr_expect_not(options.all_tests);
    cr_expect_eq(options.jobs, 0);
    cr_expect_eq(options.pattern_count, 0);
    cr_expect_str_eq(options.criterion[0], "program");
}

Test(harness_options, prefers_flags_to_variables)
{
    setenv("LOG", "warn", 1);
    setenv("TRACE_FILTER", "debug", 1);
    setenv("TRACE_DIR", "there", 1);
    setenv("TRACE_LIMIT", "1M", 1);
    setenv("LOG_TIME", "none", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect_str_eq(options.show.value, "warn");
    cr_expect_str_eq(options.show.origin, "LOG");
    cr_expect_str_eq(options.record.origin, "TRACE_FILTER");
    cr_expect_str_eq(options.dir, "there");
    cr_expect_eq(options.limit, 1 << 20);
    cr_expect_eq(options.output.style.time, LOG_TIME_NONE);
    test_log_options_free(&options);
    cr_assert_eq(parse("--log=error --trace-filter info --trace-dir=here "
                       "--trace-limit=2M --log-time uptime"),
                 0);
    cr_expect_str_eq(options.show.value, "error");
    cr_expect_str_eq(options.show.origin, "--log");
    cr_expect_str_eq(options.record.value, "info");
    cr_expect_str_eq(options.record.origin, "--trace-filter");
    cr_expect_str_eq(options.dir, "here");
    cr_expect_eq(options.limit, 2 << 20);
    cr_expect_eq(options.output.style.time, LOG_TIME_UPTIME);
}

static const struct {
    const char *line, *show, *record;
} host_levels[] = {
    {"--trace-options=host_tracer_level=0", "off,gpu=info", "off,gpu=trace"},
    {"--trace-options=host_tracer_level=1", "info", "info"},
    {"--trace-options=host_tracer_level=2", "info", "debug"},
    {"--trace-options=host_tracer_level=3", "info", "trace"},
    {"--log=warn --trace-options=host_tracer_level=0", "warn", "off,gpu=trace"},
};

Test(harness_options, makes_filters_of_the_host_s_level)
{
    for (size_t i = 0; i < sizeof(host_levels) / sizeof(*host_levels); i++) {
        cr_assert_eq(parse(host_levels[i].line), 0);
        cr_expect_str_eq(options.show.value, host_levels[i].show, "%zu", i);
        cr_expect_str_eq(options.record.value, host_levels[i].record, "%zu", i);
        cr_expect_str_eq(options.record.origin, "host_tracer_level");
        test_log_options_free(&options);
    }
}

Test(harness_options, refuses_a_filter_beside_the_host_s_level)
{
    setenv("TRACE_OPTIONS", "host_tracer_level=1", 1);
    cr_expect_eq(parse("--trace-filter=trace"), 100 + TEST_LOG_EXIT_USAGE);
    setenv("TRACE_FILTER", "warn", 1);
    cr_expect_eq(parse(""), 100 + TEST_LOG_EXIT_USAGE);
    fflush(stderr);
    cr_expect_stderr_eq_str(
        "testlog: host_tracer_level and --trace-filter both decide what is "
        "recorded; leave one out\n"
        "testlog: host_tracer_level and TRACE_FILTER both decide what is "
        "recorded; leave one out\n");
}

static const struct {
    const char *text;
    unsigned events;
} span_events[] = {
    {"new", LOG_SPAN_NEW},
    {"none", LOG_SPAN_NONE},
    {"full", LOG_SPAN_NEW | LOG_SPAN_ENTER | LOG_SPAN_EXIT | LOG_SPAN_CLOSE},
    {"active", LOG_SPAN_ENTER | LOG_SPAN_EXIT},
    {" NEW ,\tClose", LOG_SPAN_NEW | LOG_SPAN_CLOSE},
    {"none,exit", LOG_SPAN_EXIT},
    {"close,active,close", LOG_SPAN_CLOSE | LOG_SPAN_ACTIVE},
};

Test(harness_options, combines_events_of_spans)
{
    cr_assert_eq(parse(""), 0);
    cr_expect_eq(options.output.style.span_events, 0);
    for (size_t i = 0; i < sizeof(span_events) / sizeof(*span_events); i++) {
        test_log_options_free(&options);
        setenv("LOG_SPAN_EVENTS", span_events[i].text, 1);
        cr_assert_eq(parse(""), 0);
        cr_expect_eq(options.output.style.span_events, span_events[i].events,
                     "%s", span_events[i].text);
    }
    test_log_options_free(&options);
    cr_assert_eq(parse("--log-span-events=new"), 0);
    cr_expect_eq(options.output.style.span_events, LOG_SPAN_NEW);
}

Test(harness_options, parses_names_of_layouts)
{
    static const char *const words[] = {
#define X(name, word, layout) [LOG_FORMAT_##name] = word,
        LOG_FORMATS(X)
#undef X
    };
    char line[64];

    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
        snprintf(line, sizeof(line), "--log-format=%s", words[i]);
        cr_assert_eq(parse(line), 0);
        cr_expect_eq((unsigned)options.output.style.format, i);
        test_log_options_free(&options);
    }
    setenv("LOG_FORMAT", "JSON", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect_eq(options.output.style.format, LOG_FORMAT_JSON);
}

Test(harness_options, applies_the_last_flag)
{
    cr_assert_eq(parse("--log=error --log=debug -j4 -j2"), 0);
    cr_expect_str_eq(options.show.value, "debug");
    cr_expect_eq(options.jobs, 2);
}

static const struct {
    const char *line, *argument;
} passed_on[] = {
    {"-j4", "--jobs=4"},
    {"--jobs=4", "--jobs=4"},
    {"-t 2.5", "--timeout=2.5"},
    {"-S", "--short-filename"},
    {"--xml=a.xml", "--xml=a.xml"},
    {"-O tap:a.tap", "--output=tap:a.tap"},
    {"--always-succeed", "--always-succeed"},
    {"--full-stats", "--full-stats"},
    {"--verbose=2", "--verbose=2"},
    {"-q", "--quiet"},
    {"--color=always", "--color=always"},
    {"--color=never", "--color=never"},
    {"", "--color=never"},
};

Test(harness_options, passes_on_criterions_flags)
{
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++) {
        cr_assert_eq(parse(passed_on[i].line), 0);
        cr_expect(passes_on(passed_on[i].argument), "%s", passed_on[i].line);
        test_log_options_free(&options);
    }
}

/* Each letter becomes an argument for Criterion. */
Test(harness_options, accepts_any_number_of_flags_in_one_word)
{
    cr_assert_eq(
        parse("-SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS"
              "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS"),
        0);
    cr_expect_eq(options.criterion_count, 2 + 111);
    cr_expect_null(options.criterion[options.criterion_count]);
    test_log_options_free(&options); /* aborts if the heap is damaged */
}

Test(harness_options, does_not_pass_on_own_flags)
{
    cr_assert_eq(parse("--log=debug --nocapture --show-output --filter a/b "
                       "--trace-limit=1M -f"),
                 0);
    cr_expect_eq(options.criterion_count, 2); /* its name and the color flag */
    cr_expect(options.output.live && options.output.show_output &&
              options.fail_fast);
}

Test(harness_options, collects_filters)
{
    setenv("CRITERION_TEST_PATTERN", "c/*", 1);
    cr_assert_eq(parse("--filter a/b --pattern=@(x|y)/z"), 0);
    cr_assert_eq(options.pattern_count, 3);
    cr_expect_str_eq(options.patterns[0], "c/*");
    cr_expect_str_eq(options.patterns[1], "a/b");
    cr_expect_str_eq(options.patterns[2], "@(x|y)/z");
    cr_expect_null(options.patterns[3]);
}

static const struct {
    const char *line;
    bool on_stdout;
} reports[] = {
    {"--xml", true},       {"--xml=-", true},   {"--xml=/dev/stdout", true},
    {"--xml=file", false}, {"-O json:-", true}, {"-O json:file", false},
    {"--tap", true},       {"--json=x", false}, {"", false},
};

Test(harness_options, detects_a_report_on_stdout)
{
    for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
        cr_assert_eq(parse(reports[i].line), 0);
        cr_expect_eq(options.output.report_on_stdout, reports[i].on_stdout,
                     "%s", reports[i].line);
        test_log_options_free(&options);
    }
    setenv("CRITERION_OUTPUTS", "tap:file,xml:-", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect(options.output.report_on_stdout);
    test_log_options_free(&options);
    setenv("CRITERION_OUTPUTS", "tap:file,xml:other", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect_not(options.output.report_on_stdout);
}

static void expect_output(size_t number, enum test_log_report_format format,
                          const char *file, const char *origin)
{
    cr_assert_lt(number, options.output.report_count);
    cr_expect_eq(options.output.reports[number].format, format);
    cr_expect_str_eq(options.output.reports[number].file, file);
    cr_expect_str_eq(options.output.reports[number].origin, origin);
}

Test(harness_options, collects_reports)
{
    cr_assert_eq(parse("--report=tap:a --report jsonl:- --report=junit:b:c"),
                 0);
    cr_assert_eq(options.output.report_count, 3);
    expect_output(0, TEST_LOG_REPORT_TAP, "a", "--report");
    expect_output(1, TEST_LOG_REPORT_JSONL, "-", "--report");
    expect_output(2, TEST_LOG_REPORT_JUNIT, "b:c", "--report");
    cr_expect(options.output.report_on_stdout);
    cr_expect_eq(options.criterion_count, 2);
}

static const char *const bad_reports[] = {
    "--report=tap",
    "--report=tap:",
    "--report=:file",
    "--report=xml:file",
    "--report=a_format_of_a_long_name:file",
    "--report",
    "--report=tap:- --report=jsonl:-",
    "--report=tap:/dev/stdout --tap",
    "--xml=- --report=jsonl:-",
};

Test(harness_options, refuses_reports_without_format_or_file)
{
    for (size_t i = 0; i < sizeof(bad_reports) / sizeof(*bad_reports); i++)
        cr_expect_eq(parse(bad_reports[i]), 102, "%s", bad_reports[i]);
}

Test(harness_options, applies_bazels_variables)
{
    setenv("XML_OUTPUT_FILE", "out.xml", 1);
    setenv("TESTBRIDGE_TEST_ONLY", "a/b", 1);
    setenv("TEST_UNDECLARED_OUTPUTS_DIR", "outputs", 1);
    cr_assert_eq(parse("--report=tap:a"), 0);
    cr_expect_str_eq(options.dir, "outputs");
    expect_output(0, TEST_LOG_REPORT_JUNIT, "out.xml", "XML_OUTPUT_FILE");
    expect_output(1, TEST_LOG_REPORT_TAP, "a", "--report");
    cr_assert_eq(options.pattern_count, 1);
    cr_expect_str_eq(options.patterns[0], "a/b");
    test_log_options_free(&options);
    setenv("TRACE_DIR", "there", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect_str_eq(options.dir, "there");
    test_log_options_free(&options);
    setenv("TESTBRIDGE_TEST_ONLY", "a/(b", 1);
    cr_expect_eq(parse(""), 102);
}

Test(harness_options, ignores_bazels_variables_in_nested_runs)
{
    setenv("XML_OUTPUT_FILE", "out.xml", 1);
    setenv("TESTBRIDGE_TEST_ONLY", "a/b", 1);
    setenv("TEST_UNDECLARED_OUTPUTS_DIR", "outputs", 1);
    tell(&(struct test_log_session){.nested = "1"});
    cr_assert_eq(parse(""), 0);
    cr_expect_str_eq(options.dir, "testlog-runs");
    cr_expect_eq(options.output.report_count, 0);
    cr_expect_eq(options.pattern_count, 0);
}

static const struct {
    const char *text;
    uint64_t bytes; /* 0: refused */
} limits[] = {
    {"256K", 256 << 10},
    {"1M", 1 << 20},
    {"1G", 1 << 30},
    {"64G", UINT64_C(64) << 30},
    {"1048576", 1 << 20},
    {"255K", 0},
    {"65G", 0},
    {"0", 0},
    {"-1M", 0},
    {"1X", 0},
    {"M", 0},
    {"1.5M", 0},
    {"99999999999999999999", 0},
};

Test(harness_options, parses_units_and_bounds_of_limits)
{
    char line[64];

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        snprintf(line, sizeof(line), "--trace-limit=%s", limits[i].text);
        cr_expect_eq(parse(line), limits[i].bytes ? 0 : 102, "%s", line);
        if (limits[i].bytes)
            cr_expect_eq(options.limit, limits[i].bytes, "%s", line);
        test_log_options_free(&options);
    }
}

Test(harness_options, exits_with_2_for_errors_and_0_for_help)
{
    cr_expect_eq(parse("--nonsense"), 102);
    cr_expect_eq(parse("--jobs=x"), 102);
    cr_expect_eq(parse("--jobs=1e1"), 102, "Criterion would take it for 1");
    cr_expect_eq(parse("--filter (a)"), 102);
    cr_expect_eq(parse("--verbose=x"), 102);
    cr_expect_eq(parse("--version"), 100);
    cr_expect_eq(parse("--list"), 0);
    cr_expect(options.informs);
}

Test(harness_options, enables_all_tests_by_variable_or_flag)
{
    cr_assert_eq(parse("--all-tests"), 0);
    cr_expect(options.all_tests);
    test_log_options_free(&options);
    setenv("TEST_LOG_ALL", "1", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect(options.all_tests);
    test_log_options_free(&options);
    setenv("TEST_LOG_ALL", "0", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect_not(options.all_tests);
    test_log_options_free(&options);
    setenv("TEST_LOG_ALL", "maybe", 1);
    cr_expect_eq(parse(""), 102);
}

Test(harness_options, takes_the_usual_words_for_on_and_off)
{
    static const char *const words[] = {"0",     "1",    "no",    "yes",
                                        "false", "true", "off",   "on",
                                        "NO",    "Yes",  "False", "TRUE"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        setenv("NOCAPTURE", words[i], 1);
        setenv("SHOW_OUTPUT", words[i], 1);
        cr_assert_eq(parse(""), 0, "%s", words[i]);
        cr_expect_eq(options.output.live, i % 2, "%s", words[i]);
        cr_expect_eq(options.output.show_output, i % 2, "%s", words[i]);
        test_log_options_free(&options);
    }
    setenv("NOCAPTURE", "y", 1);
    cr_expect_eq(parse(""), 102);
}

Test(harness_options, ignores_empty_variables)
{
    setenv("LOG", "", 1);
    setenv("TRACE_LIMIT", "", 1);
    setenv("NOCAPTURE", "", 1);
    cr_assert_eq(parse(""), 0);
    cr_expect_str_eq(options.show.origin, "default");
    cr_expect_null(test_log_variable("LOG"));
    cr_expect_null(test_log_variable("NO_SUCH_VARIABLE"));
}

static const struct {
    const char *flag, *no_color, *force, *cli;
    bool color;
} colors[] = {
    {NULL, "", "", "", false},     {"auto", "", "", "", false},
    {"always", "", "", "", true},  {"always", "1", "", "", true},
    {"never", "", "1", "", false}, {NULL, "", "1", "", true},
    {NULL, "", "", "1", true},     {NULL, "", "0", "", false},
    {NULL, "1", "1", "1", false},  {"auto", "", "1", "", true},
    {"auto", "1", "1", "", false}, {NULL, "", "0", "1", true},
};

Test(harness_options, decides_colors_in_order)
{
    FILE *file = tmpfile();

    cr_assert_not_null(file);
    setenv("TERM", "xterm", 1);
    for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++) {
        setenv("NO_COLOR", colors[i].no_color, 1);
        setenv("FORCE_COLOR", colors[i].force, 1);
        setenv("CLICOLOR_FORCE", colors[i].cli, 1);
        cr_expect_eq(test_log_color(colors[i].flag, file), colors[i].color,
                     "row %zu", i);
    }
    fclose(file);
}
