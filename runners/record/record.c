/* record.c: testlog record -- PROGRAM: records what any program does.
 *
 * Each process records into a folder of its own: with the recorder that an
 * annotated program has, or with that of libtestlog-gpu.so, which a driver
 * loads. Each folder then gets the files that a test has.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/criterion/plan/plan.h"
#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/sampling.h"
#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"
#include "harness/options/filters.h"
#include "harness/options/options.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/session.h"
#include "runners/record/import.h"
#include "runners/record/recorded_run.h"
#include "runners/run/run.h"
#include "runners/runners.h"
#include "runners/runs/find.h"

enum {
    CANNOT_RUN = 126, /* as of env(1) */
    NOT_FOUND = 127,
};

static bool uftrace; /* --uftrace */

/* ---- The program ---- */

static struct recorded_end run_program(char **program)
{
    uint64_t started = trace_anchor_now().monotonic;
    struct recorded_end end = {.outcome = TEST_LOG_OUTCOME_FAILED};
    int status;

    fflush(NULL);
    runners_hand_on_signals();
    status = runners_spawn(program[0], program, NULL);
    end.started = status >= 0;
    end.duration = trace_between(started, trace_anchor_now().monotonic);
    if (status < 0) {
        test_log_notice("record: %s: %s", program[0], strerror(-status));
        snprintf(end.reason, sizeof(end.reason), "cannot be run: %s",
                 strerror(-status));
        end.code = status == -ENOENT ? NOT_FOUND : CANNOT_RUN;
    } else if (WIFSIGNALED(status)) {
        end.outcome = TEST_LOG_OUTCOME_CRASHED;
        snprintf(end.reason, sizeof(end.reason), "the program died of %s",
                 test_log_signal(WTERMSIG(status)));
        end.code = TEST_LOG_EXIT_SIGNAL + WTERMSIG(status);
    } else if (WEXITSTATUS(status)) {
        end.code = WEXITSTATUS(status);
        snprintf(end.reason, sizeof(end.reason), "the program exited with %d",
                 end.code);
    } else {
        end.outcome = TEST_LOG_OUTCOME_PASSED;
    }
    return end;
}

/* ---- What it recorded ---- */

#define NOTHING_USED "no process used CUDA, NVTX or testlog's annotations"

/* Prints why there is no recording. */
static void say_nothing(const struct test_log_gpu *gpu)
{
    bool driver = gpu->state != TEST_LOG_GPU_NO_DRIVER;
    const char *notice = gpu->notice ? gpu->notice : "";
    size_t size = strlen(TEST_LOG_GPU_WITHOUT);

    /* Nobody asked about "GPU trace off". */
    if (!driver && !strncmp(notice, TEST_LOG_GPU_WITHOUT, size))
        notice += size;
    if (driver && gpu->notice)
        test_log_notice("nothing was recorded: %s", notice);
    else if (gpu->nvtx == TEST_LOG_NVTX_SENDING)
        test_log_notice("nothing was recorded: NVTX belongs to another tool "
                        "(NVTX_INJECTION64_PATH=%s), and no process used CUDA",
                        gpu->nvtx_tool ? gpu->nvtx_tool : "?");
    else if (driver)
        test_log_notice("nothing was recorded: " NOTHING_USED);
    else
        test_log_notice("nothing was recorded: " NOTHING_USED
                        ", and none could use a GPU: %s",
                        notice);
}

/* Prints one line about what is missing and why. */
static void say(const struct test_log_run *run, const struct recorded_end *end)
{
    test_log_gpu_summary_print(run);
    test_log_devices_print(run);
    if (test_log_devices_without_cuda(run))
        return;
    if (run->count && run->results[0].folder)
        test_log_gpu_print(&run->gpu);
    else if (end->started)
        say_nothing(&run->gpu);
}

/* ---- The run ---- */

