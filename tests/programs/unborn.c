/* unborn.c: a test whose process dies before it reports its start to
 * Criterion. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include <testlog/test_log.h>

TEST_LOG(unborn, never_begins)
{
}

/* Intercepts Criterion's messages, the first of which reports the process. */
int nn_send(int socket, const void *message, size_t size, int flags)
{
    static int (*next)(int, const void *, size_t, int);
    static int count;

    if (!strcmp(program_invocation_name, "boxfort-worker") && count++)
        raise(SIGKILL);
    *(void **)&next = dlsym(RTLD_NEXT, "nn_send");
    return next(socket, message, size, flags);
}
