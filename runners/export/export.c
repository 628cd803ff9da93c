/* export.c: testlog export: writes a run for viewers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/model/device_state.h"
#include "harness/run/model/test_stacks.h"
#include "runners/export/export.h"
#include "runners/export/folded.h"
#include "runners/export/ops.h"
#include "runners/export/perfetto.h"
#include "runners/export/speedscope.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/file.h"
#include "trace/samples/samples.h"

/* The recordings to write, and where. */
struct wanted {
    const struct recordings *found;
    const struct results *results;
    bool workers; /* all tests are written, so workers can be drawn */
    bool samples; /* instead of spans, for --folded and --speedscope */
    FILE *stream;
};

/* Returns -1 with errno if memory was exhausted. */
typedef int write_format(const struct wanted *);

/* ---- What is known about the tests ---- */

/* The results of a run, found by the folders of their tries. */
struct results {
    struct test_log_run run;
    struct trace_table by_folder; /* hash to index */
    struct trace_reader **own;    /* the only recording, if it is open */
};

static void add_folder(struct results *results, const char *folder,
                       size_t number)
{
    if (folder)
        trace_table_set(&results->by_folder,
                        trace_hash_string(TRACE_HASH, folder), number);
}

static void read_results(struct results *results, const char *where)
{
    struct test_log_run *run = &results->run;
    cJSON *head;

    runners_read_run(run, where, &head);
    cJSON_Delete(head);
    for (size_t i = 0; i < run->count; i++) {
        add_folder(results, run->results[i].folder, i);
        for (size_t j = 0; j < run->results[i].earlier_count; j++)
            add_folder(results, run->results[i].earlier[j].folder, i);
    }
}

static void free_results(struct results *results)
{
    test_log_run_free(&results->run);
    trace_table_free(&results->by_folder);
}

static bool is_folder(const char *folder, const char *path, size_t size)
{
    return folder && strlen(folder) == size && !strncmp(folder, path, size);
}

/* Finds the try that made a recording; false if it is unknown. */
static bool find_try(struct test_log_result *result,
                     const struct recording *recording,
                     const struct results *results)
{
    const char *path = recording->path + strlen(results->run.path);
    const char *slash = strrchr(path, '/');
    size_t size;
    uintptr_t number;

    path += *path == '/';
    size = slash > path ? (size_t)(slash - path) : 0;
    if (!trace_table_find(&results->by_folder,
                          trace_hash(TRACE_HASH, path, size), &number))
        return false;
    *result = results->run.results[number];
    for (size_t i = 0; i < result->earlier_count; i++)
        if (is_folder(result->earlier[i].folder, path, size))
            test_log_take_try(result, i);
    return result->outcome != TEST_LOG_OUTCOME_NONE;
}

/* Adds the test's stacks to a text. */
static struct trace_chrome_test test_of(const struct recording *recording,
                                        const struct results *results,
                                        struct trace_text *stacks)
{
    struct trace_chrome_test test;
    struct test_log_result result;

    if (!find_try(&result, recording, results))
        return (struct trace_chrome_test){.name = recording->test};
    test_log_stacks_text(stacks, &results->run, &result);
    test = test_log_trace_test(recording->test, &results->run, &result);
    test.stacks = stacks->data;
    return test;
}

/* ---- Formats ---- */

static void refuse(const struct recording *recording)
{
    test_log_notice("export: cannot read %s: %s; the trace lacks this test",
                    recording->path, runners_open_error());
}

/* Opens a recording, or takes the open one. If that fails, it prints why and
 * returns NULL. */
static struct trace_reader *open_recording(const struct recording *recording,
                                           const struct results *results)
{
    struct trace_reader *reader;

    if (results->own) {
        reader = *results->own;
        *results->own = NULL;
        return reader;
    }
    reader = runners_open(recording->path);

    if (!reader && errno != EBADMSG) /* runners_open has reported damage */
        refuse(recording);
    return reader;
}

/* The program and the test, after the host if there are several; the caller
 * frees it. */
