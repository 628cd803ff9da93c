/* e2e_record_test.c: testlog record, which records any program as a run. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/read/reader.h"

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

/* Makes `root` look like a machine with a driver. */
TestSuite(e2e_record, .init = e2e_begin_gpu, .timeout = 300);

#define RECORD                                                                 \
    "TESTLOG_GPU_LIBRARY=%s TESTLOG_GPU_ROOT=$PWD/root " TESTLOG " record "

/* Records gpu_any with arguments. */
static const struct e2e *record(const char *arguments)
{
    return e2e_run(RECORD "-- %s %s", e2e_stub(), e2e_any("gpu_any"),
                   arguments);
}

static const cJSON *entries(void)
{
    return cJSON_GetObjectItemCaseSensitive(e2e_run_json(), "tests");
}

static const cJSON *entry_of(int number)
{
    const cJSON *found = cJSON_GetArrayItem(entries(), number);

    cr_assert_not_null(found, "run.json has no entry %d", number);
    return found;
}

/* ---- A run ---- */

static const char *const files[] = {"run.json",      "junit.xml",
                                    "results.tap",   "results.tsv",
                                    "results.jsonl", "trace.json"};

Test(e2e_record, writes_the_files_of_a_run)
{
    const struct e2e *result = record("init");
    const char *name = e2e_text(entry_of(0), "name");
    const char *folder = e2e_text(entry_of(0), "folder");

    e2e_expect_code(result, 0);
    e2e_expect_is(result->out, "");
    e2e_expect_has(result->err, "\nrun: testlog-runs/20");
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        cr_expect(e2e_exists("testlog-runs/latest/%s", files[i]), "%s",
                  files[i]);
    cr_expect_eq(cJSON_GetArraySize(entries()), 1);
    cr_expect_eq(strncmp(name, "process/", 8), 0, "%s", name);
    e2e_expect_is(e2e_text(entry_of(0), "program"), "gpu_any");
    e2e_expect_is(e2e_text(entry_of(0), "outcome"), "passed");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "on");
    e2e_expect_has(e2e_text(e2e_run_json(), "command"), "testlog record -- ");
    cr_expect_eq(strncmp(folder, "tests/gpu_any/process.", 22), 0, "%s",
                 folder);
    e2e_json("testlog-runs/latest/trace.json");
    e2e_json("testlog-runs/latest/%s/trace.json", folder);
    e2e_expect_has(e2e_read("testlog-runs/latest/%s/log.txt", folder),
                   "gpu::launch: Executing kernel");
    e2e_expect_has(e2e_read("testlog-runs/latest/results.tsv"), name);
}

Test(e2e_record, is_read_by_log_and_export)
{
    const char *name;

    record("init");
    name = e2e_text(entry_of(0), "name");
    e2e_exits(0, TESTLOG " log %s --filter=trace", name);
    e2e_exits(0, TESTLOG " export %s -o one.json", name);
    e2e_expect_has(e2e_read("one.json"), "begun");
}

Test(e2e_record, lists_every_process)
{
    e2e_expect_code(record("init child exit=3"), 3);
    cr_expect_eq(cJSON_GetArraySize(entries()), 2);
    for (int i = 0; i < 2; i++) {
        e2e_expect_is(e2e_text(entry_of(i), "outcome"), "failed");
        e2e_expect_is(e2e_text(entry_of(i), "reason"),
                      "the program exited with "
                      "3");
    }
}

Test(e2e_record, writes_to_the_given_folder)
{
    e2e_exits(0, RECORD "-o a -- true", e2e_stub());
    e2e_exits(0, "TRACE_DIR=b " RECORD "-- true", e2e_stub());
    e2e_exits(0, "TRACE_DIR=b " RECORD "--output=c -- true", e2e_stub());
    e2e_exits(0, "TRACE_DIR=b " RECORD "--trace-dir=d -- true", e2e_stub());
    cr_expect(e2e_exists("d/latest/run.json"));
    cr_expect(e2e_exists("a/latest/run.json"));
    cr_expect(e2e_exists("b/latest/run.json"));
    cr_expect(e2e_exists("c/latest/run.json"));
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_record, lists_a_program_that_uses_no_cuda)
{
    const struct e2e *result = record("exit=0");

    e2e_expect_code(result, 0);
    e2e_expect_is(e2e_text(entry_of(0), "name"), "process/main");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "unused");
    e2e_expect_is(e2e_line(result->err, "nothing"),
                  "testlog: nothing was recorded: no process used CUDA, NVTX "
                  "or testlog's annotations");
}

