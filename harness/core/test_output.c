/* test_output.c: redirects what a test prints to the program's output.txt. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/core/in_process.h"

enum { DESCRIPTORS = 100 }; /* programs may rely on low ones */

static int before[2] = {-1, -1}; /* stdout and stderr; -1: not redirected */

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

void test_log_output_begin(int file)
{
    flush();
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        before[fd - 1] = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTORS);
        if (before[fd - 1] >= 0)
            dup2(file, fd);
    }
}

void test_log_output_end(void)
{
    flush();
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (before[fd - 1] < 0)
            continue;
        dup2(before[fd - 1], fd);
        close(before[fd - 1]);
        before[fd - 1] = -1;
    }
}
