/* options.c: the flags and variables of a test program, one table row each,
 * which are also the settings in testlog.conf. They are read and checked before
 * any test starts.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/options/option_rows.h"
#include "harness/run/files/writers.h"
#include "harness/session.h"
#include "harness/symbols/symbols.h"
#include "harness/version.h"
#include "options.h"
#include "trace/base/containers.h"
#include "trace/samples/perf.h"

/* ---- Readers ---- */

static void *field(struct reader *reader)
{
    return (char *)reader->options + reader->row->at;
}

static bool read_setting(struct reader *reader)
{
    struct test_log_setting *setting = field(reader);

    *setting = (struct test_log_setting){reader->value, reader->name};
    return true;
}

static bool read_on(struct reader *reader)
{
    bool *on = field(reader);

    *on = true;
    return !reader->value ||
           test_log_option_judge(
               reader, test_log_read_switch(reader->name, reader->value, on));
}

static bool read_count(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_read_count(reader->name, reader->value,
                                    reader->row->what, field(reader)));
}

static bool read_seconds(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_read_number(reader->name, reader->value,
                                     "number of seconds", 1e9, field(reader)));
}

static bool read_slow(struct reader *reader)
{
    double seconds;

    if (test_log_read_number(reader->name, reader->value, "number of seconds",
                             1e9, &seconds))
        return test_log_option_judge(reader, -1);
    reader->options->output.slow = (uint64_t)(seconds * 1e9);
    return true;
}

static bool read_format(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_read_format(reader->name, reader->value,
                                     &reader->options->output.style.format));
}

static bool read_time(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_read_time(reader->name, reader->value,
                                   &reader->options->output.style.time));
}

static bool read_span_events(struct reader *reader)
{
    return test_log_option_judge(
        reader,
        test_log_read_span_events(reader->name, reader->value,
                                  &reader->options->output.style.span_events));
}

static bool read_details(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_read_details(reader->name, reader->value,
                                      &reader->options->output.style.details));
}

static bool read_limit(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_read_limit(reader->name, reader->value,
                                    &reader->options->limit));
}

/* Returns the first item that is not a valid glob, or NULL. */
static const char *find_bad_glob(const struct test_log_function_list *list,
                                 const char **fault)
{
    for (size_t i = 0; i < list->count; i++) {
        *fault = test_log_pattern_fault(list->globs[i].glob);
        if (*fault)
            return list->globs[i].item;
    }
    return NULL;
}

static bool read_functions(struct reader *reader)
{
    struct test_log_function_list list;
    const char *fault = test_log_function_list_read(&list, reader->value);
    const char *bad = fault ? reader->value : find_bad_glob(&list, &fault);
    bool right = true;

    if (bad)
        right = test_log_option_refuse(
            reader,
            "%s: \"%s\" names no functions: %s; write none, or globs as in "
            "store_*,!*_cmp,lib:libz*",
            reader->name, bad, fault);
    else if (!list.none && !test_log_symbols_readable())
        right = test_log_option_refuse(
            reader, "%s: libdw.so.1 is missing; install the package libdw1",
            reader->name);
    test_log_function_list_free(&list);
    return right && read_setting(reader);
}

static bool read_lines(struct reader *reader)
{
    struct test_log_line_list list;
    const char *fault = test_log_line_list_read(&list, reader->value);

    if (!fault)
        test_log_line_list_free(&list);
    if (fault)
        return test_log_option_refuse(
            reader,
            "%s: \"%s\" names no lines: %s; write lines as in "
            "src/store.c:40-80, or a function",
            reader->name, reader->value, fault);
    if (!test_log_symbols_readable())
        return test_log_option_refuse(
            reader, "%s: libdw.so.1 is missing; install the package libdw1",
            reader->name);
    return read_setting(reader);
}

static bool read_functions_least(struct reader *reader)
{
    uint64_t ns = trace_parse_time(reader->value);

    if (ns == UINT64_MAX)
        return test_log_option_refuse(
            reader, "%s: \"%s\" is not a time; write one such as 500ns or 1us",
            reader->name, reader->value);
    reader->options->functions_least = ns;
    return true;
}

