/* seal.c: ends the recordings of processes that are gone. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "internal.h"

/* Opens a recording to change its header, which it reads. */
static int open_header(int folder, const char *name,
                       struct trace_header *header)
{
    int fd = trace_beneath(folder, name, O_RDWR);

    if (fd < 0)
        return -1;
    if (pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
        header->magic == TRACE_MAGIC)
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int trace_seal(const char *path)
{
    return trace_seal_beneath(AT_FDCWD, path);
}

int trace_seal_beneath(int folder, const char *name)
{
    struct trace_header header;
    int fd = open_header(folder, name, &header);
    ssize_t size = sizeof(header.end);

    if (fd < 0)
        return -1;
    if (!header.end.ticks) {
        header.end = trace_anchor_now();
        size = pwrite(fd, &header.end, sizeof(header.end),
                      offsetof(struct trace_header, end));
    }
    close(fd);
    return size == sizeof(header.end) ? 0 : -1;
}

static uint64_t used_of(const struct trace_header *header)
{
    uint64_t chunks =
        header->chunks < header->limit ? header->chunks : header->limit;

    if (header->spare > chunks)
        chunks = header->spare;
    return TRACE_HEADER_SIZE + chunks * TRACE_CHUNK_SIZE;
}

/* Cuts the file, which damage must not make longer. */
static int cut(int fd, uint64_t size)
{
    struct stat status;

    if (fstat(fd, &status))
        return -1;
    return size < (uint64_t)status.st_size ? ftruncate(fd, (off_t)size) : 0;
}

int trace_shrink(const char *path)
{
    return trace_shrink_beneath(AT_FDCWD, path);
}

/* A child that was left behind may still record: it is told first that there is
 * no room beyond what it has by now. */
int trace_shrink_beneath(int folder, const char *name)
{
    struct trace_header header;
    int fd = open_header(folder, name, &header), result = -1;

    if (fd < 0)
        return -1;
    header.used = used_of(&header);
    if (pwrite(fd, &header.used, sizeof(header.used),
               offsetof(struct trace_header, used)) == sizeof(header.used) &&
        pread(fd, &header, sizeof(header), 0) == sizeof(header))
        result = cut(fd, used_of(&header));
    close(fd);
    return result;
}
