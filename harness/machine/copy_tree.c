/* copy_tree.c: copies the files of a run to another file system. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "trace/base/file.h"

enum {
    BLOCK = 128 << 10, /* bytes that are copied at once */
    DEPTH = 64,        /* of folders */
};

/* Finds the next data between holes, [*at, *end); false at the end. On a file
 * system without holes, that is the whole file. */
static bool next_piece(int in, off_t size, off_t *at, off_t *end)
{
    off_t data = lseek(in, *at, SEEK_DATA);

    if (data < 0 && errno == ENXIO)
        return false;
    *at = data < 0 ? *at : data;
    *end = lseek(in, *at, SEEK_HOLE);
    if (*end < 0)
        *end = size;
    return *at < *end;
}

static int copy_piece(int in, int out, off_t at, off_t end)
{
    static char bytes[BLOCK];

    while (at < end) {
        size_t most = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
        ssize_t got = pread(in, bytes, most, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return (int)got;
        if (lseek(out, at, SEEK_SET) < 0 ||
            test_log_write_all(out, bytes, (size_t)got))
            return -1;
        at += got;
    }
    return 0;
}

static int copy_contents(int in, int out)
{
    struct stat status;
    off_t at = 0, end;

    if (fstat(in, &status))
        return -1;
    for (; next_piece(in, status.st_size, &at, &end); at = end)
        if (copy_piece(in, out, at, end))
            return -1;
    return ftruncate(out, status.st_size);
}

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

int test_log_copy_file(int from, int to, const char *name)
{
    struct trace_file file;
    int in = trace_beneath(from, name, O_RDONLY), status = -1;

    if (in < 0)
        return -1;
    if (!trace_file_beneath(&file, to, name)) {
        status = copy_contents(in, fileno(file.stream));
        if (!status) {
            status = trace_file_commit(&file);
        } else {
            int error = errno;

            trace_file_abandon(&file);
            errno = error;
        }
    }
    close_quietly(in);
    return status;
}

static int copy_folder(int from, int to, const char *except, int depth,
                       struct test_log_left *);

static int copy_into(int from, int to, const char *name, int depth,
                     struct test_log_left *left)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int in, out, status = -1;

    if (mkdirat(to, name, 0777) && errno != EEXIST)
        return -1;
    in = openat(from, name, flags);
    out = openat(to, name, flags);
    if (in >= 0 && out >= 0)
        status = copy_folder(in, out, "", depth - 1, left);
    if (in >= 0)
        close_quietly(in);
    if (out >= 0)
        close_quietly(out);
    return status;
}

static void note_left(struct test_log_left *left, const char *name)
{
    if (!left->count++)
        snprintf(left->first, sizeof(left->first), "%s", name);
}

static int copy_entry(int from, int to, const char *name, int depth,
                      struct test_log_left *left)
{
    struct stat status;

    if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW))
        return -1;
    if (S_ISDIR(status.st_mode))
        return copy_into(from, to, name, depth, left);
    if (S_ISREG(status.st_mode))
        return test_log_copy_file(from, to, name);
    note_left(left, name);
    return 0;
}

static int copy_folder(int from, int to, const char *except, int depth,
                       struct test_log_left *left)
{
    int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!entries && fd >= 0)
        close_quietly(fd);
    if (!entries)
        return -1;
    errno = ELOOP;
    if (depth <= 0)
        status = -1;
    while (!status && (entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, except) != 0)
            status = copy_entry(from, to, entry->d_name, depth, left);

    int error = errno;

    closedir(entries);
    errno = error;
    return status;
}

int test_log_copy_tree(int from, int to, const char *last,
                       struct test_log_left *left)
{
    if (copy_folder(from, to, last, DEPTH, left))
        return -1;
    return copy_entry(from, to, last, DEPTH, left) && errno != ENOENT ? -1 : 0;
}
