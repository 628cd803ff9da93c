/* test_files.c: renders a test's trace.json and log.txt from its recording. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/survivors.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/model/test_stacks.h"
#include "trace/base/file.h"
#include "trace/chrome/chrome.h"
#include "trace/read/crashes.h"
#include "trace/record/fatal_signal.h"

enum { RENDERED_MAX = 1 << 20 }; /* bytes of a passing test's recording */

static int write_trace(const struct test_log_run *run,
                       const struct test_log_result *result,
                       struct trace_reader *reader)
{
    struct trace_text lost = {0};
    const bool losses = trace_reader_all_losses(&lost, reader);
    const char *const metadata[] = {"test",
                                    test_log_title(result),
                                    "program",
                                    result->program,
                                    "log",
                                    result->filter ? result->filter : "",
                                    "filter",
                                    run->record ? run->record : "",
                                    "result",
                                    test_log_outcome_word(result->outcome),
                                    "gpu.state",
                                    test_log_gpu_word(result->gpu),
                                    losses ? "lost" : NULL,
                                    lost.data,
                                    NULL};
    struct trace_chrome_test test =
        test_log_trace_test(test_log_title(result), run, result);
    struct trace_text stacks = {0};
    struct trace_chrome chrome;
    struct trace_file file;
    int status = -1;

    if (test_log_create_file(run, result, "trace.json", &file))
        goto out;
    test_log_stacks_text(&stacks, run, result);
    test.stacks = stacks.data;
    trace_chrome_begin(&chrome, file.stream);
    chrome.test = result->began ? &test : NULL; /* or a recorded program */
    trace_chrome_add(&chrome, reader, trace_reader_summary(reader).pid,
                     test_log_title(result));
    trace_chrome_end(&chrome, metadata);
    status = trace_file_commit(&file);
out:
    trace_text_free(&stacks);
    trace_text_free(&lost);
    return status;
}

static int write_log(const struct test_log_run *run,
                     const struct test_log_result *result,
                     struct trace_reader *reader, const struct log_style *style)
{
    struct log_filter *filter = log_filter_parse(
        result->filter ? result->filter : "", "info", "LOG", NULL);
    struct trace_text stacks = {0};
    struct trace_file file;
    int status = -1;

    if (filter && !test_log_create_file(run, result, "log.txt", &file)) {
        log_write_all(filter, style, reader, file.stream);
        test_log_stacks_text(&stacks, run, result);
        if (stacks.size)
            fprintf(file.stream, "stacks:\n%s", stacks.data);
        trace_text_free(&stacks);
        status = trace_file_commit(&file);
    }
    log_filter_free(filter);
    return status;
}

/* The worker prints nothing of its own, so the runner prints why a recording is
 * missing. */
static void print_missing(const struct test_log_run *run,
                          const struct test_log_result *result, int error)
{
    static bool printed;

    if (test_log_disk_full(run->scratch ? run->scratch : run->path))
        error = ENOSPC;
    else if (error == ENOENT && test_log_file_limit() < TRACE_LIMIT_LEAST)
        error = EFBIG;
    if (!printed)
        test_log_notice("%s has no recording: %s (others may lack one, "
                        "too); results are not affected",
                        test_log_title(result),
                        error == EINVAL ? "it is damaged" : strerror(error));
    printed = true;
}

/* Reports losses, unless the test's block prints them. */
static void report_losses(const struct test_log_run *run,
                          struct test_log_result *result,
                          const struct trace_reader *reader)
{
    struct trace_text text = {0};
    const struct trace_summary summary = trace_reader_summary(reader);

    memcpy(result->lost, summary.lost, sizeof(result->lost));
    if (summary.refused)
        print_missing(run, result, summary.error);
    else if (!test_log_outcome_bad(result->outcome) &&
             trace_reader_all_losses(&text, reader))
        test_log_notice("%s: %s", test_log_title(result), text.data);
    trace_text_free(&text);
}

/* The profiler options gpu_max_*. */
static void report_limits(const struct test_log_result *result,
                          const struct test_log_gpu *gpu)
{
    unsigned long long calls = gpu->dropped_callback_events;
    unsigned long long others = gpu->dropped_activity_events;
    unsigned long long spans = gpu->dropped_annotations;

    if (calls || others || spans)
        test_log_notice("%s: gpu_max_callback_api_events dropped %llu records, "
                        "gpu_max_activity_api_events %llu, and "
                        "gpu_max_annotation_strings %llu",
                        test_log_title(result), calls, others, spans);
}

static void report_lost(const struct test_log_result *result, uint64_t lost,
                        uint64_t launches)
{
    if (lost)
        test_log_notice("%s: %llu of %llu launches have no device record; see "
                        "its log",
                        test_log_title(result), (unsigned long long)lost,
                        (unsigned long long)launches);
}

static void note_device(struct test_log_run *run,
                        struct test_log_result *result,
                        enum trace_backend_row row, struct trace_reader *reader)
{
    struct test_log_device device;

