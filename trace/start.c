/* start.c: records a whole program, without tests. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <testlog/trace.h>

#include "device.h"
#include "trace/base/file.h"
#include "trace/export/chrome.h"
#include "trace/record/nvtx.h"
#include "trace/record/profiler.h"
#include "trace/record/write.h"

static char directory[PATH_MAX];
static pid_t starter; /* its forked children stop nothing */

static int parse_options(const char *text, struct trace_profiler *profiler)
{
    struct trace_profiler_error error;

    *profiler = trace_profiler_default;
    if (!text || !*text ||
        !trace_profiler_read(profiler, text, TRACE_PROFILER_OF_START, &error))
        return 0;
    errno = EINVAL;
    return -1;
}

/* ---- Starting and stopping ---- */

static int join(char *path, const char *folder, const char *name)
{
    int size = snprintf(path, PATH_MAX, "%s/%s", folder, name);

    if (size < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int trace_start(const char *to, const char *text)
{
    struct trace_options options = {0};
    struct trace_profiler profiler;
    char path[PATH_MAX];

    if (parse_options(text, &profiler))
        return -1;
    if (trace_recording.open && !trace_recording.yields) {
        errno = EBUSY;
        return -1;
    }
    options.limit = profiler.limit;
    if (strlen(to) >= sizeof(directory)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (mkdir(to, 0777) && errno != EEXIST)
        return -1;
    if (join(path, to, "recording") ||
        trace_host_level_set(profiler.host_tracer_level))
        return -1;

    if (profiler.gpu_enable_nvtx_tracking)
        trace_nvtx_send();

    int result = trace_open(path, &options);

    /* Replaces the recording of an earlier start. */
    if (result && errno == EEXIST && !unlink(path))
        result = trace_open(path, &options);
    if (!result) {
        trace_device_configure(&profiler);
        trace_device_offer();
        strcpy(directory, to);
        starter = getpid();
    } else {
        trace_host_level_unset();
    }
    return result;
}

static int export_chrome(struct trace_reader *reader)
{
    struct trace_file file = {0};
    struct trace_chrome chrome;
    char path[PATH_MAX];

    if (join(path, directory, "trace.json") || trace_file_open(&file, path))
        return -1;
    trace_chrome_begin(&chrome, file.stream);
    trace_chrome_add(&chrome, reader, (uint32_t)getpid(),
                     program_invocation_short_name);
    trace_chrome_end(&chrome, NULL);
    return trace_file_commit(&file);
}

int trace_stop(void)
{
    char path[PATH_MAX];

    if (!directory[0] || starter != getpid()) {
        errno = EINVAL;
        return -1;
    }
    trace_close();
    trace_host_level_unset();
    if (join(path, directory, "recording"))
        return -1;

    struct trace_reader *reader = trace_reader_open(path);
    int result = reader ? export_chrome(reader) : -1;

    if (reader)
        trace_reader_close(reader);
    trace_shrink(path);
    directory[0] = '\0';
    return result;
}
