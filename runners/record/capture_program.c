/* capture_program.c: testlog capture: records a running program for a while. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"
#include "harness/run/folder/run_folder.h"
#include "runners/record/capture_program.h"
#include "runners/record/recorded_run.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "trace/base/clock.h"

enum {
    DEFAULT_MS = 1000,
    MOST_MS = 24 * 60 * 60 * 1000,
    PATIENCE_MS = 10000, /* with a program that was asked to start or stop */
    NO_CALL_MS = 1000,   /* after that, it is said that we wait for a call */
};

static const uint64_t ms = 1000000; /* ns */

struct arguments {
    const char *connect, *pid, *ms, *delay, *output;
};

/* What is captured, and how. */
struct capture {
    struct arguments arguments;
    struct test_log_options options;
    struct captured program;
    struct test_log_run run;
    char folder[PATH_MAX];  /* that of the program in the run */
    uint64_t delay, length; /* ns */
    uint64_t connected;     /* ns of CLOCK_MONOTONIC */
    int signals;
    int file; /* the recording; -1: none */
};

/* ---- The run ---- */

static char *command_of(const struct capture *capture)
{
    const struct arguments *arguments = &capture->arguments;
    struct trace_text text = {0};

    trace_text_string(&text, "testlog capture ");
    if (arguments->connect) {
        trace_text_string(&text, "--connect ");
        test_log_add_word(&text, arguments->connect);
    } else {
        trace_text_printf(&text, "--pid %s", arguments->pid);
    }
    trace_text_printf(&text, " --ms %llu",
                      (unsigned long long)(capture->length / ms));
    return text.data;
}

static int open_run(struct capture *capture)
{
    struct test_log_run *run = &capture->run;
    const char *output = capture->arguments.output;

    *run = (struct test_log_run){.start = trace_anchor_now(),
                                 .gpu = {.no_leaks = true},
                                 .dir_given = capture->options.dir_given,
                                 .scratch_word = "off",
                                 .render_all = true,
                                 .command = command_of(capture)};
    test_log_copy_settings(run, &capture->options);
    return output ? test_log_run_open_at(run, output, capture->program.name)
                  : test_log_run_open(run, capture->options.dir,
                                      capture->program.name);
}

/* Makes the recording, tests/PROGRAM/process.PID/recording. */
static int make_recording(struct capture *capture)
{
    char part[PATH_MAX], path[PATH_MAX];

    if (snprintf(part, sizeof(part), "tests/%s", capture->run.program) >=
            PATH_MAX ||
        test_log_local_path(&capture->run, part, path) ||
        !realpath(path, capture->folder) ||
        snprintf(part, sizeof(part), "%s/process.%ld", capture->folder,
                 (long)capture->program.pid) >= PATH_MAX ||
        mkdir(part, 0777) ||
        snprintf(path, sizeof(path), "%s/recording", part) >= PATH_MAX)
        return -1;
    capture->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return capture->file < 0 ? -1 : 0;
}

static void remove_run(struct capture *capture)
{
    const char *path = capture->run.path;
    char shown[PATH_MAX];

    if (!path)
        return;
    snprintf(shown, sizeof(shown), "%s", path);
    test_log_run_free(&capture->run);
    capture->run = (struct test_log_run){0};
    test_log_remove_tree(AT_FDCWD, shown);
}

/* ---- Capturing ---- */

static unsigned host_level(const struct test_log_options *options)
{
    static const unsigned levels[] = {TRACE_LEVEL_OFF, TRACE_LEVEL_INFO,
                                      TRACE_LEVEL_DEBUG, TRACE_LEVEL_TRACE,
                                      TRACE_LEVEL_TRACE};

    return levels[options->profiler.host_tracer_level];
}

static int start(struct capture *capture, struct log_filter *filter)
{
    const struct test_log_options *options = &capture->options;
    struct trace_text profiler = {0};
    char name[64];
    int result;

    snprintf(name, sizeof(name), "process/%ld", (long)capture->program.pid);
    runners_recorded_options(options, &profiler);

    const char *const strings[] = {profiler.data ? profiler.data : "",
                                   "test",
                                   name,
                                   "program",
                                   capture->run.program,
                                   "log",
                                   options->show.value,
                                   "filter",
                                   options->record.value,
                                   "filter_origin",
                                   options->record.origin,
                                   NULL};

    result = capture_start(&capture->program, capture->file, filter,
                           host_level(options), strings);
    trace_text_free(&profiler);
    return result;
}

static int fail(const struct capture *capture, enum capture_answer answer,
                const char *doing)
{
    const struct captured *program = &capture->program;

    if (answer == CAPTURE_REFUSED)
        test_log_notice("capture: process %ld cannot be captured: %s",
                        (long)program->pid, program->why);
    else if (answer == CAPTURE_ENDED)
        test_log_notice("capture: process %ld ended before it was captured",
                        (long)program->pid);
    else
        test_log_notice("capture: process %ld did not %s", (long)program->pid,
                        doing);
    return TEST_LOG_EXIT_FAILED;
}