static bool read_sample_stacks(struct reader *reader)
{
    static const char *const words[] = {"pointers", "dwarf", NULL};
    unsigned choice = 0;
    int failed =
        test_log_read_word(reader->name, reader->value, words, &choice);

    reader->options->unwinds = choice == 1;
    if (choice == 1 && !test_log_symbols_readable())
        return test_log_option_refuse(
            reader, "%s: libdw.so.1 is missing; install the package libdw1",
            reader->name);
    return test_log_option_judge(reader, failed);
}

static bool read_sample(struct reader *reader)
{
    const char *text = reader->value;
    unsigned long hz = text ? strtoul(text, NULL, 10) : TRACE_SAMPLE_HZ;

    if ((text && text[strspn(text, "0123456789")]) || !hz ||
        hz > TRACE_SAMPLE_HZ_MOST)
        return test_log_option_refuse(
            reader,
            "%s: \"%s\" is not a number of samples a second; write 1 to %d",
            reader->name, text, TRACE_SAMPLE_HZ_MOST);
    reader->options->sample = hz;
    return true;
}

static bool read_profiler(struct reader *reader)
{
    return test_log_option_judge(
        reader, test_log_profiler_read(&reader->options->profiler, reader->name,
                                       reader->value));
}

static bool read_color(struct reader *reader)
{
    return test_log_option_judge(
        reader,
        test_log_read_color(reader->name, reader->value, &reader->color));
}

static bool read_shard_way(struct reader *reader)
{
    reader->options->shard_by = reader->name;
    return test_log_option_judge(
        reader, test_log_shard_read_way(reader->name, reader->value,
                                        &reader->options->shard.way));
}

static bool read_stacks(struct reader *reader)
{
    static const char *const words[] = {
#define TEST_LOG_X(id, text) text,
        TEST_LOG_STACKS(TEST_LOG_X)
#undef TEST_LOG_X
            NULL};
    unsigned choice = TEST_LOG_STACKS_ALL;
    int failed =
        test_log_read_word(reader->name, reader->value, words, &choice);

    reader->options->stacks = (enum test_log_stacks_of)choice;
    return test_log_option_judge(reader, failed);
}

static bool read_render(struct reader *reader)
{
    static const char *const words[] = {"auto", "all", NULL};
    unsigned choice = 0;
    int failed =
        test_log_read_word(reader->name, reader->value, words, &choice);

    reader->options->render_all = choice == 1;
    return test_log_option_judge(reader, failed);
}

static bool read_dir(struct reader *reader)
{
    if (!reader->value[0])
        return test_log_option_refuse(reader, "%s: needs a folder",
                                      reader->name);
    reader->options->dir = reader->value;
    reader->options->dir_given = true;
    return true;
}

/* It becomes a word of files and tables. */
static bool read_flavour(struct reader *reader)
{
    enum { MOST = 64 };
    const char *value = reader->value;
    size_t size = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789._-");

    if (!size || value[size] || size > MOST || !strcmp(value, "-"))
        return test_log_option_refuse(
            reader,
            "%s: \"%s\" is not a flavour; write up to %d letters, digits, "
            "dots, underscores or hyphens, such as gcc-O3-lto",
            reader->name, value, MOST);
    reader->options->flavour = value;
    return true;
}

static bool read_scratch(struct reader *reader)
{
    if (!reader->value[0])
        return test_log_option_refuse(reader, "%s: needs auto, off or a folder",
                                      reader->name);
    reader->options->scratch = reader->value;
    return true;
}

static bool read_pattern(struct reader *reader)
{
    struct test_log_options *options = reader->options;
    const char *fault = test_log_pattern_fault(reader->value);
    size_t count = options->pattern_count;

    if (fault)
        return test_log_option_refuse(reader, "%s: \"%s\" is not a pattern: %s",
                                      reader->name, reader->value, fault);
    if (!TRACE_ARRAY_RESERVE(options->patterns, options->pattern_capacity,
                             count + 2))
        return test_log_option_refuse(reader, "out of memory");
    options->patterns[count] = strdup(reader->value);
    if (!options->patterns[count])
        return test_log_option_refuse(reader, "out of memory");
    options->patterns[++options->pattern_count] = NULL;
    options->pattern_origin = reader->name;
    return true;
}

