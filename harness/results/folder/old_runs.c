/* old_runs.c: removes old runs.
 *
 * A process that writes to a run holds a shared lock on the run's folder, which
 * the kernel drops when the process ends. The lock is taken while the folder is
 * empty, and an empty folder is no run, so a run in progress is always locked.
 *
 * A run is renamed before its files are removed, so that no half of a run is
 * ever listed. The next removal finishes one that was interrupted.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/results/folder/notice.h"
#include "harness/results/folder/old_runs.h"
#include "harness/results/folder/run_folder.h"
#include "harness/results/folder/run_order.h"
#include "harness/results/folder/scratch.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"

/* Before the name of a run that is being removed. */
#define ASIDE ".removing-"

enum {
    DEPTH = 64, /* of folders in a run */
    PRUNE_SECONDS = 2,
};

void test_log_old_runs_hold(struct test_log_run *run)
{
    run->lock = openat(run->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->lock > 0)
        flock(run->lock, LOCK_SH | LOCK_NB);
}

/* ---- Recognizing ---- */

static bool is_name(const char *name)
{
    static const char form[] = "0000-00-00T00-00-00.000000";
    size_t i = 0;

    for (; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)name[i])
                           : name[i] != form[i])
            return false;
    return !name[i];
}

static bool is_aside(const char *name)
{
    size_t size = strlen(ASIDE);

    return !strncmp(name, ASIDE, size) && is_name(name + size);
}

static int open_folder(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                  0);
}

