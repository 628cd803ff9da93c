/* capture.c: redirects a test's stdout and stderr to its files. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/worker/worker.h"

/* Opening a FIFO for writing blocks until it has a reader, so it is first
 * opened for reading and writing. */
static int open_pipe(const char *folder)
{
    char path[PATH_MAX];
    int both, fd;

    if (snprintf(path, sizeof(path), "%s/" TEST_LOG_OUTPUT_PIPE, folder) >=
            PATH_MAX ||
        mkfifo(path, 0600))
        return -1;
    both = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    if (both >= 0)
        close(both);
    return fd;
}

/* Creates a new file. It never opens a file that another test has put there. */
static int open_file(const char *folder)
{
    int in = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    int fd = openat(in, "output.txt",
                    O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (in >= 0)
        close(in);
    return fd;
}

static char *captured; /* the path of the file */

bool test_log_capture_add(const char *text, size_t size)
{
    int fd = captured
                 ? open(captured, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    bool added = fd >= 0;

    for (ssize_t put; added && size; text += put, size -= (size_t)put) {
        put = write(fd, text, size);
        added = put > 0;
        if (put <= 0)
            put = 0;
    }
    added = added && write(fd, "\n", 1) == 1;
    if (fd >= 0)
        close(fd);
    return added;
}

/* Flushes what was printed before, so that it goes to the original output. */
void test_log_capture(const char *folder, bool piped)
{
    int fd = piped ? open_pipe(folder) : open_file(folder);

    if (fd < 0)
        return;
    if (!piped && asprintf(&captured, "%s/output.txt", folder) < 0)
        captured = NULL;
    fflush(NULL);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

/* Live lines go to the stderr that the test began with, even if the test
 * redirects its own. The copy has a high number, because a test may rely on low
 * ones. */
int test_log_line_output(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200);

    return fd < 0 ? STDERR_FILENO : fd;
}
