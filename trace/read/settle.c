/* settle.c: appends the records that are derived from buffers to a recording,
 * and frees the buffers. Then any testlog can read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/file.h"
#include "trace/format.h"

bool trace_is_raw(int fd)
{
    struct trace_header header;

    return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
           header.magic == TRACE_MAGIC && header.version == TRACE_FORMAT_RAW;
}

bool trace_reader_is_raw(const struct trace_reader *reader)
{
    return reader->derived != NULL;
}

/* Ends the file with the derived records, or, if they have no space, where they
 * would begin; -1 with errno. */
static int append(const struct trace_reader *reader, int fd, uint64_t at)
{
    struct trace_derived_records derived = trace_derived_records(reader);
    uint64_t begin = derived.begin * TRACE_SLOT_SIZE;
    uint64_t size = derived.end * TRACE_SLOT_SIZE - begin;
    int error = size ? trace_allocate(fd, at, size) : 0;

    if (!error && trace_write_at(fd, reader->base + begin, size, at))
        error = errno;
    if (ftruncate(fd, (off_t)(error ? at : at + size)) && !error)
        error = errno;
    errno = error;
    return error ? -1 : 0;
}

/* Changes the header of a recording that is settled. */
static void settle_header(const struct trace_reader *reader,
                          struct trace_header *header)
{
    struct trace_derived_records derived = trace_derived_records(reader);
    uint64_t slots = derived.end - derived.begin;
    uint64_t chunks =
        (trace_chunks_end(header) - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;

    header->version = TRACE_FORMAT_VERSION;
    header->raw = 0;
    header->settled = chunks;
    chunks += (slots + TRACE_CHUNK_SLOTS - 1) / TRACE_CHUNK_SLOTS;
    header->sites = derived.sites;
    header->chunks = chunks;
    if (header->limit < chunks)
        header->limit = chunks;
    if (header->reserved < chunks)
        header->reserved = chunks;
    header->used = TRACE_HEADER_SIZE + chunks * TRACE_CHUNK_SIZE;
}

/* ---- Freeing ---- */

/* Frees the whole pages of a range, if the file system can do that. */
static void punch(int fd, uint64_t from, uint64_t to)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (from < to)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(to - from));
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* Frees the zeros in a range: buffers that were not filled. */
static void punch_zeros(const struct trace_reader *reader, int fd,
                        uint64_t from, uint64_t to)
{
    uint64_t zeros = from, at;

    for (at = from; at + TRACE_PIECE_SIZE <= to; at += TRACE_PIECE_SIZE)
        if (!is_zero(reader->base + at, TRACE_PIECE_SIZE)) {
            punch(fd, zeros, at);
            zeros = at + TRACE_PIECE_SIZE;
        }
    punch(fd, zeros, at);
}

/* Frees what buffers took before `end`. */
static void free_buffers(const struct trace_reader *reader, int fd,
                         uint64_t end)
{
    uint64_t from, to;
    off_t at, hole = TRACE_HEADER_SIZE;

    for (size_t i = 0; trace_derived_buffer(reader, i, &from, &to); i++)
        punch(fd, from, to);
    while ((at = lseek(fd, hole, SEEK_DATA)) >= 0 && (uint64_t)at < end &&
           (hole = lseek(fd, at, SEEK_HOLE)) > at)
        punch_zeros(reader, fd, (uint64_t)at,
                    (uint64_t)hole < end ? (uint64_t)hole : end);
}

int trace_reader_settle(const struct trace_reader *reader, int fd)
{
    struct trace_header header;
    uint64_t end;

    if (!trace_reader_is_raw(reader))
        return 0;
    if (!trace_derived_records(reader)
             .complete) /* another testlog may read more */
        return errno = ENOMEM, -1;
    if (trace_end_chunks(fd, &header))
        return -1;
    end = trace_chunks_end(&header);
    if (end > reader->mapped)
        return errno = EINVAL, -1;
    if (append(reader, fd, end))
        return -1;
    settle_header(reader, &header);
    if (trace_write_at(fd, &header, TRACE_SHORT_HEADER, 0))
        return -1;
    free_buffers(reader, fd, end);
    return 0;
}
