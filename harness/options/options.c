/* options.c: the flags and variables of a test program, one table row each,
 * which are also the settings in testlog.conf. They are read and checked before
 * any test starts.
 */
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

static bool read_setting(struct test_log_reader *reader)
{
    struct test_log_setting *setting = test_log_flag_field(reader);

    *setting = (struct test_log_setting){reader->value, reader->name};
    return true;
}

static bool read_seconds(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader,
        test_log_read_number(reader->name, reader->value, "number of seconds",
                             1e9, test_log_flag_field(reader)));
}

static bool read_slow(struct test_log_reader *reader)
{
    double seconds;

    if (test_log_read_number(reader->name, reader->value, "number of seconds",
                             1e9, &seconds))
        return test_log_flag_judge(reader, -1);
    reader->options->output.slow = (uint64_t)(seconds * 1e9);
    reader->options->output.named = reader->options->output.slow;
    return true;
}

bool test_log_flag_format(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader, test_log_read_format(reader->name, reader->value,
                                     test_log_flag_field(reader)));
}

bool test_log_flag_time(struct test_log_reader *reader)
{
    return test_log_flag_judge(reader,
                               test_log_read_time(reader->name, reader->value,
                                                  test_log_flag_field(reader)));
}

bool test_log_flag_span_events(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader, test_log_read_span_events(reader->name, reader->value,
                                          test_log_flag_field(reader)));
}

bool test_log_flag_details(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader, test_log_read_details(reader->name, reader->value,
                                      test_log_flag_field(reader)));
}

static bool read_limit(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader, test_log_read_limit(reader->name, reader->value,
                                    test_log_flag_field(reader)));
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

static bool read_functions(struct test_log_reader *reader)
{
    struct test_log_function_list list;
    const char *fault = test_log_function_list_read(&list, reader->value);
    const char *bad = fault ? reader->value : find_bad_glob(&list, &fault);
    bool right = true;

    if (bad)
        right = test_log_flag_refuse(
            reader,
            "%s: \"%s\" names no functions: %s; write none, or globs as in "
            "store_*,!*_cmp,lib:libz*",
            reader->name, bad, fault);
    else if (!list.none && !test_log_symbols_readable())
        right = test_log_flag_refuse(
            reader, "%s: libdw.so.1 is missing; install the package libdw1",
            reader->name);
    test_log_function_list_free(&list);
    return right && read_setting(reader);
}

static bool read_lines(struct test_log_reader *reader)
{
    struct test_log_line_list list;
    const char *fault = test_log_line_list_read(&list, reader->value);

    if (!fault)
        test_log_line_list_free(&list);
    if (fault)
        return test_log_flag_refuse(
            reader,
            "%s: \"%s\" names no lines: %s; write lines as in "
            "src/store.c:40-80, or a function",
            reader->name, reader->value, fault);
    if (!test_log_symbols_readable())
        return test_log_flag_refuse(
            reader, "%s: libdw.so.1 is missing; install the package libdw1",
            reader->name);
    return read_setting(reader);
}

static bool read_functions_least(struct test_log_reader *reader)
{
    uint64_t ns = trace_parse_time(reader->value);

    if (ns == UINT64_MAX)
        return test_log_flag_refuse(
            reader, "%s: \"%s\" is not a time; write one such as 500ns or 1us",
            reader->name, reader->value);
    reader->options->functions_least = ns;
    return true;
}

static bool read_sample_stacks(struct test_log_reader *reader)
{
    static const char *const words[] = {"pointers", "dwarf", NULL};
    unsigned choice = 0;
    int failed =
        test_log_read_word(reader->name, reader->value, words, &choice);

    reader->options->unwinds = choice == 1;
    if (choice == 1 && !test_log_symbols_readable())
        return test_log_flag_refuse(
            reader, "%s: libdw.so.1 is missing; install the package libdw1",
            reader->name);
    return test_log_flag_judge(reader, failed);
}

static bool read_sample(struct test_log_reader *reader)
{
    const char *text = reader->value;
    unsigned long hz = text ? strtoul(text, NULL, 10) : TRACE_SAMPLE_HZ;

    if ((text && text[strspn(text, "0123456789")]) || !hz ||
        hz > TRACE_SAMPLE_HZ_MOST)
        return test_log_flag_refuse(
            reader,
            "%s: \"%s\" is not a number of samples a second; write 1 to %d",
            reader->name, text, TRACE_SAMPLE_HZ_MOST);
    reader->options->sample = hz;
    return true;
}

