/* test_output.c: redirects the output of a test to the program's output.txt. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/core/in_process.h"

/* Stdout and stderr. The program may close the copies during a test, and open
 * others in their place. */
static struct trace_descriptor before[2];

static struct trace_descriptor printed; /* the file; none: not redirected */
static off_t begins;                    /* where in it the test's output does */
static pid_t redirected;                /* the process */

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

void test_log_output_begin(int file, uint64_t size)
{
    flush();
    printed = trace_descriptor_of(file);
    begins = (off_t)size;
    redirected = getpid();
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR_HIGH);

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
    printed = (struct trace_descriptor){0};
}

/* A test of a forked child may be within one of the parent's. */
static bool is_same_file(const struct trace_descriptor *a,
                         const struct trace_descriptor *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Makes only calls that signal handlers may make. */
void test_log_output_rescue(void)
{
    const struct trace_descriptor *to = &before[STDERR_FILENO - 1];
    char bytes[4096];
    off_t at = begins;
    ssize_t got;

    if (redirected != getpid() || !trace_descriptor_is_ours(&printed) ||
        !trace_descriptor_is_ours(to) || is_same_file(to, &printed))
        return;
    while ((got = pread(printed.fd, bytes, sizeof(bytes), at)) > 0 &&
           write(to->fd, bytes, (size_t)got) == got)
        at += got;
    printed = (struct trace_descriptor){0};
}

void test_log_output_restore(void)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (trace_descriptor_is_ours(&before[fd - 1]))
            dup2(before[fd - 1].fd, fd);
}
