/* file.c: files that appear complete. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "trace/read/reader.h"

/* Preserves errno. */
static void forget(struct trace_file *file)
{
    int error = errno;

    if (file->folder > 0)
        close(file->folder);
    free(file->path);
    free(file->aside);
    *file = (struct trace_file){0};
    errno = error;
}

static void remove_aside(const struct trace_file *file)
{
    int error = errno;

    unlinkat(file->folder, file->aside, 0);
    errno = error;
}

/* Returns a name beside the path that no file has, NULL without memory. */
static char *name_aside(const char *path)
{
    uint64_t own[] = {(uint64_t)getpid(), trace_anchor_now().monotonic};
    char *name;

    return asprintf(&name, "%s.%016" PRIx64 ".part", path,
                    trace_hash(TRACE_HASH, own, sizeof(own))) < 0
               ? NULL
               : name;
}

/* Opens a new file beside the path; never an existing one, nor through a
 * link. */
static int open_aside(const struct trace_file *file)
{
    return openat(file->folder, file->aside,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

/* Opens a file without a name, of which nothing is left if the process is
 * killed; -1 if the file system has none. */
static int open_unnamed(const struct trace_file *file)
{
    const char *slash = strrchr(file->path, '/');
    char *folder = slash ? strndup(file->path, (size_t)(slash - file->path) + 1)
                         : strdup(".");
    int fd = folder ? openat(file->folder, folder,
                             O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)
                    : -1;

    free(folder);
    return fd;
}

static int begin(struct trace_file *file)
{
    int fd = -1;

    if (file->path)
        file->aside = name_aside(file->path);
    if (file->aside) {
        fd = open_unnamed(file);
        file->unnamed = fd >= 0;
        fd = file->unnamed ? fd : open_aside(file);
    }
    file->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (file->stream)
        return 0;
    if (fd >= 0) {
        close(fd);
        if (!file->unnamed)
            remove_aside(file);
    }
    forget(file);
    return -1;
}

int trace_file_open(struct trace_file *file, const char *path)
{
    struct stat status;
    bool there = !stat(path, &status);
    /* A link is kept; the file that it points to is replaced. */
    char *real = there ? realpath(path, NULL) : NULL;

    *file = (struct trace_file){.folder = AT_FDCWD,
                                .path = real ? real : strdup(path)};
    if (!there || S_ISREG(status.st_mode))
        return begin(file);
    /* A pipe or a device, for example, cannot be replaced. */
    file->stream = fopen(path, "we");
    if (file->stream)
        return 0;
    forget(file);
    return -1;
}

int trace_file_beneath(struct trace_file *file, int folder, const char *name)
{
    *file = (struct trace_file){0};
    file->folder = trace_beneath_folder(folder, name, &name);
    if (file->folder >= 0)
        file->path = strdup(name);
    return begin(file);
}

void trace_file_abandon(struct trace_file *file)
{
    if (!file->stream)
        return;
    fclose(file->stream);
    if (file->aside && !file->unnamed)
        remove_aside(file);
    forget(file);
}

/* ---- Naming it ---- */

static int link_as(const struct trace_file *file, int fd, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, file->folder, name, AT_SYMLINK_FOLLOW);
}

static int copy(int from, int to)
{
    char bytes[1 << 14];
    ssize_t got;
    off_t at = 0;

    while ((got = pread(from, bytes, sizeof(bytes), at)) > 0) {
        ssize_t put = write(to, bytes, (size_t)got);

        if (put < 0)
            return -1;
        at += put;
    }
    return (int)got;
}

/* Without /proc, or where links are forbidden, a file cannot get a name. */
static int copy_aside(const struct trace_file *file, int fd)
{
    int to = open_aside(file), status = to < 0 ? -1 : copy(fd, to);

    if (to >= 0 && close(to))
        status = -1;
    if (to >= 0 && status)
        remove_aside(file);
    return status;
}

/* Gives the file the name of its path, or, if there is an older one, the name
 * to rename it from. */
static int name_it(struct trace_file *file)
{
    int fd = fileno(file->stream);

    if (!link_as(file, fd, file->path)) {
        free(file->aside);
        file->aside = NULL;
        return 0;
    }
    file->unnamed = false;
    if (errno == EEXIST && !link_as(file, fd, file->aside))
        return 0;
    return copy_aside(file, fd);
}

/* Why a write failed, which the stream does not keep: the next write fails for
 * the same reason. */
static int error_of(const struct trace_file *file)
{
    return file->aside && write(fileno(file->stream), "", 1) < 0 ? errno : EIO;
}

/* Returns whether all that was written is in the file, which has a name. */
static bool complete(struct trace_file *file)
{
    int error = ferror(file->stream) ? error_of(file) : 0;
    bool good =
        !error && !fflush(file->stream) && (!file->unnamed || !name_it(file));

    if (!good && !error)
        error = errno;
    if (fclose(file->stream))
        good = false;
    errno = error ? error : errno;
    return good;
}

int trace_file_commit(struct trace_file *file)
{
    bool good = complete(file);

    if (good && file->aside)
        good = !renameat(file->folder, file->aside, file->folder, file->path);
    if (!good && file->aside && !file->unnamed)
        remove_aside(file);
    forget(file);
    return good ? 0 : -1;
}

char *trace_file_bytes(int fd, uint64_t most, size_t *size)
{
    struct stat status;
    ssize_t got = 1;
    char *bytes;

    *size = 0;
    if (fstat(fd, &status))
        return NULL;
    if ((uint64_t)status.st_size > most) {
        errno = EFBIG;
        return NULL;
    }
    bytes = malloc((size_t)status.st_size + 1);
    while (bytes && got > 0 && *size < (size_t)status.st_size) {
        got = pread(fd, bytes + *size, (size_t)status.st_size - *size,
                    (off_t)*size);
        *size += got > 0 ? (size_t)got : 0;
    }
    if (bytes)
        bytes[*size] = '\0';
    return bytes;
}

uint64_t trace_copy_range(int from, uint64_t at, uint64_t size, FILE *to)
{
    char bytes[65536];
    uint64_t copied = 0;

    while (copied < size) {
        uint64_t left = size - copied;
        size_t most = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
        ssize_t got = pread(from, bytes, most, (off_t)(at + copied));

        if (got <= 0 || fwrite(bytes, 1, (size_t)got, to) != (size_t)got)
            break;
        copied += (uint64_t)got;
    }
    return copied;
}

/* ---- Space ---- */

/* Allocates blocks by writing to those that are empty. Nobody else writes to
 * the range yet. */
static int write_blocks(int fd, uint64_t from, uint64_t size)
{
    enum { BLOCK = 4096 };
    struct stat status;

    if (fstat(fd, &status))
        return errno;
    if ((uint64_t)status.st_size < from + size &&
        ftruncate(fd, (off_t)(from + size)))
        return errno;
    for (uint64_t at = from; at < from + size;
         at = (at + BLOCK) / BLOCK * BLOCK) {
        char byte = 0;

        if (pread(fd, &byte, 1, (off_t)at) < 0 ||
            (!byte && pwrite(fd, &byte, 1, (off_t)at) < 0))
            return errno;
    }
    return 0;
}

int trace_allocate(int fd, uint64_t from, uint64_t size)
{
    int error = posix_fallocate(fd, (off_t)from, (off_t)size);

    /* Old profiles of seccomp do not know it. */
    return error == EPERM || error == ENOSYS ? write_blocks(fd, from, size)
                                             : error;
}

int trace_write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
    const char *next = bytes;

    while (size) {
        ssize_t count = pwrite(fd, next, size, (off_t)at);

        if (count < 0 && errno != EINTR)
            return -1;
        if (count > 0) {
            next += count;
            size -= (size_t)count;
            at += (uint64_t)count;
        }
    }
    return 0;
}

/* ---- Versions of a file ---- */

static const char stamp_tag[] = {'s', 't', 'a', 't'};

size_t trace_file_stamp(const char *path, unsigned char stamp[TRACE_FILE_STAMP])
{
    struct stat status;
    uint64_t parts[2];

    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return 0;
    parts[0] = (uint64_t)status.st_size;
    parts[1] = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
               (uint64_t)status.st_mtim.tv_nsec;
    memcpy(stamp, stamp_tag, sizeof(stamp_tag));
    memcpy(stamp + sizeof(stamp_tag), parts, sizeof(parts));
    return TRACE_FILE_STAMP;
}

bool trace_is_stamp(const unsigned char *id, size_t size)
{
    return size == TRACE_FILE_STAMP &&
           !memcmp(id, stamp_tag, sizeof(stamp_tag));
}
