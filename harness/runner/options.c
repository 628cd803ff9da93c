/* options.c: variables and flags, read and checked before any test starts. */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/results/writers.h"
#include "harness/runner/plan.h"
#include "harness/runner/runner.h"
#include "harness/runner/supervisor.h"
#include "harness/session.h"
#include "harness/version.h"

/* X(name, argument, letter, id, help); arguments: NO, MUST, MAY. */
#define FLAGS(X)                                                               \
    X("log", MUST, 0, SHOW, "FILTER  which lines are shown (LOG)")             \
    X("trace-filter", MUST, 0, RECORD, "FILTER  what is recorded")             \
    X("log-format", MUST, 0, FORMAT,                                           \
      "full, compact, pretty or json  the "                                    \
      "lines' layout")                                                         \
    X("log-span-events", MUST, 0, SPAN_EVENTS,                                 \
      "new,enter,exit,close; active,full,none  "                               \
      "lines about spans")                                                     \
    X("log-time", MUST, 0, TIME, "utc, uptime or none")                        \
    X("nocapture", NO, 0, NOCAPTURE, "print output and lines at once")         \
    X("show-output", NO, 0, SHOW_OUTPUT, "print passing tests' output too")    \
    X("all-tests", NO, 0, ALL_TESTS,                                           \
      "log and trace also tests that are not annotated")                       \
    X("trace-dir", MUST, 0, DIR, "DIR  where runs go")                         \
    X("trace-limit", MUST, 0, LIMIT, "BYTES  a test may record (256M)")        \
    X("trace-options", MUST, 0, OPTIONS, "KEY=VALUE,...  profiler options")    \
    X("color", MAY, 0, COLOR, "auto, always or never")                         \
    X("filter", MUST, 0, PATTERN, "PATTERN  tests to run; may be repeated")    \
    X("pattern", MUST, 0, PATTERN, "PATTERN  the same")                        \
    X("help", NO, 'h', HELP, "print this")                                     \
    X("version", NO, 'v', VERSION, "print the version")                        \
    X("list", NO, 'l', LIST, "list the tests")                                 \
    X("list-sites", NO, 0, SITES, "list the call sites, as JSON lines")        \
    X("jobs", MUST, 'j', JOBS, "N  tests at once")                             \
    X("timeout", MUST, 't', TIMEOUT, "SECONDS  at most for every test")        \
    X("slow", MUST, 0, SLOW, "SECONDS  name tests that take longer")           \
    X("retries", MUST, 0, RETRIES, "N  more tries for a test that fails")      \
    X("repeat", MUST, 0, REPEAT, "N  run each test N times")                   \
    X("failed", NO, 0, FAILED, "only what failed in the last run")             \
    X("shard", MUST, 0, SHARD, "K/N or auto  one part of the tests of N")      \
    X("shard-by", MUST, 0, SHARD_BY, "slice or hash  which tests are in it")   \
    X("pass-with-no-tests", NO, 0, NO_TESTS, "exit with 0 if none matches")    \
    X("fail-fast", NO, 'f', FAIL_FAST, "stop at the first failure")            \
    X("quiet", NO, 'q', QUIET, "say little")                                   \
    X("verbose", MAY, 0, VERBOSE, "LEVEL  say much; output at once")           \
    X("short-filename", NO, 'S', PASS, "file names without folders")           \
    X("report", MUST, 0, RESULTS,                                              \
      "FORMAT:FILE  results as tap, junit or "                                 \
      "jsonl; may be repeated")                                                \
    X("output", MUST, 'O', OUTPUT, "FORMAT:FILE  a report of Criterion's")     \
    X("tap", MAY, 0, REPORT, "FILE  the same in TAP")                          \
    X("xml", MAY, 0, REPORT, "FILE  the same in XML")                          \
    X("json", MAY, 0, REPORT, "FILE  the same in JSON")                        \
    X("always-succeed", NO, 0, PASS, "exit with 0 whatever fails")             \
    X("ignore-warnings", NO, 0, PASS, "warnings fail no run (they never do)")  \
    X("full-stats", NO, 0, PASS, "report passing assertions too")              \
    X("crash", NO, 0, PASS, "crash on a failing assertion")                    \
    X("debug", MAY, 0, DEBUG_, "SERVER  run tests in a debugging server")      \
    X("debug-transport", MUST, 0, PASS, "tcp:PORT  of the debugging server")   \
    X("wait", NO, 'w', PASS, "wait for external clients")                      \
    X("encoding", MUST, 0, PASS, "ENCODING  of the report")                    \
    X("ascii", NO, 0, PASS, "no colours, no symbols")                          \
    X("no-early-exit", NO, 0, PASS, "does nothing")

