/* harness_stdio_fds_test.c: reserves the standard descriptors that were closed
 * at start. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/criterion/program/program.h"

TestSuite(harness_stdio_fds, .timeout = 60);

static void expect_beyond(void)
{
    int fd = open("/dev/zero", O_RDONLY);

    cr_expect_gt(fd, STDERR_FILENO);
    close(fd);
}

Test(harness_stdio_fds, keeps_files_off_closed_descriptors)
{
    for (unsigned closed = 1; closed < 8; closed++) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            if (closed & 1u << fd)
                close(fd);
        test_log_stdio_hold();
        expect_beyond();
    }
}

Test(harness_stdio_fds, lets_closed_descriptors_fail)
{
    char byte = 'x';

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    test_log_stdio_hold();
    errno = 0;
    cr_expect_lt(read(STDIN_FILENO, &byte, 1), 0);
    cr_expect_eq(errno, EBADF);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        errno = 0;
        cr_expect_lt(write(fd, &byte, 1), 0);
        cr_expect_eq(errno, EBADF);
    }
}

Test(harness_stdio_fds, keeps_open_descriptors)
{
    char byte = 0;
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    close(STDERR_FILENO);
    test_log_stdio_hold();
    cr_expect_eq(write(STDOUT_FILENO, "y", 1), 1);
    cr_expect_eq(read(ends[0], &byte, 1), 1);
    cr_expect_eq(byte, 'y');
}