static bool read_verbose(struct reader *reader)
{
    size_t level;

    reader->options->verbose = reader->options->output.live = true;
    return !reader->value ||
           test_log_option_judge(reader, test_log_read_count(reader->name,
                                                             reader->value,
                                                             "level", &level));
}

static bool read_debug(struct reader *reader)
{
    static const char *const servers[] = {"gdb", "lldb", "idle", NULL};
    static const char *const programs[] = {"gdbserver", "lldb-server", NULL};
    unsigned choice = 0;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, servers, &choice))
        return test_log_option_judge(reader, -1);
    if (programs[choice] && !test_log_preflight_program(programs[choice]))
        return test_log_option_refuse(
            reader,
            "--debug=%s: %s is not in PATH; install it, or write "
            "--debug=idle and attach a debugger",
            servers[choice], programs[choice]);
    reader->options->output.live = true;
    reader->options->jobs = 1;
    return true;
}

/* The debugger needs the terminal, and the test as long as it takes. */
static bool read_debugger(struct reader *reader)
{
    static const char *const debuggers[] = {"gdb", "lldb", NULL};
    struct test_log_options *options = reader->options;
    unsigned choice = 0;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, debuggers, &choice))
        return test_log_option_judge(reader, -1);
    if (test_log_session()->program)
        return test_log_option_refuse(
            reader,
            "%s needs the terminal; run the program itself, "
            "without testlog run",
            reader->name);
    if (!reader->value && !test_log_preflight_program(debuggers[choice]))
        choice = 1;
    if (!test_log_preflight_program(debuggers[choice]))
        return test_log_option_refuse(
            reader, "%s: %s is not in PATH; install it", reader->name,
            reader->value ? debuggers[choice] : "gdb");
    options->debugger = debuggers[choice];
    options->fail_fast = options->output.live = true;
    return true;
}

static bool read_races(struct reader *reader)
{
    static const char *const tools[] = {"helgrind", "drd", NULL};
    unsigned choice = 0;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, tools, &choice))
        return test_log_option_judge(reader, -1);
    if (!test_log_preflight_program("valgrind"))
        return test_log_option_refuse(
            reader, "%s: valgrind is not in PATH; install the package valgrind",
            reader->name);
    reader->options->races = tools[choice];
    return true;
}

static bool read_callgrind(struct reader *reader)
{
    if (!test_log_preflight_program("valgrind"))
        return test_log_option_refuse(
            reader, "%s: valgrind is not in PATH; install the package valgrind",
            reader->name);
    reader->options->callgrind = true;
    reader->options->profiler.instructions = true;
    return true;
}

static bool read_passed(struct reader *reader)
{
    (void)reader;
    return true;
}

/* ---- Readers of reports ---- */

/* Parses "FORMAT:FILE"; `formats` ends with NULL. */
static bool read_format_file(struct reader *reader, const char *const *formats,
                             unsigned *choice, const char **file)
{
    char format[16] = "";

    *file = strchr(reader->value, ':');
    if (!*file || !(*file)[1])
        return test_log_option_refuse(
            reader, "%s: \"%s\" has no file; write FORMAT:FILE", reader->name,
            reader->value);
    snprintf(format, sizeof(format), "%.*s", (int)(*file - reader->value),
             reader->value);
    ++*file;
    return test_log_option_judge(
        reader, test_log_read_word(reader->name, format, formats, choice));
}

/* Refuses a file that only a flag may name. */
static bool may_write(struct reader *reader, const char *file)
{
    struct test_log_report report = {.file = file, .of_file = reader->of_file};

    return !test_log_report_is_refused(&report) ||
           test_log_option_refuse(reader, TEST_LOG_REPORT_REFUSED, reader->name,
                                  file);
}

static bool add_report(struct reader *reader,
                       enum test_log_report_format format, const char *file)
{
    struct test_log_report report = {format, file, reader->name,
                                     reader->of_file};

    if (!may_write(reader, file))
        return false;
    return !test_log_report_add(&reader->options->output, report) ||
           test_log_option_refuse(reader, "out of memory");
}