static struct trace_text title_of(const struct recording *recording,
                                  const struct results *results)
{
    struct trace_text title = {0};
    struct test_log_result result;
    const char *host = NULL;

    if (find_try(&result, recording, results))
        host = test_log_host(&results->run, result.source);
    if (host)
        trace_text_printf(&title, "%s: ", host);
    trace_text_printf(&title, "%s%s%s", recording->program,
                      *recording->program ? " " : "", recording->title);
    return title;
}

static void add_to_chrome(struct trace_chrome *chrome,
                          const struct recording *recording,
                          const struct results *results, uint32_t pid)
{
    struct trace_reader *reader = open_recording(recording, results);
    struct trace_text title = title_of(recording, results), stacks = {0};
    struct trace_chrome_test test = test_of(recording, results, &stacks);

    chrome->test = test.outcome && !test.begin ? NULL : &test;
    if (reader && trace_chrome_add(chrome, reader, pid,
                                   title.data ? title.data : recording->test))
        refuse(recording);
    chrome->test = NULL;
    trace_text_free(&title);
    trace_text_free(&stacks);
    trace_reader_close(reader);
}

static int write_chrome(const struct wanted *wanted)
{
    const struct recordings *found = wanted->found;
    struct trace_chrome chrome;

    trace_chrome_begin(&chrome, wanted->stream);
    chrome.several = found->count > 1;
    for (size_t i = 0; i < found->count; i++)
        add_to_chrome(&chrome, &found->all[i], wanted->results,
                      (uint32_t)i + 1);
    if (wanted->workers)
        test_log_trace_workers(&chrome, &wanted->results->run);
    trace_chrome_end(&chrome, NULL);
    return 0;
}

static void add_to_perfetto(struct runners_perfetto *perfetto,
                            const struct recording *recording,
                            const struct results *results)
{
    struct trace_reader *reader = open_recording(recording, results);
    struct trace_text title = title_of(recording, results), stacks = {0};
    struct trace_chrome_test test = test_of(recording, results, &stacks);

    perfetto->test = &test;
    if (reader &&
        runners_perfetto_add(perfetto, reader,
                             title.data ? title.data : recording->test))
        refuse(recording);
    perfetto->test = NULL;
    trace_text_free(&title);
    trace_text_free(&stacks);
    trace_reader_close(reader);
}

/* The name of the run's folder, in `path`; NULL with errno. */
static const char *name_of_run(const struct wanted *wanted, char path[PATH_MAX])
{
    return realpath(wanted->results->run.path, path) ? trace_base_name(path)
                                                     : NULL;
}

static int write_perfetto(const struct wanted *wanted)
{
    const struct recordings *found = wanted->found;
    struct runners_perfetto perfetto;
    char path[PATH_MAX];
    const char *name = name_of_run(wanted, path);

    if (!name)
        return -1;
    runners_perfetto_begin(&perfetto, wanted->stream, name);
    for (size_t i = 0; i < found->count; i++)
        add_to_perfetto(&perfetto, &found->all[i], wanted->results);
    return 0;
}

static bool has_samples(const struct recordings *found)
{
    bool some = false;

    for (size_t i = 0; !some && i < found->count; i++)
        some = runners_has_samples(found->all[i].path);
    return some;
}

static int write_folded(const struct wanted *wanted)
{
    const struct recordings *found = wanted->found;
    struct runners_folded folded = {0};
    int (*add)(struct runners_folded *, struct trace_reader *, const char *) =
        wanted->samples ? runners_folded_add_samples : runners_folded_add;
    int result;

    for (size_t i = 0; i < found->count; i++) {
        struct trace_reader *reader =
            open_recording(&found->all[i], wanted->results);
        struct trace_text title = title_of(&found->all[i], wanted->results);

        if (reader &&
            add(&folded, reader, found->count > 1 ? title.data : NULL))
            refuse(&found->all[i]);
        trace_text_free(&title);
        trace_reader_close(reader);
    }
    result = runners_folded_put(&folded, wanted->stream);
    if (folded.cut)
        test_log_notice("export: what is nested more than %d deep is summed up "
                        "at that depth",
                        RUNNERS_FOLDED_DEPTH);
    runners_folded_free(&folded);
    return result;
}