static void export(const char *name, const char *value)
{
    if (value && *value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* The program attaches to the filter, which lasts as long as we do. */
static void filter_functions(struct test_log_run *run,
                             const struct test_log_options *options,
                             const char *program)
{
    struct dl_phdr_info *modules =
        options->functions.value || options->functions_depth ||
                options->functions_least || options->lines.value
            ? runners_modules_of(program)
            : NULL;
    const char *field = test_log_functions_prepare(options, run, modules);

    if (modules)
        test_log_functions_find_unmatched(run, options);
    test_log_print_unmatched(run);
    export("TESTLOG_RECORD_FUNCTIONS", field);
    export("TESTLOG_RECORD_LINES", options->lines.value);
    runners_free_modules(modules);
}

static char *command_of(char **program)
{
    struct trace_text text = {0};

    trace_text_string(&text, "testlog record --");
    test_log_add_words(&text, program);
    return text.data;
}

/* Runs a program under uftrace, and makes a recording of what that recorded. */
static struct recorded_end run_uftrace(char **program, const char *folder)
{
    static const char *const before[] = {"uftrace", "record", "-d"};
    struct imported imported = {.pid = 0};
    struct trace_text data = {0};
    struct recorded_end end;
    char **words, *fault;
    size_t count = 0;

    while (program[count])
        count++;
    words = calloc(count + 5, sizeof(*words));
    trace_text_printf(&data, "%s/uftrace.data", folder);
    if (!words || data.failed) {
        end = run_program(program);
    } else {
        memcpy(words, before, sizeof(before));
        words[3] = data.data;
        memcpy(words + 4, program, count * sizeof(*words));
        end = run_program(words);
        fault = runners_import_uftrace(data.data, &imported);
        if (!fault)
            fault = runners_import_save(&imported, folder);
        if (fault)
            test_log_notice("record: uftrace: %s", fault);
        free(fault);
        runners_import_free(&imported);
        test_log_remove_tree(AT_FDCWD, data.data);
    }
    trace_text_free(&data);
    free(words);
    return end;
}

/* Starts what is recorded; without a folder, it runs unrecorded. */
static struct recorded_end run_recorded(struct test_log_run *run,
                                        const struct test_log_options *options,
                                        char **program, const char *folder)
{
    struct recorded_end end;

    if (*folder) {
        setenv("TESTLOG_RECORD", folder, 1);
        test_log_gpu_record(&run->gpu, options);
        test_log_sampling_begin(options->sample, options->unwinds);
    }
    end = *folder && uftrace ? run_uftrace(program, folder)
                             : run_program(program);
    if (*folder)
        runners_recorded_write(run, options, &end, folder);
    test_log_sampling_end();
    return end;
}

static int record(struct test_log_options *options, char **program)
{
    struct test_log_run run = {.start = trace_anchor_now(),
                               .parent = {.nested = test_log_session()->nested},
                               .gpu = {.no_leaks = true}};
    struct test_log_filters filters;
    struct trace_text recorded = {0}; /* options */
    char folder[PATH_MAX];
    struct recorded_end end;

    unsetenv("TESTLOG_RUN"); /* inside a test, it is a run of its own */
    unsetenv(TRACE_INVITATION);
    test_log_filters_check(&filters, options, true);
    test_log_filters_free(&filters);
    runners_recorded_shown(options);
    setenv("TESTLOG_RECORD_LOG", options->show.value, 1);
    runners_recorded_options(options, &recorded);
    export("TESTLOG_RECORD_OPTIONS", recorded.data);
    trace_text_free(&recorded);
    filter_functions(&run, options, program[0]);
    run.command = command_of(program);
    runners_recorded_open(&run, options, program[0], folder);
    end = run_recorded(&run, options, program, folder);
    if (*folder) {
        say(&run, &end);
        runners_recorded_end(&run, options);
    }
    test_log_run_free(&run);
    test_log_trust_end();
    return end.code;
}

/* ---- Arguments ---- */

static bool records(const struct test_log_flag *flag)
{
    return flag->records;
}

/* --output is --trace-dir, as other commands call it. */
struct arguments {
    const char *output;
    bool uftrace;
};

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--output", NULL, "DIR", "where runs go (TRACE_DIR)", test_log_read_text,
     AT(output), .letter = 'o'},
    {"--uftrace", NULL, NULL,
     "record the calls of functions with uftrace, of programs that are built "
     "with -pg or -finstrument-functions",
     test_log_read_on, AT(uftrace)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct test_log_options options = {.bystander = true};
    struct test_log_passed passed = {0};
    struct arguments arguments = {.uftrace = false};
    int code;

    if (!test_log_flags_read(&runners_record, &arguments, &argv, &passed,
                             &code))
        goto out;
    code = TEST_LOG_EXIT_USAGE;
    uftrace = arguments.uftrace;
    if (!*argv) {
        test_log_notice("record: name a program; see testlog record --help");
    } else if (arguments.output &&
               test_log_passed_add(&passed, "--trace-dir", arguments.output)) {
        test_log_notice("out of memory");
    } else if (!test_log_options_read(&options, passed.words, &code)) {
        if (test_log_scratch_check(options.scratch) &&
            (!uftrace || runners_needs("record", "uftrace", "uftrace")))
            code = record(&options, argv);
        else
            code = TEST_LOG_EXIT_USAGE;
        test_log_options_free(&options);
    }
out:
    test_log_passed_free(&passed);
    return code;
}

const struct test_log_command runners_record = {
    .name = "record",
    .help = "record what any program does",
    .synopsis = "[FLAG...] -- PROGRAM [ARGUMENT...]",
    .text = "Runs any PROGRAM and records what its processes do with CUDA and "
            "OpenCL, and their spans and lines if they are annotated, as a run "
            "for testlog log and testlog export. Exits with the exit status of "
            "PROGRAM.",
    TEST_LOG_FLAGS(flags),
    .other = &test_log_program,
    .takes = records,
    .lists = true,
    .stops = true,
    .details = test_log_print_profiler_options,
    .run = run,
};