/* What a flag does; several do the same. */
enum id {
    ID_SHOW,
    ID_RECORD,
    ID_FORMAT,
    ID_SPAN_EVENTS,
    ID_TIME,
    ID_NOCAPTURE,
    ID_SHOW_OUTPUT,
    ID_ALL_TESTS,
    ID_DIR,
    ID_LIMIT,
    ID_OPTIONS,
    ID_COLOR,
    ID_PATTERN,
    ID_HELP,
    ID_VERSION,
    ID_LIST,
    ID_SITES,
    ID_JOBS,
    ID_TIMEOUT,
    ID_SLOW,
    ID_RETRIES,
    ID_REPEAT,
    ID_FAILED,
    ID_SHARD,
    ID_SHARD_BY,
    ID_NO_TESTS,
    ID_FAIL_FAST,
    ID_QUIET,
    ID_VERBOSE,
    ID_RESULTS,
    ID_OUTPUT,
    ID_REPORT,
    ID_DEBUG_,
    ID_PASS,
};

enum { NO = no_argument, MUST = required_argument, MAY = optional_argument };

struct flag {
    const char *name;
    int argument;
    char letter;
    enum id id;
    const char *help;
};

static const struct flag flags[] = {
#define X(name, argument, letter, id, help)                                    \
    {name, argument, letter, ID_##id, help},
    FLAGS(X)
#undef X
};

enum { FLAG_COUNT = sizeof(flags) / sizeof(*flags), FLAG_BASE = 1000 };

/* ---- Saying what is wrong ---- */

struct reader {
    struct test_log_options *options;
    const char *color;
    int code;
    bool done;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reader *reader,
                                                         const char *format,
                                                         ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    test_log_notice("%s", text ? text : "out of memory");
    free(text);
    reader->code = TEST_LOG_USAGE;
    reader->done = true;
    return false;
}

static void usage(void)
{
    puts("Usage: PROGRAM [FLAG...]\n\nRuns the tests of PROGRAM.\n");
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        char letter[5] = "    ";

        if (flags[i].letter)
            snprintf(letter, sizeof(letter), "-%c, ", flags[i].letter);
        printf("  %s--%-16s %s\n", letter, flags[i].name, flags[i].help);
    }
    puts("\nExit codes: 0 all that ran passed, 1 a test failed, 2 usage,\n"
         "4 no test matched, 128 and a signal's number if that ended the run.\n"
         "SIGUSR1 shows what runs; an interrupt ends the run with its files\n"
         "written, a second one at once.");
}

/* ---- Values ---- */

/* What was wrong has been said if `failed`. */
static bool judge(struct reader *reader, int failed)
{
    if (failed) {
        reader->code = TEST_LOG_USAGE;
        reader->done = true;
    }
    return !failed;
}

static bool choose(struct reader *reader, const char *name, const char *word,
                   const char *const *words, unsigned *choice)
{
    return judge(reader, test_log_read_word(name, word, words, choice));
}

static bool read_format(struct reader *reader, const char *name,
                        const char *word)
{
    return judge(reader,
                 test_log_read_format(name, word,
                                      &reader->options->output.style.format));
}

static bool read_time(struct reader *reader, const char *name, const char *word)
{
    return judge(reader, test_log_read_time(
                             name, word, &reader->options->output.style.time));
}

static bool read_span_events(struct reader *reader, const char *name,
                             const char *text)
{
    return judge(reader,
                 test_log_read_span_events(
                     name, text, &reader->options->output.style.span_events));
}

static bool read_limit(struct reader *reader, const char *name,
                       const char *text)
{
    return judge(reader,
                 test_log_read_limit(name, text, &reader->options->limit));
}

static bool read_options(struct reader *reader, const char *name,
                         const char *text)
{
    return judge(
        reader, test_log_profiler_read(&reader->options->profiler, name, text));
}

static bool read_seconds(struct reader *reader, const char *name,
                         const char *text, double *seconds)
{
    return judge(reader, test_log_read_number(name, text, "number of seconds",
                                              1e9, seconds));
}

static bool read_count(struct reader *reader, const char *name,
                       const char *text, const char *what, size_t *count)
{
    return judge(reader, test_log_read_count(name, text, what, count));
}

static bool read_jobs(struct reader *reader, const char *name, const char *text)
{
    return read_count(reader, name, text, "number of jobs",
                      &reader->options->jobs);
}

