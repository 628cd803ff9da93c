/* put_samples.c: appends samples to a recording whose process has ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampled.h"
#include "trace/base/clock.h"
#include "trace/base/file.h"
#include "trace/base/values.h"

/* The records of a tree, as they will be in the file. Numbers of images and
 * stacks become the places of their records. */
struct blob {
    const struct trace_sampler *sampler;
    struct trace_sampled_tree *tree;
    const struct trace_header *header;
    struct trace_anchor end; /* of its clock */
    struct trace_text bytes;
    uint64_t first;                    /* place of its first record */
    struct trace_table images, stacks; /* places, by numbers */
};

/* ---- Records ---- */

static uint64_t ticks_of(const struct blob *blob, uint64_t time)
{
    const struct trace_anchor *from = &blob->header->origin;
    uint64_t since = time > from->monotonic ? time - from->monotonic : 0;
    uint64_t ns = blob->end.monotonic - from->monotonic;
    uint64_t ticks = blob->end.ticks - from->ticks;

    if (blob->header->clock == TRACE_CLOCK_MONOTONIC)
        return time ? time : 1;
    return from->ticks + 1 +
           (uint64_t)((long double)since * (long double)ticks /
                      (long double)(ns ? ns : 1));
}

/* Begins a record and returns its place, which is within `bytes`. */
static size_t begin(struct blob *blob, enum trace_kind kind, uint64_t time)
{
    struct trace_record record = {.time = time, .kind = (uint8_t)kind};
    size_t at = blob->bytes.size;

    trace_text_add(&blob->bytes, &record, sizeof(record));
    return at;
}

static struct trace_record *record_at(struct blob *blob, size_t at)
{
    static struct trace_record unused;

    return blob->bytes.failed
               ? &unused
               : (struct trace_record *)(void *)(blob->bytes.data + at);
}

/* Ends the record and returns its place in the file. */
static uint32_t end(struct blob *blob, size_t at)
{
    static const char zeros[TRACE_SLOT_SIZE];
    size_t rest = blob->bytes.size % TRACE_SLOT_SIZE;

    if (rest)
        trace_text_add(&blob->bytes, zeros, TRACE_SLOT_SIZE - rest);
    record_at(blob, at)->slots =
        (uint32_t)((blob->bytes.size - at) / TRACE_SLOT_SIZE);
    return (uint32_t)(blob->first + at / TRACE_SLOT_SIZE);
}

static void put_values(struct blob *blob, size_t at, size_t count,
                       const struct trace_value *values)
{
    size_t size = trace_values_size(count, values);
    void *stored = calloc(1, size);

    record_at(blob, at)->count = (uint16_t)count;
    if (stored)
        trace_values_store(stored, count, values);
    else
        blob->bytes.failed = true;
    if (stored)
        trace_text_add(&blob->bytes, stored, size);
    free(stored);
}

/* ---- Images and stacks ---- */

static uint32_t place_of_image(struct blob *blob, uint32_t number)
{
    const struct trace_sampled_image *image;
    uintptr_t place;
    size_t at;

    if (!number)
        return 0;
    if (trace_table_find(&blob->images, number, &place))
        return (uint32_t)place;
    image = &blob->sampler->images[number - 1];
    at = begin(blob, TRACE_KIND_IMAGE, 1);
    put_values(blob, at, 2,
               (const struct trace_value[]){
                   trace_text_(image->path),
                   trace_bytes(image->build_id, image->build_id_size)});
    place = end(blob, at);
    blob->bytes.failed |= !trace_table_set(&blob->images, number, place);
    return (uint32_t)place;
}

static uint32_t place_of_stack(struct blob *blob, uint32_t number)
{
    const struct trace_sampled_stack *stack = &blob->sampler->stacks[number];
    uintptr_t place;
    size_t at;

    if (trace_table_find(&blob->stacks, number, &place))
        return (uint32_t)place;
    for (size_t i = 0; i < stack->count; i++)
        place_of_image(blob, stack->frames[i].image);
    at = begin(blob, TRACE_KIND_STACK, 1);
    record_at(blob, at)->span = (uint32_t)stack->count;
    for (size_t i = 0; i < stack->count; i++) {
        struct trace_stack_frame frame = stack->frames[i];

        frame.image = place_of_image(blob, frame.image);
        trace_text_add(&blob->bytes, &frame, sizeof(frame));
    }
    place = end(blob, at);
    blob->bytes.failed |= !trace_table_set(&blob->stacks, number, place);
    return (uint32_t)place;
}

/* ---- Threads ---- */

static int by_thread(const void *a, const void *b)
{
    const struct trace_sampled *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static const char *name_of(const struct trace_sampled_tree *tree, uint32_t pid,
                           uint32_t tid)
{
    uintptr_t number;

    return trace_table_find(&tree->by_thread, trace_sampled_key(pid, tid),
                            &number)
               ? tree->names[number].name
               : "";
}

static void put_thread(struct blob *blob, const struct trace_sampled *sample)
{
    uint64_t time = ticks_of(blob, sample->time);
    size_t at = begin(blob, TRACE_KIND_THREAD, time);
    struct trace_record *thread;

    put_values(blob, at, 1,
               (const struct trace_value[]){
                   trace_text_(name_of(blob->tree, sample->pid, sample->tid))});
    end(blob, at);
    thread = record_at(blob, at);
    thread->end = (uint64_t)sample->pid << 32 | sample->tid;
    thread->flags = TRACE_FLAG_CALLS;
}

/* Puts the stacks of a thread's samples, and then these. */
static void put_samples(struct blob *blob, const struct trace_sampled *samples,
                        size_t count)
{
    size_t at;

    put_thread(blob, samples);
    for (size_t i = 0; i < count; i++)
        place_of_stack(blob, samples[i].stack);
    at = begin(blob, TRACE_KIND_SAMPLES, ticks_of(blob, samples->time));
    record_at(blob, at)->span = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct trace_sample_entry entry = {
            ticks_of(blob, samples[i].time),
            place_of_stack(blob, samples[i].stack), samples[i].weight};

        trace_text_add(&blob->bytes, &entry, sizeof(entry));
    }
    end(blob, at);
}

