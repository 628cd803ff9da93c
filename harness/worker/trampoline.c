/* trampoline.c: runs in place of an annotated test: starts its recording,
 * captures its output, and calls the test. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <testlog/test_log.h>

#include "harness/worker/worker.h"
#include "trace/backends.h"
#include "trace/nvtx/nvtx.h"
#include "trace/record/profiler.h"

static char test_name[512];
static bool begun;       /* log and trace have begun */
static bool unannotated; /* they begin with the fixtures */

static bool is_set(const char *text)
{
    return text[0] == '1';
}

static int subscribe(const struct test_log_session *session, const char *show)
{
    struct log_options options = {
        .show = show,
        .record = session->record,
        .live = is_set(session->live),
        .style = {.format = (enum log_format)atoi(session->format),
                  .time = (enum log_time)atoi(session->time),
                  .span_events = (unsigned)atoi(session->span_events),
                  .details = (unsigned)atoi(session->details),
                  .color = is_set(session->color),
                  .test = is_set(session->prefix) ? test_name : NULL},
    };

    if (options.live)
        options.fd = test_log_line_output();
    return log_subscribe(&options);
}

/* Another test may have replaced the file by a link. */
static bool is_folder(const char *path)
{
    struct stat status;

    return !lstat(path, &status) && S_ISDIR(status.st_mode);
}

/* A test runs even if it cannot be recorded; the runner prints why. */
static void record(const struct test_log_session *session, const char *folder,
                   const char *show, const char *show_origin)
{
    const char *const meta[] = {"test",
                                test_name,
                                "log",
                                show,
                                "log_origin",
                                show_origin,
                                "filter",
                                session->record,
                                "filter_origin",
                                session->record_origin,
                                "runner",
                                session->runner,
                                *session->lines ? "lines" : NULL,
                                session->lines,
                                NULL};
    struct trace_profiler profiler = trace_profiler_of(session->profiler);
    bool none = !strcmp(session->functions, "none");
    struct trace_options options = {
        .limit = strtoull(session->limit, NULL, 10),
        .functions_limit = none ? 0 : profiler.functions_limit,
        .meters = trace_profiler_meters(&profiler),
        .functions =
            none ? NULL : trace_function_filter_attach(session->functions),
        .origin = test_log_anchor_of(session->origin),
        .meta = meta,
    };
    char path[PATH_MAX];
    bool opened = false;

    if (profiler.gpu_enable_nvtx_tracking)
        trace_nvtx_send();

    if (is_folder(folder) &&
        snprintf(path, sizeof(path), "%s/recording", folder) < PATH_MAX) {
        opened = !trace_open(path, &options);
        if (!opened)
            trace_refuse(path, errno);
    }
    if (!opened && is_set(session->live))
        opened = !trace_open(NULL, &options);
    if (!opened)
        return;
    trace_nvtx_note();
    trace_device_configure(&profiler);
    test_log_crash_record(is_set(session->live));
    trace_device_publish();
    trace_invite();
}

/* Devices may still run. */
static void close_recording(void)
{
    test_log_status_closing();
    trace_close();
    test_log_status_closed();
}

static void begin(const char *filter, const struct test_log_session *session)
{
    const struct criterion_test *test = criterion_current_test;
    bool is_default = filter && !strcmp(session->show_origin, "default");
    char *show =
        test_log_filter_for(session, test->category, test->name, filter);
    char folder[PATH_MAX];

    begun = true;
    snprintf(test_name, sizeof(test_name), "%s/%s", test->category, test->name);
    if (!show ||
        snprintf(folder, sizeof(folder), "%s/%s.%s%s", session->folder,
                 test->category, test->name, session->attempt) >= PATH_MAX) {
        free(show);
        return;
    }
    if (!is_set(session->live))
        test_log_capture(folder, is_set(session->piped));
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* in order with stderr */
    if (!subscribe(session, show)) {
        record(session, folder, show,
               is_default ? "test" : session->show_origin);
        trace_compilers_watch();
        atexit(close_recording);
    }
    free(show);
}

static void end(void)
{
    trace_unwind(0);
#define TRACE_X(folder, variable) trace_##folder##_check();
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
    close_recording();
}

void test_log_trampoline(void)
{
    const struct test_log_session *session = test_log_session();
    const struct test_log_entry *entry = test_log_annotated_find(
        criterion_current_test->category, criterion_current_test->name);

    if (!entry)
        abort(); /* the runner replaces only annotated tests */
    if (test_log_session_is_worker(session))
        begin(entry->filter, session);
    entry->test->test();
    end();
}

void test_log_worker_begin(void)
{
    const struct test_log_session *session = test_log_session();

    if (begun || !test_log_session_is_worker(session) ||
        !is_set(session->all_tests))
        return;
    unannotated = true;
    begin(NULL, session);
}

/* The runner judges what a device did. Criterion considers the test ended only
 * after this. */
void test_log_worker_end_devices(void)
{
    if (!begun || test_log_forked() || !trace_device_attached())
        return;
    end();
    test_log_status_devices();
}

void test_log_worker_end(void)
{
    if (unannotated)
        end();
}