static bool read_report(struct reader *reader)
{
    static const char *const formats[] = {
#define TEST_LOG_X(name, word, put) word,
        TEST_LOG_REPORTS(TEST_LOG_X)
#undef TEST_LOG_X
            NULL};
    const char *file;
    unsigned format;

    return read_format_file(reader, formats, &format, &file) &&
           add_report(reader, (enum test_log_report_format)format, file);
}

static bool read_junit_file(struct reader *reader)
{
    return add_report(reader, TEST_LOG_REPORT_JUNIT, reader->value);
}

static void note_criterion_report(struct reader *reader, const char *file)
{
    reader->options->output.report_on_stdout |= test_log_report_is_stdout(file);
    reader->options->reports = true;
}

/* --tap, --xml, --json. */
static bool read_criterion_report(struct reader *reader)
{
    note_criterion_report(reader, reader->value);
    return !reader->value || may_write(reader, reader->value);
}

static bool read_output(struct reader *reader)
{
    static const char *const formats[] = {"tap", "xml", "json", NULL};
    const char *file;
    unsigned choice;

    if (!read_format_file(reader, formats, &choice, &file) ||
        !may_write(reader, file))
        return false;
    note_criterion_report(reader, file);
    return test_log_option_pass(reader, "--output", reader->value);
}

/* CRITERION_OUTPUTS: "xml:FILE,tap:FILE". */
static bool read_outputs(struct reader *reader)
{
    char *outputs = strdup(reader->value), *rest = outputs;
    bool right = outputs || test_log_option_refuse(reader, "out of memory");

    while (right && rest) {
        reader->value = strsep(&rest, ",");
        right = !reader->value[0] || read_output(reader);
    }
    free(outputs);
    return right;
}

/* ---- Readers of --list, --version, ... ---- */

static bool read_inform(struct reader *reader)
{
    bool *on = field(reader);

    reader->options->informs = *on = true;
    return true;
}

static bool read_list(struct reader *reader)
{
    static const char *const words[] = {"json", "cmake", NULL};
    struct test_log_options *options = reader->options;
    unsigned choice;

    options->informs = options->list = true;
    if (!reader->value)
        return true;
    if (test_log_read_word(reader->name, reader->value, words, &choice))
        return test_log_option_judge(reader, -1);
    options->list_form = choice ? TEST_LOG_LIST_CMAKE : TEST_LOG_LIST_JSON;
    return true;
}

static bool read_version(struct reader *reader)
{
    (void)reader;
    puts("testlog " TEST_LOG_VERSION);
    return false;
}

static bool read_profile(struct reader *reader)
{
    reader->profile = reader->value;
    return true;
}

static bool read_show_config(struct reader *reader)
{
    reader->show_config = true;
    return true;
}

static read_option read_help;

/* ---- The table ---- */

#define AT(member) .at = offsetof(struct test_log_options, member)

#define WORD(id, text) text "|"

/* An optional argument begins with a bracket; a bar ends each word of several.
 * Later rows beat earlier ones, and flags beat variables. */
