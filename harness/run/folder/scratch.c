/* scratch.c: records a run in a local folder that belongs in a shared one.
 *
 * Several processes write to a recording, which is a mapped file. Shared file
 * systems are slow at that, lose data, or refuse it. While the run goes on, its
 * own folder contains only a file with two lines, the machine's name and the
 * local folder. It leads to the local folder of a run that was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

/* Above each run's scratch folder is a folder with such a name. */
#define PARENT "testlog-scratch-"

/* ---- The file that names it ---- */

static int write_pointer(int folder, const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(folder, TEST_LOG_SCRATCH, flags, 0666);
    struct trace_text text = {0};
    struct utsname host;
    int status;

    if (fd < 0)
        return -1;
    trace_text_printf(&text, "%s\n%s\n", uname(&host) ? "" : host.nodename,
                      path);
    status = test_log_write_all(fd, text.data, text.size);
    if (close(fd))
        status = -1;
    trace_text_free(&text);
    return status;
}

/* Reads the file into `text`; puts the path behind the machine's name. */
static bool read_pointer(int folder, char text[TEST_LOG_SCRATCH_SIZE],
                         char **path)
{
    int fd = trace_beneath(folder, TEST_LOG_SCRATCH, O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, text, TEST_LOG_SCRATCH_SIZE - 1);
    char *end;

    if (fd >= 0)
        close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    *path = strchr(text, '\n');
    if (!*path)
        return false;
    *(*path)++ = '\0';
    end = strchr(*path, '\n');
    if (end)
        *end = '\0';
    return end && **path == '/';
}

/* ---- The folder ----
 *
 * The file that names it may come from anybody who can write to the shared
 * folder, and what is in the folder is moved and removed. So it must be
 * PARENT/testlog-scratch-XXXXXX/RUN, without any link, and both folders must be
 * ours alone.
 */

static bool is_private(int folder)
{
    struct stat status;

    return !fstat(folder, &status) && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the folder above the last part of an absolute path, part by part. */
static int open_above(const char *path, const char **last)
{
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), above = -1;

    if (root >= 0) {
        above = trace_beneath_folder(root, path + 1, last);
        close(root);
    }
    return above;
}

/* Tells whether a path has the form that make_scratch gives it. */
static bool is_scratch_of(const char *path, const char *run)
{
    char real[PATH_MAX];
    const char *last = strrchr(path, '/'), *above = last;

    while (above > path && above[-1] != '/')
        above--;
    return above > path && !strcmp(last + 1, run) &&
           last - above == (long)strlen(PARENT "XXXXXX") &&
           !strncmp(above, PARENT, strlen(PARENT)) && realpath(path, real) &&
           !strcmp(real, path);
}

