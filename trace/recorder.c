/* recorder.c: the process's recording: its file, its chunks, its threads.
 *
 * What is hot is in span.c; this is what happens once a chunk or once a
 * recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"
#include "record.h"

struct trace_recording trace_recording;
_Thread_local struct trace_writer trace_writer TRACE_TLS_;
__thread struct trace_scope trace_scope_;

/* The pieces of chunks that ended threads handed back. */
enum { TAILS = 64 };
static struct tail {
    struct trace_record *next, *end;
} tails[TAILS];
static size_t tail_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_end;
static bool prepared;
static unsigned disabled;

/* How often all was turned off, and what the sites are, change together. */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

/* ---- Room ---- */

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Asks the file system for a range where the kernel cannot populate it. These
 * calls are cancellation points: a thread that ended there would keep locks. */
static int reserve_in_file(size_t offset, size_t size)
{
    int before, fd, error;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    fd = open(trace_recording.path, O_RDWR | O_CLOEXEC);
    error = fd < 0 ? errno : posix_fallocate(fd, (off_t)offset, (off_t)size);
    if (fd >= 0)
        close(fd);
    pthread_setcancelstate(before, NULL);
    errno = error;
    return error ? -1 : 0;
}

/* Makes sure that chunks up to number `last` have room on the disk, so that a
 * store can never end in SIGBUS. Populating takes as long as fallocate and
 * faults do, within a tenth, and needs no descriptor that a test may close. */