Test(e2e_record, says_why_nothing_was_recorded)
{
    const struct e2e *result =
        e2e_exits(0,
                  "TESTLOG_GPU_LIBRARY=%s TESTLOG_GPU_ROOT=$PWD/none " TESTLOG
                  " record true",
                  e2e_stub());

    e2e_expect_is(
        e2e_line(result->err, "nothing"),
        "testlog: nothing was recorded: no process used CUDA, NVTX or "
        "testlog's annotations, and none could use a GPU: no NVIDIA driver "
        "found "
        "(/proc/driver/nvidia/version, /dev/nvidiactl)");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "no-driver");
    result =
        e2e_exits(0, "TESTLOG_GPU_LIBRARY=/nowhere " TESTLOG " record -- true");
    e2e_expect_has(result->err, "nothing was recorded: GPU trace off: "
                                "libtestlog-gpu.so not found");
}

/* ---- Annotated programs ---- */

/* Without a GPU, and without our library for one. */
static const struct e2e *record_steps(int code, const char *flags,
                                      const char *steps)
{
    return e2e_exits(
        code, "TESTLOG_GPU_LIBRARY=/nowhere " TESTLOG " record %s -- %s %s",
        flags, e2e_program("steps", E2E_TRACED), steps);
}

static const char *lines(void)
{
    return e2e_run(TESTLOG " log --filter=trace --log-time=none")->out;
}

Test(e2e_record, records_an_annotated_program)
{
    e2e_expect_lacks(record_steps(0, "", "line fork")->err, "GPU", "nothing");
    cr_expect_eq(cJSON_GetArraySize(entries()), 1);
    e2e_expect_has(lines(), "INFO programs::steps: begins\n",
                   "DEBUG step{word=\"line\"}: programs::steps: a line\n",
                   "INFO step{word=\"fork\"}: programs::steps: in a child\n");
    e2e_expect_has(e2e_run(TESTLOG " stat")->out, "  2 ");
}

Test(e2e_record, records_annotated_programs_that_one_starts)
{
    record_steps(0, "", "program");
    cr_expect_eq(cJSON_GetArraySize(entries()), 2);
    e2e_expect_has(lines(), "a line");
}

Test(e2e_record, records_on_after_an_exec)
{
    record_steps(0, "", "exec");
    cr_expect_eq(cJSON_GetArraySize(entries()), 1);
    cr_expect_eq(e2e_count(lines(), "begins"), 2);
    e2e_expect_has(lines(), "a line");
}

Test(e2e_record, keeps_what_a_killed_program_recorded)
{
    record_steps(128 + 9, "", "line die");
    e2e_expect_has(lines(), "a line");
    e2e_expect_is(e2e_text(entry_of(0), "outcome"), "crashed");
}

Test(e2e_record, yields_to_a_recording_of_the_program)
{
    record_steps(0, "", "line start");
    e2e_expect_has(lines(), "a line");
    e2e_expect_lacks(lines(), "elsewhere");
    e2e_expect_has(e2e_run(TESTLOG " log mine --filter=trace")->out,
                   "elsewhere");
}

Test(e2e_record, records_annotations_up_to_a_limit)
{
    record_steps(0, "--trace-limit=256K", "fill");
    e2e_expect_has(e2e_run(TESTLOG " log 2>&1")->out, "records were lost");
    record_steps(2, "--trace-limit=1", "fill");
}

Test(e2e_record, records_the_level_of_the_host_that_was_asked_for)
{
    record_steps(0, "--trace-options=host_tracer_level=1", "line");
    e2e_expect_has(lines(), "begins");
    e2e_expect_lacks(lines(), "a line");
}

Test(e2e_record, leaves_alone_a_program_that_it_cannot_record)
{
    const struct e2e *result =
        e2e_exits(0, "TESTLOG_RECORD=/dev/null/x %s line",
                  e2e_program("steps", E2E_TRACED));

    cr_expect_eq(e2e_count(result->err, "testlog: cannot record to"), 1);
}

