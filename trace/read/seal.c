/* seal.c: completes the recordings of processes that have died. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/clock.h"
#include "trace/base/file.h"
#include "trace/format.h"

static bool read_header(int fd, struct trace_header *header)
{
    errno = EINVAL;
    return pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
           header->magic == TRACE_MAGIC;
}

/* Opens a recording to change its header, which it reads. */
static int open_header(int folder, const char *name,
                       struct trace_header *header)
{
    int fd = trace_beneath(folder, name, O_RDWR);

    if (fd < 0)
        return -1;
    if (read_header(fd, header))
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

/* Truncates the file; damage must not make it longer. */
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

/* Returns whether no other process can write to the file, by descriptor or
 * mapping: only then is a read lease granted. On some file systems, such as
 * overlayfs, a mapping of our own does not prevent the lease; then this proves
 * nothing. */
static bool has_no_writer(int folder, const char *name)
{
    int writing = trace_beneath(folder, name, O_RDWR);
    int reading = trace_beneath(folder, name, O_RDONLY);
    void *page = writing >= 0 ? mmap(NULL, 1, PROT_READ | PROT_WRITE,
                                     MAP_SHARED, writing, 0)
                              : MAP_FAILED;
    bool proves = false, granted = false;

    if (writing >= 0)
        close(writing);
    /* If somebody opens the file meanwhile, SIGIO would end the process. */
    if (page != MAP_FAILED && reading >= 0 && !fcntl(reading, F_SETSIG, SIGURG))
        proves = fcntl(reading, F_SETLEASE, F_RDLCK) && errno == EAGAIN;
    if (page != MAP_FAILED)
        munmap(page, 1);
    if (proves)
        granted = !fcntl(reading, F_SETLEASE, F_RDLCK);
    if (reading >= 0)
        close(reading); /* this ends the lease as well */
    return granted;
}

/* Returns the end of the last finished record; 0 if the recording is
 * unreadable, or so large that the rest of its last chunk does not matter. */
static uint64_t end_of_records(int folder, const char *name, uint64_t size)
{
    enum { LARGE = 1 << 20 };
    struct trace_reader *reader =
        size < LARGE ? trace_reader_beneath(folder, name) : NULL;
    uint64_t end = reader ? reader->used * TRACE_SLOT_SIZE : 0;

    trace_reader_close(reader);
    return reader && end < TRACE_HEADER_SIZE ? TRACE_HEADER_SIZE : end;
}

int trace_end_chunks(int fd, struct trace_header *header)
{
    uint64_t used;

    if (!read_header(fd, header))
        return -1;
    used = trace_chunks_end(header);
    if (trace_write_at(fd, &used, sizeof(used),
                       offsetof(struct trace_header, used)) ||
        !read_header(fd, header))
        return -1;
    return 0;
}

/* Returns where the chunks end, 0 if that is unknown. */
static uint64_t end_of_chunks(int folder, const char *name)
{
    struct trace_header header;
    int fd = trace_beneath(folder, name, O_RDWR);
    uint64_t end = 0;

    if (fd < 0)
        return 0;
    if (!trace_end_chunks(fd, &header))
        end = trace_chunks_end(&header);
    close(fd);
    return end;
}

/* Nobody has the recording mapped, so it can end with its last record. */
int trace_shrink_beneath(int folder, const char *name)
{
    uint64_t chunks = end_of_chunks(folder, name), end = 0;
    int fd, result;

    if (!chunks)
        return -1;
    if (has_no_writer(folder, name))
        end = end_of_records(folder, name, chunks);
    fd = trace_beneath(folder, name, O_RDWR);
    if (fd < 0)
        return -1;
    result = cut(fd, end && end < chunks ? end : chunks);
    close(fd);
    return result;
}
