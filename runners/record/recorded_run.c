/* recorded_run.c: the files of a run of processes that recorded themselves. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/criterion/watch/sampling.h"
#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/finish_run.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "harness/run/terminal/terminal.h"
#include "runners/record/recorded_run.h"
#include "runners/run/run.h"
#include "runners/runs/find.h"
#include "trace/samples/sampler.h"

/* ---- Options ---- */

void runners_recorded_shown(struct test_log_options *options)
{
    if (strcmp(options->show.origin, "LOG") &&
        strcmp(options->show.origin, "--log"))
        options->show.value = "info,gpu=trace";
}

void runners_recorded_options(const struct test_log_options *options,
                              struct trace_text *text)
{
    struct trace_profiler profiler = options->profiler;

    profiler.limit = options->limit;
    trace_profiler_text(&profiler, text);
}

/* ---- Processes ---- */

static struct test_log_result *add_result(struct test_log_run *run,
                                          const struct recorded_end *end,
                                          const char *process)
{
    struct test_log_result *result = test_log_run_add(run);

    if (!result)
        return NULL;
    result->program = strdup(run->program);
    result->suite = strdup("process");
    result->test = strdup(process);
    result->filter = strdup(run->show);
    result->outcome = end->outcome;
    result->reason = end->reason[0] ? strdup(end->reason) : NULL;
    result->duration = end->duration;
    result->gpu = run->gpu.state;
    return result;
}

/* A process that outlives the program may still record. */
static bool runs_still(const struct test_log_run *run,
                       const struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(run, result);
    struct trace_summary summary = {.ended = true};

    if (reader)
        summary = trace_reader_summary(reader);
    trace_reader_close(reader);
    return !summary.ended && (pid_t)summary.pid > 0 &&
           (!kill((pid_t)summary.pid, 0) || errno == EPERM);
}

static void add_process(struct test_log_run *run,
                        const struct recorded_end *end,
                        const struct log_style *style, const char *name)
{
    struct test_log_result *result =
        add_result(run, end, strchr(name, '.') + 1);

    if (!result)
        return;
    if (asprintf(&result->folder, "tests/%s/%s", run->program, name) < 0)
        result->folder = NULL;
    if (!end->over && runs_still(run, result)) {
        test_log_notice(
            "%s is still running; testlog log shows what it records",
            test_log_name(result));
        return;
    }
    test_log_change_recording(run, result, trace_seal_beneath);
    test_log_render(run, result, style, false);
}

/* Makes an empty recording of a process. */
static void make_recording(const struct test_log_run *run, const char *folder,
                           const char *path, uint32_t pid)
{
    const struct trace_options options = {
        .limit = TRACE_LIMIT_LEAST,
        .functions_limit = TRACE_LIMIT_DEFAULT,
        .origin = run->start,
    };

    if (test_log_make_folder(run, folder) || trace_open(path, &options))
        return;
    trace_close();
    trace_sampler_adopt(path, pid);
}

/* The samples of the program and of all that it has started go into the
 * program's recording, which one without annotations does not have. */
static void add_samples(struct test_log_run *run, const char *folder)
{
    uint32_t pid = test_log_sampling_first();
    struct test_log_result result = {.folder = NULL};
    char path[PATH_MAX];

    if (!pid || asprintf(&result.folder, "tests/%s/process.%u", run->program,
                         (unsigned)pid) < 0)
        return;
    if (snprintf(path, sizeof(path), "%s/process.%u/recording", folder,
                 (unsigned)pid) < PATH_MAX &&
        access(path, F_OK))
        make_recording(run, result.folder, path, pid);
    test_log_sampling_put(run, &result, pid);
    free(result.folder);
}

static int is_process(const struct dirent *entry)
{
    return !strncmp(entry->d_name, "process.", strlen("process."));
}

static void add_processes(struct test_log_run *run,
                          const struct recorded_end *end,
                          const struct log_style *style, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_process, versionsort);

    for (int i = 0; i < count; i++) {
        add_process(run, end, style, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (!run->count)
        add_result(run, end, "main");
}

/* ---- Files ---- */

void runners_recorded_write(struct test_log_run *run,
                            const struct test_log_options *options,
                            const struct recorded_end *end, const char *folder)
{
    const struct log_style style = {.format = options->output.style.format,
                                    .time = options->output.style.time,
                                    .span_events =
                                        options->output.style.span_events,
                                    .details = options->output.style.details};

    add_samples(run, folder);
    add_processes(run, end, &style, folder);
    test_log_run_finish(
        run, &(struct test_log_finish){.options = options,
                                       .without = TEST_LOG_WITHOUT(PAST),
                                       .stopped = runners_interrupted});
}

/* ---- Begin and end ---- */

void runners_recorded_open(struct test_log_run *run,
                           const struct test_log_options *options,
                           const char *program, char *folder)
{
    char path[PATH_MAX], part[PATH_MAX];

    test_log_copy_settings(run, options);
    run->dir_given = options->dir_given;
    run->scratch_word = options->scratch;
    test_log_trust_program(program);
    if (test_log_run_open(run, options->dir, program) ||
        snprintf(part, sizeof(part), "tests/%s", run->program) >= PATH_MAX ||
        test_log_local_path(run, part, path) || !realpath(path, folder))
        *folder = '\0';
}

void runners_recorded_end(struct test_log_run *run,
                          const struct test_log_options *options)
{
    fprintf(stderr, "run: %s\n", run->path);
    test_log_show_page(run, &options->output);
    test_log_run_compress(run, options, runners_interrupted);
}