static bool read_profiler(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader, test_log_profiler_read(&reader->options->profiler, reader->name,
                                       reader->value));
}

bool test_log_flag_color(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader, test_log_read_color(reader->name, reader->value,
                                    test_log_flag_field(reader)));
}

static bool read_shard_way(struct test_log_reader *reader)
{
    reader->options->shard_by = reader->name;
    return test_log_flag_judge(
        reader, test_log_shard_read_way(reader->name, reader->value,
                                        &reader->options->shard.way));
}

static bool read_stacks(struct test_log_reader *reader)
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
    return test_log_flag_judge(reader, failed);
}

static bool read_render(struct test_log_reader *reader)
{
    static const char *const words[] = {"auto", "all", NULL};
    unsigned choice = 0;
    int failed =
        test_log_read_word(reader->name, reader->value, words, &choice);

    reader->options->render_all = choice == 1;
    return test_log_flag_judge(reader, failed);
}

static bool read_dir(struct test_log_reader *reader)
{
    if (!reader->value[0])
        return test_log_flag_refuse(reader, "%s: needs a folder", reader->name);
    reader->options->dir = reader->value;
    reader->options->dir_given = true;
    return true;
}

/* It becomes a word of files and tables. */
static bool read_flavour(struct test_log_reader *reader)
{
    enum { MOST = 64 };
    const char *value = reader->value;
    size_t size = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789._-");

    if (!size || value[size] || size > MOST || !strcmp(value, "-"))
        return test_log_flag_refuse(
            reader,
            "%s: \"%s\" is not a flavour; write up to %d letters, digits, "
            "dots, underscores or hyphens, such as gcc-O3-lto",
            reader->name, value, MOST);
    reader->options->flavour = value;
    return true;
}

static bool read_scratch(struct test_log_reader *reader)
{
    if (!reader->value[0])
        return test_log_flag_refuse(reader, "%s: needs auto, off or a folder",
                                    reader->name);
    reader->options->scratch = reader->value;
    return true;
}

static bool read_pattern(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;
    const char *fault = test_log_pattern_fault(reader->value);
    size_t count = options->pattern_count;

    if (fault)
        return test_log_flag_refuse(reader, "%s: \"%s\" is not a pattern: %s",
                                    reader->name, reader->value, fault);
    if (!TRACE_ARRAY_RESERVE(options->patterns, options->pattern_capacity,
                             count + 2))
        return test_log_flag_refuse(reader, "out of memory");
    options->patterns[count] = strdup(reader->value);
    if (!options->patterns[count])
        return test_log_flag_refuse(reader, "out of memory");
    options->patterns[++options->pattern_count] = NULL;
    options->pattern_origin = reader->name;
    return true;
}

static bool read_verbose(struct test_log_reader *reader)
{
    size_t level;

    reader->options->verbose = reader->options->output.live = true;
    return !reader->value ||
           test_log_flag_judge(reader,
                               test_log_read_count(reader->name, reader->value,
                                                   "level", &level));
}

static bool read_debug(struct test_log_reader *reader)
{
    static const char *const servers[] = {"gdb", "lldb", "idle", NULL};
    static const char *const programs[] = {"gdbserver", "lldb-server", NULL};
    unsigned choice = 0;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, servers, &choice))
        return test_log_flag_judge(reader, -1);
    if (programs[choice] && !test_log_preflight_program(programs[choice]))
        return test_log_flag_refuse(
            reader,
            "--debug=%s: %s is not in PATH; install it, or write "
            "--debug=idle and attach a debugger",
            servers[choice], programs[choice]);
    reader->options->output.live = true;
    reader->options->jobs = 1;
    return true;
}

/* The debugger needs the terminal, and the test as long as it takes. */
static bool read_debugger(struct test_log_reader *reader)
{
    static const char *const debuggers[] = {"gdb", "lldb", NULL};
    struct test_log_options *options = reader->options;
    unsigned choice = 0;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, debuggers, &choice))
        return test_log_flag_judge(reader, -1);
    if (test_log_session()->program)
        return test_log_flag_refuse(
            reader,
            "%s needs the terminal; run the program itself, "
            "without testlog run",
            reader->name);
    if (!reader->value && !test_log_preflight_program(debuggers[choice]))
        choice = 1;
    if (!test_log_preflight_program(debuggers[choice]))
        return test_log_flag_refuse(reader, "%s: %s is not in PATH; install it",
                                    reader->name,
                                    reader->value ? debuggers[choice] : "gdb");
    options->debugger = debuggers[choice];
    options->fail_fast = options->output.live = true;
    return true;
}

