/* part.c: recordings that follow each other in one file.
 *
 * Each begins at a page of the file with a header of its own. All are mapped at
 * the same addresses, so that 100,000 of them need no more of these than one.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/record/write.h"

/* Where the pieces end that threads have. */
static uint64_t pieces_end(const struct trace_header *header)
{
    const struct trace_writer *writer = &trace_writer;
    uint64_t end = trace_chunks_end(header);
    uint64_t shared = __atomic_load_n(&header->shared, __ATOMIC_RELAXED);
    uint64_t pieces = TRACE_HEADER_SIZE + shared * TRACE_PIECE_SIZE;
    uint64_t next;

    if (shared % TRACE_CHUNK_PIECES && end - pieces < TRACE_CHUNK_SIZE)
        return pieces;
    if (!trace_is_current(writer) || !writer->next || writer->overflow ||
        trace_place_of(writer, writer->end) * (uint64_t)TRACE_SLOT_SIZE != end)
        return end;
    next = trace_place_of(writer, writer->next) * (uint64_t)TRACE_SLOT_SIZE;
    return (next + TRACE_PIECE_SIZE - 1) / TRACE_PIECE_SIZE * TRACE_PIECE_SIZE;
}

/* Another process may have begun a part behind this one. */
static void cut_file(uint64_t end)
{
    const struct trace_descriptor *file = &trace_recording.file;
    uint64_t offset = trace_recording.offset;
    struct stat status;

    if (trace_descriptor_is_ours(file) && !fstat(file->fd, &status) &&
        (uint64_t)status.st_size == offset + trace_recording.file_size &&
        ftruncate(file->fd, (off_t)(offset + end)))
        return; /* the file has a hole */
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
    cut_file(header->used);
    leave();
}

uint64_t trace_close_part(void)
{
    if (!trace_recording.is_part || trace_recording.owner != (uint32_t)getpid())
        return 0;
    trace_close_file(close_part);
    return trace_recording.header->used;
}