static bool read_slow(struct reader *reader, const char *text)
{
    double seconds;

    if (!read_seconds(reader, "--slow", text, &seconds))
        return false;
    reader->options->output.slow = (uint64_t)(seconds * 1e9);
    return true;
}

static bool read_color(struct reader *reader, const char *word)
{
    return judge(reader, test_log_read_color("--color", word, &reader->color));
}

/* ---- Flags ---- */

static bool add_pattern(struct reader *reader, const char *name,
                        const char *pattern)
{
    struct test_log_options *options = reader->options;
    const char *fault = test_log_pattern_fault(pattern);

    if (fault)
        return refuse(reader, "%s: \"%s\" is no pattern: %s", name, pattern,
                      fault);

    void *grown = realloc(options->patterns, (options->pattern_count + 2) *
                                                 sizeof(*options->patterns));

    if (!grown)
        return refuse(reader, "out of memory");
    options->patterns = grown;
    options->patterns[options->pattern_count] = strdup(pattern);
    if (!options->patterns[options->pattern_count])
        return refuse(reader, "out of memory");
    options->patterns[++options->pattern_count] = NULL;
    options->pattern_origin = name;
    return true;
}

/* Takes an argument for Criterion; -1 without memory. */
static int add_criterion(struct test_log_options *options, char *argument)
{
    size_t room = (size_t)options->criterion_count + 2;
    void *grown = realloc(options->criterion, room * sizeof(char *));

    if (!grown)
        return -1;
    options->criterion = grown;
    options->criterion[options->criterion_count++] = argument;
    options->criterion[options->criterion_count] = NULL;
    return 0;
}

/* Hands a flag on to Criterion. */
static bool pass(struct reader *reader, const struct flag *flag,
                 const char *value)
{
    char *text = NULL;

    if (asprintf(&text, "--%s%s%s", flag->name, value ? "=" : "",
                 value ? value : "") < 0)
        return refuse(reader, "out of memory");
    if (!add_criterion(reader->options, text))
        return true;
    free(text);
    return refuse(reader, "out of memory");
}

static bool inform(struct reader *reader, const struct flag *flag)
{
    if (flag->id == ID_LIST) {
        reader->options->informs = reader->options->list = true;
        return true;
    }
    if (flag->id == ID_SITES) {
        reader->options->informs = reader->options->list_sites = true;
        return true;
    }
    if (flag->id == ID_HELP)
        usage();
    else
        puts("testlog " TEST_LOG_VERSION);
    reader->done = true;
    return false;
}

/* Reads "FORMAT:FILE"; `formats` ends with NULL. */
static bool read_format_file(struct reader *reader, const char *name,
                             const char *value, const char *const *formats,
                             unsigned *choice, const char **file)
{
    char format[16] = "";

    *file = strchr(value, ':');
    if (!*file || !(*file)[1])
        return refuse(reader, "%s: \"%s\" names no file; write FORMAT:FILE",
                      name, value);
    snprintf(format, sizeof(format), "%.*s", (int)(*file - value), value);
    ++*file;
    return choose(reader, name, format, formats, choice);
}

/* Hands on a report of Criterion's. */
static bool add_report(struct reader *reader, const struct flag *flag,
                       const char *value, const char *file)
{
    reader->options->output.report_on_stdout |= test_log_report_is_stdout(file);
    reader->options->reports = true;
    return pass(reader, flag, value);
}

static bool read_output(struct reader *reader, const char *name,
                        const char *value)
{
    static const struct flag output = {.name = "output"};
    static const char *const formats[] = {"tap", "xml", "json", NULL};
    const char *file;
    unsigned choice;

    return read_format_file(reader, name, value, formats, &choice, &file) &&
           add_report(reader, &output, value, file);
}

/* CRITERION_OUTPUTS: "xml:FILE,tap:FILE". */
static bool read_outputs(struct reader *reader, const char *name,
                         const char *value)
{
    char *outputs = strdup(value), *rest = NULL;
    bool right = outputs || refuse(reader, "out of memory");

    for (char *output = right ? strtok_r(outputs, ",", &rest) : NULL;
         right && output; output = strtok_r(NULL, ",", &rest))
        right = read_output(reader, name, output);
    free(outputs);
    return right;
}

static bool add_results(struct reader *reader, unsigned format,
                        const char *file, const char *origin)
{
    struct test_log_report output = {(enum test_log_report_format)format, file,
                                     origin};

    if (test_log_report_add(&reader->options->output, output))
        return refuse(reader, "out of memory");
    return true;
}

