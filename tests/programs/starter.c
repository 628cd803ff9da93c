/* starter.c: tests that start the program HELPER. */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

static int status_of(pid_t child)
{
    int status = -1;

    waitpid(child, &status, 0);
    return status;
}

TEST_LOG(starter, forks_and_executes)
{
    const char *helper = getenv("HELPER");
    pid_t child = fork();

    if (!child) {
        log_info("the child logs");
        execl(helper, helper, "exec", NULL);
        _exit(127);
    }
    cr_expect_eq(status_of(child), 0);
    log_info("the helper has ended");
}

TEST_LOG(starter, spawns)
{
    char *const args[] = {getenv("HELPER"), (char *)"spawn", NULL};
    pid_t child;

    cr_assert_eq(posix_spawn(&child, args[0], NULL, NULL, args, environ), 0);
    cr_expect_eq(status_of(child), 0);
}

TEST_LOG(starter, runs_tests)
{
    const char *tests = getenv("TESTS");

    if (!tests)
        cr_skip_test("TESTS names no program");
    cr_expect_eq(system(tests), 0);
    log_info("they have ended");
}