/* ---- Compression ---- */

enum { MANY = 20000 };

static bool is_left(const char *name)
{
    return e2e_exists("testlog-runs/latest/%s/%s",
                      e2e_text(entry_of(0), "folder"), name);
}

static void record_many(const char *before)
{
    const struct e2e *result =
        e2e_exits(0, "%s STUB_LAUNCHES=%d " RECORD "-- %s init", before, MANY,
                  e2e_stub(), e2e_any("gpu_any"));

    e2e_expect_has(result->err, "\nrun: testlog-runs/20");
    result = e2e_run(TESTLOG " log --filter gpu=trace");
    cr_expect_eq(e2e_count(result->out, "one of many"), (size_t)MANY);
}

Test(e2e_record, compresses_large_recordings)
{
    record_many("");
    cr_expect(is_left("recording.zst"));
    cr_expect_not(is_left("recording"));
    record_many("TRACE_OPTIONS=compress=0");
    cr_expect(is_left("recording"));
    cr_expect_not(is_left("recording.zst"));
}

/* As those of a test; with all, a large trace is there once. */
Test(e2e_record, writes_the_trace_of_a_large_recording_on_demand)
{
    static const char *const names[] = {"trace.json", "log.txt"};

    for (int all = 0; all < 2; all++) {
        e2e_run("STUB_LAUNCHES=%d " RECORD "--render=%s -- %s init", MANY,
                e2e_stub(), all ? "all" : "auto", e2e_any("gpu_any"));
        for (size_t i = 0; i < 2; i++)
            cr_expect_eq(is_left(names[i]), all, "%s", names[i]);
        e2e_expect_is(e2e_run("find -L testlog-runs/latest -name trace.json "
                              "-size +4M -printf '%%i\\n' | uniq | wc -l")
                          ->out,
                      all ? "1\n" : "0\n");
    }
}

/* ---- The program ---- */

static const struct {
    const char *arguments, *outcome, *reason;
    int code;
} ends[] = {
    {"init", "passed", "", 0},
    {"init exit=1", "failed", "the program exited with 1", 1},
    {"init exit=127", "failed", "the program exited with 127", 127},
    {"init kill=15", "crashed", "the program died of SIGTERM", 128 + 15},
    {"init kill=11", "crashed", "the program died of SIGSEGV", 128 + 11},
    {"kill=9", "crashed", "the program died of SIGKILL", 128 + 9},
};

Test(e2e_record, exits_like_the_program)
{
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        e2e_expect_code(record(ends[i].arguments), ends[i].code);
        e2e_expect_is(e2e_text(entry_of(0), "outcome"), ends[i].outcome);
        e2e_expect_is(e2e_text(entry_of(0), "reason"), ends[i].reason);
    }
}

Test(e2e_record, keeps_the_records_of_a_crash)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    uint64_t last = 0;
    char path[PATH_MAX];

    record("init kill=11");
    snprintf(path, sizeof(path), "testlog-runs/latest/%s/recording",
             e2e_text(entry_of(0), "folder"));
    reader = trace_reader_open(path);
    cr_assert_not_null(reader);
    while (trace_reader_next(reader, &entry))
        last = entry.end;
    cr_expect_neq(last, 0);
    cr_expect_gt(trace_reader_summary(reader).end, last);
    trace_reader_close(reader);
}

Test(e2e_record, leaves_streams_to_the_program)
{
    const struct e2e *result =
        e2e_run("echo in | " RECORD "-- sh -c 'cat; echo err >&2; echo $0' "
                "--log",
                e2e_stub());

    e2e_expect_is(result->out, "in\n--log\n");
    e2e_expect_is(e2e_line(result->err, "err"), "err");
}

static const struct {
    const char *program;
    int code;
    const char *error;
} not_run[] = {
    {"./nowhere", 127, "testlog: record: ./nowhere: No such file or directory"},
    {"no-such-program", 127,
     "testlog: record: no-such-program: No such file or directory"},
    {"./root", 126, "testlog: record: ./root: Permission denied"},
};