static int reserve(uint64_t last)
{
    struct trace_header *header = trace_recording.header;
    uint64_t from = __atomic_load_n(&header->reserved, __ATOMIC_ACQUIRE);

    if (last < from)
        return 0;

    size_t offset = TRACE_HEADER_SIZE + from * TRACE_CHUNK_SIZE;
    size_t size = (last + 1 - from) * TRACE_CHUNK_SIZE;
    unsigned char *at = (unsigned char *)header + offset;

    if (trace_recording.path[0] && madvise(at, size, MADV_POPULATE_WRITE)) {
        if (errno == EFAULT) /* what would have been SIGBUS */
            errno = ENOSPC;
        if (errno != EINVAL || reserve_in_file(offset, size))
            return -1;
    }
    while (from <= last && !__atomic_compare_exchange_n(
                               &header->reserved, &from, last + 1, false,
                               __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return 0;
}

/* From now on only errors are recorded: into chunk number `kept`, which nobody
 * else has, if there is room for that one. */
static void run_short(uint64_t kept, int error)
{
    struct trace_header *header = trace_recording.header;
    uint32_t none = 0;

    if (error)
        __atomic_store_n(&header->error, error, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&header->reached, 1, __ATOMIC_RELAXED);
    if (kept < header->limit && !reserve(kept))
        __atomic_compare_exchange_n(&header->spare, &none, (uint32_t)kept + 1,
                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Takes `count` chunks in a row; NULL if there is no room. The chunk behind
 * them is reserved too, so that one is left for errors in the end. */
static struct trace_record *take_chunks(uint64_t count)
{
    struct trace_header *header = trace_recording.header;

    if (__atomic_load_n(&header->spare, __ATOMIC_RELAXED))
        return NULL;

    uint64_t first =
        __atomic_fetch_add(&header->chunks, count, __ATOMIC_SEQ_CST);
    uint64_t next = first + count;
    bool limited = next >= header->limit;

    /* To store beyond the end is a SIGBUS. Who cuts the file says so before it
     * looks how many chunks there are. */
    if (__atomic_load_n(&header->used, __ATOMIC_SEQ_CST))
        return NULL;

    if (limited || reserve(next)) {
        run_short(first, limited ? 0 : errno);
        return NULL;
    }
    return (struct trace_record *)((unsigned char *)header + TRACE_HEADER_SIZE +
                                   first * TRACE_CHUNK_SIZE);
}

/* Takes a tail with that many slots, if there is one. */
static bool take_tail(struct trace_writer *writer, size_t slots)
{
    size_t i;

    pthread_mutex_lock(&lock);
    for (i = tail_count; i > 0; i--)
        if ((size_t)(tails[i - 1].end - tails[i - 1].next) >= slots)
            break;
    if (i > 0) {
        writer->next = tails[i - 1].next;
        writer->end = tails[i - 1].end;
        tails[i - 1] = tails[--tail_count];
    }
    pthread_mutex_unlock(&lock);
    return i > 0;
}

static void give_tail(struct trace_writer *writer)
{
    pthread_mutex_lock(&lock);
    if (tail_count < TAILS && writer->end - writer->next > 8)
        tails[tail_count++] = (struct tail){writer->next, writer->end};
    pthread_mutex_unlock(&lock);
    writer->next = writer->end = NULL;
}

uint32_t trace_forked_in(const struct trace_writer *writer)
{
    return writer->forked && writer->inherited
               ? writer->stack[writer->inherited - 1].span
               : 0;
}

/* Says whose the records that follow are. */
static void put_thread(struct trace_writer *writer)
{
    struct trace_value values[1 + TRACE_INHERITED_MAX];
    char name[16] = "";
    size_t count = 1;
    size_t inherited = writer->forked ? writer->inherited : 0;

    prctl(PR_GET_NAME, name);
    values[0] = trace_text_(name);
    for (size_t i = 0; i < inherited && i < TRACE_INHERITED_MAX; i++)
        values[count++] = trace_u64_(writer->stack[i].span);

    struct trace_record *record = trace_put(
        writer, TRACE_KIND_THREAD, trace_forked_in(writer), count, values);
    if (!record)
        return;
    record->flags = writer->forked ? TRACE_FLAG_FORKED : 0;
    record->end =
        (uint64_t)(uint32_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
    trace_commit(writer, record);
}

/* Gives a thread of a live run memory of its own once the file is full, so that
 * its lines go on; the same piece again and again. */
static bool take_overflow(struct trace_writer *writer)
{
    size_t size = TRACE_CHUNK_SIZE;

    if (!trace_recording.live)
        return false;
    if (!writer->overflow) {
        uint32_t n =
            __atomic_fetch_add(&trace_recording.overflows, 1, __ATOMIC_RELAXED);

        if (n >= TRACE_OVERFLOWS)
            return false;
        writer->overflow =
            (struct trace_record *)((unsigned char *)trace_recording.header +
                                    trace_recording.file_size +
                                    (size_t)n * TRACE_CHUNK_SIZE);
    }
    memset(writer->overflow, 0, size);
    writer->next = writer->overflow;
    writer->end = writer->next + TRACE_CHUNK_SLOTS;
    return true;
}

bool trace_more_room(struct trace_writer *writer, size_t slots)
{
    uint64_t needed = slots + TRACE_CHUNK_SLOTS / 8;
    uint64_t chunks = (needed + TRACE_CHUNK_SLOTS - 1) / TRACE_CHUNK_SLOTS;

    if (slots > trace_recording.header->limit * TRACE_CHUNK_SLOTS)
        return false;
    if (chunks > 1 || !take_tail(writer, slots + TRACE_THREAD_SLOTS)) {
        struct trace_record *chunk = take_chunks(chunks);

        if (!chunk)
            return chunks == 1 && take_overflow(writer);
        writer->next = chunk;
        writer->end = chunk + chunks * TRACE_CHUNK_SLOTS;
    }
    put_thread(writer);
    return true;
}

struct trace_record *trace_spare_room(struct trace_writer *writer, size_t slots)
{
    struct trace_header *header = trace_recording.header;
    uint32_t spare = __atomic_load_n(&header->spare, __ATOMIC_RELAXED);
    size_t all = slots + TRACE_THREAD_SLOTS;

    if (!spare || all > TRACE_CHUNK_SLOTS)
        return NULL;

    uint64_t used =
        __atomic_fetch_add(&header->spare_slots, all, __ATOMIC_RELAXED);

    if (used + all > TRACE_CHUNK_SLOTS)
        return NULL;
    writer->next =
        (struct trace_record *)((unsigned char *)header + TRACE_HEADER_SIZE +
                                (uint64_t)(spare - 1) * TRACE_CHUNK_SIZE) +
        used;
    writer->end = writer->next + all;
    put_thread(writer);
    return writer->next;
}

/* ---- Threads and forks ---- */

static void on_thread_end(void *unused)
{
    struct trace_writer *writer = &trace_writer;

    (void)unused;
    writer->busy = true; /* a handler that comes now must not want the lock */
    trace_barrier();
    if (writer->generation == trace_recording.generation &&
        writer->next != NULL && !writer->overflow)
        give_tail(writer);
    if (writer->stack != writer->first_stack)
        free(writer->stack);
    memset(writer, 0, sizeof(*writer));
}

/* Whether the thread that forks is amid a record. */
static bool was_busy;

/* Handlers of others that record before ours have run again would wait for
 * ever: what they record is dropped. */
static void before_fork(void)
{
    trace_device_lock(); /* who holds it registers sites */
    pthread_mutex_lock(&switching);
    trace_sites_lock();
    pthread_mutex_lock(&lock);
    if (trace_recording.live)
        pthread_mutex_lock(&trace_recording.live_lock);
    was_busy = trace_writer.busy;
    trace_writer.busy = true;
}

static void in_parent(void)
{
    bool busy = was_busy;

    if (trace_recording.live)
        pthread_mutex_unlock(&trace_recording.live_lock);
    pthread_mutex_unlock(&lock);
    trace_sites_unlock();
    pthread_mutex_unlock(&switching);
    trace_device_unlock();
    trace_barrier();
    trace_writer.busy = busy;
}

/* The child's records go to chunks of its own; the spans it was born in stay
 * open in the parent, so the child only forgets them one by one. */
static void in_child(void)
{
    struct trace_writer *writer = &trace_writer;

    bool stale = writer->generation != trace_recording.generation;

    in_parent();
    tail_count = 0;
    trace_recording.generation++;
    trace_device_forget();
    if (stale)
        return;
    writer->next = writer->end = NULL;
    writer->overflow = NULL;
    writer->forked = true;
    writer->inherited = writer->depth;
    writer->generation = trace_recording.generation;
    writer->busy = false;
}

bool trace_writer_begin(struct trace_writer *writer)
{
    bool busy = writer->busy;

    if (!__atomic_load_n(&trace_recording.header, __ATOMIC_ACQUIRE))
        return false;
    if (writer->generation == trace_recording.generation)
        return true;
    if (writer->stack != writer->first_stack)
        free(writer->stack);
    memset(writer, 0, sizeof(*writer));
    trace_scope_ = (struct trace_scope){0, 0};
    writer->busy = busy;
    writer->generation = trace_recording.generation;
    writer->stack = writer->first_stack;
    writer->capacity = TRACE_FIRST_STACK;
    pthread_setspecific(thread_end, writer);
    return true;
}

bool trace_stack_grow(struct trace_writer *writer)
{
    size_t capacity = writer->capacity * 2;
    int error = errno;
    struct trace_entered *stack = malloc(capacity * sizeof(*stack));

    errno = error;
    if (!stack)
        return false;
    memcpy(stack, writer->stack, writer->depth * sizeof(*stack));
    if (writer->stack != writer->first_stack)
        free(writer->stack);
    writer->stack = stack;
    writer->capacity = (uint32_t)capacity;
    return true;
}

/* ---- Opening and closing ---- */

/* Maps the file, and behind it the memory that live threads use once it is
 * full. */
static struct trace_header *map(int fd, size_t file_size, size_t overflow)
{
    size_t size = file_size + overflow;
    size_t file = fd >= 0 ? file_size : 0;
    unsigned char *base =
        mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);

    if (base == MAP_FAILED)
        return NULL;
    /* Of the process's own memory, which may be limited, there is only what the
     * file is not. */
    if ((file && mmap(base, file, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) ||
        (file < size &&
         mprotect(base + file, size - file, PROT_READ | PROT_WRITE))) {
        munmap(base, size);
        return NULL;
    }
    /* Without it the first touch reads and clears 2 MiB. */
    madvise(base, file_size, MADV_RANDOM);
    return (struct trace_header *)base;
}

/* Whether the process may make a file of that size; to try ends in SIGXFSZ. */
static bool may_be_that_large(size_t size)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) || size <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

/* What a short test needs is reserved here: it pays for the pages that it
 * writes to, not for a chunk. */
static struct trace_header *make_file(const char *path, size_t size,
                                      size_t overflow)
{
    size_t first = TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE;
    int fd = may_be_that_large(size)
                 ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                 : -1;
    struct trace_header *header = NULL;

    if (fd < 0)
        return NULL;

    int error = posix_fallocate(fd, 0, (off_t)first);

    if (!error && !ftruncate(fd, (off_t)size))
        header = map(fd, size, overflow);
    error = error ? error : errno;
    close(fd);
    if (!header)
        unlink(path);
    errno = error;
    return header;
}

static void fill_header(struct trace_header *header, size_t size,
                        const struct trace_options *options)
{
    header->version = TRACE_FORMAT_VERSION;
    header->header_size = TRACE_HEADER_SIZE;
    header->chunk_size = TRACE_CHUNK_SIZE;
    header->clock = trace_clock_choose();
    header->pid = (uint32_t)getpid();
    header->limit = (size - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;
    header->reserved = TRACE_FIRST_CHUNKS;
    header->start = trace_anchor_now();
    header->origin = options->origin.ticks ? options->origin : header->start;
    __atomic_store_n(&header->magic, TRACE_MAGIC, __ATOMIC_RELEASE);
}

/* Once a process; the handlers of fork cannot be taken back. */
static int prepare(void)
{
    if (prepared)
        return 0;

    int error = pthread_key_create(&thread_end, on_thread_end);

    if (!error)
        error = pthread_atfork(before_fork, in_parent, in_child);
    if (!error)
        prepared = true;
    errno = error;
    return error ? -1 : 0;
}

static void put_meta(const char *const *meta)
{
    struct trace_writer *writer = &trace_writer;
    struct trace_value pair[2];

    trace_writer_begin(writer);
    for (; meta && meta[0]; meta += 2) {
        pair[0] = trace_text_(meta[0]);
        pair[1] = trace_text_(meta[1]);

        struct trace_record *record =
            trace_put(writer, TRACE_KIND_META, 0, 2, pair);

        if (record)
            trace_commit(writer, record);
    }
}

/* Makes a mapping the process's recording. */
static void begin(struct trace_header *header, const char *path, size_t size,
                  size_t overflow)
{
    trace_recording.path[0] = '\0';
    if (path)
        strncpy(trace_recording.path, path, sizeof(trace_recording.path) - 1);
    trace_recording.file_size = size;
    trace_recording.map_size = size + overflow;
    trace_recording.overflows = 0;
    trace_recording.live = overflow > 0;
    trace_recording.told = trace_device_told();
    if (trace_subscriber && trace_subscriber->entered)
        trace_recording.told |= TRACE_TOLD_SUBSCRIBER;
    trace_recording.generation++;
    trace_recording.open = true;
    tail_count = 0;
    trace_sites_forget();
    trace_live_begin(header, trace_recording.map_size);
    __atomic_store_n(&trace_recording.header, header, __ATOMIC_RELEASE);
}

int trace_open(const char *path, const struct trace_options *options)
{
    uint64_t limit = options->limit ? options->limit : TRACE_LIMIT_DEFAULT;
    bool live = trace_subscriber && trace_subscriber->live;
    size_t overflow = live ? (size_t)TRACE_OVERFLOWS * TRACE_CHUNK_SIZE : 0;
    size_t chunks = (size_t)((limit - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE);
    size_t size = TRACE_HEADER_SIZE + chunks * TRACE_CHUNK_SIZE;
    struct trace_header *header;

    if (trace_recording.open || limit < TRACE_LIMIT_LEAST ||
        limit > TRACE_LIMIT_MOST) {
        errno = trace_recording.open ? EBUSY : EINVAL;
        return -1;
    }
    if (prepare())
        return -1;
    header = path ? make_file(path, size, overflow) : map(-1, size, overflow);
    if (!header)
        return -1;
    fill_header(header, size, options);
    header->disabled = disabled > 0;
    begin(header, path, size, overflow);
    put_meta(options->meta);
    pthread_mutex_lock(&switching);
    trace_sites_enable(!disabled);
    pthread_mutex_unlock(&switching);
    return 0;
}

void trace_close(void)
{
    struct trace_header *header = trace_recording.header;

    if (!trace_recording.open || (uint32_t)getpid() != header->pid)
        return;
    trace_device_flush(true);
    pthread_mutex_lock(&switching);
    trace_recording.open = false;
    trace_sites_enable(false);
    pthread_mutex_unlock(&switching);
    header->end = trace_anchor_now();
    __atomic_store_n(&header->ended, 1, __ATOMIC_RELEASE);
}

void trace_disable(void)
{
    pthread_mutex_lock(&switching);
    if (trace_recording.open)
        __atomic_store_n(&trace_recording.header->disabled, 1,
                         __ATOMIC_RELAXED);
    if (!disabled++)
        trace_sites_enable(false);
    pthread_mutex_unlock(&switching);
}

void trace_enable(void)
{
    pthread_mutex_lock(&switching);
    if (disabled && !--disabled)
        trace_sites_enable(trace_recording.open);
    pthread_mutex_unlock(&switching);
}
