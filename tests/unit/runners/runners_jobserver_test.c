/* runners_jobserver_test.c: takes tokens from GNU make and returns them. */
#include "runners/run/run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static int ends[2];

__attribute__((format(printf, 1, 2))) static void set_flags(const char *format,
                                                            ...)
{
    char flags[128];
    va_list args;

    va_start(args, format);
    vsnprintf(flags, sizeof(flags), format, args);
    va_end(args);
    setenv("MAKEFLAGS", flags, 1);
}

/* Makes a jobserver with these tokens. */
static void serve(const char *tokens)
{
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], tokens, strlen(tokens)),
                 (ssize_t)strlen(tokens));
    set_flags(" -j --jobserver-auth=%d,%d -- A=b", ends[0], ends[1]);
}

static void expect_tokens(const char *tokens)
{
    char bytes[16] = "";

    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (read(ends[0], bytes, sizeof(bytes) - 1) < 0)
        bytes[0] = '\0';
    cr_expect_str_eq(bytes, tokens);
}

Test(runners_jobserver, is_not_used_without_makeflags)
{
    unsetenv("MAKEFLAGS");
    runners_jobserver_find();
    cr_expect_eq(runners_jobserver_fd(), 0);
    cr_expect_eq(runners_jobserver_hold(7), 7);
    cr_expect_eq(runners_jobserver_hold(0), 0);
    runners_jobserver_end();
}

Test(runners_jobserver, takes_and_returns_tokens)
{
    serve("abc");
    runners_jobserver_find();
    cr_expect_gt(runners_jobserver_fd(), 0);
    cr_expect_eq(runners_jobserver_hold(1), 1, "the first needs no token");
    cr_expect_eq(runners_jobserver_hold(3), 3);
    cr_expect_eq(runners_jobserver_hold(9), 4, "there are no more");
    cr_expect_eq(runners_jobserver_hold(0), 1);
    runners_jobserver_end();
    expect_tokens("cba");
}

Test(runners_jobserver, returns_all_tokens_at_the_end)
{
    serve("ab");
    runners_jobserver_find();
    cr_expect_eq(runners_jobserver_hold(3), 3);
    runners_jobserver_end();
    expect_tokens("ab");
    cr_expect_eq(runners_jobserver_fd(), 0);
}

Test(runners_jobserver, returns_all_tokens_if_killed)
{
    char byte;
    pid_t pid;

    serve("x");
    pid = fork();
    if (!pid) {
        runners_jobserver_find();
        runners_jobserver_hold(2);
        raise(SIGKILL);
    }
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_assert_eq(read(ends[0], &byte, 1), 1); /* waits for the token */
    cr_expect_eq(byte, 'x');
}

Test(runners_jobserver, leaves_makes_descriptors_blocking)
{
    serve("");
    runners_jobserver_find();
    cr_expect_eq(runners_jobserver_hold(2), 1);
    cr_expect_eq(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    runners_jobserver_end();
}

static void expect_unused(void)
{
    runners_jobserver_find();
    cr_expect_eq(runners_jobserver_fd(), 0, "%s", getenv("MAKEFLAGS"));
    runners_jobserver_end();
}

#define expect_none(...) (set_flags(__VA_ARGS__), expect_unused())

Test(runners_jobserver, is_used_only_with_a_valid_pipe)
{
    int other[2], file;

    serve("");
    test_folder();
    file = open(test_path("file"), O_RDWR | O_CREAT, 0666);
    cr_assert_geq(file, 0);
    cr_assert_eq(pipe(other), 0);
    expect_none("--jobserver-auth=%d,%d", 100, 101);
    expect_none("--jobserver-auth=%d,%d", file, file);
    expect_none("--jobserver-auth=%d,%d", ends[0], file);
    expect_none("--jobserver-auth=%d,%d", ends[0], other[1]);
    expect_none("--jobserver-auth=%d,%d", -2, -2);
    expect_none("--jobserver-auth=%d", ends[0]);
    expect_none(" -- X=--jobserver-auth=%d,%d -- ", ends[0], ends[1]);
    expect_none(" -- --jobserver-auth=%d,%d", ends[0], ends[1]);
    expect_none("--jobserver-auth=fifo:nowhere");
    expect_none("--jobserver-auth=fifo:/dev/null");
    expect_none("--jobserver-auth=");
}

Test(runners_jobserver, is_the_last_in_makeflags_of_any_version)
{
    serve("a");
    set_flags("--jobserver-auth=98,99 --jobserver-auth=%d,%d", ends[0],
              ends[1]);
    runners_jobserver_find();
    cr_expect_eq(runners_jobserver_hold(2), 2);
    runners_jobserver_end();
    set_flags("--jobserver-fds=%d,%d -j", ends[0], ends[1]);
    runners_jobserver_find();
    cr_expect_eq(runners_jobserver_hold(2), 2);
    runners_jobserver_end();
    expect_tokens("a");
}
