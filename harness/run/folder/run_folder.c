/* run_folder.c: makes the folder of a run, and of each program in it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/run_order.h"
#include "harness/run/folder/scratch.h"
#include "trace/base/strings.h"

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
static void point_latest(int dir, const char *path, const char *name)
{
    char aside[64];

    snprintf(aside, sizeof(aside), ".latest.%ld", (long)getpid());
    unlinkat(dir, aside, 0);
    if (symlinkat(name, dir, aside) || renameat(dir, aside, dir, "latest")) {
        test_log_notice("cannot create %s/latest: %s", path, strerror(errno));
        unlinkat(dir, aside, 0);
    }
}

bool test_log_disk_full(const char *path)
{
    struct statvfs disk;

    return !statvfs(path, &disk) &&
           (uint64_t)disk.f_bavail * disk.f_frsize < TRACE_LIMIT_LEAST;
}

static int open_folder(int dir, const char *path, int flags)
{
    return openat(dir, path, flags | O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Opens the new folder `name` in `dir` for the run. */
static int take_run(struct test_log_run *run, int dir, const char *path,
                    const char *name)
{
    if (asprintf(&run->path, "%s/%s", path, name) < 0)
        run->path = NULL;
    run->folder = open_folder(dir, name, O_NOFOLLOW);
    if (run->path && run->folder >= 0 && test_log_disk_full(run->path)) {
        unlinkat(dir, name, AT_REMOVEDIR);
        errno = ENOSPC;
        return -1;
    }
    if (!run->path || run->folder < 0)
        return -1;
    test_log_old_runs_hold(run);
    return 0;
}

static int make_run(struct test_log_run *run, int dir, const char *path)
{
    uint64_t wall = run->start.wall;
    char name[64];

    do {
        name_of(wall, name, sizeof(name));
        if (!mkdirat(dir, name, 0777)) {
            if (take_run(run, dir, path, name))
                return -1;
            test_log_run_order_take(run, dir);
            if (!run->parent.nested)
                point_latest(dir, path, name);
            test_log_scratch_begin(run);
            if (run->scratch)
                test_log_scratch_rescue(dir, path);
            return 0;
        }
        wall += 1000; /* another run began in the same microsecond */
    } while (errno == EEXIST);
    return -1;
}

/* Keeps git from adding runs. Runs work without this file, too. */
static void ignore_in_git(int dir)
{
    int fd = openat(dir, ".gitignore",
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0)
        return;
    test_log_write_all(fd, "*\n", 2);
    close(fd);
}

/* Opens the folder of all runs; a new one that the user did not name is ignored
 * by git. */
static int make_dir(const char *path, bool is_default)
{
    bool is_new = is_default && access(path, F_OK);
    int dir = test_log_make_folders(path) ? -1 : open_folder(AT_FDCWD, path, 0);

    if (dir >= 0 && is_new)
        ignore_in_git(dir);
    return dir;
}

/* Creates the folder of a new run below `path`; on failure, *why is the reason.
 */
static int open_run(struct test_log_run *run, const char *path,
                    const char **why)
{
    static char text[64];
    uid_t owner;

    if (!run->dir_given && !test_log_trusts_folder(path, &owner)) {
        snprintf(text, sizeof(text), "it belongs to another user (%lu)",
                 (unsigned long)owner);
        *why = text;
        return -1;
    }

    int dir = make_dir(path, !run->dir_given);
    int status = dir < 0 ? -1 : make_run(run, dir, path);

    *why = status ? strerror(errno) : NULL;
    if (dir >= 0)
        close(dir);
    return status;
}

static int make_temporary(struct test_log_run *run, const char *dir,
                          const char *why)
{
    const char *parent = test_log_variable("TMPDIR");
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/testlog-XXXXXX",
                 parent ? parent : "/tmp") >= PATH_MAX ||
        !mkdtemp(path)) {
        test_log_notice("cannot write to %s: %s, or to a temporary folder; "
                        "this run keeps no logs and traces",
                        dir, why);
        return -1;
    }
    test_log_notice(
        "cannot write to %s: %s; this run is in %s; set --trace-dir "
        "to choose the folder",
        dir, why, path);
    run->path = strdup(path);
    run->folder = open_folder(AT_FDCWD, path, O_NOFOLLOW);
    return run->path && run->folder >= 0 ? 0 : -1;
}

/* The name appears in paths and reports, which terminals show. Packs contain no
 * hidden folders. */
char *test_log_program_name(const char *program, unsigned number)
{
    struct trace_text name = {0};

    test_log_sanitize_line(&name, trace_base_name(program));
    if (name.data && name.data[0] == '.')
        name.data[0] = '_';
    if (number != 1)
        trace_text_printf(&name, "~%u", number);
    if (name.failed)
        trace_text_free(&name);
    return name.data;
}

/* Tells whether a run has the number-th folder of a name. */
static bool is_taken(const struct test_log_run *run, const char *name,
                     unsigned number)
{
    char part[PATH_MAX + 16], path[PATH_MAX];

    snprintf(part, sizeof(part), number > 1 ? "%s~%u" : "%s", name, number);
    return !test_log_local_path(run, part, path) && !access(path, F_OK);
}

