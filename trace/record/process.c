/* process.c: records a whole process for testlog record, which names a folder
 * in its environment. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler.h"
#include "recorder.h"
#include "trace/device.h"

/* Makes the folders of a path; leaves the path as it was. */
static int make_folders(char *path)
{
    for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
        int failed;

        *end = '\0';
        failed = mkdir(path, 0777) && errno != EEXIST;
        *end = '/';
        if (failed)
            return -1;
    }
    return 0;
}

/* Another copy of the recorder, or the program that this process was before an
 * exec, may have begun the recording. */
static int begin(char *path, const struct trace_options *options)
{
    if (make_folders(path))
        return -1;
    if (!trace_open(path, options)) {
        trace_recording.yields = true;
        return atexit(trace_close);
    }
    return errno == EEXIST ? trace_join(path) : -1;
}

const struct trace_function_filter *trace_function_filter_attach(const char *id)
{
    const void *memory = *id ? shmat(atoi(id), NULL, SHM_RDONLY) : (void *)-1;

    return memory == (void *)-1 ? NULL : memory;
}

static int record_in(const char *folder)
{
    struct trace_profiler profiler =
        trace_profiler_of(getenv("TESTLOG_RECORD_OPTIONS"));
    char path[PATH_MAX], name[64];
    const char *log = getenv("TESTLOG_RECORD_LOG");
    const char *lines = getenv("TESTLOG_RECORD_LINES");
    const char *functions = getenv("TESTLOG_RECORD_FUNCTIONS");
    bool none = functions && !strcmp(functions, "none");
    const char *const meta[] = {"test",
                                name,
                                "program",
                                program_invocation_name,
                                log ? "log" : NULL,
                                log,
                                lines ? "lines" : NULL,
                                lines,
                                NULL};
    struct trace_options options = {.limit = profiler.limit,
                                    .functions_limit =
                                        none ? 0 : profiler.functions_limit,
                                    .meters = trace_profiler_meters(&profiler),
                                    .meta = meta};

    if (functions && !none)
        options.functions = trace_function_filter_attach(functions);

    snprintf(name, sizeof(name), "process/%ld", (long)getpid());
    if ((size_t)snprintf(path, sizeof(path), "%s/process.%ld/recording", folder,
                         (long)getpid()) >= sizeof(path))
        return -1;
    if (trace_host_level_set(profiler.host_tracer_level) ||
        begin(path, &options)) {
        dprintf(STDERR_FILENO, "testlog: cannot record to %s: %s\n", path,
                strerror(errno));
        return -1;
    }
    trace_device_configure(&profiler);
    return 0;
}

bool trace_process_asked(void)
{
    return secure_getenv(TRACE_INVITATION) || secure_getenv("TESTLOG_RECORD") ||
           secure_getenv("TRACE_SERVER");
}

int trace_process_record(void)
{
    const char *folder = secure_getenv("TESTLOG_RECORD");
    static bool tried;

    if (tried || trace_is_recording() || !folder || !*folder)
        return -1;
    tried = true;
    return record_in(folder);
}
