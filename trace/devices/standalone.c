/* standalone.c: starts a recording in a program that has no tests. */
#include <errno.h>
#include <pthread.h>

#include "trace/devices/standalone.h"
#include "trace/record/recorder.h"

static const struct trace_device_host *host;

/* A test's recording, or a capture, may begin later. */
static void find(void)
{
    const struct trace_device_host *found = trace_device_find();

    if (!found && !trace_process_record())
        found = trace_device_host();
    if (found && found->recording())
        host = found;
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