/* Makes the records, which will be at `first`. */
static void fill(struct blob *blob, uint64_t first)
{
    const struct trace_sampled *samples = blob->tree->samples;
    size_t count = blob->tree->count, from = 0;

    trace_table_free(&blob->images);
    trace_table_free(&blob->stacks);
    blob->bytes.size = 0;
    blob->first = first;
    for (size_t i = 1; i <= count; i++) {
        if (i < count && samples[i].pid == samples[from].pid &&
            samples[i].tid == samples[from].tid)
            continue;
        put_samples(blob, samples + from, i - from);
        from = i;
    }
}

/* ---- The file ---- */

/* Takes chunks of those for calls, which push out no spans and no lines.
 * Returns the first one; -1 if there are not so many. */
static int64_t take_chunks(struct trace_header *header, uint64_t count)
{
    uint64_t calls = __atomic_load_n(&header->calls_chunks, __ATOMIC_RELAXED);
    uint64_t first;

    if (__atomic_load_n(&header->error, __ATOMIC_RELAXED) || header->used)
        return -1;
    do {
        if (calls > header->calls_limit || count > header->calls_limit - calls)
            return -1;
    } while (!__atomic_compare_exchange_n(&header->calls_chunks, &calls,
                                          calls + count, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    first = __atomic_fetch_add(&header->chunks, count, __ATOMIC_SEQ_CST);
    return first + count <= header->limit ? (int64_t)first : -1;
}

/* The chunks before the new ones have space, or their owners run short. */
static void note_reserved(struct trace_header *header, uint64_t end)
{
    uint64_t from = __atomic_load_n(&header->reserved, __ATOMIC_RELAXED);

    while (from < end &&
           !__atomic_compare_exchange_n(&header->reserved, &from, end, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static int put_in(struct blob *blob, struct trace_header *header, int fd)
{
    uint64_t count, at;
    int64_t chunk;

    fill(blob, 0);
    count = (blob->bytes.size + TRACE_CHUNK_SIZE - 1) / TRACE_CHUNK_SIZE;
    chunk = take_chunks(header, count);
    if (chunk < 0)
        return errno = ENOSPC, -1;
    fill(blob, TRACE_FIRST_PLACE + (uint64_t)chunk * TRACE_CHUNK_SLOTS);
    if (blob->bytes.failed)
        return errno = ENOMEM, -1;
    at = TRACE_HEADER_SIZE + (uint64_t)chunk * TRACE_CHUNK_SIZE;
    if (trace_allocate(fd, at, count * TRACE_CHUNK_SIZE) ||
        trace_write_at(fd, blob->bytes.data, blob->bytes.size, at))
        return -1;
    note_reserved(header, (uint64_t)chunk + count);
    return 0;
}

static struct trace_header *map_header(int fd)
{
    struct trace_header *header = mmap(
        NULL, TRACE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (header == MAP_FAILED)
        return NULL;
    if (header->magic == TRACE_MAGIC && trace_is_written(header->version))
        return header;
    munmap(header, TRACE_HEADER_SIZE);
    errno = EINVAL;
    return NULL;
}

int trace_sampler_adopt(const char *path, uint32_t pid)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct trace_header *header = fd < 0 ? NULL : map_header(fd);

    if (fd >= 0)
        close(fd);
    if (!header)
        return -1;
    header->pid = pid;
    header->start = header->origin;
    munmap(header, TRACE_HEADER_SIZE);
    return 0;
}

static int put_tree(const struct trace_sampler *sampler,
                    struct trace_sampled_tree *tree, int fd)
{
    struct trace_header *header = map_header(fd);
    struct blob blob = {.sampler = sampler, .tree = tree, .header = header};
    int result;

    if (!header)
        return -1;
    blob.end = header->end.ticks ? header->end : trace_anchor_now();
    result = put_in(&blob, header, fd);
    trace_text_free(&blob.bytes);
    trace_table_free(&blob.images);
    trace_table_free(&blob.stacks);
    munmap(header, TRACE_HEADER_SIZE);
    return result;
}

size_t trace_sampler_put(struct trace_sampler *sampler, uint32_t worker,
                         int folder, const char *name)
{
    struct trace_sampled_tree tree = trace_sampler_remove(sampler, worker);
    struct stat status;
    size_t lost = 0;
    int fd;

    if (tree.count) {
        qsort(tree.samples, tree.count, sizeof(*tree.samples), by_thread);
        fd = trace_beneath(folder, name, O_RDWR);
        if (fd < 0 || fstat(fd, &status) ||
            status.st_size < TRACE_HEADER_SIZE || put_tree(sampler, &tree, fd))
            lost = tree.count;
        if (fd >= 0)
            close(fd);
    }
    trace_sampled_tree_free(&tree);
    return lost;
}
