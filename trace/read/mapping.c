/* mapping.c: maps recordings for reading. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader_parts.h"
#include "trace/base/file.h"
#include "trace/base/sigbus.h"
#include "trace/format.h"
#include "trace/record/recorder.h"

enum { FEW_CHUNKS = 16 };

void trace_reader_read_header(struct trace_reader *reader)
{
    if (reader->size > (size_t)UINT32_MAX * TRACE_SLOT_SIZE)
        reader->size = (size_t)UINT32_MAX * TRACE_SLOT_SIZE;
    memcpy(&reader->header, reader->base, sizeof(reader->header));
    /* Reading a file without reserved space may raise SIGBUS. */
    if (reader->header.reserved < reader->size / TRACE_CHUNK_SIZE)
        reader->size =
            TRACE_HEADER_SIZE + reader->header.reserved * TRACE_CHUNK_SIZE;
}

/* Some file systems refuse shared mappings; in a private one, records may be
 * missing that are written while we read. */
static void *map(int fd, size_t size)
{
    void *base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

    return base == MAP_FAILED && errno == ENODEV
               ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0)
               : base;
}

bool trace_reader_map(struct trace_reader *reader, int folder, const char *name)
{
    struct stat status;
    int fd = trace_beneath(folder, name, O_RDONLY);
    void *base = MAP_FAILED;

    if (fd < 0)
        return false;
    if (!fstat(fd, &status)) {
        reader->size = (size_t)status.st_size;
        errno = EINVAL;
        if (S_ISREG(status.st_mode) && reader->size >= TRACE_HEADER_SIZE)
            base = map(fd, reader->size);
    }

    reader->fd = fd;
    if (base == MAP_FAILED)
        return false;
    if (!trace_sigbus_guard(base, reader->size)) {
        munmap(base, reader->size);
        return false;
    }
    reader->base = base;
    reader->mapped = reader->size;
    trace_reader_read_header(reader);
    /* Most pages of a small recording are holes; reading ahead would fill them.
     */
    if (reader->header.chunks <= FEW_CHUNKS)
        madvise(base, reader->size, MADV_RANDOM);
    return true;
}

void trace_reader_leave_file(struct trace_reader *reader)
{
    int error = errno;

    if (reader->fd >= 0)
        close(reader->fd);
    reader->fd = -1;
    errno = error;
}

void trace_reader_use(struct trace_reader *reader, const void *base,
                      size_t size)
{
    reader->base = base;
    reader->size = size;
    trace_reader_read_header(reader);
}

void trace_reader_unmap(struct trace_reader *reader)
{
    if (!reader->mapped)
        return;
    trace_sigbus_release(reader->base);
    munmap((void *)reader->base, reader->mapped);
}

enum { DROP_FROM = 8 << 20 }; /* bytes; smaller recordings may stay in memory */

void trace_reader_drop(const struct trace_reader *reader, uint64_t from,
                       uint64_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = (size_t)from * TRACE_SLOT_SIZE / page * page;
    size_t end = (size_t)to * TRACE_SLOT_SIZE;

    end = end < reader->mapped ? end : reader->mapped;
    if (reader->mapped >= DROP_FROM && first < end)
        madvise((char *)reader->base + first, end - first, MADV_DONTNEED);
}

uint64_t trace_reader_past_hole(const struct trace_reader *reader,
                                uint64_t place)
{
    off_t at =
        reader->fd < 0
            ? -1
            : lseek(reader->fd, (off_t)(place * TRACE_SLOT_SIZE), SEEK_DATA);
    uint64_t chunk =
        at < TRACE_HEADER_SIZE
            ? 0
            : ((uint64_t)at - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;
    uint64_t next = TRACE_FIRST_PLACE + chunk * TRACE_CHUNK_SLOTS;

    if (reader->fd >= 0 && at < 0 && errno == ENXIO)
        return reader->size / TRACE_SLOT_SIZE;
    return next > place ? next : place;
}
