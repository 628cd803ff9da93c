/* output_pipe.c: keeps the output of tests under a file size limit (ulimit -f).
 *
 * A test writes its output to a file. Under a finite RLIMIT_FSIZE, a test that
 * prints more would die, although Criterion alone passes it. So it writes to a
 * FIFO, and the runner writes the file up to the limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/watch.h"

#define FIFO "output.pipe"

enum { ROOM = 1 << 20 }; /* of the FIFO: the most for ordinary users */

/* The ends of a FIFO. */
struct test_log_output_pipe {
    int from, to;
    bool full; /* no more is written to the file */
    int error; /* why; 0: the test has ended */
};

uint64_t test_log_file_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY
               ? UINT64_MAX
               : limit.rlim_cur;
}

bool test_log_output_pipe_wanted(const struct test_log_options *options)
{
    return !options->live && test_log_file_limit() != UINT64_MAX;
}

/* Without a reader, a FIFO cannot be opened for writing without waiting. So it
 * is opened for both first. */
int test_log_output_pipe_enter(const char *folder)
{
    char path[PATH_MAX];
    int both, fd;

    if (snprintf(path, sizeof(path), "%s/" FIFO, folder) >= PATH_MAX ||
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

/* ---- The runner ---- */

static bool open_ends(struct test_log_output_pipe *drain,
                      const struct test_log_run *run,
                      const struct test_log_result *result)
{
    char path[PATH_MAX];

    drain->from = drain->to = -1;
    if (!test_log_file(run, result, FIFO, path)) {
        drain->from =
            open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        unlink(path);
    }
    if (drain->from < 0)
        return false;
    fcntl(drain->from, F_SETPIPE_SZ, ROOM);
    if (!test_log_file(run, result, "output.txt", path))
        drain->to = open(
            path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    drain->full = drain->to < 0;
    drain->error = drain->full ? errno : 0;
    return true;
}

void test_log_output_pipe_open(const struct test_log_run *run,
                               struct test_log_result *result)
{
    struct test_log_output_pipe *drain = calloc(1, sizeof(*drain));

    if (drain && open_ends(drain, run, result))
        result->drain = drain;
    else
        free(drain);
}

/* Writes what fits; the rest is lost. */
static void keep(struct test_log_output_pipe *drain, const char *data,
                 size_t size)
{
    while (size && !drain->full) {
        ssize_t written = write(drain->to, data, size);

        if (written >= 0) {
            data += written;
            size -= (size_t)written;
        } else if (errno != EINTR) {
            drain->full = true;
            drain->error = errno;
        }
    }
}

/* Returns whether there may be more. Takes no more than the FIFO has room for,
 * or a test that always prints would keep the runner here. */
static bool pump(struct test_log_output_pipe *drain)
{
    static char buffer[1 << 16];
    ssize_t size, left = ROOM;

    do {
        size = read(drain->from, buffer, sizeof(buffer));
        if (size > 0)
            keep(drain, buffer, (size_t)size);
        left -= size > 0 ? size : 0;
    } while (left > 0 && (size > 0 || (size < 0 && errno == EINTR)));
    return size > 0 || (size < 0 && errno == EAGAIN);
}

void test_log_output_pipe_close(struct test_log_result *result)
{
    if (!result->drain)
        return;
    close(result->drain->from);
    if (result->drain->to >= 0)
        close(result->drain->to);
    free(result->drain);
    result->drain = NULL;
}

bool test_log_output_pipe_pump(struct test_log_result *result)
{
    return result->drain && pump(result->drain);
}

static void complain(const struct test_log_result *result, int error)
{
    if (error == EFBIG)
        test_log_notice("%s: kept the first %llu bytes of its output; the file "
                        "size limit (ulimit -f) allows no more",
                        test_log_name(result),
                        (unsigned long long)test_log_file_limit());
    else
        test_log_notice("%s: cannot keep all of its output: %s",
                        test_log_name(result), strerror(error));
}

void test_log_output_pipe_finish(struct test_log_result *result)
{
    if (!result->drain)
        return;
    pump(result->drain);
    if (result->drain->error)
        complain(result, result->drain->error);
    result->drain->full = true; /* what its children print now is lost */
    result->drain->error = 0;
}