/* Opens a folder of the current user, which is no link. */
static int open_own(int dir, const char *name)
{
    int fd = open_folder(dir, name);
    struct stat status;

    if (fd < 0 || (!fstat(fd, &status) && status.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static bool has(int folder, const char *name, mode_t type)
{
    struct stat status;

    return !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) &&
           (status.st_mode & S_IFMT) == type;
}

static bool is_run(int folder)
{
    return has(folder, "run.json", S_IFREG) || has(folder, "tests", S_IFDIR) ||
           has(folder, TEST_LOG_SCRATCH, S_IFREG);
}

/* Other machines may not see a lock, and only they know whether the run has
 * ended. */
static bool is_elsewhere(int folder)
{
    char text[TEST_LOG_SCRATCH_SIZE];

    return test_log_scratch_of(folder, text) == TEST_LOG_SCRATCH_ELSEWHERE;
}

bool test_log_old_runs_in_progress(int dir, const char *name)
{
    int folder = open_folder(dir, name);
    bool held = folder >= 0 &&
                ((flock(folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
                 is_elsewhere(folder));

    if (folder >= 0)
        close(folder);
    return held;
}

/* ---- Listing ---- */

struct names {
    char **all;
    size_t count, capacity;
};

static bool add_name(struct names *names, const char *name)
{
    char *copy = strdup(name);

    if (!copy ||
        !TRACE_ARRAY_RESERVE(names->all, names->capacity, names->count + 1)) {
        free(copy);
        return false;
    }
    names->all[names->count++] = copy;
    return true;
}

static DIR *open_list(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

/* Lists the entries that `wanted` accepts by name. */
static int list(struct names *names, int dir, bool (*wanted)(const char *))
{
    DIR *entries = open_list(dir);
    const struct dirent *entry;
    bool added = true;

    if (!entries)
        return -1;
    while (added && (entry = readdir(entries)))
        if (wanted(entry->d_name))
            added = add_name(names, entry->d_name);
    closedir(entries);
    return added ? 0 : -1;
}

/* A run and its place among the others. */
struct placed {
    char *name;
    uint64_t order;
};

/* Clocks may step back, so a run's number counts, and only then its name. */
static int compare_latest_first(const void *a, const void *b)
{
    const struct placed *one = a, *other = b;

    if (one->order != other->order)
        return one->order < other->order ? 1 : -1;
    return strcmp(other->name, one->name);
}

/* Finds the place of a run; false if the folder `name` is none. */
static bool place(struct placed *run, int dir, char *name, bool own)
{
    int folder = own ? open_own(dir, name) : open_folder(dir, name);
    bool is = folder >= 0 && is_run(folder);

    if (is)
        *run = (struct placed){name, test_log_run_order_of(folder)};
    if (folder >= 0)
        close(folder);
    return is;
}

/* Leaves only runs, the latest first. */
static int sort_runs(struct names *names, int dir, bool own)
{
    struct placed *runs = calloc(names->count + 1, sizeof(*runs));
    size_t count = 0;

    if (!runs)
        return -1;
    for (size_t i = 0; i < names->count; i++)
        if (place(&runs[count], dir, names->all[i], own))
            count++;
        else
            free(names->all[i]);
    qsort(runs, count, sizeof(*runs), compare_latest_first);
    for (size_t i = 0; i < count; i++)
        names->all[i] = runs[i].name;
    names->count = count;
    free(runs);
    return 0;
}

char **test_log_old_runs_list(int dir, bool own, size_t *count)
{
    struct names names = {0};

    *count = 0;
    if (list(&names, dir, is_name) ||
        !TRACE_ARRAY_RESERVE(names.all, names.capacity, 1) ||
        sort_runs(&names, dir, own)) {
        test_log_old_runs_free(names.all, names.count);
        return NULL;
    }
    *count = names.count;
    return names.all;
}

void test_log_old_runs_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
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
    int folder = open_own(dir, name), fd = -1;
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

static int remove_tree(int dir, const char *name, int depth);

/* Removes what is in a folder, as far as possible. Closes `folder`. */
static int empty_folder(int folder, int depth)
{
    DIR *entries = fdopendir(folder);
    const struct dirent *entry;
    int error = entries ? 0 : errno;

    if (!entries)
        close(folder);
    while (entries && (entry = readdir(entries))) {
        const char *name = entry->d_name;

        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        if (unlinkat(folder, name, 0) &&
            (errno != EISDIR || remove_tree(folder, name, depth - 1)))
            error = errno;
    }
    if (entries)
        closedir(entries);
    errno = error;
    return error ? -1 : 0;
}

static int remove_tree(int dir, const char *name, int depth)
{
    int folder;

    if (depth <= 0) {
        errno = ELOOP;
        return -1;
    }
    folder = open_own(dir, name);
    if (folder < 0 || empty_folder(folder, depth))
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR);
}

/* Moves a run aside if nobody holds it. */
static int set_aside(int dir, const char *name, const char *aside)
{
    int folder = open_own(dir, name), status = -1;

    if (folder < 0)
        return -1;
    if (!is_run(folder))
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

int test_log_old_runs_remove_tree(int dir, const char *name)
{
    return remove_tree(dir, name, DEPTH);
}

int test_log_old_runs_remove(int dir, const char *name)
{
    char aside[64];

    if (is_aside(name))
        return test_log_old_runs_remove_tree(dir, name);
    if (!is_name(name)) {
        errno = EINVAL;
        return -1;
    }
    snprintf(aside, sizeof(aside), ASIDE "%s", name);
    return set_aside(dir, name, aside)
               ? -1
               : test_log_old_runs_remove_tree(dir, aside);
}

/* ---- Pruning ---- */

static bool each_aside(int dir, test_log_old_runs_visit *visit, void *context)
{
    struct names names = {0};
    bool more = true;

    list(&names, dir, is_aside);
    for (size_t i = 0; more && i < names.count; i++)
        more = visit(context, names.all[i]);
    test_log_old_runs_free(names.all, names.count);
    return more;
}

void test_log_old_runs_each(int dir, size_t keep,
                            test_log_old_runs_visit *visit, void *context)
{
    bool more = each_aside(dir, visit, context);
    size_t count = 0, failed = 0;
    char **names = keep ? test_log_old_runs_list(dir, true, &count) : NULL;
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
    test_log_old_runs_free(names, count);
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
    return run->path && !run->foreign && !run->interrupted &&
           is_name(trace_base_name(run->path));
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