    test_log_device_read(&device, row, reader);
    result->devices[row] = device.state;
    report_lost(result, device.lost, device.launches);
    if (device.unfinished)
        test_log_notice("%s: %llu of %llu launches had not ended; testlog "
                        "waits for them up to 2 s",
                        test_log_title(result),
                        (unsigned long long)device.unfinished,
                        (unsigned long long)device.launches);
    test_log_members_add(&run->devices[row], &device, test_log_device_members);
    test_log_members_free(&device, test_log_device_members);
}

void test_log_note_gpu(struct test_log_run *run, struct test_log_result *result,
                       struct trace_reader *reader)
{
    struct test_log_zones zones = {.clock = NULL};
    struct test_log_gpu gpu;

    test_log_gpu_summary_read(run, result, reader);
    for (int i = 1; i < TRACE_BACKEND_COUNT; i++)
        note_device(run, result, (enum trace_backend_row)i, reader);
    test_log_members_read(&zones, test_log_zones_members, reader, "gpu.zones");
    test_log_members_add(&run->zones, &zones, test_log_zones_members);
    test_log_members_free(&zones, test_log_zones_members);
    if (!test_log_gpu_read(&gpu, reader))
        return;
    result->gpu = gpu.state;
    result->gpu_lost = gpu.lost;
    report_lost(result, gpu.lost, gpu.launches);
    report_limits(result, &gpu);
    test_log_members_add(&run->gpu, &gpu, test_log_gpu_members);
    test_log_gpu_free(&gpu);
}

/* Records that survivors make later are kept in the recording, but not
 * rendered. */
static void note_survivors(struct test_log_result *result,
                           const struct trace_reader *reader)
{
    struct trace_text names = {0};

    if (!test_log_survivors(&names, reader))
        return;
    test_log_notice("%s left processes behind: %s; what they record from now "
                    "on is missing in its log and trace",
                    test_log_title(result), names.data ? names.data : "?");
    free(result->survivors);
    result->survivors = names.data;
}

void test_log_note_late_losses(const struct test_log_run *run,
                               struct test_log_result *result)
{
    struct trace_reader *reader =
        result->survivors ? test_log_recording(run, result) : NULL;
    uint64_t lost;

    if (!reader)
        return;
    lost = trace_reader_summary(reader).lost[TRACE_LOSS_END];
    if (lost)
        test_log_notice("%s: %llu records were lost after the test had ended, "
                        "by processes that it left behind: %s",
                        test_log_title(result), (unsigned long long)lost,
                        result->survivors);
    result->lost[TRACE_LOSS_END] = lost;
    trace_reader_close(reader);
}

/* Rendering takes time and space, for a large recording or in each process of a
 * ctest, and hardly anybody reads the files of passing tests. */
static bool is_rendered(const struct test_log_run *run,
                        enum test_log_outcome outcome,
                        const struct trace_reader *reader)
{
    return run->render_all || outcome != TEST_LOG_OUTCOME_PASSED ||
           (!run->parent.share &&
            trace_reader_summary(reader).size <= RENDERED_MAX);
}

void test_log_settle(const struct test_log_run *run,
                     const struct test_log_result *result, bool patient)
{
    struct trace_reader *reader = NULL;
    char name[PATH_MAX];
    int fd;

    if (!result->folder || snprintf(name, sizeof(name), "%s/recording",
                                    result->folder) >= PATH_MAX)
        return;
    fd = test_log_open(run, name, O_RDWR);
    if (fd >= 0 && trace_is_raw(fd))
        reader = test_log_recording(run, result);
    if (reader && !(patient && test_log_survivors(NULL, reader)))
        trace_reader_settle(reader, fd);
    trace_reader_close(reader);
    if (fd >= 0)
        close(fd);
}

bool test_log_render(struct test_log_run *run, struct test_log_result *result,
                     const struct log_style *style, bool patient)
{
    static bool printed; /* the first failure of a run */
    struct log_style plain = *style;
    struct trace_reader *reader;

    if (!result->folder)
        return true;
    test_log_settle(run, result, patient);
    reader = test_log_recording(run, result);
    if (!reader) {
        print_missing(run, result, errno);
        return true;
    }
    if (patient && test_log_survivors(NULL, reader)) {
        trace_reader_close(reader);
        return false;
    }
    plain.color = false;
    plain.test = NULL;
    report_losses(run, result, reader);
    note_survivors(result, reader);
    test_log_note_gpu(run, result, reader);
    result->unrendered = !is_rendered(run, result->outcome, reader);
    if (!result->unrendered && (write_log(run, result, reader, &plain) ||
                                write_trace(run, result, reader))) {
        if (!printed)
            test_log_notice("cannot write the trace and log of %s: %s; results "
                            "are not affected",
                            test_log_title(result), strerror(errno));
        printed = true;
    }
    if (trace_reader_crashes(reader))
        test_log_change_recording(run, result, trace_erase_stacks_beneath);
    trace_reader_close(reader);
    test_log_change_recording(run, result, trace_shrink_beneath);
    return true;
}