static const struct option_row rows[] = {
    {"--log", "LOG", "FILTER", "which lines are shown", .read = read_setting,
     AT(show), .per_test = true},
    {"--trace-filter", "TRACE_FILTER", "FILTER", "what is recorded",
     .read = read_setting, AT(record)},
    {"--log-format", "LOG_FORMAT", test_log_format_words, "layout of the lines",
     .read = read_format},
    {"--log-span-events", "LOG_SPAN_EVENTS", test_log_span_event_words,
     "lines about spans; several with commas", .read = read_span_events},
    {"--log-fields", "LOG_FIELDS", test_log_detail_words,
     "more fields of a line; several with commas", .read = read_details},
    {"--log-time", "LOG_TIME", test_log_time_words, "times in the lines",
     .read = read_time},
    {"--nocapture", "NOCAPTURE", NULL, "print output and lines immediately",
     .read = read_on, AT(output.live)},
    {"--show-output", "SHOW_OUTPUT", NULL, "print passing tests' output, too",
     .read = read_on, AT(output.show_output)},
    {"--open", "TEST_LOG_OPEN", NULL, "open the run's report.html in a browser",
     .read = read_on, AT(output.open), .outer = true, .acts = true},
    {"--all-tests", "TEST_LOG_ALL", NULL,
     "log and trace tests that are not annotated, too", .read = read_on,
     AT(all_tests)},
    {NULL, "TEST_UNDECLARED_OUTPUTS_DIR", "DIR", NULL, .read = read_dir,
     AT(dir), .outer = true},
    {"--trace-dir", "TRACE_DIR", "DIR", "where runs go", .read = read_dir,
     AT(dir), .acts = true},
    {"--scratch", "TRACE_SCRATCH", "auto|off|DIR",
     "where to record runs for a shared file system", .read = read_scratch,
     AT(scratch), .acts = true},
    {"--keep", "TRACE_KEEP", "N", "how many runs are kept (20); 0: all",
     .read = read_count, AT(keep), "number of runs"},
    {"--render", NULL, "auto|all|",
     "whether large passing tests get trace.json and log.txt",
     .read = read_render},
    {"--trace-limit", "TRACE_LIMIT", "BYTES",
     "most bytes that a test may record (256M)", .read = read_limit},
    {"--functions", "TRACE_FUNCTIONS", "none|GLOBS",
     "functions whose calls are recorded: store_*,!*_cmp",
     .read = read_functions, AT(functions)},
    {"--functions-depth", "TRACE_FUNCTIONS_DEPTH", "N",
     "most calls within each other that are recorded; 0: all",
     .read = read_count, AT(functions_depth), "number of calls"},
    {"--functions-min", "TRACE_FUNCTIONS_MIN", "TIME",
     "leave out calls that are shorter and call nothing: 1us",
     .read = read_functions_least},
    {"--lines", "TRACE_LINES", "FILE:FIRST-LAST|FUNCTION",
     "record when these lines run; several with commas", .read = read_lines,
     AT(lines)},
    {"--sample", "TRACE_SAMPLE", "[HZ|",
     "sample where threads spend processor time, HZ times a second (1000)",
     .read = read_sample},
    {"--sample-stacks", "TRACE_SAMPLE_STACKS", "pointers|dwarf|",
     "how to find the callers of a sample's function (pointers)",
     .read = read_sample_stacks},
    {"--trace-options", "TRACE_OPTIONS", "KEY=VALUE",
     "profiler options, see below; several with commas", .read = read_profiler},
    {"--fail-log", NULL, "N", "hidden lines that a failed test shows, too (20)",
     .read = read_count, AT(output.fail_log), "number of lines"},
    {"--stacks", NULL, TEST_LOG_STACKS(WORD),
     "threads whose stacks a failed test shows", .read = read_stacks},
    {"--debug-failed", NULL, "[gdb|lldb|",
     "start a debugger where the first test fails", .read = read_debugger,
     .flag_only = true},
    {"--races", NULL, "[helgrind|drd|", "find data races with valgrind",
     .read = read_races, .flag_only = true},
    {"--callgrind", NULL, NULL, "count instructions with valgrind",
     .read = read_callgrind, .flag_only = true},
    {"--color", NULL, "[auto|always|never|", "colours", .read = read_color},
    {NULL, "TESTBRIDGE_TEST_ONLY", "PATTERN", NULL, .read = read_pattern,
     .outer = true},
    {"--filter", "CRITERION_TEST_PATTERN", "PATTERN",
     "run the tests that match; may be repeated", .read = read_pattern,
     .several = true, .flag_only = true},
    {"--pattern", NULL, "PATTERN", "the same", .read = read_pattern,
     .flag_only = true},
    {"--profile", NULL, "NAME", "use this profile of testlog.conf",
     .read = read_profile, .flag_only = true},
    {"--show-config", NULL, NULL, "print the settings in force",
     .read = read_show_config, .flag_only = true},
    {"--help", NULL, NULL, "print this", .read = read_help, .letter = 'h',
     .flag_only = true},
    {"--version", NULL, NULL, "print the version", .read = read_version,
     .letter = 'v', .flag_only = true},
    {"--list", NULL, "[json|cmake|", "list the tests, for other programs",
     .read = read_list, .letter = 'l', .flag_only = true},
    {"--list-sites", NULL, NULL, "list the call sites, as JSON lines",
     .read = read_inform, AT(list_sites), .flag_only = true},
    {"--jobs", "CRITERION_JOBS", "N", "run N tests at the same time",
     .read = read_count, AT(jobs), "number of jobs", 'j', .pass = true},
    {"--serial", NULL, NULL, "run one test at a time", .read = read_on,
     AT(serial), .per_test = true},
    {"--timeout", NULL, "SECONDS", "longest time for each test",
     .read = read_seconds, AT(timeout), .letter = 't', .pass = true,
     .per_test = true},
    {"--leave-children", NULL, NULL,
     "when a test times out, do not end what it has started", .read = read_on,
     AT(leave_children)},
    {"--fail-leaky", NULL, NULL, "fail tests that leave processes behind",
     .read = read_on, AT(fail_leaky)},
    {"--slow", NULL, "SECONDS", "list tests that take longer",
     .read = read_slow},
    {"--durations", NULL, "N", "list the N slowest tests", .read = read_count,
     AT(output.durations), "number of tests"},
    {"--retries", NULL, "N", "run a failed test up to N more times",
     .read = read_count, AT(retries), "number of tries", .per_test = true},
    {"--repeat", NULL, "N", "run each test N times", .read = read_count,
     AT(repeat), "number of times"},
    {"--failed", NULL, NULL,
     "run only tests that failed and have not passed since", .read = read_on,
     AT(failed)},
    {"--failed-first", NULL, NULL, "run those first, then the rest",
     .read = read_on, AT(failed_first)},
    {NULL, "TEST_SHARD", "K/N", NULL, .read = read_setting, AT(shard_asked),
     .outer = true},
    {"--shard", NULL, "K/N|auto|", "run the K-th of N parts of the tests",
     .read = read_setting, AT(shard_asked)},
    {"--flavour", NULL, "NAME",
     "how the program was built, instead of what its compiler tells",
     .read = read_flavour},
    {"--shard-by", NULL, TEST_LOG_SHARD_WAYS(WORD),
     "how tests are divided among shards", .read = read_shard_way},
    {"--history", "TEST_HISTORY", "FILE", "durations for --shard-by=time",
     .read = read_setting, AT(history), .outer = true, .acts = true},
    {"--pass-with-no-tests", NULL, NULL, "exit with 0 if no test matches",
     .read = read_on, AT(pass_with_no_tests)},
    {"--fail-fast", NULL, NULL, "stop at the first failure", .read = read_on,
     AT(fail_fast), .letter = 'f'},
    {"--quiet", NULL, NULL, "print less", .read = read_on, AT(output.quiet),
     .letter = 'q', .pass = true},
    {"--verbose", NULL, "[LEVEL", "print more; print output immediately",
     .read = read_verbose, .pass = true},
    {"--short-filename", NULL, NULL, "file names without folders",
     .read = read_passed, .letter = 'S', .pass = true},
    {NULL, "XML_OUTPUT_FILE", "FILE", NULL, .read = read_junit_file,
     .outer = true},
    {"--report", NULL, "tap:FILE|junit:FILE|jsonl:FILE|",
     "write results; may be repeated", .read = read_report, .several = true,
     .acts = true},
    {"--output", NULL, "tap:FILE|xml:FILE|json:FILE|",
     "write a Criterion report", .read = read_output, .letter = 'O',
     .acts = true},
    {NULL, "CRITERION_OUTPUTS", "FORMAT:FILE,...", NULL, .read = read_outputs},
    {"--tap", NULL, "[FILE", "Criterion's report in TAP",
     .read = read_criterion_report, .pass = true, .acts = true},
    {"--xml", NULL, "[FILE", "Criterion's report in XML",
     .read = read_criterion_report, .pass = true, .acts = true},
    {"--json", NULL, "[FILE", "Criterion's report in JSON",
     .read = read_criterion_report, .pass = true, .acts = true},
    {"--always-succeed", NULL, NULL, "exit with 0 even if tests fail",
     .read = read_passed, .pass = true},
    {"--ignore-warnings", NULL, NULL, "does nothing: warnings never fail a run",
     .read = read_passed, .pass = true},
    {"--full-stats", NULL, NULL, "report passing assertions, too",
     .read = read_passed, .pass = true},
    {"--crash", NULL, NULL, "crash on a failing assertion", .read = read_passed,
     .pass = true},
    {"--debug", NULL, "[gdb|lldb|idle|", "run tests in a debugging server",
     .read = read_debug, .pass = true, .flag_only = true},
    {"--debug-transport", NULL, "tcp:PORT",
     "where the debugging server listens", .read = read_passed, .pass = true,
     .acts = true},
    {"--wait", NULL, NULL, "wait for external clients", .read = read_passed,
     .letter = 'w', .pass = true, .flag_only = true},
    {"--encoding", NULL, "ENCODING", "encoding of the report",
     .read = read_passed, .pass = true},
    {"--ascii", NULL, NULL, "no colours, no symbols", .read = read_passed,
     .pass = true},
    {"--no-early-exit", NULL, NULL, "does nothing", .read = read_passed,
     .pass = true},
};