Test(e2e_record, reports_a_program_that_cannot_be_run)
{
    for (size_t i = 0; i < sizeof(not_run) / sizeof(*not_run); i++) {
        const struct e2e *result = e2e_exits(not_run[i].code, RECORD "-- %s",
                                             e2e_stub(), not_run[i].program);

        e2e_expect_is(e2e_line(result->err, "record: "), not_run[i].error);
        e2e_expect_lacks(result->err, "nothing was recorded");
        e2e_expect_is(e2e_text(entry_of(0), "outcome"), "failed");
    }
}

static const char *const signals[] = {"TERM", "HUP", "USR2"};

Test(e2e_record, forwards_signals_to_the_program)
{
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        const struct e2e *result =
            e2e_exits(5,
                      "rm -f out; mkfifo out; " RECORD
                      "-- %s init pause exit=5 >out & exec <out; read ready; "
                      "kill -%s $!; cat; wait $!",
                      e2e_stub(), e2e_any("gpu_any"), signals[i]);

        e2e_expect_has(result->out, "caught ");
        e2e_expect_is(e2e_text(entry_of(0), "outcome"), "failed");
    }
}

/* The value of a variable in the program. */
static const char *value_in(const char *before, const char *name)
{
    return e2e_run("%s " RECORD "-- sh -c 'echo \"$%s\"'", before, e2e_stub(),
                   name)
        ->out;
}

Test(e2e_record, sets_variables_that_load_our_libraries)
{
    char stub[PATH_MAX + 1];

    snprintf(stub, sizeof(stub), "%s\n", e2e_stub());
    e2e_expect_is(value_in("", "CUDA_INJECTION64_PATH"), stub);
    e2e_expect_is(value_in("", "LD_PRELOAD"), stub);
    e2e_expect_is(
        value_in("CUDA_INJECTION64_PATH=none", "CUDA_INJECTION64_PATH"),
        "none\n");
    e2e_expect_is(value_in("TRACE_OPTIONS=device_tracer_level=0",
                           "CUDA_INJECTION64_PATH"),
                  "\n");
    e2e_expect_has(value_in("", "TESTLOG_RECORD"), "/testlog-runs/20");
}

Test(e2e_record, names_another_tool)
{
    const struct e2e *result =
        e2e_exits(0, "CUDA_INJECTION64_PATH=/x/other.so " RECORD "-- %s init",
                  e2e_stub(), e2e_any("gpu_any"));

    e2e_expect_has(result->err,
                   "CUDA_INJECTION64_PATH belongs to another tool: "
                   "/x/other.so");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "busy");
}

Test(e2e_record, runs_a_program_though_the_folder_is_unwritable)
{
    const struct e2e *result =
        e2e_exits(6, RECORD "-o /dev/null/x -- %s init exit=6", e2e_stub(),
                  e2e_any("gpu_any"));

    e2e_expect_has(result->err, "cannot write to /dev/null/x");
    result =
        e2e_exits(6, "TMPDIR=/dev/null " RECORD "-o /dev/null/x -- %s exit=6",
                  e2e_stub(), e2e_any("gpu_any"));
}

Test(e2e_record, leaves_surviving_processes_alone)
{
    const struct e2e *result =
        e2e_exits(0,
                  RECORD "-- sh -c '%s init pause >out 2>&1 & until grep -q "
                         "ready out; do sleep 0.01; done'",
                  e2e_stub(), e2e_any("gpu_any"));
    const char *name = e2e_text(entry_of(0), "name");

    e2e_expect_has(result->err, " is still running; testlog log shows");
    e2e_exits(0, "kill %s", name + strlen("process/"));
}

/* ---- Lines ---- */

Test(e2e_record, filters_lines_by_variables_and_flags)
{
    e2e_run("LOG=off " RECORD "-- %s init", e2e_stub(), e2e_any("gpu_any"));
    e2e_expect_is(
        e2e_text(cJSON_GetObjectItemCaseSensitive(e2e_run_json(), "filters"),
                 "log"),
        "off");
    e2e_run("LOG=off " RECORD "--log=gpu=trace --log-format=json -- %s init",
            e2e_stub(), e2e_any("gpu_any"));
    e2e_expect_is(
        e2e_text(cJSON_GetObjectItemCaseSensitive(e2e_run_json(), "filters"),
                 "log_origin"),
        "--log");
}