/* How long we wait for the first call of a call site. */
static uint64_t patience(const struct capture *capture)
{
    uint64_t whole = capture->delay + capture->length;

    return whole > NO_CALL_MS * ms ? whole : NO_CALL_MS * ms;
}

static enum capture_answer await_call(struct capture *capture)
{
    struct captured *program = &capture->program;
    enum capture_answer answer =
        capture_await(program, TRACE_MESSAGE_SITES,
                      capture->connected + NO_CALL_MS * ms, capture->signals);

    if (answer != CAPTURE_TIMEOUT || patience(capture) == NO_CALL_MS * ms)
        return answer;
    test_log_notice("capture: process %ld has called no call site yet; waiting "
                    "for one",
                    (long)program->pid);
    return capture_await(program, TRACE_MESSAGE_SITES,
                         capture->connected + patience(capture),
                         capture->signals);
}

static int say_no_call(const struct capture *capture, uint64_t time)
{
    test_log_notice("capture: process %ld called no call site in %llu ms; "
                    "nothing was recorded",
                    (long)capture->program.pid,
                    (unsigned long long)(time / ms));
    return TEST_LOG_EXIT_FAILED;
}

/* Returns whether the program records; otherwise *code is the exit code. */
static bool begin(struct capture *capture, struct log_filter *filter, int *code)
{
    const struct captured *program = &capture->program;
    enum capture_answer answer;

    answer = capture_await(&capture->program, TRACE_MESSAGE_STARTED,
                           capture->connected + capture->delay,
                           capture->signals); /* it may end meanwhile */
    if (answer == CAPTURE_TIMEOUT && !start(capture, filter)) {
        uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);

        answer = capture_await(&capture->program, TRACE_MESSAGE_STARTED,
                               now + PATIENCE_MS * ms, -1);
    }
    if (answer == CAPTURE_ANSWERED) {
        test_log_notice("capturing process %ld (%s) for %llu ms",
                        (long)program->pid, program->name,
                        (unsigned long long)(capture->length / ms));
        return true;
    }
    *code = fail(capture, answer, "start to record in time");
    return false;
}

/* Returns whether the program records no more. */
static bool finish(struct capture *capture, uint64_t began)
{
    struct captured *program = &capture->program;
    enum capture_answer answer =
        capture_await(program, TRACE_MESSAGE_STOPPED, began + capture->length,
                      capture->signals);

    if (answer == CAPTURE_TIMEOUT && !capture_stop(program))
        answer = capture_await(
            program, TRACE_MESSAGE_STOPPED,
            trace_clock_ns(CLOCK_MONOTONIC) + PATIENCE_MS * ms, -1);
    if (answer == CAPTURE_TIMEOUT)
        test_log_notice("capture: process %ld does not answer; the run has "
                        "what it recorded so far",
                        (long)program->pid);
    if (answer == CAPTURE_ENDED || answer == CAPTURE_REFUSED)
        test_log_notice(
            "capture: process %ld ended after %llu ms", (long)program->pid,
            (unsigned long long)((trace_clock_ns(CLOCK_MONOTONIC) - began) /
                                 ms));
    return answer != CAPTURE_TIMEOUT;
}

/* ---- The result ---- */

/* Returns whether anything happened in the process. */
static bool is_empty(const struct capture *capture)
{
    char path[PATH_MAX];
    struct trace_reader *reader;
    struct trace_entry entry;
    bool empty = true;

    snprintf(path, sizeof(path), "%.*s/process.%ld/recording", PATH_MAX - 64,
             capture->folder, (long)capture->program.pid);
    reader = trace_reader_open(path);
    if (reader)
        empty = !trace_reader_next(reader, &entry);
    trace_reader_close(reader);
    return empty;
}

static int write_run(struct capture *capture, uint64_t began, bool over)
{
    struct test_log_run *run = &capture->run;
    struct recorded_end end = {
        .outcome = TEST_LOG_OUTCOME_PASSED,
        .started = true,
        .over = over,
        .duration = trace_between(began, trace_clock_ns(CLOCK_MONOTONIC))};

    if (is_empty(capture))
        return say_no_call(capture, end.duration);
    runners_recorded_write(run, &capture->options, &end, capture->folder);
    puts(run->path);
    return runners_written("capture", TEST_LOG_EXIT_PASSED);
}

static int record(struct capture *capture, struct log_filter *filter)
{
    int code = TEST_LOG_EXIT_FAILED;
    const char *directive;
    uint64_t began;

    if (open_run(capture) || make_recording(capture)) {
        test_log_notice("capture: cannot make a run in %s: %s",
                        capture->arguments.output ? capture->arguments.output
                                                  : capture->options.dir,
                        strerror(errno));
    } else if (begin(capture, filter, &code)) {
        for (size_t from = 0;
             (directive = log_filter_unmatched(filter, &from));)
            test_log_notice("capture: no call site of the program matches %s",
                            directive);
        began = trace_clock_ns(CLOCK_MONOTONIC);
        code = write_run(capture, began, finish(capture, began));
    }
    if (code)
        remove_run(capture);
    return code;
}