static int write_speedscope(const struct wanted *wanted)
{
    const struct recordings *found = wanted->found;
    struct runners_speedscope speedscope;
    int (*add)(struct runners_speedscope *, struct trace_reader *,
               const char *) = wanted->samples ? runners_speedscope_add_samples
                                               : runners_speedscope_add;
    char path[PATH_MAX];
    const char *name = name_of_run(wanted, path);

    if (!name)
        return -1;
    runners_speedscope_begin(&speedscope, wanted->stream, name);
    for (size_t i = 0; i < found->count; i++) {
        struct trace_reader *reader =
            open_recording(&found->all[i], wanted->results);
        struct trace_text title = title_of(&found->all[i], wanted->results);

        if (reader &&
            add(&speedscope, reader, found->count > 1 ? title.data : NULL))
            refuse(&found->all[i]);
        trace_text_free(&title);
        trace_reader_close(reader);
    }
    return runners_speedscope_end(&speedscope);
}

static void add_separated(struct trace_text *text)
{
    trace_text_string(text, text->size ? "; " : "");
}

/* Adds what a recording lacks. */
static void add_losses(struct trace_text *text,
                       const struct trace_reader *reader)
{
    struct test_log_gpu gpu;
    uint64_t dropped;

    trace_reader_all_losses(text, reader);
    if (!test_log_gpu_read(&gpu, reader)) {
        test_log_gpu_free(&gpu);
        return;
    }
    if (gpu.lost) {
        add_separated(text);
        trace_text_printf(
            text, "%" PRIu64 " of %" PRIu64 " launches have no device record",
            gpu.lost, gpu.launches);
    }
    dropped = gpu.dropped + gpu.undecoded + gpu.dropped_callback_events +
              gpu.dropped_activity_events;
    if (dropped) {
        add_separated(text);
        trace_text_printf(text, "%" PRIu64 " records of the GPU were dropped",
                          dropped);
    }
    test_log_gpu_free(&gpu);
}

static void add_ops(struct runners_ops *ops, const struct recording *recording,
                    const struct results *results, FILE *stream)
{
    struct trace_reader *reader = open_recording(recording, results);
    struct trace_text losses = {0};

    if (!reader)
        return;
    add_losses(&losses, reader);
    if (losses.data)
        test_log_notice("export: %s: %s", recording->test, losses.data);
    if (runners_ops_add(ops, reader, recording->test, losses.data, stream))
        refuse(recording);
    trace_text_free(&losses);
    trace_reader_close(reader);
}

static int write_ops_csv(const struct wanted *wanted)
{
    const struct recordings *found = wanted->found;
    struct runners_ops ops = {0};

    runners_ops_begin(wanted->stream);
    for (size_t i = 0; i < found->count; i++)
        add_ops(&ops, &found->all[i], wanted->results, wanted->stream);
    return 0;
}

static write_format *const formats[] = {
#define X(name, flag, values, help) write_##name,
    RUNNERS_EXPORT_FORMATS(X)
#undef X
};

