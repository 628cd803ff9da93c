/* send_results.c: sends the results of a program to the `testlog run` that
 * started it.
 *
 * They go through a pipe, which does not depend on a folder, a disk or a file
 * size limit. The reader still gets all that was written before a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"

static int pipe_end; /* 0: there is none */

static bool is_pipe(int fd)
{
    struct stat status;

    return !fstat(fd, &status) && S_ISFIFO(status.st_mode);
}

void test_log_handover_begin(int fd)
{
    bool taken =
        fd > STDERR_FILENO && is_pipe(fd) && !fcntl(fd, F_SETFD, FD_CLOEXEC);

    pipe_end = taken ? fd : 0;
    unsetenv(TEST_LOG_RESULTS);
}

bool test_log_handover_open(void)
{
    return pipe_end != 0;
}

int test_log_handover_line(const struct trace_text *line)
{
    bool open = pipe_end && is_pipe(pipe_end); /* the program may close it */

    if (!open || test_log_write_all(pipe_end, line->data, line->size)) {
        errno = open ? errno : EBADF;
        return -1;
    }
    return 0;
}

int test_log_handover_run(const struct test_log_run *run)
{
    struct trace_text text = {0};
    int status = -1;

    test_log_run_json(&text, run);
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\n')
            text.data[i] = ' '; /* a separator: strings escape newlines */
    trace_text_char(&text, '\n');
    if (!text.failed)
        status = test_log_handover_line(&text);
    trace_text_free(&text);
    return status;
}