enum { ROWS = sizeof(rows) / sizeof(*rows), FLAG_BASE = 1000 };

/* ---- --help ---- */

static bool read_help(struct reader *reader)
{
    (void)reader;
    puts("Usage: PROGRAM [FLAG...] [WORD...]\n\nRuns the tests of PROGRAM, or "
         "those whose names contain a WORD.\n");
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].name)
            test_log_print_option(rows[i].letter, rows[i].name,
                                  rows[i].argument, rows[i].help,
                                  rows[i].variable);
    test_log_print_profiler_options();
    puts("\nExit codes: 0 all tests that ran passed, 1 a test failed, 2 wrong\n"
         "usage, 4 no test matched, 128 plus the number of the signal that\n"
         "ended the run. SIGUSR1 prints which tests are running. An interrupt\n"
         "stops the run and writes its files; a second one quits immediately.");
    return false;
}

/* ---- Variables ---- */

static bool read_row(struct reader *reader, const struct option_row *row,
                     const char *name, const char *value)
{
    reader->row = row;
    reader->name = name;
    reader->value = value;
    if (!TRACE_ARRAY_RESERVE(reader->given, reader->given_capacity,
                             reader->given_count + 1))
        return test_log_option_refuse(reader, "out of memory");
    reader->given[reader->given_count++] = (struct given){row, name, value};
    return row->read(reader);
}

