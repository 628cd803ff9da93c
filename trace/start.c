/* start.c: records a whole program, without tests. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <testlog/trace.h>

#include "device.h"
#include "trace/base/file.h"
#include "trace/nvtx/nvtx.h"
#include "trace/record/profiler.h"
#include "trace/record/write.h"

static char recording[PATH_MAX];
static pid_t starter; /* its forked children stop nothing; 0: not started */

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

/* The program may change its working directory until it stops. */
static int make_folder(const char *folder)
{
    char path[PATH_MAX];
    int size;

    if ((mkdir(folder, 0777) && errno != EEXIST) || !realpath(folder, path))
        return -1;
    size = snprintf(recording, sizeof(recording), "%s/recording", path);
    if ((size_t)size < sizeof(recording))
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Replaces the recording of an earlier start. */
static int open_recording(const struct trace_profiler *profiler)
{
    const char *const meta[] = {"program", program_invocation_name, NULL};
    const struct trace_options options = {
        .limit = profiler->limit,
        .functions_limit = profiler->functions_limit,
        .meters = trace_profiler_meters(profiler),
        .meta = meta};
    int result = trace_open(recording, &options);

    if (result && errno == EEXIST && !unlink(recording))
        result = trace_open(recording, &options);
    return result;
}

int trace_start(const char *folder, const char *text)
{
    struct trace_profiler profiler;

    if (parse_options(text, &profiler))
        return -1;
    if (trace_is_recording() && !trace_recording.yields) {
        errno = EBUSY;
        return -1;
    }
    if (make_folder(folder) || trace_host_level_set(profiler.host_tracer_level))
        return -1;
    if (profiler.gpu_enable_nvtx_tracking)
        trace_nvtx_send();
    if (open_recording(&profiler)) {
        trace_host_level_unset();
        return -1;
    }
    trace_device_configure(&profiler);
    trace_device_offer();
    starter = getpid();
    return 0;
}

/* Decodes what CUPTI wrote: nobody else may look at the recording. */
static void settle(void)
{
    int fd = trace_beneath(AT_FDCWD, recording, O_RDWR);
    struct trace_reader *reader =
        fd >= 0 && trace_is_raw(fd) ? trace_reader_open(recording) : NULL;

    if (reader)
        trace_reader_settle(reader, fd);
    trace_reader_close(reader);
    if (fd >= 0)
        close(fd);
}

int trace_stop(void)
{
    if (!starter || starter != getpid()) {
        errno = EINVAL;
        return -1;
    }
    starter = 0;
    trace_close();
    trace_device_pause();
    trace_host_level_unset();
    settle();
    if (trace_shrink(recording))
        return -1;
    trace_unmap_unused();
    return 0;
}