/* A run may have thousands of one name. */
unsigned test_log_free_number(const struct test_log_run *run, const char *name)
{
    unsigned taken = 0, number = 1;

    if (strlen(name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return 0;
    }
    while (is_taken(run, name, number)) {
        taken = number;
        number *= 2;
    }
    while (number - taken > 1) {
        unsigned middle = taken + (number - taken) / 2;

        if (is_taken(run, name, middle))
            taken = middle;
        else
            number = middle;
    }
    return number;
}

char *test_log_program_folder(const struct test_log_run *run,
                              const char *program)
{
    char part[PATH_MAX], *name = test_log_program_name(program, 1);
    unsigned number = 1;

    if (name)
        number = snprintf(part, sizeof(part), "tests/%s", name) < PATH_MAX
                     ? test_log_free_number(run, part)
                     : 0;
    if (number == 1)
        return name;
    free(name);
    return number ? test_log_program_name(program, number) : NULL;
}

int test_log_make_program_folder(const struct test_log_run *run,
                                 const char *name)
{
    char part[PATH_MAX];

    if (snprintf(part, sizeof(part), "tests/%s", name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *end = part; (end = strchr(end, '/')); *end++ = '/') {
        *end = '\0';
        if (test_log_make_folder(run, part) && errno != EEXIST)
            return -1;
    }
    return test_log_make_folder(run, part) && errno != EEXIST ? -1 : 0;
}

const char *test_log_process_folder(const struct test_log_run *run)
{
    return run->parent.process ? run->parent.process : run->program;
}

/* Makes the folder that all ranks of a program share, or its processes. */
static int join_program(struct test_log_run *run)
{
    run->program = strdup(run->parent.program);
    return run->program ? test_log_make_program_folder(run, run->program) : -1;
}

static int make_program(struct test_log_run *run, const char *program)
{
    char part[PATH_MAX];

    if (run->role == TEST_LOG_ROLE_RANK || run->parent.share)
        return join_program(run);
    for (int tries = 0; tries < 100; tries++) {
        free(run->program);
        run->program = test_log_program_folder(run, program);
        if (!run->program ||
            snprintf(part, sizeof(part), "tests/%s", run->program) >=
                PATH_MAX ||
            (test_log_make_folder(run, "tests") && errno != EEXIST))
            return -1;
        if (!test_log_make_folder(run, part))
            return 0;
        if (errno != EEXIST) /* another program was faster */
            return -1;
    }
    return -1;
}

static int join_run(struct test_log_run *run, const char *path)
{
    if (!test_log_is_part(run))
        run->role = TEST_LOG_ROLE_PART;
    run->path = strdup(run->parent.shown ? run->parent.shown : path);
    if (run->parent.shown)
        run->scratch = strdup(path);
    run->folder = open_folder(AT_FDCWD, path, 0);
    if (!run->path || run->folder < 0)
        return -1;
    test_log_old_runs_hold(run);
    return 0;
}

/* The run has no folder. */
static void forget(struct test_log_run *run)
{
    if (run->folder > 0)
        close(run->folder);
    if (run->lock > 0)
        close(run->lock);
    if (run->shared > 0)
        close(run->shared);
    run->folder = run->lock = run->shared = 0;
    free(run->path);
    free(run->scratch);
    run->path = run->scratch = NULL;
}

int test_log_run_open(struct test_log_run *run, const char *dir,
                      const char *program)
{
    const char *given = run->parent.folder, *why = NULL;
    int result;

    if (given)
        result = join_run(run, given);
    else
        result = open_run(run, dir, &why);
    if (!result && program)
        result = make_program(
            run, given && run->parent.program ? run->parent.program : program);
    if (!result)
        return 0;
    if (!why)
        why = strerror(errno);
    forget(run);
    if (!make_temporary(run, given ? given : dir, why) &&
        (!program || !make_program(run, program)))
        return 0;
    forget(run);
    return -1;
}

int test_log_run_open_at(struct test_log_run *run, const char *path,
                         const char *program)
{
    run->path = strdup(path);
    if (!run->path || mkdir(path, 0777))
        return -1;
    run->folder = open_folder(AT_FDCWD, path, O_NOFOLLOW);
    if (run->folder < 0)
        return -1;
    test_log_old_runs_hold(run);
    return program ? make_program(run, program) : 0;
}

bool test_log_run_is_in(const struct test_log_run *run, const char *dir)
{
    char path[PATH_MAX], parent[PATH_MAX], real[PATH_MAX];
    size_t size = run->path ? strlen(run->path) : 0;

    while (size > 1 && run->path[size - 1] == '/')
        size--;
    while (size && run->path[size - 1] != '/')
        size--;
    return run->path &&
           snprintf(path, sizeof(path), "%.*s.", (int)size, run->path) <
               PATH_MAX &&
           realpath(path, parent) && realpath(dir, real) &&
           !strcmp(parent, real);
}

uint64_t test_log_file_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY
               ? UINT64_MAX
               : limit.rlim_cur;
}
