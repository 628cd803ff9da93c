/* temporary.c: a folder that is removed when the process ends.
 *
 * A child removes it when a pipe has lost its writer, so the folder goes even
 * if the process is killed. A process that exits waits for the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive.h"
#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"

static struct {
    char path[PATH_MAX]; /* "": there is none */
    int writer;          /* the end of the pipe */
    pid_t remover;
    unsigned count; /* of folders in it */
} temporary;

/* Runs in the child. Signals for the process group must not end it, and it must
 * not hold pipes open that others read. */
static void wait_and_remove(const int ends[2])
{
    sigset_t all;
    char byte;
    int null = open("/dev/null", O_RDWR);

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    dup2(ends[0], STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    closefrom(STDERR_FILENO + 1);
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
        ;
    _exit(test_log_remove_tree(AT_FDCWD, temporary.path) != 0);
}

static void remove_now(void)
{
    close(temporary.writer);
    while (waitpid(temporary.remover, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Starts the child; -1 with errno. */
static int start_remover(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    fflush(NULL);
    temporary.remover = fork();
    if (!temporary.remover)
        wait_and_remove(ends);
    close(ends[0]);
    temporary.writer = ends[1];
    if (temporary.remover > 0)
        return atexit(remove_now);
    close(ends[1]);
    return -1;
}

static int begin(void)
{
    const char *parent = test_log_variable("TMPDIR");
    int error;

    if (snprintf(temporary.path, sizeof(temporary.path), "%s/testlog-XXXXXX",
                 parent ? parent : "/tmp") >= PATH_MAX) {
        temporary.path[0] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }
    if (mkdtemp(temporary.path) && !start_remover())
        return 0;
    error = errno;
    rmdir(temporary.path);
    temporary.path[0] = '\0';
    errno = error;
    return -1;
}

char *runners_temporary(void)
{
    char *path;

    if (!temporary.path[0] && begin())
        return NULL;
    if (asprintf(&path, "%s/%u", temporary.path, ++temporary.count) < 0)
        return NULL;
    if (!mkdir(path, 0700))
        return path;
    free(path);
    return NULL;
}