/* A flag or variable beats testlog.conf's settings for single tests. The
 * filters of tests remain, because a filter of limits adds to them. */
static bool read_beating(struct reader *reader, const struct option_row *row,
                         const char *name, const char *value)
{
    struct test_log_options *options = reader->options;
    size_t left = 0;

    for (size_t i = 0; row->per_test && i < options->override_count; i++)
        if (options->overrides[i].at != row->at)
            options->overrides[left++] = options->overrides[i];
    options->override_count = row->per_test ? left : options->override_count;
    return read_row(reader, row, name, value);
}

/* Bazel and others set outer variables for the tests that they run, not for
 * the programs that these start. */
bool test_log_option_read_variables(struct reader *reader)
{
    bool inner = test_log_session()->nested;

    for (size_t i = 0; i < ROWS; i++) {
        const char *value =
            rows[i].variable ? test_log_variable(rows[i].variable) : NULL;

        if (value && !(inner && rows[i].outer) &&
            !read_beating(reader, &rows[i], rows[i].variable, value))
            return false;
    }
    return true;
}

/* ---- Flags ---- */

static int kind_of(const struct option_row *row)
{
    return !row->argument            ? no_argument
           : row->argument[0] == '[' ? optional_argument
                                     : required_argument;
}

static bool refuse_missing(struct reader *reader, const char *flag,
                           const struct option_row *row)
{
    char form[128];

    test_log_option_form(row->name, row->argument, form, sizeof(form));
    return test_log_option_refuse(reader, "%s needs a value: %s", flag, form);
}

/* getopt_long parses Go's -run letter by letter, so look at all words. */
static bool refuse_foreign(struct reader *reader, char **words)
{
    for (; *words && strcmp(*words, "--"); words++) {
        const char *ours = test_log_foreign_flag(*words);

        if (ours)
            return !test_log_option_refuse(reader, "unknown flag %.*s; %s",
                                           (int)strcspn(*words, "="), *words,
                                           ours);
    }
    return false;
}

