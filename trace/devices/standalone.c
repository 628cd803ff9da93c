/* standalone.c: starts a recording in a program that has no tests. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/devices/standalone.h"
#include "trace/record/profiler.h"

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

static const struct trace_device_host *record_in(const char *folder)
{
    char path[PATH_MAX], name[64];
    const char *log = getenv("TESTLOG_RECORD_LOG");
    const char *const meta[] = {
        "test", name, "program", program_invocation_name, log ? "log" : NULL,
        log,    NULL};
    struct trace_options options = {.meta = meta};
    struct trace_profiler profiler;

    snprintf(name, sizeof(name), "process/%ld", (long)getpid());
    if ((size_t)snprintf(path, sizeof(path), "%s/process.%ld/recording", folder,
                         (long)getpid()) >= sizeof(path))
        return NULL;
    if (make_folders(path) || trace_open(path, &options)) {
        dprintf(STDERR_FILENO, "testlog: cannot record to %s: %s\n", path,
                strerror(errno));
        return NULL;
    }
    atexit(trace_close);
    profiler = trace_profiler_of(getenv("TESTLOG_RECORD_OPTIONS"));
    trace_device_configure(&profiler);
    return trace_device_host();
}

static const struct trace_device_host *host;

/* A test's recording may begin later, so that is looked for again. */
static void find(void)
{
    static bool tried;
    const char *folder = getenv("TESTLOG_RECORD");

    host = trace_device_find();
    if (!host && !tried && folder && *folder) {
        tried = true;
        host = record_in(folder);
    }
}

const struct trace_device_host *trace_device_record_here(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct trace_device_host *found;
    int error = errno;

    pthread_mutex_lock(&lock);
    if (!host)
        find();
    found = host;
    pthread_mutex_unlock(&lock);
    errno = error;
    return found;
}
