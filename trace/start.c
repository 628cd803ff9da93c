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

/* ---- host_tracer_level ---- */

static unsigned most_verbose;

static unsigned interest(struct trace_site *site)
{
    return site->level <= most_verbose ? TRACE_ALWAYS : 0;
}

static const struct trace_subscriber host_level = {.interest = interest};

/* Fails if log_subscribe has decided what is recorded. */
static int set_host_level(uint64_t level)
{
    static const unsigned levels[] = {TRACE_LEVEL_OFF, TRACE_LEVEL_INFO,
                                      TRACE_LEVEL_DEBUG, TRACE_LEVEL_TRACE};

    if (level == TRACE_HOST_LEVEL_UNSET)
        return 0;
    if (trace_subscriber) {
        errno = EBUSY;
        return -1;
    }
    most_verbose = levels[level];
    trace_subscribe(&host_level);
    return 0;
}

static void unset_host_level(void)
{
    if (trace_subscriber == &host_level)
        trace_subscribe(NULL);
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

/* Whether a variable names a library to a driver or loader. */
static bool is_named(void)
{
#define TRACE_X(folder, variable)                                              \
    if (getenv(variable))                                                      \
        return true;
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
    return getenv("CUDA_INJECTION64_PATH");
}

/* setenv is unsafe beside threads, so it is left out if no driver would load
 * our library. */
static void offer_to_devices(const struct trace_profiler *profiler)
{
    trace_device_configure(profiler);
    if ((profiler->device_tracer_level && is_named()) ||
        (profiler->gpu_enable_nvtx_tracking && getenv("NVTX_INJECTION64_PATH")))
        trace_device_publish();
}

int trace_start(const char *to, const char *text)
{
    struct trace_options options = {0};
    struct trace_profiler profiler;
    char path[PATH_MAX];

    if (parse_options(text, &profiler))
        return -1;
    if (trace_recording.open && !trace_recording.joined) {
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
        set_host_level(profiler.host_tracer_level))
        return -1;

    if (profiler.gpu_enable_nvtx_tracking)
        trace_nvtx_send();

    int result = trace_open(path, &options);

    /* Replaces the recording of an earlier start. */
    if (result && errno == EEXIST && !unlink(path))
        result = trace_open(path, &options);
    if (!result) {
        offer_to_devices(&profiler);
        strcpy(directory, to);
        starter = getpid();
    } else {
        unset_host_level();
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
    unset_host_level();
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