/* Opens the scratch folder of a run; -1 if there is none of ours there. */
static int open_scratch(const char *path, const char *run)
{
    const char *last;
    int above, folder = -1;

    if (!is_scratch_of(path, run))
        return -1;
    above = open_above(path, &last);
    if (above >= 0 && is_private(above))
        folder = openat(above, last,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (above >= 0)
        close(above);
    if (folder < 0 || is_private(folder))
        return folder;
    close(folder);
    return -1;
}

/* Removes a scratch folder and the one above it, as far as possible. */
static void remove_scratch(char *path)
{
    const char *last;
    int above = open_above(path, &last);

    if (above < 0)
        return;
    /* An empty folder may belong to somebody else. */
    if (test_log_remove_tree(above, last))
        unlinkat(above, last, AT_REMOVEDIR);
    close(above);
    *strrchr(path, '/') = '\0';
    above = open_above(path, &last);
    if (above >= 0) {
        unlinkat(above, last, AT_REMOVEDIR);
        close(above);
    }
}

/* Puts the name of an open folder; "" if it is unknown. */
static void name_of(int folder, char name[PATH_MAX])
{
    char link[64];
    ssize_t size;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    size = readlink(link, name, PATH_MAX - 1);
    name[size > 0 ? size : 0] = '\0';
    memmove(name, trace_base_name(name), strlen(trace_base_name(name)) + 1);
}

enum test_log_scratch_place test_log_scratch_of(
    int run, char text[TEST_LOG_SCRATCH_SIZE])
{
    struct utsname host;
    char name[PATH_MAX], *path;
    int folder;

    if (!read_pointer(run, text, &path))
        return TEST_LOG_SCRATCH_NONE;
    if (uname(&host) || strcmp(host.nodename, text) != 0) {
        path[-1] = ':';
        return TEST_LOG_SCRATCH_ELSEWHERE;
    }
    memmove(text, path, strlen(path) + 1);
    name_of(run, name);
    folder = open_scratch(text, name);
    if (folder < 0)
        return TEST_LOG_SCRATCH_GONE;
    close(folder);
    return TEST_LOG_SCRATCH_HERE;
}

bool test_log_scratch_in_use(int run)
{
    char text[TEST_LOG_SCRATCH_SIZE];
    enum test_log_scratch_place place = test_log_scratch_of(run, text);

    return place == TEST_LOG_SCRATCH_HERE ||
           place == TEST_LOG_SCRATCH_ELSEWHERE;
}

/* ---- The beginning ---- */

static bool names_folder(const char *word)
{
    return word && strcmp(word, "auto") != 0 && strcmp(word, "off") != 0;
}

bool test_log_scratch_check(const char *word)
{
    int folder;

    if (!names_folder(word))
        return true;
    folder = open(word, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        test_log_notice("--scratch: cannot record in %s: %s; name a folder "
                        "that exists",
                        word, strerror(errno));
        return false;
    }
    close(folder);
    return true;
}

/* Returns the folder to record in; NULL: the run's own. */
static const char *choose(const struct test_log_run *run)
{
    const char *word = run->scratch_word, *local;
    bool can_map;

    if (word && !strcmp(word, "off"))
        return NULL;
    if (names_folder(word))
        return word;
    can_map = test_log_shared_can_map(run->folder);
    if (can_map && !test_log_shared_kind(run->folder))
        return NULL;
    local = test_log_shared_local();
    if (!local && !can_map)
        test_log_notice("files in %s cannot be mapped, and no local folder has "
                        "space for recordings; set --scratch",
                        run->path);
    return local;
}

/* Makes a folder below `parent` with the run's name; its path is to be freed,
 * NULL with errno. */
static char *make_scratch(const char *parent, const char *name)
{
    char real[PATH_MAX], *above, *path = NULL;

    if (!realpath(parent, real) ||
        asprintf(&above, "%s/" PARENT "XXXXXX", real) < 0)
        return NULL;
    if (mkdtemp(above) && asprintf(&path, "%s/%s", above, name) < 0)
        path = NULL;
    if (path && mkdir(path, 0755)) {
        free(path);
        path = NULL;
    }
    free(above);
    return path;
}

void test_log_scratch_begin(struct test_log_run *run)
{
    const char *parent = choose(run), *name = trace_base_name(run->path);
    char *path = parent ? make_scratch(parent, name) : NULL;
    int folder = path ? open_scratch(path, name) : -1;

    if (folder >= 0 && !write_pointer(run->folder, path)) {
        run->scratch = path;
        run->shared = run->folder;
        run->folder = folder;
        return;
    }
    if (parent)
        test_log_notice("cannot record in %s: %s; this run is recorded in %s",
                        parent,
                        path && folder < 0 ? "its folders belong to others, or "
                                             "others can write to them"
                                           : strerror(errno),
                        run->path);
    if (folder >= 0)
        close(folder);
    if (path)
        remove_scratch(path);
    free(path);
}

/* ---- The end ---- */

/* Moves the contents of the folder `from` to the run's own folder. run.json
 * comes last, because it marks a run as complete. */
static int move(int from, const char *path, int to)
{
    struct test_log_left left = {.count = 0};
    char *copy;

    if (test_log_copy_tree(from, to, "run.json", &left) ||
        unlinkat(to, TEST_LOG_SCRATCH, 0))
        return -1;
    copy = strdup(path);
    if (left.count)
        test_log_notice("%s stays, because %s%s in it %s; all files have been "
                        "moved",
                        path, left.first, left.count > 1 ? " and others" : "",
                        left.count > 1 ? "are neither files nor folders"
                                       : "is neither a file nor a folder");
    else if (copy)
        remove_scratch(copy);
    free(copy);
    return 0;
}

bool test_log_scratch_end(struct test_log_run *run)
{
    char *path = run->scratch;

    if (!path || test_log_is_part(run))
        return true;
    if (!move(run->folder, path, run->shared)) {
        close(run->folder);
        run->folder = run->shared;
        run->shared = 0;
        run->scratch = NULL;
        free(path);
        return true;
    }
    test_log_notice("cannot move the run to %s: %s; it stays in %s, and "
                    "--failed will not consider it; results are not affected",
                    run->path, strerror(errno), path);
    free(run->path);
    run->path = path;
    run->scratch = NULL;
    return false;
}

/* ---- Runs that were killed ---- */

static void move_killed(int from, const char *path, int to, const char *dir,
                        const char *name)
{
    if (move(from, path, to))
        test_log_notice("cannot move %s to %s/%s: %s", path, dir, name,
                        strerror(errno));
    else
        test_log_notice("%s/%s was killed; it has been moved there from %s",
                        dir, name, path);
}

/* The runner holds the run's folder, and programs of testlog run hold the
 * scratch folder. */
static void rescue(int folder, const char *dir, const char *name)
{
    char path[TEST_LOG_SCRATCH_SIZE];
    int from = -1;

    if (!flock(folder, LOCK_EX | LOCK_NB) &&
        test_log_scratch_of(folder, path) == TEST_LOG_SCRATCH_HERE)
        from = open_scratch(path, name);
    if (from >= 0 && !flock(from, LOCK_EX | LOCK_NB))
        move_killed(from, path, folder, dir, name);
    if (from >= 0)
        close(from);
}

void test_log_scratch_rescue(int dir, const char *path)
{
    size_t count;
    char **names = test_log_list_runs(dir, true, &count);

    for (size_t i = 0; names && i < count; i++) {
        int folder = openat(dir, names[i],
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (folder >= 0) {
            rescue(folder, path, names[i]);
            close(folder);
        }
    }
    test_log_free_names(names, names ? count : 0);
}
