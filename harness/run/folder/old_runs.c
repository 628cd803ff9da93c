/* old_runs.c: removes old runs.
 *
 * A process that writes to a run holds a shared lock on the run's folder, which
 * the kernel drops when the process ends. The lock is taken while the folder is
 * empty, and an empty folder is no run, so a run in progress is always locked.
 *
 * A run is renamed before its files are removed, so that no half of a run is
 * ever listed. The next removal finishes one that was interrupted.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "trace/base/file.h"

/* The prefix of a run that is being removed. */
#define ASIDE ".removing-"

enum { PRUNE_SECONDS = 2 };

void test_log_old_runs_hold(struct test_log_run *run)
{
    run->lock = openat(run->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->lock > 0)
        flock(run->lock, LOCK_SH | LOCK_NB);
}

/* ---- Runs in progress ---- */

/* A lock may not be visible on other machines; only the machine that records
 * the run can tell whether it has ended. */
static bool is_elsewhere(int folder)
{
    char text[TEST_LOG_SCRATCH_SIZE];

    return test_log_scratch_of(folder, text) == TEST_LOG_SCRATCH_ELSEWHERE;
}

bool test_log_old_runs_in_progress(int dir, const char *name)
{
    int folder =
        openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool held = folder >= 0 &&
                ((flock(folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
                 is_elsewhere(folder));

    if (folder >= 0)
        close(folder);
    return held;
}

/* ---- Verdicts ---- */

/* Finds the line of run.json with the sums, which comes before the tests. A
 * string has no newline in JSON, so no other line begins like it. */
static bool has_failures(FILE *in)
{
    unsigned long long passed, failed;
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (!found && getline(&line, &room, in) > 0)
        found = sscanf(line, "\"passed\":%llu,\"failed\":%llu", &passed,
                       &failed) == 2;
    free(line);
    return !found || failed;
}

bool test_log_old_runs_failed(int dir, const char *name)
{
    int folder = test_log_open_own(dir, name), fd = -1;
    FILE *in = NULL;
    bool failed;

    if (folder >= 0) {
        fd = trace_beneath(folder, "run.json", O_RDONLY);
        close(folder);
    }
    if (fd >= 0 && !(in = fdopen(fd, "r")))
        close(fd);
    failed = !in || has_failures(in);
    if (in)
        fclose(in);
    return failed;
}

/* ---- Removing ---- */

static bool is_aside(const char *name)
{
    size_t size = strlen(ASIDE);

    return !strncmp(name, ASIDE, size) && test_log_is_run_name(name + size);
}

/* Moves a run aside if nobody holds it. */
static int set_aside(int dir, const char *name, const char *aside)
{
    int folder = test_log_open_own(dir, name), status = -1;

    if (folder < 0)
        return -1;
    if (!test_log_is_run(folder))
        errno = EINVAL;
    else if (test_log_scratch_in_use(folder))
        errno = EBUSY;
    else if (!flock(folder, LOCK_EX | LOCK_NB))
        status = renameat(dir, name, dir, aside);

    int error = errno;

    close(folder);
    errno = error == EWOULDBLOCK ? EBUSY : error;
    return status;
}

int test_log_old_runs_remove(int dir, const char *name)
{
    char aside[64];

    if (is_aside(name))
        return test_log_remove_tree(dir, name);
    if (!test_log_is_run_name(name)) {
        errno = EINVAL;
        return -1;
    }
    snprintf(aside, sizeof(aside), ASIDE "%s", name);
    return set_aside(dir, name, aside) ? -1 : test_log_remove_tree(dir, aside);
}

/* ---- Pruning ---- */

static bool each_aside(int dir, test_log_old_runs_visit *visit, void *context)
{
    size_t count;
    char **names = test_log_list_names(dir, is_aside, &count);
    bool more = true;

    for (size_t i = 0; more && i < count; i++)
        more = visit(context, names[i]);
    test_log_free_names(names, count);
    return more;
}

void test_log_old_runs_each(int dir, size_t keep,
                            test_log_old_runs_visit *visit, void *context)
{
    bool more = each_aside(dir, visit, context);
    size_t count = 0, failed = 0;
    char **names = keep ? test_log_list_runs(dir, true, &count) : NULL;
    char latest[NAME_MAX + 1] = "";

    if (readlinkat(dir, "latest", latest, sizeof(latest) - 1) < 0)
        latest[0] = '\0';
    for (size_t i = keep; more && i < count; i++) {
        if (!strcmp(names[i], latest) ||
            (failed < TEST_LOG_OLD_RUNS_FAILED &&
             test_log_old_runs_failed(dir, names[i]) && ++failed))
            continue;
        more = visit(context, names[i]);
    }
    test_log_free_names(names, count);
}

/* One pruning of a folder. */
struct pruning {
    const char *path;
    int dir;
    uint64_t deadline; /* monotonic, ns */
    bool complained;
};

static bool prune(void *context, const char *name)
{
    struct pruning *pruning = context;

    if (trace_anchor_now().monotonic >= pruning->deadline)
        return false;
    /* Another process may remove the same run. */
    if (test_log_old_runs_remove(pruning->dir, name) && errno != EBUSY &&
        errno != ENOENT && !pruning->complained) {
        pruning->complained = true;
        test_log_notice("cannot remove the old run %s/%s: %s; remove it "
                        "yourself",
                        pruning->path, name, strerror(errno));
    }
    return true;
}

/* A program that is a part of a run does not prune, nor does a run in a
 * temporary folder. */
static bool may_prune(const struct test_log_run *run)
{
    return run->path && !test_log_is_part(run) && !run->interrupted &&
           test_log_is_run_name(trace_base_name(run->path));
}

void test_log_old_runs_prune(const struct test_log_run *run, const char *path,
                             size_t keep)
{
    struct pruning pruning = {
        .path = path,
        .dir = -1,
        .deadline =
            trace_anchor_now().monotonic + PRUNE_SECONDS * 1000000000ULL,
    };

    if (keep && may_prune(run))
        pruning.dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (pruning.dir < 0)
        return;
    test_log_old_runs_each(pruning.dir, keep, prune, &pruning);
    close(pruning.dir);
}
