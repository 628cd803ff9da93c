/* run.c: the folders of a run. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

int test_log_make_folders(const char *path)
{
    char part[PATH_MAX];

    if (!path[0] || snprintf(part, sizeof(part), "%s", path) >= PATH_MAX) {
        errno = path[0] ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    for (char *at = part + 1;; at++) {
        char c = *at;

        if (c && c != '/')
            continue;
        *at = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return -1;
        *at = c;
        if (!c)
            return 0;
    }
}

int test_log_path(const struct test_log_run *run, const char *name, char *path)
{
    if (snprintf(path, PATH_MAX, "%s/%s", run->path, name) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int test_log_file(const struct test_log_run *run,
                  const struct test_log_result *result, const char *name,
                  char *path)
{
    char part[PATH_MAX];

    if (!result->folder ||
        snprintf(part, sizeof(part), "%s/%s", result->folder, name) >= PATH_MAX)
        return -1;
    return test_log_path(run, part, path);
}

/* "2026-11-21T02-08-30.123456", of the run's start. */
static void name_of(uint64_t wall, char *name, size_t size)
{
    time_t seconds = (time_t)(wall / 1000000000);
    struct tm date;
    size_t length;

    gmtime_r(&seconds, &date);
    length = strftime(name, size, "%Y-%m-%dT%H-%M-%S", &date);
    snprintf(name + length, size - length, ".%06u",
             (unsigned)(wall % 1000000000 / 1000));
}

/* Makes `latest` point to the run, in one step. */
static void point_latest(const char *dir, const char *name)
{
    char aside[PATH_MAX], latest[PATH_MAX];

    if (snprintf(aside, sizeof(aside), "%s/.latest.%ld", dir, (long)getpid()) >=
            PATH_MAX ||
        snprintf(latest, sizeof(latest), "%s/latest", dir) >= PATH_MAX)
        return;
    unlink(aside);
    if (symlink(name, aside) || rename(aside, latest)) {
        test_log_notice("cannot make %s: %s", latest, strerror(errno));
        unlink(aside);
    }
}

bool test_log_disk_full(const char *path)
{
    struct statvfs disk;

    return !statvfs(path, &disk) &&
           (uint64_t)disk.f_bavail * disk.f_frsize < TRACE_LIMIT_LEAST;
}

static int make_run(struct test_log_run *run, const char *dir)
{
    uint64_t wall = run->start.wall;
    char name[64], path[PATH_MAX];

    if (test_log_make_folders(dir))
        return -1;
    do {
        name_of(wall, name, sizeof(name));
        if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (!mkdir(path, 0777)) {
            if (test_log_disk_full(path)) {
                rmdir(path);
                errno = ENOSPC;
                return -1;
            }
            if (!getenv("TESTLOG_WORKER")) /* not in a test */
                point_latest(dir, name);
            run->path = strdup(path);
            return run->path ? 0 : -1;
        }
        wall += 1000; /* another run began in the same microsecond */
    } while (errno == EEXIST);
    return -1;
}

static int make_temporary(struct test_log_run *run, const char *dir)
{
    const char *parent = test_log_variable("TMPDIR");
    char path[PATH_MAX];
    int error = errno;

    if (snprintf(path, sizeof(path), "%s/testlog-XXXXXX",
                 parent ? parent : "/tmp") >= PATH_MAX ||
        !mkdtemp(path)) {
        test_log_notice("cannot write to %s: %s, nor to a temporary folder; "
                        "this run keeps no logs and traces",
                        dir, strerror(error));
        return -1;
    }
    test_log_notice("cannot write to %s: %s; this run is in %s (TRACE_DIR "
                    "names another place)",
                    dir, strerror(error), path);
    run->path = strdup(path);
    return run->path ? 0 : -1;
}

char *test_log_program_folder(const struct test_log_run *run,
                              const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *base = slash ? slash + 1 : program;
    char path[PATH_MAX], part[PATH_MAX], *name = NULL;

    for (unsigned n = 1; n < 10000; n++) {
        free(name);
        if ((n == 1 ? asprintf(&name, "%s", base)
                    : asprintf(&name, "%s~%u", base, n)) < 0)
            return NULL;
        if (snprintf(part, sizeof(part), "tests/%s", name) >= PATH_MAX ||
            test_log_path(run, part, path))
            break;
        if (access(path, F_OK))
            return name;
    }
    free(name);
    return NULL;
}

/* What `testlog run` calls the program that it has started, which may have
 * become this one; those that a script starts have names of their own. */
static const char *name_for(const char *program)
{
    const char *name = test_log_variable("TESTLOG_PROGRAM");
    const char *runner = test_log_variable("TESTLOG_RUNNER");

    return name && runner && strtol(runner, NULL, 10) == getppid() ? name
                                                                   : program;
}

static int make_program(struct test_log_run *run, const char *program)
{
    char path[PATH_MAX], part[PATH_MAX];

    for (int tries = 0; tries < 100; tries++) {
        free(run->program);
        run->program = test_log_program_folder(run, program);
        if (!run->program ||
            snprintf(part, sizeof(part), "tests/%s", run->program) >=
                PATH_MAX ||
            test_log_path(run, "tests", path) || test_log_make_folders(path) ||
            test_log_path(run, part, path))
            return -1;
        if (!mkdir(path, 0777))
            return 0;
        if (errno != EEXIST) /* another program was faster */
            return -1;
    }
    return -1;
}

int test_log_run_open(struct test_log_run *run, const char *dir,
                      const char *program)
{
    const char *given = test_log_variable("TESTLOG_RUN");
    int result = -1;

    if (given) {
        run->foreign = true;
        run->path = strdup(given);
        result = run->path ? 0 : -1;
    } else {
        result = make_run(run, dir);
    }
    if (!result && program)
        result = make_program(run, given ? name_for(program) : program);
    if (!result)
        return 0;
    free(run->path);
    run->path = NULL;
    if (make_temporary(run, given ? given : dir))
        return -1;
    return program ? make_program(run, program) : 0;
}
