/* trace_descriptor_test.c: recognizes descriptors of ours. */
#include "tests/support/support.h"

#include "trace/base/descriptor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(trace_descriptor, .init = test_folder);

Test(trace_descriptor, recognizes_what_took_its_place)
{
    struct trace_descriptor ours;
    int pair[2], other = open(test_path("file"), O_RDWR | O_CREAT, 0600);

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ours = trace_descriptor_of(pair[0]);
    cr_expect(trace_descriptor_is_ours(&ours));
    dup2(pair[1], pair[0]); /* another socket */
    cr_expect_not(trace_descriptor_is_ours(&ours));
    dup2(other, pair[0]);
    cr_expect_not(trace_descriptor_is_ours(&ours));
    trace_descriptor_close(&ours);
    cr_expect_neq(fcntl(pair[0], F_GETFD), -1);
    close(pair[0]);
    cr_expect_not(trace_descriptor_is_ours(&ours));
}

Test(trace_descriptor, closes_its_own_once)
{
    int fd = open(test_path("file"), O_RDWR | O_CREAT, 0600);
    struct trace_descriptor ours = trace_descriptor_of(fd);

    trace_descriptor_close(&ours);
    cr_expect_eq(fcntl(fd, F_GETFD), -1);
    cr_expect_eq(open(test_path("file"), O_RDWR), fd);
    trace_descriptor_close(&ours);
    cr_expect_neq(fcntl(fd, F_GETFD), -1);
}

Test(trace_descriptor, is_none_without_a_file)
{
    struct trace_descriptor none = {0};

    cr_expect_not(trace_descriptor_is_ours(&none)); /* though 0 is open */
    errno = ENFILE;
    none = trace_descriptor_of(-1);
    cr_expect_eq(errno, ENFILE);
    cr_expect_not(trace_descriptor_is_ours(&none));
}