static bool read_results(struct reader *reader, const char *value)
{
    static const char *const formats[] = {
#define TEST_LOG_X(name, word, put) word,
        TEST_LOG_REPORTS(TEST_LOG_X)
#undef TEST_LOG_X
            NULL};
    const char *file;
    unsigned format;

    return read_format_file(reader, "--report", value, formats, &format,
                            &file) &&
           add_results(reader, format, file, "--report");
}

/* Two reports on stdout would be none. */
static bool check_stdout(struct reader *reader)
{
    struct test_log_options *options = reader->options;

    for (size_t i = 0; i < options->output.report_count; i++) {
        if (!test_log_report_is_stdout(options->output.reports[i].file))
            continue;
        if (options->output.report_on_stdout)
            return refuse(reader,
                          "%s: stdout is for one report only; write the "
                          "others to files",
                          options->output.reports[i].origin);
        options->output.report_on_stdout = true;
    }
    return true;
}

static bool read_debug(struct reader *reader, const struct flag *flag,
                       const char *value)
{
    static const char *const servers[] = {"gdb", "lldb", "idle", NULL};
    static const char *const programs[] = {"gdbserver", "lldb-server", NULL};
    unsigned choice = 0;

    if (value && !choose(reader, "--debug", value, servers, &choice))
        return false;
    if (programs[choice] && !test_log_preflight_program(programs[choice]))
        return refuse(reader,
                      "--debug=%s: %s is not in PATH; install it, or write "
                      "--debug=idle and attach a debugger",
                      servers[choice], programs[choice]);
    reader->options->output.live = true;
    reader->options->jobs = 1;
    return pass(reader, flag, value);
}

static bool read_setting(struct reader *reader, const struct flag *flag,
                         const char *value)
{
    struct test_log_options *options = reader->options;

    switch (flag->id) {
    case ID_SHOW:
        options->show = (struct test_log_setting){value, "--log"};
        return true;
    case ID_RECORD:
        options->record = (struct test_log_setting){value, "--trace-filter"};
        return true;
    case ID_FORMAT:
        return read_format(reader, "--log-format", value);
    case ID_SPAN_EVENTS:
        return read_span_events(reader, "--log-span-events", value);
    case ID_TIME:
        return read_time(reader, "--log-time", value);
    case ID_DIR:
        options->dir = value;
        return value[0] ? true : refuse(reader, "--trace-dir: names no folder");
    case ID_LIMIT:
        return read_limit(reader, "--trace-limit", value);
    case ID_OPTIONS:
        return read_options(reader, "--trace-options", value);
    case ID_COLOR:
        return read_color(reader, value);
    case ID_PATTERN:
        return add_pattern(reader, "--filter", value);
    case ID_NOCAPTURE:
        options->output.live = true;
        return true;
    case ID_ALL_TESTS:
        options->all_tests = true;
        return true;
    case ID_NO_TESTS:
        options->pass_with_no_tests = true;
        return true;
    case ID_SLOW:
        return read_slow(reader, value);
    case ID_RETRIES:
        return read_count(reader, "--retries", value, "number of tries",
                          &options->retries);
    case ID_REPEAT:
        return read_count(reader, "--repeat", value, "number of times",
                          &options->repeat);
    case ID_FAILED:
        options->failed = true;
        return true;
    case ID_SHARD:
        options->shard_asked = (struct test_log_setting){value, "--shard"};
        return true;
    case ID_SHARD_BY:
        return judge(reader, test_log_shard_read_way("--shard-by", value,
                                                     &options->shard.way));
    default:
        options->output.show_output = true;
        return true;
    }
}

static bool read_flag(struct reader *reader, const struct flag *flag,
                      const char *value)
{
    struct test_log_options *options = reader->options;
    size_t level;

    switch (flag->id) {
    case ID_HELP:
    case ID_VERSION:
    case ID_LIST:
    case ID_SITES:
        return inform(reader, flag);
    case ID_JOBS:
        return read_jobs(reader, "--jobs", value) && pass(reader, flag, value);
    case ID_TIMEOUT:
        return read_seconds(reader, "--timeout", value, &options->timeout) &&
               pass(reader, flag, value);
    case ID_FAIL_FAST: /* the runner's: Criterion would kill it */
        options->fail_fast = true;
        return true;
    case ID_QUIET:
        options->output.quiet = true;
        return pass(reader, flag, value);
    case ID_VERBOSE:
        options->output.live = true;
        return (!value ||
                read_count(reader, "--verbose", value, "level", &level)) &&
               pass(reader, flag, value);
    case ID_RESULTS:
        return read_results(reader, value);
    case ID_OUTPUT:
        return read_output(reader, "--output", value);
    case ID_REPORT:
        return add_report(reader, flag, value, value);
    case ID_DEBUG_:
        return read_debug(reader, flag, value);
    case ID_PASS:
        return pass(reader, flag, value);
    default:
        return read_setting(reader, flag, value);
    }
}

