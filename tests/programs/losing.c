/* losing.c: twenty tests with known results, for runs that lose their files or
 * their runner midway. LOSING says what happens after the tenth test.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/hooks.h>
#include <testlog/test_log.h>

static int is(const char *what)
{
    const char *given = getenv("LOSING");

    return given && !strcmp(given, what);
}

/* Runs in the runner. With -j1, the tests end in the order t00 to t19. */
ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    if (strcmp(stats->test->name, "t10") != 0)
        return;
    if (is("crash"))
        raise(SIGSEGV);
    if (is("kill"))
        raise(SIGKILL);
    if (is("exit"))
        _exit(0);
}

static void pass_time(void)
{
    const char *given = getenv("LOSING_WAIT"); /* microseconds a test */

    if (given)
        usleep((useconds_t)atoi(given));
    log_info("done");
}

static void remove_run(void)
{
    const char *files = getenv("LOSING_FILES"); /* a shell command */

    if (files && system(files))
        cr_log_warn("could not run %s", files);
}

#define PASS(name)                                                             \
    TEST_LOG(losing, name)                                                     \
    {                                                                          \
        pass_time();                                                           \
    }
#define FAIL(name)                                                             \
    TEST_LOG(losing, name)                                                     \
    {                                                                          \
        pass_time();                                                           \
        cr_assert(0, "meant to fail");                                         \
    }

PASS(t00)
FAIL(t01)
PASS(t02)
PASS(t03)
PASS(t04)
FAIL(t05)
PASS(t06)
PASS(t07)
FAIL(t08)
TEST_LOG(losing, t09)
{
    remove_run();
}
PASS(t10)
PASS(t11)
TEST_LOG(losing, t12)
{
    cr_skip_test("meant to be skipped");
}
FAIL(t13)
PASS(t14)
PASS(t15)
PASS(t16)
FAIL(t17)
PASS(t18)
PASS(t19)