static write_format *format_of(const char *flag)
{
    static const char *const flags[] = {
#define X(name, flag, values, help) flag,
        RUNNERS_EXPORT_FORMATS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (!strcmp(flag, flags[i]))
            return formats[i];
    return NULL;
}

static bool shows_samples(write_format *format)
{
    return format == write_folded || format == write_speedscope;
}

bool runners_export_is_format(const char *flag)
{
    return format_of(flag) != NULL;
}

int runners_export_put(const char *flag, const struct test_log_run *run,
                       const char *folder, FILE *stream)
{
    struct recordings found = {.with_damaged = true};
    struct trace_reader *own = runners_open_own(run, folder);
    struct results results = {.own = &own};
    struct wanted wanted = {&found, &results, false, false, stream};
    char path[PATH_MAX];
    int status = -1;

    if (!own)
        return -1;
    read_results(&results, run->path);
    if (snprintf(path, sizeof(path), "%s/%s", run->path, folder) < PATH_MAX &&
        !runners_recordings_find(&found, path, NULL)) {
        wanted.samples =
            shows_samples(format_of(flag)) && trace_reader_has_samples(own);
        status = format_of(flag)(&wanted);
    }
    trace_reader_close(own);
    runners_recordings_free(&found);
    free_results(&results);
    return status;
}

/* ---- The command ---- */

static int export_to(struct wanted *wanted, write_format *format,
                     const char *output)
{
    struct trace_file file;

    if (!output) {
        wanted->stream = stdout;
        if (!format(wanted) && !fflush(stdout) && !ferror(stdout))
            return TEST_LOG_EXIT_PASSED;
    } else if (!trace_file_open(&file, output)) {
        wanted->stream = file.stream;
        if (format(wanted))
            trace_file_abandon(&file);
        else if (!trace_file_commit(&file))
            return TEST_LOG_EXIT_PASSED;
    }
    test_log_notice("export: cannot write to %s: %s",
                    output ? output : "standard output", strerror(errno));
    return TEST_LOG_EXIT_FAILED;
}

/* The source of --folded and --speedscope: samples if there are any, unless the
 * user chooses. */
enum source { EITHER, SPANS, SAMPLES };

/* The flags. */
struct asked {
    write_format *format;
    enum source source;
    const char *output; /* NULL: standard output */
};

static bool read_format(struct test_log_reader *reader)
{
    static const char *const words[] = {"spans", "samples", NULL};
    struct asked *asked = reader->into;
    unsigned choice;

    asked->format = format_of(reader->flag->name + 2);
    asked->source = EITHER;
    if (!reader->value)
        return true;
    if (test_log_read_word(reader->name, reader->value, words, &choice))
        return test_log_flag_judge(reader, -1);
    asked->source = choice ? SAMPLES : SPANS;
    return true;
}

static bool read_output(struct test_log_reader *reader)
{
    struct asked *asked = reader->into;

    if (!test_log_read_text(reader))
        return false;
    if (test_log_report_is_stdout(asked->output))
        asked->output = NULL;
    return true;
}

static const struct test_log_flag flags[] = {
#define X(name, flag, values, help)                                            \
    {"--" flag, NULL, values, help, .read = read_format},
    RUNNERS_EXPORT_FORMATS(X)
#undef X
        {"--output", NULL, "FILE", "write to FILE instead of standard output",
         read_output, .at = offsetof(struct asked, output), .letter = 'o'},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct recordings found = {.with_damaged = true};
    struct results results = {.run = {.path = NULL}};
    struct asked asked = {formats[0], EITHER, NULL};
    struct wanted wanted = {&found, &results, false, false, NULL};
    const char *where;
    int code;

    if (!test_log_flags_read(&runners_export, &asked, &argv, NULL, &code))
        return code;
    where = runners_run_of(&argv);
    if (!where)
        return TEST_LOG_EXIT_USAGE;
    if (runners_recordings_find(&found, where, argv) || !found.count)
        return runners_recordings_refuse("export", where, argv);
    read_results(&results, where);
    wanted.workers = !*argv && !results.run.unfinished;
    wanted.samples = asked.source == SAMPLES ||
                     (asked.source == EITHER && shows_samples(asked.format) &&
                      has_samples(&found));
    code = export_to(&wanted, asked.format, asked.output);
    free_results(&results);
    runners_recordings_free(&found);
    return code;
}

const struct test_log_command runners_export = {
    .name = "export",
    .help = "write a run for viewers",
    .synopsis = "[RUN] [TEST...] [--FORMAT] [-o FILE]",
    .text = "Writes the recordings of a run's tests, or only of the given "
            "tests, for a viewer. RUN is the folder of a run or of a test, or "
            "a recording, or a name in testlog list; the default is the latest "
            "run. The run may have been killed.",
    TEST_LOG_FLAGS(flags),
    .operand = "TEST",
    .run = run,
};
