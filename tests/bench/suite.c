/* suite.c: the time of a program of a thousand tests, with and without testlog.
 * Both programs are tests.c: one uses only Criterion; in the other every test
 * is recorded and rendered.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *ftw)
{
    (void)status, (void)type, (void)ftw;
    return remove(path);
}

/* Returns the nanoseconds that the program took; below 0 if it failed. */
static double run(char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    double from = now_ns();

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    errno = posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environ);
    if (errno || waitpid(pid, &status, 0) != pid)
        bench_stop(arguments[0]);
    from = now_ns() - from;
    posix_spawn_file_actions_destroy(&actions);
    return WIFEXITED(status) && !WEXITSTATUS(status) ? from : -1;
}

static const char *runs(void)
{
    static char where[PATH_MAX + 32];

    snprintf(where, sizeof(where), "%s-runs", bench_path());
    return where;
}

static double suite(const char *name, size_t tests, bool logged)
{
    char program[PATH_MAX], where[PATH_MAX + 64], filter[64], jobs[] = "-j2";

    snprintf(program, sizeof(program), "%s/%s", bench_settings.programs, name);
    snprintf(where, sizeof(where), "--trace-dir=%s", runs());
    snprintf(filter, sizeof(filter), "--filter=%s",
             tests < 1000 ? "*/test_0_0_*" : "*/*");

    char *arguments[] = {program, jobs, filter, logged ? where : NULL, NULL};

    bench_pin(false);

    double ns = run(arguments);

    bench_pin(true);
    return ns / (tests < 1000 ? 10 : 1000);
}

double bench_suite_plain(size_t tests)
{
    return suite("tests_plain", tests, false);
}

double bench_suite_logged(size_t tests)
{
    return suite("tests_logged", tests, true);
}

void bench_suite_end(void)
{
    nftw(runs(), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
