/* trace_unix_socket_test.c: sockets that have a path. */
#include "tests/support/support.h"

#include "trace/base/unix_socket.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(trace_unix_socket, .init = test_folder);

/* Waiting clients stay in line, even if they have gone. */
static int fill(const char *path)
{
    int client;

    while ((client = trace_unix_connect(path)) >= 0)
        close(client);
    return errno;
}

Test(trace_unix_socket, waits_for_no_place_in_a_full_line)
{
    const char *path = test_path("s");

    cr_assert_geq(trace_unix_listen(path, 2), 0);
    cr_expect_eq(fill(path), EAGAIN);
    cr_expect_eq(trace_unix_listen(path, 2), -1);
    cr_expect_eq(errno, EADDRINUSE);
    cr_expect_eq(access(path, F_OK), 0);
}

Test(trace_unix_socket, replaces_only_sockets_that_were_left)
{
    const char *path = test_path("s");
    struct stat status;
    int listener = trace_unix_listen(path, 2);

    trace_unix_remove_left(path);
    cr_expect_eq(access(path, F_OK), 0);
    close(listener);
    cr_expect_eq(trace_unix_connect(path), -1);
    cr_expect_eq(errno, ECONNREFUSED);
    listener = trace_unix_listen(path, 2);
    cr_expect_geq(listener, 0);
    cr_expect_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    close(listener);
    trace_unix_remove_left(path);
    cr_expect_neq(access(path, F_OK), 0);
    test_save(path, "file", 4);
    trace_unix_remove_left(path);
    cr_expect_eq(access(path, F_OK), 0);
}

/* Linux would choose an abstract name, which has no mode. */
Test(trace_unix_socket, refuses_paths_that_are_no_file)
{
    char longest[108 + 1];

    cr_expect_eq(trace_unix_listen("", 2), -1);
    cr_expect_eq(errno, ENOENT);
    cr_expect_eq(trace_unix_connect(""), -1);
    cr_expect_eq(errno, ENOENT);
    memset(longest, 'a', sizeof(longest));
    longest[108] = '\0';
    cr_expect_eq(trace_unix_listen(longest, 2), -1);
    cr_expect_eq(errno, ENAMETOOLONG);
}

Test(trace_unix_socket, connects_to_a_path_of_any_length)
{
    char folder[256], path[300];

    memset(folder, 'a', 200);
    folder[200] = '\0';
    cr_assert_eq(mkdir(test_path(folder), 0700), 0);
    cr_assert_eq(chdir(test_path(folder)), 0);
    cr_assert_geq(trace_unix_listen("s", 2), 0);
    snprintf(path, sizeof(path), "%s/s", folder);
    cr_expect_geq(trace_unix_connect(test_path(path)), 0, "%s",
                  strerror(errno));
}
