/* run_files.c: opens files in a run's folder. Tests may have put anything
 * there, so links are not followed: see trace_beneath. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/run/folder/run_folder.h"
#include "trace/base/file.h"

static int join(const char *folder, const char *name, char *path)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int test_log_path(const struct test_log_run *run, const char *name, char *path)
{
    return join(run->path, name, path);
}

int test_log_local_path(const struct test_log_run *run, const char *name,
                        char *path)
{
    return join(run->scratch ? run->scratch : run->path, name, path);
}

/* The name of a test's file in the run. */
static int name_of(const struct test_log_result *result, const char *file,
                   char *name)
{
    if (!result->folder && result->recording && !strcmp(file, "recording"))
        return snprintf(name, PATH_MAX, "%s", result->recording) < PATH_MAX
                   ? 0
                   : -1;
    errno = result->folder ? ENAMETOOLONG : ENOENT;
    return result->folder && snprintf(name, PATH_MAX, "%s/%s", result->folder,
                                      file) < PATH_MAX
               ? 0
               : -1;
}

int test_log_file(const struct test_log_run *run,
                  const struct test_log_result *result, const char *name,
                  char *path)
{
    char part[PATH_MAX];

    return name_of(result, name, part) ? -1 : test_log_path(run, part, path);
}

/* Returns a descriptor of the run's folder, for leave. */
static int enter(const struct test_log_run *run)
{
    if (run->folder > 0)
        return fcntl(run->folder, F_DUPFD_CLOEXEC, 3);
    if (run->path)
        return open(run->path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    errno = ENOENT;
    return -1;
}

/* Keeps errno. */
static void leave(int folder)
{
    int error = errno;

    close(folder);
    errno = error;
}

int test_log_open(const struct test_log_run *run, const char *name, int flags)
{
    int folder = enter(run), fd;

    if (folder < 0)
        return -1;
    fd = trace_beneath(folder, name, flags);
    leave(folder);
    return fd;
}

int test_log_create(const struct test_log_run *run, const char *name,
                    struct trace_file *file)
{
    int folder = enter(run), status;

    if (folder < 0)
        return -1;
    status = trace_file_beneath(file, folder, name);
    leave(folder);
    return status;
}

int test_log_create_file(const struct test_log_run *run,
                         const struct test_log_result *result, const char *file,
                         struct trace_file *to)
{
    char name[PATH_MAX];

    return name_of(result, file, name) ? -1 : test_log_create(run, name, to);
}

int test_log_local_file(const struct test_log_run *run,
                        const struct test_log_result *result, const char *name,
                        char *path)
{
    char part[PATH_MAX];

    return name_of(result, name, part) ? -1
                                       : test_log_local_path(run, part, path);
}

FILE *test_log_read(const struct test_log_run *run,
                    const struct test_log_result *result, const char *file)
{
    char name[PATH_MAX];
    int fd =
        name_of(result, file, name) ? -1 : test_log_open(run, name, O_RDONLY);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");

    if (fd >= 0 && !stream)
        leave(fd);
    return stream;
}

struct trace_reader *test_log_recording(const struct test_log_run *run,
                                        const struct test_log_result *result)
{
    char name[PATH_MAX];
    struct trace_reader *reader;
    int folder;

    if (run->open && result->folder)
        return run->open(run, result->folder);
    folder = name_of(result, "recording", name) ? -1 : enter(run);
    if (folder < 0)
        return NULL;
    reader = trace_reader_beneath(folder, name);
    leave(folder);
    return reader;
}

int test_log_change_recording(const struct test_log_run *run,
                              const struct test_log_result *result,
                              int (*change)(int folder, const char *name))
{
    char name[PATH_MAX];
    int folder = name_of(result, "recording", name) ? -1 : enter(run), status;

    if (folder < 0)
        return -1;
    status = change(folder, name);
    leave(folder);
    return status;
}

/* Returns a descriptor of the folder that contains a file of the run, for
 * leave; `name` becomes the base name. */
static int enter_parent(const struct test_log_run *run, const char **name)
{
    int folder = enter(run), parent;

    if (folder < 0)
        return -1;
    parent = trace_beneath_folder(folder, *name, name);
    leave(folder);
    return parent;
}

int test_log_make_folder(const struct test_log_run *run, const char *name)
{
    int parent = enter_parent(run, &name), status;

    if (parent < 0)
        return -1;
    status = mkdirat(parent, name, 0777);
    leave(parent);
    return status;
}

int test_log_remove(const struct test_log_run *run, const char *name)
{
    int parent = enter_parent(run, &name), status;

    if (parent < 0)
        return -1;
    status = unlinkat(parent, name, 0);
    leave(parent);
    return status;
}

void test_log_lock(int fd)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    for (int i = 0; i < 100 && flock(fd, LOCK_EX | LOCK_NB) &&
                    (errno == EWOULDBLOCK || errno == EINTR);
         i++)
        nanosleep(&pause, NULL);
}