static int capture_program(struct capture *capture)
{
    struct test_log_filters filters;
    enum capture_answer answer;
    sigset_t set;
    int code;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    capture->connected = trace_clock_ns(CLOCK_MONOTONIC);
    capture->signals = signalfd(-1, &set, SFD_CLOEXEC);
    test_log_filters_check(&filters, &capture->options, true);
    runners_recorded_shown(&capture->options);
    capture_hello(&capture->program); /* it may have refused us already */
    answer = await_call(capture);
    if (answer == CAPTURE_ANSWERED)
        code = record(capture, filters.record);
    else if (answer == CAPTURE_TIMEOUT)
        code = say_no_call(capture, patience(capture));
    else
        code = fail(capture, answer, "answer");
    test_log_filters_free(&filters);
    return code;
}

/* ---- Arguments ---- */

static bool read_number(const char *flag, const char *text, uint64_t least,
                        uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno &&
        *number >= least && *number <= most)
        return true;
    test_log_notice("capture: %s=%s is not a number from %llu to %llu", flag,
                    text, (unsigned long long)least, (unsigned long long)most);
    return false;
}

/* Names those that listen. */
static void ask_for_program(void)
{
    struct listening_program *programs;
    size_t count = capture_find_programs(&programs);
    struct trace_text names = {0};

    for (size_t i = 0; i < count; i++)
        trace_text_printf(&names, "%s%ld (%s)", i ? ", " : "",
                          (long)programs[i].pid, programs[i].name);
    if (names.size)
        test_log_notice("capture: name a program with --pid=N; these listen: "
                        "%s",
                        names.data);
    else
        test_log_notice("capture: name a program with --pid=N or "
                        "--connect=SOCKET; none listens, start one with "
                        "TRACE_SERVER=1");
    trace_text_free(&names);
    free(programs);
}

/* Prints what is wrong. */
static bool check(struct capture *capture)
{
    const struct arguments *arguments = &capture->arguments;
    const char *output = arguments->output;
    struct stat status;
    uint64_t pid = 0;

    if (arguments->connect && arguments->pid) {
        test_log_notice("capture: --connect and --pid exclude each other");
        return false;
    }
    if (!arguments->connect && !arguments->pid) {
        ask_for_program();
        return false;
    }
    if (output && !lstat(output, &status)) {
        test_log_notice("capture: %s exists; name a new folder with -o",
                        output);
        return false;
    }
    if ((arguments->pid &&
         !read_number("--pid", arguments->pid, 1, INT_MAX, &pid)) ||
        (arguments->ms &&
         !read_number("--ms", arguments->ms, 1, MOST_MS, &capture->length)) ||
        (arguments->delay && !read_number("--delay", arguments->delay, 0,
                                          MOST_MS, &capture->delay)))
        return false;
    capture->length = (arguments->ms ? capture->length : DEFAULT_MS) * ms;
    capture->delay *= ms;
    return capture_connect(&capture->program, arguments->connect, (pid_t)pid);
}

static bool captures(const struct test_log_flag *flag)
{
    return flag->captures;
}

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--pid", NULL, "N", "the process", test_log_read_text, AT(pid)},
    {"--connect", NULL, "SOCKET", "the socket where it listens",
     test_log_read_text, AT(connect)},
    {"--ms", NULL, "N", "how long (1000)", test_log_read_text, AT(ms)},
    {"--delay", NULL, "MS", "wait before (0)", test_log_read_text, AT(delay)},
    {"--output", NULL, "RUN",
     "the folder of the run; default: a new run in TRACE_DIR",
     test_log_read_text, AT(output), .letter = 'o'},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct capture capture = {
        .options.bystander = true,
        .file = -1,
        .program = {.socket = -1, .message = {.file = -1}}};
    struct test_log_passed passed = {0};
    int code;

    if (!test_log_flags_read(&runners_capture, &capture.arguments, &argv,
                             &passed, &code))
        goto out;
    if (!test_log_options_read(&capture.options, passed.words, &code)) {
        code = TEST_LOG_EXIT_USAGE;
        if (*argv)
            test_log_notice("capture: what is \"%s\"? see testlog capture "
                            "--help",
                            *argv);
        else if (check(&capture))
            code = capture_program(&capture);
        capture_free(&capture.program);
        if (capture.file >= 0)
            close(capture.file);
        test_log_run_free(&capture.run);
        test_log_options_free(&capture.options);
    }
out:
    test_log_passed_free(&passed);
    return code;
}

const struct test_log_command runners_capture = {
    .name = "capture",
    .help = "record a running program for a while",
    .synopsis = "--pid=N|--connect=SOCKET [FLAG...]",
    .text = "Records a running program for a while, as a run. It must have "
            "been started with TRACE_SERVER=1, or call trace_server_start. "
            "Prints the path of the run.",
    TEST_LOG_FLAGS(flags),
    .other = &test_log_program,
    .takes = captures,
    .lists = true,
    .details = test_log_print_profiler_options,
    .run = run,
};
