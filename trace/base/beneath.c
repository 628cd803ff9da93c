/* beneath.c: opens files in a folder where others may have put anything, such
 * as the folder of a run, whose tests may have put links and FIFOs there.
 *
 * Each part of a name is opened by itself, without following a link. openat2(2)
 * with RESOLVE_BENEATH would do this, but it is recent, containers forbid it,
 * and Debian 12's valgrind does not support it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "trace/read/reader.h"

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

static bool stays_beneath(const char *name)
{
    return name[0] && strcmp(name, "..") != 0;
}

/* Opens the folder in `at` that has the first `size` bytes of `name` as its
 * name. */
static int enter(int at, const char *name, size_t size)
{
    char part[NAME_MAX + 1] = "";
    int next = -1;

    if (size < sizeof(part))
        memcpy(part, name, size);
    errno = size < sizeof(part) ? EINVAL : ENAMETOOLONG;
    if (stays_beneath(part))
        next =
            openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    close_quietly(at);
    return next;
}

int trace_beneath_folder(int folder, const char *name, const char **last)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);

    for (size_t size; at >= 0 && name[size = strcspn(name, "/")];
         name += size + 1)
        at = enter(at, name, size);
    *last = name;
    if (at < 0 || stays_beneath(name))
        return at;
    close(at);
    errno = EINVAL;
    return -1;
}

/* Returns whether the file is ours, or its folder's owner's: some file systems
 * give all files one owner. A file with a second name may belong to another
 * folder and must not change. */
static bool is_ours(int folder, int fd, bool writes)
{
    struct stat file, place;

    if (fstat(fd, &file) || fstat(folder, &place))
        return false;
    errno = EINVAL;
    if (!S_ISREG(file.st_mode) || (writes && file.st_nlink > 1))
        return false;
    errno = EPERM;
    return file.st_uid == geteuid() || file.st_uid == place.st_uid;
}

int trace_beneath(int folder, const char *name, int flags)
{
    const char *last;
    int at, fd;

    flags |= O_NONBLOCK | O_NOCTTY | O_CLOEXEC; /* never waits for a FIFO */
    if (folder == AT_FDCWD)
        return open(name, flags, 0666);
    at = trace_beneath_folder(folder, name, &last);
    if (at < 0)
        return -1;
    fd = openat(at, last, flags | O_NOFOLLOW, 0666);
    close_quietly(at);
    if (fd < 0 || is_ours(folder, fd, (flags & O_ACCMODE) != O_RDONLY))
        return fd;
    close_quietly(fd);
    return -1;
}

int trace_open_regular(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || (!fstat(fd, &status) && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}
