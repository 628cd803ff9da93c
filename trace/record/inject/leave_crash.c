/* leave_crash.c: libtestlog-crash.so, which `testlog run` loads into programs
 * without testlog. A process that crashes leaves its stack for the runner.
 *
 * Handlers of the program stay, and forked children do not report. Programs
 * that this one starts do not load the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/record/crash_handler.h"
#include "trace/record/leave_crash.h"

static char file[64]; /* that the runner reads */
static pid_t watched;

static void write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    ssize_t wrote;

    for (; size; at += wrote, size -= (size_t)wrote) {
        wrote = write(fd, at, size);
        if (wrote <= 0)
            return;
    }
}

static void leave(const struct trace_crash *crash, const void *context)
{
    const struct trace_crash_left *left;
    sigset_t all;
    int fd;

    (void)context;
    /* A limit on files must not kill the program because of what we write. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (getpid() != watched || !trace_crash_is_first())
        return;
    fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    left = trace_crash_copy(crash, true);
    write_all(fd, left, trace_crash_left_size(left));
    close(fd);
}

/* Removes our library, which the runner has put first. */
static void hide(void)
{
    const char *list = getenv("LD_PRELOAD");
    const char *rest = list ? strchr(list, ':') : NULL;

    unsetenv(TRACE_LEAVE_CRASH_VARIABLE);
    if (rest)
        setenv("LD_PRELOAD", rest + 1, 1);
    else
        unsetenv("LD_PRELOAD");
}

static __attribute__((constructor)) void begin(void)
{
    static const struct trace_crash_hooks hooks = {.crashed = leave};
    const char *given = getenv(TRACE_LEAVE_CRASH_VARIABLE);
    int error = errno;

    if (!given || strlen(given) >= sizeof(file))
        return;
    strcpy(file, given);
    hide();
    watched = getpid();
    trace_crash_handle(&hooks);
    errno = error;
}
