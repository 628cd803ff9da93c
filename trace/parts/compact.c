/* compact.c: copies parts without what a short recording leaves unused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/file.h"
#include "trace/parts/parts.h"

enum { COMPACT_ALIGNMENT = 64 };

/* Removes empty slots from the end; returns how many bytes are left. */
static size_t trim(const unsigned char *records, size_t size)
{
    static const unsigned char empty[TRACE_SLOT_SIZE];

    while (size >= TRACE_SLOT_SIZE &&
           !memcmp(records + size - TRACE_SLOT_SIZE, empty, TRACE_SLOT_SIZE))
        size -= TRACE_SLOT_SIZE;
    return size;
}

static int put_zeros(FILE *to, uint64_t *at, uint64_t alignment)
{
    uint64_t next = (*at + alignment - 1) / alignment * alignment;

    for (; *at < next; ++*at)
        if (fputc(0, to) == EOF)
            return -1;
    return 0;
}

static int put(FILE *to, uint64_t *at, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, to) != size)
        return -1;
    *at += size;
    return 0;
}

static int put_compact(FILE *to, uint64_t *at, const unsigned char *part,
                       size_t size)
{
    struct trace_header header;
    size_t records = trim(part + TRACE_HEADER_SIZE, size - TRACE_HEADER_SIZE);
    const size_t causes =
        sizeof(header.losses.lost) / sizeof(*header.losses.lost);

    memcpy(&header, part, sizeof(header));
    /* The losses that threads have counted are in the long header. */
    for (int i = 0; i < TRACE_COUNTERS; i++)
        for (size_t cause = 0; cause < causes; cause++)
            header.losses.lost[cause] += header.counters[i].lost[cause];
    header.compact = 1;
    header.used = TRACE_HEADER_SIZE + records;
    return put(to, at, &header, TRACE_SHORT_HEADER) ||
                   put(to, at, part + TRACE_HEADER_SIZE, records)
               ? -1
               : 0;
}

uint64_t trace_part_size(int file, uint64_t offset)
{
    struct trace_header header;

    if (pread(file, &header, TRACE_SHORT_HEADER, (off_t)offset) !=
            TRACE_SHORT_HEADER ||
        header.magic != TRACE_MAGIC)
        return 0;
    return header.used ? header.used : trace_chunks_end(&header);
}

int trace_copy_part(int from, uint64_t *offset, FILE *to, uint64_t *at)
{
    unsigned char part[TRACE_HEADER_SIZE + TRACE_CHUNK_SIZE];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), origin = *offset;
    uint64_t size = trace_part_size(from, origin);
    bool is_short = size <= sizeof(part);

    errno = EINVAL;
    if (size < TRACE_HEADER_SIZE ||
        put_zeros(to, at, is_short ? COMPACT_ALIGNMENT : page))
        return -1;
    *offset = *at;
    if (!is_short) { /* it is copied as it is */
        *at += size;
        return trace_copy_range(from, origin, size, to) == size ? 0 : -1;
    }
    return pread(from, part, (size_t)size, (off_t)origin) == (ssize_t)size
               ? put_compact(to, at, part, (size_t)size)
               : -1;
}

/* ---- Finding them again ---- */

static bool is_part(int file, uint64_t offset, struct trace_header *header)
{
    return pread(file, header, TRACE_SHORT_HEADER, (off_t)offset) ==
               TRACE_SHORT_HEADER &&
           header->magic == TRACE_MAGIC;
}

static uint64_t align(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

/* Behind a part of a process that has died, or that a child's part follows,
 * are pages of zeros and a hole. */
static bool past_hole(int file, uint64_t *offset)
{
    struct trace_header header;
    off_t hole, data;

    for (;;) {
        hole = lseek(file, (off_t)*offset, SEEK_HOLE);
        data = hole < 0 ? -1 : lseek(file, hole, SEEK_DATA);
        if (data <= (off_t)*offset)
            return false;
        *offset = (uint64_t)data;
        if (is_part(file, *offset, &header))
            return true;
    }
}

bool trace_next_part(int file, uint64_t *offset)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end;
    struct trace_header header;

    if (!is_part(file, *offset, &header))
        return false;
    end = *offset + (header.compact ? TRACE_SHORT_HEADER +
                                          (header.used - TRACE_HEADER_SIZE)
                     : header.used ? header.used
                                   : trace_chunks_end(&header));
    if (end <= *offset || end > INT64_MAX / 2)
        return false; /* it is damaged */
    *offset = align(end, COMPACT_ALIGNMENT);
    if (is_part(file, *offset, &header))
        return true;
    *offset = align(end, page);
    return is_part(file, *offset, &header) || past_hole(file, offset);
}

bool trace_has_parts(int file)
{
    struct trace_header header;
    uint64_t offset = 0;

    return is_part(file, 0, &header) &&
           (header.compact || trace_next_part(file, &offset));
}