/* A filter without any valid directive is ignored. */
Test(e2e_record, uses_the_default_filter_if_no_directive_is_valid)
{
    e2e_expect_has(e2e_run("LOG='[[' " RECORD "-- true", e2e_stub())->err,
                   "testlog: LOG: unclosed bracket in");
    e2e_expect_is(
        e2e_text(cJSON_GetObjectItemCaseSensitive(e2e_run_json(), "filters"),
                 "log"),
        "info,gpu=trace");
}

/* ---- Wrong use ---- */

static const struct {
    const char *arguments, *error;
} wrong[] = {
    {"", "testlog: record: name a program; see testlog record --help"},
    {"--", "testlog: record: name a program; see testlog record --help"},
    {"--nonsense -- true", "testlog: record: unknown flag --nonsense; testlog "
                           "record --help lists all"},
    {"-o", "testlog: record: -o needs a value: --output=DIR"},
    {"--output= -- true", "testlog: record: --output needs a value: "
                          "--output=DIR"},
    {"--log-time=x -- true", "testlog: --log-time: unknown value \"x\"; write "
                             "utc, uptime, relative or none"},
    {"--trace-options=x=1 -- true", "testlog: --trace-options: unknown option "
                                    "\"x\"; testlog-flags(7) lists all"},
    {"--log=info --nonsense -- true", "testlog: record: unknown flag "
                                      "--nonsense; testlog record --help lists "
                                      "all"},
};

Test(e2e_record, reports_wrong_use_in_one_line_and_runs_nothing)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const struct e2e *result =
            e2e_exits(2, TESTLOG " record %s", wrong[i].arguments);

        e2e_expect_is(e2e_last(result->err), wrong[i].error);
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_record, leaves_flags_after_the_program_to_it)
{
    e2e_expect_is(
        e2e_run(RECORD "echo --help -o x --nonsense", e2e_stub())->out,
        "--help -o x --nonsense\n");
}

/* ---- PyTorch ---- */

/* It takes CUPTI's records and gives no buffers. */
#define TORCH                                                                  \
    "void request(void **bytes, long *size, long *most) "                      \
    "{ *bytes = 0; *size = *most = 0; } "                                      \
    "void done(void) {}"

/* Runs a program that loads libtorch_cuda.so; another profiler starts `when`
 * it says. */
static const struct e2e *train(int code, const char *when)
{
    e2e_need("python3");
    e2e_exits(0, "echo '" TORCH
                 "' | ${CC:-cc} -shared -fPIC -xc - -o libtorch_cuda.so");
    return e2e_exits(code,
                     "TESTLOG_GPU_LIBRARY=%s TESTLOG_GPU_ROOT=$PWD/root "
                     "TRACE_CUPTI=%s " TESTLOG " record -- python3 "
                     "%s/programs/train.py ./libtorch_cuda.so %s %s",
                     BUILD_DIR "/libtestlog-gpu.so",
                     BUILD_DIR "/tests/playback.so", TESTS_DIR,
                     BUILD_DIR "/tests/driver/libcuda.so.1", when);
}

static size_t kernels(void)
{
    return e2e_count(e2e_run(TESTLOG " log --filter gpu=trace")->out,
                     "Executing kernel");
}

/* The driver's own exit handler, which loses records, is registered after
 * ours. */
Test(e2e_record, traces_pytorch_if_nobody_else_profiles)
{
    train(0, "");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "playback");
    cr_expect_eq(kernels(), 1);
}

Test(e2e_record, names_a_profiler_that_was_there_before)
{
    const struct e2e *result = train(0, "before");

    e2e_expect_has(result->err, "GPU trace off: in use by Kineto\n");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "busy");
    cr_expect_eq(kernels(), 0);
}

Test(e2e_record, names_a_profiler_that_started_later)
{
    const struct e2e *result = train(0, "while");

    e2e_expect_has(result->err, "GPU trace incomplete: in use by Kineto\n");
    e2e_expect_is(e2e_text(entry_of(0), "gpu"), "busy");
}