static bool read_races(struct test_log_reader *reader)
{
    static const char *const tools[] = {"helgrind", "drd", NULL};
    unsigned choice = 0;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, tools, &choice))
        return test_log_flag_judge(reader, -1);
    if (!test_log_preflight_program("valgrind"))
        return test_log_flag_refuse(
            reader, "%s: valgrind is not in PATH; install the package valgrind",
            reader->name);
    reader->options->races = tools[choice];
    return true;
}

static bool read_callgrind(struct test_log_reader *reader)
{
    if (!test_log_preflight_program("valgrind"))
        return test_log_flag_refuse(
            reader, "%s: valgrind is not in PATH; install the package valgrind",
            reader->name);
    reader->options->callgrind = true;
    reader->options->profiler.instructions = true;
    return true;
}

static bool read_passed(struct test_log_reader *reader)
{
    (void)reader;
    return true;
}

/* ---- Readers of reports ---- */

/* Parses "FORMAT:FILE"; `formats` ends with NULL. */
static bool read_format_file(struct test_log_reader *reader,
                             const char *const *formats, unsigned *choice,
                             const char **file)
{
    char format[16] = "";

    *file = strchr(reader->value, ':');
    if (!*file || !(*file)[1])
        return test_log_flag_refuse(reader,
                                    "%s: \"%s\" has no file; write FORMAT:FILE",
                                    reader->name, reader->value);
    snprintf(format, sizeof(format), "%.*s", (int)(*file - reader->value),
             reader->value);
    ++*file;
    return test_log_flag_judge(
        reader, test_log_read_word(reader->name, format, formats, choice));
}

/* Refuses a file that only a flag may name. */
static bool may_write(struct test_log_reader *reader, const char *file)
{
    struct test_log_report report = {.file = file, .of_file = reader->of_file};

    return !test_log_report_is_refused(&report) ||
           test_log_flag_refuse(reader, TEST_LOG_REPORT_REFUSED, reader->name,
                                file);
}

static bool add_report(struct test_log_reader *reader,
                       enum test_log_report_format format, const char *file)
{
    struct test_log_report report = {format, file, reader->name,
                                     reader->of_file};

    if (!may_write(reader, file))
        return false;
    return !test_log_report_add(&reader->options->output, report) ||
           test_log_flag_refuse(reader, "out of memory");
}

static bool read_report(struct test_log_reader *reader)
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

static bool read_junit_file(struct test_log_reader *reader)
{
    return add_report(reader, TEST_LOG_REPORT_JUNIT, reader->value);
}

static void note_criterion_report(struct test_log_reader *reader,
                                  const char *file)
{
    reader->options->output.report_on_stdout |= test_log_report_is_stdout(file);
    reader->options->reports = true;
}

/* --tap, --xml, --json. */
static bool read_criterion_report(struct test_log_reader *reader)
{
    note_criterion_report(reader, reader->value);
    return !reader->value || may_write(reader, reader->value);
}

static bool read_output(struct test_log_reader *reader)
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
static bool read_outputs(struct test_log_reader *reader)
{
    char *outputs = strdup(reader->value), *rest = outputs;
    bool right = outputs || test_log_flag_refuse(reader, "out of memory");

    while (right && rest) {
        reader->value = strsep(&rest, ",");
        right = !reader->value[0] || read_output(reader);
    }
    free(outputs);
    return right;
}

/* ---- Readers of --list, --version, ... ---- */

static bool read_inform(struct test_log_reader *reader)
{
    bool *on = test_log_flag_field(reader);

    reader->options->informs = *on = true;
    return true;
}

static bool read_list(struct test_log_reader *reader)
{
    static const char *const words[] = {"json", "cmake", NULL};
    struct test_log_options *options = reader->options;
    unsigned choice;

    options->informs = options->list = true;
    if (!reader->value)
        return true;
    if (test_log_read_word(reader->name, reader->value, words, &choice))
        return test_log_flag_judge(reader, -1);
    options->list_form = choice ? TEST_LOG_LIST_CMAKE : TEST_LOG_LIST_JSON;
    return true;
}

