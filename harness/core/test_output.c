/* test_output.c: redirects what a test prints to the program's output.txt. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/core/in_process.h"

enum { DESCRIPTORS = 100 }; /* programs may rely on low ones */

static struct trace_descriptor before[2]; /* stdout and stderr */

uint64_t test_log_output_size(int file)
{
    struct stat status;

    return fstat(file, &status) ? 0 : (uint64_t)status.st_size;
}

static void flush(void)
{
    fflush(stdout);
    fflush(stderr);
}

/* The program may close them during a test, and open others in their place. */
void test_log_output_begin(int file)
{
    flush();
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTORS);

        if (copy < 0)
            continue;
        before[fd - 1] = trace_descriptor_of(copy);
        dup2(file, fd);
    }
}

void test_log_output_end(void)
{
    flush();
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct trace_descriptor *copy = &before[fd - 1];

        if (trace_descriptor_is_ours(copy))
            dup2(copy->fd, fd);
        trace_descriptor_close(copy);
        *copy = (struct trace_descriptor){0};
    }
}