/* ---- Variables ---- */

/* What Bazel and others ask of the tests that they run, not of what these
 * run. */
static bool read_outer(struct reader *reader)
{
    struct test_log_options *options = reader->options;
    const char *value;

    if (getenv("TESTLOG_WORKER"))
        return true;
    if ((value = test_log_variable("TEST_UNDECLARED_OUTPUTS_DIR")))
        options->dir = value;
    if ((value = test_log_variable("XML_OUTPUT_FILE")) &&
        !add_results(reader, TEST_LOG_REPORT_JUNIT, value, "XML_OUTPUT_FILE"))
        return false;
    if ((value = test_log_variable("TEST_SHARD")))
        options->shard_asked = (struct test_log_setting){value, "TEST_SHARD"};
    value = test_log_variable("TESTBRIDGE_TEST_ONLY");
    return !value || add_pattern(reader, "TESTBRIDGE_TEST_ONLY", value);
}

static bool read_variables(struct reader *reader)
{
    static const struct {
        const char *name;
        bool (*read)(struct reader *, const char *, const char *);
    } checked[] = {{"LOG_FORMAT", read_format},
                   {"LOG_SPAN_EVENTS", read_span_events},
                   {"LOG_TIME", read_time},
                   {"TRACE_LIMIT", read_limit},
                   {"TRACE_OPTIONS", read_options},
                   {"CRITERION_OUTPUTS", read_outputs},
                   {"CRITERION_TEST_PATTERN", add_pattern},
                   {"CRITERION_JOBS", read_jobs}};
    struct test_log_options *options = reader->options;
    const char *value;

    if ((value = test_log_variable("LOG")))
        options->show = (struct test_log_setting){value, "LOG"};
    if ((value = test_log_variable("TRACE_FILTER")))
        options->record = (struct test_log_setting){value, "TRACE_FILTER"};
    if ((value = test_log_variable("TRACE_DIR")))
        options->dir = value;
    for (size_t i = 0; i < sizeof(checked) / sizeof(*checked); i++)
        if ((value = test_log_variable(checked[i].name)) &&
            !checked[i].read(reader, checked[i].name, value))
            return false;
    return true;
}

static bool read_switch(struct reader *reader, const char *name, bool *on)
{
    const char *value = test_log_variable(name);

    if (!value)
        return true;
    if (strcmp(value, "0") && strcmp(value, "1"))
        return refuse(reader, "%s: unknown value \"%s\"; write 0 or 1", name,
                      value);
    *on = value[0] == '1';
    return true;
}

/* ---- All together ---- */

/* Weak, so that it is not linked because of this. */
#pragma weak test_log_all

/* Says what getopt_long did not understand. */
static bool refuse_flag(struct reader *reader, int argc, char **argv,
                        const struct option *longs)
{
    const char *word = argv[optind - 1];
    const struct flag *flag =
        optopt >= FLAG_BASE ? &flags[optopt - FLAG_BASE] : NULL;

    if (flag && flag->argument == MUST)
        return refuse(reader, "--%s wants a value: %s", flag->name, flag->help);
    if (flag)
        return refuse(reader, "--%s takes no value", flag->name);
    if (optopt)
        return refuse(reader, "unknown flag -%c; --help lists all", optopt);
    if (optind <= argc && !strncmp(word, "--", 2)) {
        const char *near = test_log_suggest_flag(word, longs);

        if (near)
            return refuse(reader, "unknown flag %s; did you mean --%s?", word,
                          near);
    }
    return refuse(reader, "unknown flag %s; --help lists all", word);
}

static void getopt_tables(struct option *longs, char *shorts)
{
    *shorts++ = ':';
    for (int i = 0; i < FLAG_COUNT; i++) {
        longs[i] = (struct option){flags[i].name, flags[i].argument, NULL,
                                   FLAG_BASE + i};
        if (!flags[i].letter)
            continue;
        *shorts++ = flags[i].letter;
        if (flags[i].argument == MUST)
            *shorts++ = ':';
    }
    *shorts = '\0';
}

