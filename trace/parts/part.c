/* part.c: recordings that follow each other in one file.
 *
 * Each begins at a page of the file with a header of its own. All are mapped at
 * the same addresses, so that 100,000 of them need no more of these than one.
 * The file is made longer, and space on the disk is reserved, for many parts at
 * once, because each call costs as much as a short part.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/base/file.h"
#include "trace/format.h"
#include "trace/record/write.h"

/* How much more of the file is reserved, and mapped, than the next part needs:
 * bytes. */
enum { RESERVE_MORE = 4 << 20, GROW_MORE = 1 << 30 };

/* Of the file; processes share it. */
static struct {
    uint64_t next;     /* where the next part begins */
    uint64_t reserved; /* up to here */
    uint64_t size;
} * shared;

static uint64_t part_size; /* of the process's own, as long as it is open */

int trace_parts_begin(void)
{
    void *memory =
        mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return -1;
    shared = memory;
    return 0;
}

/* ---- Beginning ---- */

static uint64_t file_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/* Space that another process may still take for its part stays a hole. */
static int reserve(int file, uint64_t begin, uint64_t end)
{
    uint64_t most = file_limit();
    uint64_t to = end + RESERVE_MORE < most ? end + RESERVE_MORE : most;
    uint64_t from = shared->reserved > begin ? shared->reserved : begin;
    int error;

    if (end <= shared->reserved)
        return 0;
    error = end > most ? EFBIG : trace_allocate(file, from, to - from);
    if (error && end <= most) {
        to = end; /* the disk may be nearly full */
        error = trace_allocate(file, from, to - from);
    }
    errno = error;
    if (!error)
        shared->reserved = to;
    return error ? -1 : 0;
}

static int grow(int file, uint64_t end)
{
    uint64_t most = file_limit();
    uint64_t to = end + GROW_MORE < most ? end + GROW_MORE : most;

    if (end <= shared->size || to <= shared->size)
        return 0;
    if (ftruncate(file, (off_t)to))
        return -1;
    shared->size = to;
    return 0;
}

/* A short part must not pay for the file of a long one. */
int trace_open_part(int file, uint64_t *offset,
                    const struct trace_options *options)
{
    uint64_t begin = shared->next;

    part_size = options->limit ? options->limit : TRACE_LIMIT_DEFAULT;
    if (reserve(file, begin, begin + TRACE_FIRST_SIZE) ||
        grow(file, begin + part_size) || trace_open_at(file, begin, options))
        return -1;
    part_size = trace_recording.file_size;
    shared->next = begin + part_size;
    *offset = begin;
    return 0;
}

/* ---- Ending ---- */

/* Where the pieces end that threads have. */
static uint64_t pieces_end(const struct trace_header *header)
{
    const struct trace_writer *writer = &trace_writer;
    uint64_t end = trace_chunks_end(header);
    uint64_t shared_pieces = __atomic_load_n(&header->shared, __ATOMIC_RELAXED);
    uint64_t pieces = TRACE_HEADER_SIZE + shared_pieces * TRACE_PIECE_SIZE;
    uint64_t next;

    if (shared_pieces % TRACE_CHUNK_PIECES && end - pieces < TRACE_CHUNK_SIZE)
        return pieces;
    if (!trace_is_current(writer) || !writer->next || writer->overflow ||
        trace_place_of(writer, writer->end) * (uint64_t)TRACE_SLOT_SIZE != end)
        return end;
    next = trace_place_of(writer, writer->next) * (uint64_t)TRACE_SLOT_SIZE;
    return (next + TRACE_PIECE_SIZE - 1) / TRACE_PIECE_SIZE * TRACE_PIECE_SIZE;
}

/* The next part begins at a page behind this one, unless another process has
 * begun one meanwhile. */
static void give_back(uint64_t end)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t all = trace_recording.offset + part_size;

    end = trace_recording.offset + (end + page - 1) / page * page;
    __atomic_compare_exchange_n(&shared->next, &all, end, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The calling thread records no more. The addresses stay mapped until the next
 * part, because a thread may be about to ask for space there. */
static void leave(void)
{
    if (trace_is_current(&trace_writer)) {
        trace_writer.generation = 0;
        trace_note_writer(-1);
    }
    trace_recording.window = trace_recording.header;
    trace_recording.window_size = trace_recording.map_size;
    if (!__atomic_load_n(&trace_recording.writers, __ATOMIC_RELAXED))
        return;
    trace_recording.window_size = 0;
    trace_unmap_unused();
}

static void close_part(void)
{
    struct trace_header *header = trace_recording.header;

    /* Nobody gets space from now on. */
    __atomic_store_n(&header->used, trace_chunks_end(header), __ATOMIC_SEQ_CST);
    __atomic_store_n(&header->used, pieces_end(header), __ATOMIC_SEQ_CST);
    give_back(header->used);
    leave();
}

uint64_t trace_close_part(void)
{
    if (!trace_recording.is_part || trace_recording.owner != (uint32_t)getpid())
        return 0;
    trace_close_file(close_part);
    return trace_recording.header->used;
}