static bool read_version(struct test_log_reader *reader)
{
    (void)reader;
    puts("testlog " TEST_LOG_VERSION);
    return false;
}

static bool read_profile(struct test_log_reader *reader)
{
    reader->options->profile = reader->value;
    return true;
}

static bool read_show_config(struct test_log_reader *reader)
{
    reader->options->show_config = true;
    return true;
}

/* ---- The table ---- */

#define AT(member) .at = offsetof(struct test_log_options, member)

#define WORD(id, text) text "|"

/* A new flag is a row here, and an item in testlog-flags.7: reading, --help,
 * completion, testlog.conf, and what testlog run, record and capture do with it
 * come from the row. A bad value prints one line that says what to write.
 *
 * Later rows beat earlier ones, and flags beat variables. */
static const struct test_log_flag rows[] = {
    {.group = "Which tests run"},
    {NULL, "TESTBRIDGE_TEST_ONLY", "PATTERN", NULL, read_pattern,
     .outer = true},
    {"--filter", "CRITERION_TEST_PATTERN", "PATTERN",
     "run the tests that match; may be repeated", read_pattern, .daily = true,
     .criterion = true, .several = true, .flag_only = true, .chooses = true},
    {"--pattern", NULL, "PATTERN", "the same", read_pattern, .flag_only = true,
     .chooses = true},
    {"--failed", NULL, NULL,
     "run only tests that failed and have not passed since", test_log_read_on,
     AT(failed), .daily = true, .chooses = true},
    {"--failed-first", NULL, NULL, "run those first, then the rest",
     test_log_read_on, AT(failed_first), .by_run = true},
    {NULL, "TEST_SHARD", "K/N", NULL, read_setting, AT(shard_asked),
     .outer = true},
    {"--shard", NULL, "K/N|auto|", "run the K-th of N parts of the tests",
     read_setting, AT(shard_asked), .chooses = true},
    {"--shard-by", NULL, TEST_LOG_SHARD_WAYS(WORD),
     "how tests are divided among shards", read_shard_way, .by_run = true},
    {"--history", "TEST_HISTORY", "FILE", "durations for --shard-by=time",
     read_setting, AT(history), .outer = true, .acts = true, .by_run = true},
    {"--flavour", NULL, "NAME",
     "how the program was built, instead of what its compiler tells",
     read_flavour, .by_run = true},
    {"--pass-with-no-tests", NULL, NULL, "exit with 0 if no test matches",
     test_log_read_on, AT(pass_with_no_tests), .by_run = true},

    {.group = "How tests run"},
    {"--jobs", "CRITERION_JOBS", "N", "run N tests at the same time",
     test_log_read_integer, AT(jobs), "number of jobs", .letter = 'j',
     .daily = true, .pass = true, .by_run = true},
    {"--serial", NULL, NULL, "run one test at a time", test_log_read_on,
     AT(serial), .per_test = true, .by_run = true},
    {"--timeout", NULL, "SECONDS", "longest time for each test", read_seconds,
     AT(timeout), .letter = 't', .daily = true, .pass = true, .per_test = true,
     .by_run = true, .decides = true},
    {"--retries", NULL, "N", "run a failed test up to N more times",
     test_log_read_integer, AT(retries), "number of tries", .daily = true,
     .per_test = true, .chooses = true},
    {"--repeat", NULL, "N", "run each test N times", test_log_read_integer,
     AT(repeat), "number of times"},
    {"--fail-fast", NULL, NULL, "stop at the first failure", test_log_read_on,
     AT(fail_fast), .letter = 'f', .daily = true, .criterion = true,
     .by_run = true},
    {"--fail-leaky", NULL, NULL, "fail tests that leave processes behind",
     test_log_read_on, AT(fail_leaky), .decides = true},
    {"--leave-children", NULL, NULL,
     "when a test times out, do not end what it has started", test_log_read_on,
     AT(leave_children)},
    {"--debug-failed", NULL, "[gdb|lldb|",
     "start a debugger where the first test fails", read_debugger,
     .daily = true, .flag_only = true},
    {"--races", NULL, "[helgrind|drd|", "find data races with valgrind",
     read_races, .flag_only = true, .decides = true, .alone = true},
    {"--callgrind", NULL, NULL, "count instructions with valgrind",
     read_callgrind, .flag_only = true, .decides = true, .alone = true},

    {.group = "What is printed"},
    {"--log", "LOG", "FILTER", "which lines are shown", read_setting, AT(show),
     .daily = true, .per_test = true, .records = true, .captures = true,
     .shows = true},
    {"--log-format", "LOG_FORMAT", test_log_format_words, "layout of the lines",
     test_log_flag_format, AT(output.style.format), .records = true,
     .captures = true, .shows = true},
    {"--log-span-events", "LOG_SPAN_EVENTS", test_log_span_event_words,
     "lines about spans; several with commas", test_log_flag_span_events,
     AT(output.style.span_events), .records = true, .captures = true,
     .shows = true},
    {"--log-fields", "LOG_FIELDS", test_log_detail_words,
     "more fields of a line; several with commas", test_log_flag_details,
     AT(output.style.details), .records = true, .captures = true,
     .shows = true},
    {"--log-time", "LOG_TIME", test_log_time_words, "times in the lines",
     test_log_flag_time, AT(output.style.time), .records = true,
     .captures = true, .shows = true},
    {"--nocapture", "NOCAPTURE", NULL, "print output and lines immediately",
     test_log_read_on, AT(output.live), .daily = true},
    {"--show-output", "SHOW_OUTPUT", NULL, "print passing tests' output, too",
     test_log_read_on, AT(output.show_output), .daily = true, .shows = true},
    {"--fail-log", NULL, "N", "hidden lines that a failed test shows, too (20)",
     test_log_read_integer, AT(output.fail_log), "number of lines",
     .by_run = true, .shows = true},
    {"--stacks", NULL, TEST_LOG_STACKS(WORD),
     "threads whose stacks a failed test shows", read_stacks, .by_run = true},
    {"--slow", NULL, "SECONDS",
     "list tests that take longer; while they run, name them (60)", read_slow,
     .by_run = true, .shows = true},
    {"--durations", NULL, "N", "list the N slowest tests",
     test_log_read_integer, AT(output.durations), "number of tests",
     .by_run = true, .shows = true},
    {"--open", "TEST_LOG_OPEN", NULL, "open the run's report.html in a browser",
     test_log_read_on, AT(output.open), .daily = true, .outer = true,
     .acts = true, .by_run = true},
    {"--quiet", NULL, NULL, "print less", test_log_read_on, AT(output.quiet),
     .letter = 'q', .pass = true, .by_run = true},
    {"--verbose", NULL, "[LEVEL", "print more; print output immediately",
     read_verbose, .pass = true, .by_run = true},
    {"--color", NULL, "[auto|always|never|", "colours", test_log_flag_color,
     AT(color), .criterion = true, .by_run = true, .shows = true},
    {"--short-filename", NULL, NULL, "file names without folders", read_passed,
     .letter = 'S', .pass = true, .by_run = true},
    {"--ascii", NULL, NULL, "no colours, no symbols", read_passed, .pass = true,
     .by_run = true},
    {"--full-stats", NULL, NULL, "report passing assertions, too", read_passed,
     .pass = true},

    {.group = "What is recorded"},
    {"--trace-filter", "TRACE_FILTER", "FILTER", "what is recorded",
     read_setting, AT(record), .captures = true},
    {"--all-tests", "TEST_LOG_ALL", NULL,
     "log and trace tests that are not annotated, too", test_log_read_on,
     AT(all_tests), .decides = true},
    {NULL, "TEST_UNDECLARED_OUTPUTS_DIR", "DIR", NULL, read_dir, AT(dir),
     .outer = true},
    {"--trace-dir", "TRACE_DIR", "DIR", "where runs go", read_dir, AT(dir),
     .daily = true, .acts = true, .by_run = true, .records = true},
    {"--scratch", "TRACE_SCRATCH", "auto|off|DIR",
     "where to record runs for a shared file system", read_scratch, AT(scratch),
     .acts = true, .by_run = true},
    {"--keep", "TRACE_KEEP", "N", "how many runs are kept (20); 0: all",
     test_log_read_integer, AT(keep), "number of runs", .by_run = true},
    {"--render", NULL, "auto|all|",
     "whether large passing tests get trace.json and log.txt", read_render,
     .by_run = true, .records = true},
    {"--trace-limit", "TRACE_LIMIT", "BYTES",
     "most bytes that a test or process may record (256M)", read_limit,
     AT(limit), .records = true, .captures = true},
    {"--functions", "TRACE_FUNCTIONS", "none|GLOBS",
     "functions whose calls are recorded: store_*,!*_cmp", read_functions,
     AT(functions), .records = true},
    {"--functions-depth", "TRACE_FUNCTIONS_DEPTH", "N",
     "most calls within each other that are recorded; 0: all",
     test_log_read_integer, AT(functions_depth), "number of calls",
     .records = true},
    {"--functions-min", "TRACE_FUNCTIONS_MIN", "TIME",
     "leave out calls that are shorter and call nothing: 1us",
     read_functions_least, .records = true},
    {"--lines", "TRACE_LINES", "FILE:FIRST-LAST|FUNCTION",
     "record when these lines run; several with commas", read_lines, AT(lines),
     .records = true},
    {"--sample", "TRACE_SAMPLE", "[HZ|",
     "sample where threads spend processor time, HZ times a second (1000)",
     read_sample, .records = true},
    {"--sample-stacks", "TRACE_SAMPLE_STACKS", "pointers|dwarf|",
     "how to find the callers of a sample's function (pointers)",
     read_sample_stacks, .records = true},
    {"--trace-options", "TRACE_OPTIONS", "KEY=VALUE",
     "profiler options, see below; several with commas", read_profiler,
     .records = true, .captures = true, .decides = true},

    {.group = "Project settings"},
    {"--profile", NULL, "NAME", "use this profile of testlog.conf",
     read_profile, .flag_only = true, .by_run = true, .decides = true},
    {"--show-config", NULL, NULL, "print the settings in force",
     read_show_config, .flag_only = true, .by_run = true},

    {.group = "Reports"},
    {NULL, "XML_OUTPUT_FILE", "FILE", NULL, read_junit_file, .outer = true},
    {"--report", NULL, "tap:FILE|junit:FILE|jsonl:FILE|",
     "write results; may be repeated", read_report, .daily = true,
     .several = true, .acts = true, .by_run = true},
    {"--output", NULL, "tap:FILE|xml:FILE|json:FILE|",
     "write a Criterion report", read_output, .letter = 'O', .criterion = true,
     .acts = true},
    {NULL, "CRITERION_OUTPUTS", "FORMAT:FILE,...", NULL, .read = read_outputs},
    {"--tap", NULL, "[FILE", "Criterion's report in TAP", read_criterion_report,
     .pass = true, .acts = true},
    {"--xml", NULL, "[FILE", "Criterion's report in XML", read_criterion_report,
     .pass = true, .acts = true},
    {"--json", NULL, "[FILE", "Criterion's report in JSON",
     read_criterion_report, .pass = true, .acts = true},
    {"--encoding", NULL, "ENCODING", "encoding of the report", read_passed,
     .pass = true},

    {.group = "Information"},
    {"--help", NULL, "[all|", "print this; all: all flags", test_log_read_help,
     .letter = 'h', .daily = true, .criterion = true, .flag_only = true,
     .by_run = true},
    {"--version", NULL, NULL, "print the version", read_version, .letter = 'v',
     .criterion = true, .flag_only = true, .by_run = true},
    {"--list", NULL, "[json|cmake|", "list the tests, for other programs",
     read_list, .letter = 'l', .daily = true, .criterion = true,
     .flag_only = true, .by_run = true},
    {"--list-sites", NULL, NULL, "list the call sites, as JSON lines",
     read_inform, AT(list_sites), .flag_only = true},

    {.group = "Criterion's other flags"},
    {"--always-succeed", NULL, NULL, "exit with 0 even if tests fail",
     read_passed, .pass = true},
    {"--ignore-warnings", NULL, NULL, "does nothing: warnings never fail a run",
     read_passed, .pass = true},
    {"--crash", NULL, NULL, "crash on a failing assertion", read_passed,
     .pass = true},
    {"--debug", NULL, "[gdb|lldb|idle|", "run tests in a debugging server",
     read_debug, .pass = true, .flag_only = true},
    {"--debug-transport", NULL, "tcp:PORT",
     "where the debugging server listens", read_passed, .pass = true,
     .acts = true},
    {"--wait", NULL, NULL, "wait for external clients", read_passed,
     .letter = 'w', .pass = true, .flag_only = true},
    {"--no-early-exit", NULL, NULL, "does nothing", read_passed, .pass = true},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* ---- --help ---- */

static void print_profiler_option(const struct trace_profiler_option *option)
{
    char value[TRACE_PROFILER_VALUE_SIZE], values[TRACE_PROFILER_VALUE_SIZE];
    char form[128], help[128];
    bool is_set = option->type != TRACE_PROFILER_NUMBER ||
                  option->initial <= option->most;

    trace_profiler_value(option, option->initial, value);
    trace_profiler_values(option, values);
    snprintf(form, sizeof(form), "%s=%s", option->key,
             option->missing ? value : values);
    if (option->missing)
        snprintf(help, sizeof(help), "no other value: %s", option->missing);
    test_log_print_option(0, form, NULL, option->missing ? help : option->help,
                          option->missing || !is_set ? NULL : value);
}

void test_log_print_profiler_options(bool all)
{
    const struct trace_profiler_option *option = trace_profiler_options;

    if (!all)
        return;
    puts("\nProfiler options, with their defaults:\n");
    for (; option->key; option++)
        if (option->only != TRACE_PROFILER_OF_START)
            print_profiler_option(option);
}

static void print_details(bool all)
{
    test_log_print_profiler_options(all);
    if (!all)
        puts("\n--help=all prints all flags, and the profiler options; "
             "testlog-flags(7)\ndescribes them.");
    puts("\nExit codes: 0 all tests that ran passed, 1 a test failed, 2 wrong\n"
         "usage, 4 no test matched, 128 plus the number of the signal that\n"
         "ended the run. SIGUSR1 prints which tests are running. An interrupt\n"
         "stops the run and writes its files; a second one quits immediately.");
}

/* ---- Variables ---- */

static bool read_given(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;

    if (!TRACE_ARRAY_RESERVE(options->given, options->given_capacity,
                             options->given_count + 1))
        return test_log_flag_refuse(reader, "out of memory");
    options->given[options->given_count++] =
        (struct test_log_given){reader->flag, reader->name, reader->value};
    return reader->flag->read(reader);
}

/* A flag or variable beats testlog.conf's settings for single tests. The
 * filters of tests remain, because a filter of limits adds to them. */
static bool read_beating(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;
    size_t left = 0;

    for (size_t i = 0; reader->flag->per_test && i < options->override_count;
         i++)
        if (options->overrides[i].at != reader->flag->at)
            options->overrides[left++] = options->overrides[i];
    if (reader->flag->per_test)
        options->override_count = left;
    return read_given(reader);
}

/* Bazel and others set outer variables for the tests that they run, not for
 * the programs that these start. */
bool test_log_option_read_variables(struct test_log_reader *reader)
{
    bool inner = test_log_session()->nested;

    for (size_t i = 0; i < ROWS; i++) {
        const char *value =
            rows[i].variable ? test_log_variable(rows[i].variable) : NULL;

        reader->flag = &rows[i];
        reader->name = rows[i].variable;
        reader->value = value;
        if (value && !(inner && rows[i].outer) && !read_beating(reader))
            return false;
    }
    return true;
}

/* ---- Flags ---- */

static bool take(struct test_log_reader *reader)
{
    const char *value = reader->value;

    return read_beating(reader) &&
           (!reader->flag->pass ||
            test_log_option_pass(reader, reader->flag->name, value));
}

const struct test_log_command test_log_program = {
    .synopsis = "[FLAG...] [WORD...]",
    .text = "Runs the tests of PROGRAM, or those whose names contain a WORD.",
    TEST_LOG_FLAGS(rows),
    .take = take,
    .details = print_details,
};

bool test_log_option_read_flags(struct test_log_reader *reader, char **words)
{
    struct test_log_options *options = reader->options;

    if (!test_log_flags_read(&test_log_program, options, &words, NULL,
                             &reader->code))
        return false;
    for (; *words; words++) {
        if (!**words)
            return test_log_flag_refuse(
                reader, "an empty word selects all tests; leave it "
                        "out");
        if (!TRACE_ARRAY_RESERVE(options->words, options->word_capacity,
                                 options->word_count + 1))
            return test_log_flag_refuse(reader, "out of memory");
        options->words[options->word_count++] = *words;
    }
    return true;
}

/* ---- For other files ---- */

bool test_log_option_read(struct test_log_reader *reader,
                          const struct test_log_flag *row, const char *name,
                          const char *value, bool on)
{
    reader->flag = row;
    reader->name = name;
    reader->value = value;
    return read_given(reader) &&
           (!row->pass || !on ||
            test_log_option_pass(reader, row->name, value));
}
