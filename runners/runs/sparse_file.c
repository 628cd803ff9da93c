/* sparse_file.c: writes decompressed data to a file, with holes for zeros. */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "archive.h"

uint64_t runners_holes_room(int fd)
{
    struct statvfs disk;

    if (!fstatvfs(fd, &disk) && disk.f_blocks)
        return (uint64_t)disk.f_bavail * disk.f_frsize / 2;
    return (uint64_t)sysconf(_SC_AVPHYS_PAGES) *
           (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

static bool is_zero(const char *bytes, size_t size)
{
    return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

static bool write_out(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return true;
}

bool runners_holes_put(struct holes_file *to, const char *bytes, size_t size)
{
    bool hole = is_zero(bytes, size);

    if (!hole && to->written + size > to->room)
        to->why = "it needs more than half of the free space in TMPDIR";
    else if (hole ? lseek(to->out, (off_t)size, SEEK_CUR) < 0
                  : !write_out(to->out, bytes, size))
        to->why = strerror(errno);
    to->size += size;
    to->written += hole ? 0 : size;
    return !to->why;
}

const char *runners_holes_end(struct holes_file *to)
{
    if (!to->why && ftruncate(to->out, (off_t)to->size))
        to->why = strerror(errno);
    return to->why;
}
