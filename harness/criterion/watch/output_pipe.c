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

#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "jobs.h"

enum { ROOM = 1 << 20 }; /* the largest FIFO for ordinary users */

/* The ends of a FIFO. */
struct test_log_output_pipe {
    int from, to;
    bool full; /* no more is written to the file */
    int error; /* why not; 0: the test has ended */
};

bool test_log_output_pipe_wanted(const struct test_log_options *options)
{
    return !options->output.live && test_log_file_limit() != UINT64_MAX;
}

static bool open_ends(struct test_log_output_pipe *ends,
                      const struct test_log_run *run,
                      const struct test_log_result *result)
{
    char path[PATH_MAX];

    ends->from = ends->to = -1;
    if (!test_log_local_file(run, result, TEST_LOG_OUTPUT_PIPE, path)) {
        ends->from = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        unlink(path);
    }
    if (ends->from < 0)
        return false;
    fcntl(ends->from, F_SETPIPE_SZ, ROOM);
    if (!test_log_local_file(run, result, "output.txt", path))
        ends->to = open(
            path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    ends->full = ends->to < 0;
    ends->error = ends->full ? errno : 0;
    return true;
}

void test_log_output_pipe_open(const struct test_log_run *run,
                               struct test_log_job *job)
{
    struct test_log_output_pipe *ends = calloc(1, sizeof(*ends));

    if (ends && open_ends(ends, run, job->result))
        job->pipe = ends;
    else
        free(ends);
}

/* Writes what fits; the rest is lost. */
static void keep(struct test_log_output_pipe *ends, const char *data,
                 size_t size)
{
    while (size && !ends->full) {
        ssize_t written = write(ends->to, data, size);

        if (written >= 0) {
            data += written;
            size -= (size_t)written;
        } else if (errno != EINTR) {
            ends->full = true;
            ends->error = errno;
        }
    }
}

/* Returns whether there may be more. It reads at most as much as fits in the
 * FIFO, because a test that never stops printing would keep the runner busy. */
static bool pump(struct test_log_output_pipe *ends)
{
    static char buffer[1 << 16];
    ssize_t size, left = ROOM;

    do {
        size = read(ends->from, buffer, sizeof(buffer));
        if (size > 0)
            keep(ends, buffer, (size_t)size);
        left -= size > 0 ? size : 0;
    } while (left > 0 && (size > 0 || (size < 0 && errno == EINTR)));
    return size > 0 || (size < 0 && errno == EAGAIN);
}

void test_log_output_pipe_close(struct test_log_job *job)
{
    if (!job->pipe)
        return;
    close(job->pipe->from);
    if (job->pipe->to >= 0)
        close(job->pipe->to);
    free(job->pipe);
    job->pipe = NULL;
}

bool test_log_output_pipe_pump(struct test_log_job *job)
{
    return job->pipe && pump(job->pipe);
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

void test_log_output_pipe_finish(struct test_log_job *job)
{
    if (!job->pipe)
        return;
    pump(job->pipe);
    if (job->pipe->error)
        complain(job->result, job->pipe->error);
    job->pipe->full = true; /* output of its children is lost from now on */
    job->pipe->error = 0;
}