/* Prints what getopt_long rejected. */
static bool refuse_flag(struct reader *reader, char **argv,
                        const struct option *longs)
{
    const struct option_row *row =
        optopt >= FLAG_BASE ? &rows[optopt - FLAG_BASE] : NULL;
    const char *word = argv[optind - 1], *suggestion;

    if (row && kind_of(row) == required_argument)
        return refuse_missing(reader, row->name, row);
    if (row)
        return test_log_option_refuse(reader, "%s takes no value", row->name);
    if (refuse_foreign(reader, argv + 1))
        return false;
    if (optopt)
        return test_log_option_refuse(
            reader, "unknown flag -%c; --help lists all", optopt);
    suggestion =
        strncmp(word, "--", 2) ? NULL : test_log_suggest_flag(word, longs);
    if (suggestion)
        return test_log_option_refuse(
            reader, "unknown flag %s; did you mean --%s?", word, suggestion);
    return test_log_option_refuse(reader, "unknown flag %s; --help lists all",
                                  word);
}

static void make_getopt_tables(struct option *longs, char *shorts)
{
    *shorts++ = ':';
    for (int i = 0; i < ROWS; i++) {
        if (!rows[i].name)
            continue;
        *longs++ = (struct option){rows[i].name + 2, kind_of(&rows[i]), NULL,
                                   FLAG_BASE + i};
        if (!rows[i].letter)
            continue;
        *shorts++ = rows[i].letter;
        if (kind_of(&rows[i]) == required_argument)
            *shorts++ = ':';
    }
    *shorts = '\0';
}

static const struct option_row *row_of(int c)
{
    if (c >= FLAG_BASE)
        return &rows[c - FLAG_BASE];
    for (size_t i = 0; c && i < ROWS; i++)
        if (rows[i].letter == c)
            return &rows[i];
    return NULL;
}

static bool read_flag(struct reader *reader, const struct option_row *row)
{
    return read_beating(reader, row, row->name, optarg) &&
           (!row->pass || test_log_option_pass(reader, row->name, optarg));
}

static bool read_words(struct reader *reader, char **words)
{
    struct test_log_options *options = reader->options;

    for (; *words; words++) {
        if (!**words)
            return test_log_option_refuse(
                reader, "an empty word selects all tests; leave it "
                        "out");
        if (!TRACE_ARRAY_RESERVE(options->words, options->word_capacity,
                                 options->word_count + 1))
            return test_log_option_refuse(reader, "out of memory");
        options->words[options->word_count++] = *words;
    }
    return true;
}

bool test_log_option_read_flags(struct reader *reader, int argc, char **argv)
{
    struct option longs[ROWS + 1] = {{0}};
    char shorts[2 * ROWS + 2];
    int c;

    make_getopt_tables(longs, shorts);
    opterr = 0;
    optind = 0;
    while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (c == ':' && optopt < FLAG_BASE && row_of(optopt))
            return refuse_missing(reader, argv[optind - 1], row_of(optopt));
        if (c == '?' || c == ':')
            return refuse_flag(reader, argv, longs);
        if (!read_flag(reader, row_of(c)))
            return false;
    }
    return read_words(reader, argv + optind);
}

/* ---- For other files ---- */

void test_log_option_each(int argc, char **argv,
                          void (*take)(void *context, const struct option_row *,
                                       const char *value),
                          void *context)
{
    struct option longs[ROWS + 1] = {{0}};
    char shorts[2 * ROWS + 2];
    int c;

    make_getopt_tables(longs, shorts);
    opterr = 0;
    optind = 0;
    while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
        if (c != '?' && c != ':')
            take(context, row_of(c), optarg);
}

static void find_profile(void *reader, const struct option_row *row,
                         const char *value)
{
    if (row->read == read_profile)
        ((struct reader *)reader)->profile = value;
}

void test_log_option_find_profile(struct reader *reader, int argc, char **argv)
{
    test_log_option_each(argc, argv, find_profile, reader);
}

const struct option_row *test_log_option_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

bool test_log_option_read(struct reader *reader, const struct option_row *row,
                          const char *name, const char *value, bool on)
{
    return read_row(reader, row, name, value) &&
           (!row->pass || !on ||
            test_log_option_pass(reader, row->name, value));
}