static const struct flag *flag_of(int c)
{
    if (c >= FLAG_BASE)
        return &flags[c - FLAG_BASE];
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (flags[i].letter == c)
            return &flags[i];
    return NULL;
}

static bool read_flags(struct reader *reader, int argc, char **argv)
{
    struct option longs[FLAG_COUNT + 1] = {{0}};
    char shorts[2 * FLAG_COUNT + 2];
    int c;

    getopt_tables(longs, shorts);
    opterr = 0;
    optind = 0;
    while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct flag *flag = c == '?' || c == ':' ? NULL : flag_of(c);

        if (!flag && c == ':' && optopt < FLAG_BASE && flag_of(optopt))
            return refuse(reader, "-%c wants a value: %s", optopt,
                          flag_of(optopt)->help);
        if (!flag)
            return refuse_flag(reader, argc, argv, longs);
        if (!read_flag(reader, flag, optarg))
            return false;
    }
    if (optind < argc)
        return refuse(reader,
                      "unexpected argument \"%s\"; tests are chosen by "
                      "--filter",
                      argv[optind]);
    if (reader->options->retries && reader->options->reports)
        return refuse(reader,
                      "--retries: Criterion's reports tell of the last try "
                      "only; leave them out, the run has a junit.xml");
    return true;
}

/* Beside other programs, this one has fewer jobs, and no terminal to ask. */
static bool take_share(struct reader *reader)
{
    static const struct flag jobs = {.name = "jobs"};
    struct test_log_share share;
    char number[32];

    if (!test_log_share_take(&share))
        return true;
    reader->options->jobs = share.jobs;
    reader->color = share.color ? "always" : "never";
    snprintf(number, sizeof(number), "%zu", share.jobs);
    return pass(reader, &jobs, number);
}

/* Criterion does not know NO_COLOR, so it is told. */
static bool pass_color(struct reader *reader)
{
    static const struct flag color = {.name = "color"};

    reader->options->output.style.color = test_log_color(reader->color, stderr);
    return pass(reader, &color,
                reader->options->output.style.color ? "always" : "never");
}

static bool read_shard(struct reader *reader)
{
    struct test_log_options *options = reader->options;

    return judge(reader,
                 test_log_shard_find(&options->shard, &options->shard_asked));
}

/* Criterion lists all tests; some of them are for us to list. */
static bool hand_on_list(struct reader *reader)
{
    static const struct flag list = {.name = "list"};
    struct test_log_options *options = reader->options;

    if (!options->list || options->shard.total || options->pattern_count)
        return true;
    options->list = false;
    return pass(reader, &list, NULL);
}

/* A filter of which nothing can be read is not refused: the default applies. */
int test_log_options_read(struct test_log_options *options, int argc,
                          char **argv, int *code)
{
    static const char dir[] = "testlog-runs";
    struct reader reader = {.options = options};

    *options = (struct test_log_options){
        .show = {"info", "default"},
        .record = {"trace", "default"},
        .limit = TRACE_LIMIT_DEFAULT,
        .profiler = test_log_profiler_default,
        .dir = dir,
        .all_tests = &test_log_all != NULL,
    };
    if (add_criterion(options, argv[0])) {
        test_log_notice("out of memory");
        return -1;
    }
    if (read_outer(&reader) && read_variables(&reader) &&
        read_switch(&reader, "NOCAPTURE", &options->output.live) &&
        read_switch(&reader, "SHOW_OUTPUT", &options->output.show_output) &&
        read_switch(&reader, "TEST_LOG_ALL", &options->all_tests) &&
        read_flags(&reader, argc, argv) && check_stdout(&reader) &&
        take_share(&reader) && read_shard(&reader) && hand_on_list(&reader) &&
        pass_color(&reader)) {
        options->dir_given = options->dir != dir;
        optind = 0; /* Criterion reads what is passed on from the start */
        return 0;
    }
    *code = reader.code;
    test_log_options_free(options);
    return -1;
}

void test_log_options_free(struct test_log_options *options)
{
    for (int i = 1; i < options->criterion_count; i++) /* 0 is argv's */
        free(options->criterion[i]);
    for (size_t i = 0; i < options->pattern_count; i++)
        free(options->patterns[i]);
    for (char **name = options->only; name && *name; name++)
        free(*name);
    free(options->only);
    free(options->criterion);
    free(options->patterns);
    free(options->output.reports);
    *options = (struct test_log_options){.jobs = 0};
}
