/* mapping.c: maps recordings for reading. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader_parts.h"
#include "trace/base/file.h"
#include "trace/base/sigbus.h"
#include "trace/format.h"
#include "trace/record/recorder.h"

enum {
    FEW_CHUNKS = 16,
    COMPACT_MOST = TRACE_HEADER_SIZE + TRACE_CHUNK_SIZE, /* bytes of a part */
};

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
static void *map(int fd, uint64_t from, size_t size)
{
    void *base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)from);

    return base == MAP_FAILED && errno == ENODEV
               ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)from)
               : base;
}

enum {
    DERIVED = 8,              /* bytes for each byte of a buffer, */
    DERIVED_LEAST = 64 << 20, /* and for those that come meanwhile */
};

static size_t whole_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size + page - 1) / page * page;
}

/* Returns how much memory may be needed for derived records. */
static size_t space_for_derived(const struct trace_reader *reader, bool follows)
{
    struct trace_header header;
    uint64_t raw = reader->size;

    if (reader->is_part || /* it has none */
        pread(reader->fd, &header, TRACE_SHORT_HEADER, 0) !=
            TRACE_SHORT_HEADER ||
        (!follows && header.version != TRACE_FORMAT_RAW))
        return 0;
    if (!follows && header.raw < raw)
        raw = header.raw;
    return (size_t)raw * DERIVED + DERIVED_LEAST;
}

/* Maps a file with addresses behind it, as many as may be needed. */
static void *map_with_space(struct trace_reader *reader, bool follows)
{
    const int shared = MAP_SHARED | MAP_FIXED, copied = MAP_PRIVATE | MAP_FIXED;
    size_t extra = whole_pages(space_for_derived(reader, follows));
    size_t size = whole_pages(reader->size);
    char *base = MAP_FAILED;
    void *file;

    for (; extra >= DERIVED_LEAST / 2; extra = whole_pages(extra / 2)) {
        base = mmap(NULL, size + extra, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED)
            break;
    }
    if (base == MAP_FAILED)
        return map(reader->fd, reader->from, reader->size);
    file = mmap(base, reader->size, PROT_READ, shared, reader->fd,
                (off_t)reader->from);
    if (file == MAP_FAILED && errno == ENODEV)
        file = mmap(base, reader->size, PROT_READ, copied, reader->fd,
                    (off_t)reader->from);
    if (file == MAP_FAILED)
        munmap(base, size + extra);
    else
        reader->extra = extra;
    return file;
}

/* Opens a file, or the file of a part: "name#offset". */
static int open_file(struct trace_reader *reader, int folder, const char *name)
{
    int fd = trace_beneath(folder, name, O_RDONLY);
    const char *mark = strrchr(name, '#');
    char plain[PATH_MAX], *end = NULL;

    if (fd >= 0 || errno != ENOENT || !mark)
        return fd;
    snprintf(plain, sizeof(plain), "%.*s", (int)(mark - name), name);
    reader->from = strtoull(mark + 1, &end, 10);
    errno = ENOENT;
    if (!mark[1] || *end || reader->from > INT64_MAX)
        return -1;
    reader->is_part = true;
    return trace_beneath(folder, plain, O_RDONLY);
}

/* Reads what a part's header says: its size, and whether it is compact. */
static void read_part(struct trace_reader *reader)
{
    struct trace_header header;
    uint64_t size;

    if (pread(reader->fd, &header, TRACE_SHORT_HEADER, (off_t)reader->from) !=
        TRACE_SHORT_HEADER)
        header = (struct trace_header){.compact = 0};
    size = header.used ? header.used
                       : TRACE_HEADER_SIZE + header.limit * TRACE_CHUNK_SIZE;
    reader->is_compact = header.compact && size <= COMPACT_MOST;
    if (size < reader->size || reader->is_compact)
        reader->size = (size_t)size;
}

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Reads a compact part into memory as if it were mapped. */
static void *load(const struct trace_reader *reader)
{
    size_t records = reader->size - TRACE_HEADER_SIZE;
    char *base = mmap(NULL, reader->size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        return base;
    if (read_at(reader->fd, base, TRACE_SHORT_HEADER, reader->from) &&
        read_at(reader->fd, base + TRACE_HEADER_SIZE, records,
                reader->from + TRACE_SHORT_HEADER))
        return base;
    munmap(base, reader->size);
    errno = EINVAL;
    return MAP_FAILED;
}

static void find_size(struct trace_reader *reader)
{
    struct stat status;

    if (fstat(reader->fd, &status) || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size < reader->from)
        return;
    reader->size = (size_t)((uint64_t)status.st_size - reader->from);
    if (reader->is_part)
        read_part(reader);
}

void trace_reader_leave_file(struct trace_reader *reader)
{
    int error = errno;

    if (reader->fd >= 0)
        close(reader->fd);
    reader->fd = -1;
    errno = error;
}

bool trace_reader_map(struct trace_reader *reader, int folder, const char *name,
                      bool follows)
{
    int fd = reader->fd = open_file(reader, folder, name);
    void *base = MAP_FAILED;

    if (fd < 0)
        return false;
    find_size(reader);
    errno = EINVAL;
    if (reader->size >= TRACE_HEADER_SIZE)
        base =
            reader->is_compact ? load(reader) : map_with_space(reader, follows);
    if (reader->is_compact)
        trace_reader_leave_file(reader);
    if (base == MAP_FAILED)
        return false;
    reader->base = base;
    reader->mapped = reader->size;
    if (!trace_sigbus_guard(base, reader->size)) {
        trace_reader_unmap(reader);
        reader->mapped = 0;
        return false;
    }
    trace_reader_read_header(reader);
    /* Most pages of a small recording are holes; reading ahead would fill them.
     */
    if (reader->header.chunks <= FEW_CHUNKS)
        madvise(base, reader->size, MADV_RANDOM);
    return true;
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
    munmap((void *)reader->base,
           reader->extra ? whole_pages(reader->mapped) + reader->extra
                         : reader->mapped);
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
    uint64_t next = TRACE_FIRST_PLACE, chunk;
    off_t at;

    if (reader->fd < 0)
        return place;
    at = lseek(reader->fd, (off_t)(reader->from + place * TRACE_SLOT_SIZE),
               SEEK_DATA);
    if (at < 0)
        return errno == ENXIO ? reader->size / TRACE_SLOT_SIZE : place;
    at -= (off_t)reader->from;
    chunk = at < TRACE_HEADER_SIZE
                ? 0
                : ((uint64_t)at - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;
    next += chunk * TRACE_CHUNK_SLOTS;
    return next > place ? next : place;
}
