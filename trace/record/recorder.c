/* recorder.c: the process's recording: its file, its threads, its forks.
 *
 * The hot path is in write.h; this file runs once per recording, thread or
 * fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fatal_signal.h"
#include "trace/base/file.h"
#include "trace/base/sigbus.h"
#include "trace/base/valgrind_requests.h"
#include "trace/device.h"
#include "write.h"

/* Used if the kernel cannot zero memory in children. */
static TRACE_UNTRACKED struct trace_forks uncleared;

TRACE_UNTRACKED struct trace_recording trace_recording = {.forks = &uncleared,
                                                          .lines = true};
_Thread_local struct trace_writer trace_writer TRACE_TLS_;
__thread struct trace_scope trace_scope_;
struct trace_thread_hooks trace_thread_hooks;
const struct trace_sender *trace_sender;
bool (*trace_thread_barred)(struct trace_writer *);
_Thread_local bool trace_for_device;
TRACE_UNTRACKED const struct trace_call_hooks *trace_call_hooks;

static pthread_key_t thread_end;
static bool prepared;
static bool changing; /* atomic: a recording begins, or ends in a given file */
static unsigned disabled;

/* The count of trace_disable and the state of the sites change together. */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

/* ---- Threads and forks ---- */

/* Leaves a recording that has ended as it is: its file may have been truncated
 * since. */
static void leave_recording(struct trace_writer *writer)
{
    bool recording = trace_is_recording();

    if (recording) /* pthread_exit left them open */
        trace_unwind(0);
    if (trace_call_hooks_now())
        trace_call_hooks->end(writer);
    if (!recording)
        return;
    if (trace_is_current(writer) && writer->next != NULL && !writer->overflow)
        trace_give_room(writer);
    if (trace_is_current(writer))
        trace_give_counters(writer);
}

void trace_note_writer(int change)
{
    __atomic_fetch_add(&trace_recording.writers, (uint32_t)change,
                       __ATOMIC_RELAXED);
}

/* A child of a raw clone() must not call free(). */
static void forget_meters(struct trace_writer *writer)
{
    trace_descriptor_close(&writer->counter);
    writer->uncounted = false;
    writer->metered = NULL;
    writer->metered_count = writer->metered_capacity = 0;
}

static void end_meters(struct trace_writer *writer)
{
    free(writer->metered);
    forget_meters(writer);
}

static void on_thread_end(void *unused)
{
    struct trace_writer *writer = &trace_writer;
    struct trace_hold hold;

    (void)unused;
    trace_hold(&hold);
    writer->busy = TRACE_LOCKED;
    leave_recording(writer);
    if (trace_is_current(writer))
        trace_note_writer(-1);
    end_meters(writer);
    if (writer->stack != writer->first_stack)
        free(writer->stack);
    trace_print_free();
    if (trace_sender)
        trace_sender->end();
    memset(writer, 0, sizeof(*writer));
    trace_release(&hold);
    if (trace_thread_hooks.end)
        trace_thread_hooks.end();
}

/* The child records into chunks of its own. The spans that it was born in stay
 * open in the parent; the child only forgets them one by one. */
static void inherit(struct trace_writer *writer)
{
    forget_meters(writer);
    writer->next = writer->end = NULL;
    writer->overflow = NULL;
    writer->losses = NULL;
    writer->self = (struct trace_self){0};
    writer->refused = 0;
    writer->pieces = 0;
    writer->forked = true;
    writer->inherited = writer->depth;
    writer->generation = trace_recording.generation;
}

static bool is_parents(const struct trace_writer *writer)
{
    return writer->generation &&
           writer->generation ==
               __atomic_load_n(&trace_recording.parent, __ATOMIC_RELAXED);
}

static void set_open(bool open)
{
    __atomic_store_n(&trace_recording.open, open, __ATOMIC_RELAXED);
}

/* Turns call sites on or off, and calls of functions and lines with them. */
static void enable(bool on)
{
    const struct trace_header *header = trace_recording.header;
    bool calls = on && header && header->calls_limit;
    bool lines =
        calls && trace_recording.functions && trace_recording.functions->lines;

    trace_sites_enable(on);
    __atomic_store_n(&trace_recording.calls,
                     calls ? TRACE_CALLS_RECORDED : TRACE_CALLS_OFF,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&trace_recording.lines, lines, __ATOMIC_RELAXED);
}

static void set_generation(uint32_t parent)
{
    __atomic_store_n(&trace_recording.parent, parent, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_recording.forks->generation,
                     ++trace_recording.generation, __ATOMIC_RELEASE);
}

/* The parent's other threads may have held our locks. */
static void become_child(void)
{
    trace_device_unlock_forked();
    changing = false;
    switching = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    trace_sites_unlock_forked();
    trace_room_unlock_forked();
    trace_room_forget();
    if (trace_is_live())
        pthread_mutex_init(&trace_recording.live_lock, NULL);
    if (trace_subscriber && trace_subscriber->forked)
        trace_subscriber->forked();
    trace_device_forget();
    __atomic_store_n(&trace_recording.writers, 1, __ATOMIC_RELAXED);
    set_generation(trace_recording.generation);
}

uint32_t trace_notice_fork(void)
{
    struct trace_forks *forks = trace_recording.forks;
    struct trace_writer *writer = &trace_writer;
    sigset_t all, before;
    uint32_t generation;

    if (!trace_recording.generation)
        return 0;
    sigfillset(&all); /* a handler must not wait for its own thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!__atomic_exchange_n(&forks->noticed, 1, __ATOMIC_RELAXED))
        become_child();
    while (
        !(generation = __atomic_load_n(&forks->generation, __ATOMIC_ACQUIRE)))
        sched_yield();
    /* A record that a handler interrupted ends in the parent's chunk. */
    if (!writer->busy && is_parents(writer))
        inherit(writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return generation;
}

/* The forking thread's `busy`: whether it is writing a record. */
static uintptr_t was_busy;

static void lock_switching(void)
{
    trace_generation();
    pthread_mutex_lock(&switching);
}

/* A fork handler of the program may record while these locks are held. It would
 * wait for ever, so its record is dropped. */
static void before_fork(void)
{
    uintptr_t busy = trace_writer.busy;

    trace_writer.busy = TRACE_REFUSING;
    trace_device_lock(); /* the holder registers sites */
    lock_switching();
    trace_sites_lock();
    trace_room_lock();
    if (trace_is_live())
        pthread_mutex_lock(&trace_recording.live_lock);
    was_busy = busy;
}

static void in_parent(void)
{
    uintptr_t busy = was_busy;

    if (trace_is_live())
        pthread_mutex_unlock(&trace_recording.live_lock);
    trace_room_unlock();
    trace_sites_unlock();
    pthread_mutex_unlock(&switching);
    trace_device_unlock();
    trace_barrier();
    trace_writer.busy = busy;
}

static void in_child(void)
{
    in_parent();
    memset(trace_recording.forks, 0, sizeof(*trace_recording.forks));
    trace_notice_fork();
}

bool trace_writer_begin(struct trace_writer *writer)
{
    uint32_t generation = trace_generation();
    uintptr_t busy = writer->busy;
    struct trace_hold hold;

    if (!__atomic_load_n(&trace_recording.header, __ATOMIC_ACQUIRE))
        return false;
    if (is_parents(writer))
        inherit(writer);
    if (writer->generation == generation)
        return true;
    if (!trace_for_device && trace_thread_barred && trace_thread_barred(writer))
        return false;
    trace_hold(&hold);
    writer->busy = TRACE_LOCKED;
    trace_note_writer(1);
    if (writer->stack != writer->first_stack)
        free(writer->stack);
    end_meters(writer);
    memset(writer, 0, sizeof(*writer));
    trace_scope_ = (struct trace_scope){0, 0};
    writer->busy = TRACE_LOCKED;
    writer->generation = generation;
    writer->base = (struct trace_record *)trace_header_now();
    writer->stack = writer->first_stack;
    writer->capacity = TRACE_FIRST_STACK;
    pthread_setspecific(thread_end, writer);
    writer->busy = busy;
    trace_release(&hold);
    if (trace_thread_hooks.begin)
        trace_thread_hooks.begin();
    return true;
}

/* Without memory, the stack stays as it is. */
static void grow_stack(struct trace_writer *writer)
{
    size_t capacity = (size_t)writer->capacity * 2;
    struct trace_entered *stack = malloc(capacity * sizeof(*stack));

    if (!stack)
        return;
    memcpy(stack, writer->stack, writer->depth * sizeof(*stack));
    if (writer->stack != writer->first_stack)
        free(writer->stack);
    writer->stack = stack;
    writer->capacity = (uint32_t)capacity;
}

bool trace_stack_grow(struct trace_writer *writer)
{
    int error = errno;
    struct trace_hold hold;
    uintptr_t busy;

    trace_hold(&hold);
    busy = trace_ours_begin(writer);
    grow_stack(writer);
    trace_ours_end(writer, busy);
    trace_release(&hold);
    errno = error;
    return writer->depth < writer->capacity;
}

/* ---- Opening and closing ---- */

/* Where a recording goes; nowhere if both are zero. */
struct place {
    const char *path; /* of a new file; NULL: none */
    int file;         /* a descriptor; 0: none */
    uint64_t offset;  /* where in it the recording begins: at its end */
    bool is_part;     /* others may follow */
};

/* Returns the addresses of the last part if nobody writes there. */
static void *take_window(size_t size)
{
    return trace_recording.window_size == size &&
                   !__atomic_load_n(&trace_recording.writers, __ATOMIC_RELAXED)
               ? trace_recording.window
               : NULL;
}

/* Maps a file from `offset` on, followed by the memory that live threads use
 * once it is full. Anonymous memory, which may be limited, is used only there,
 * or without a file. */
static struct trace_header *map(int fd, uint64_t offset, size_t file_size,
                                size_t overflow)
{
    const int access = PROT_READ | PROT_WRITE;
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t size = file_size + overflow;
    void *at = fd >= 0 ? take_window(size) : NULL;
    unsigned char *base =
        mmap(at, size, access,
             (fd >= 0 ? MAP_SHARED : anonymous) | (at ? MAP_FIXED : 0), fd,
             (off_t)offset);

    if (base == MAP_FAILED)
        return NULL;
    trace_recording.window_size = 0;
    if (fd >= 0 && overflow &&
        mmap(base + file_size, overflow, access, anonymous | MAP_FIXED, -1,
             0) == MAP_FAILED) {
        munmap(base, size);
        return NULL;
    }
    /* Otherwise the first access would zero 2 MiB. */
    madvise(base, file_size, MADV_RANDOM);
    return (struct trace_header *)base;
}

/* Nobody has a chunk beyond those that were handed out, or gets one: the file
 * was cut there. */
void trace_unmap_unused(void)
{
    struct trace_header *header = trace_recording.header;
    size_t end = (size_t)trace_chunks_end(header);

    if (!__atomic_load_n(&header->used, __ATOMIC_SEQ_CST) ||
        end >= trace_recording.file_size || trace_is_live())
        return;
    trace_sigbus_shrink(header, end);
    munmap((unsigned char *)header + end, trace_recording.map_size - end);
    trace_recording.file_size = trace_recording.map_size = end;
}

/* Releases the file of the last recording. A thread that is still writing a
 * record of it must not fault, nor write to the next one. */
static void release_file(struct trace_header *header, size_t size)
{
    if (header)
        mmap(header, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* The process may not write more of a file; beyond this SIGXFSZ is raised. */
static uint64_t cut_to_file_limit(const struct place *place, uint64_t limit)
{
    struct rlimit file;

    if (getrlimit(RLIMIT_FSIZE, &file) ||
        place->offset + limit <= file.rlim_cur)
        return limit;
    return file.rlim_cur > place->offset ? file.rlim_cur - place->offset : 0;
}

/* Reserves what a short test needs: it then pays for the pages that it writes,
 * not for a chunk. */
static int reserve_first(int fd, size_t size)
{
    int error = size < TRACE_FIRST_SIZE
                    ? EFBIG
                    : trace_allocate(fd, 0, TRACE_FIRST_SIZE);

    if (!error)
        return ftruncate(fd, (off_t)size);
    errno = error;
    return -1;
}

static struct trace_header *map_new(int fd, uint64_t offset, size_t size,
                                    size_t overflow)
{
    struct trace_header *header = map(fd, offset, size, overflow);

    if (header) /* in one call, because each first access is a fault */
        madvise(header, TRACE_HEADER_SIZE + TRACE_PIECE_SIZE,
                MADV_POPULATE_WRITE);
    return header;
}

static struct trace_header *make_file(const char *path, size_t size,
                                      size_t overflow)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct trace_header *header;
    int error;

    if (fd < 0)
        return NULL;
    header = reserve_first(fd, size) ? NULL : map_new(fd, 0, size, overflow);
    error = errno;
    close(fd);
    if (!header)
        unlink(path);
    errno = error;
    return header;
}

void trace_refuse(const char *path, int error)
{
    const struct trace_header header = {
        .magic = TRACE_MAGIC,
        .version = TRACE_FORMAT_VERSION,
        .header_size = TRACE_HEADER_SIZE,
        .chunk_size = TRACE_CHUNK_SIZE,
        .pid = (uint32_t)getpid(),
        .start = trace_anchor_now(),
        .error = error,
    };
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0)
        return;
    if (write(fd, &header, sizeof(header)) != sizeof(header) ||
        ftruncate(fd, TRACE_HEADER_SIZE))
        unlink(path);
    close(fd);
}

/* The sizes of the parts of a recording, in bytes. */
struct sizes {
    size_t file;     /* the header and whole chunks */
    size_t calls;    /* of these, only for calls */
    size_t overflow; /* the memory behind them */
};

static void fill_header(struct trace_header *header, const struct sizes *sizes,
                        const struct trace_options *options)
{
    header->version = TRACE_FORMAT_VERSION;
    header->header_size = TRACE_HEADER_SIZE;
    header->chunk_size = TRACE_CHUNK_SIZE;
    header->clock = trace_clock_choose();
    header->pid = (uint32_t)getpid();
    header->limit = (sizes->file - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;
    header->calls_limit = sizes->calls / TRACE_CHUNK_SIZE;
    header->reserved = TRACE_FIRST_CHUNKS;
    header->start = trace_anchor_now();
    header->origin = options->origin.ticks ? options->origin : header->start;
    __atomic_store_n(&header->magic, TRACE_MAGIC, __ATOMIC_RELEASE);
}

/* Without such memory, only children of fork() are noticed. */
static void map_forks(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return;
    if (madvise(page, size, MADV_WIPEONFORK))
        munmap(page, size);
    else
        trace_untrack(trace_recording.forks = page, size);
}

/* Once per process; atfork handlers cannot be removed. */
int trace_recorder_prepare(void)
{
    if (prepared)
        return 0;

    int error = pthread_key_create(&thread_end, on_thread_end);

    if (!error)
        error = pthread_atfork(before_fork, in_parent, in_child);
    if (!error) {
        prepared = true;
        map_forks();
    }
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

/* A note without space is no lost record of the test. */
void trace_phase_begin(enum trace_phase phase)
{
    struct trace_writer *writer = trace_is_recording() ? trace_enter() : NULL;
    struct trace_record *record;

    if (!writer)
        return;
    record = trace_put_meta(writer, 0, NULL);
    if (record) {
        record->end = phase;
        trace_commit(writer, record);
        trace_live_phase(record);
    } else {
        trace_undrop(writer);
    }
    trace_leave(writer);
}

/* The file of the last recording, if it was given. A thread may have asked it
 * for space when that ended. */
static void keep_file(int file)
{
    struct trace_descriptor last = trace_recording.file;

    trace_recording.file =
        file ? trace_descriptor_of(file) : (struct trace_descriptor){0};
    trace_descriptor_close(&last);
}

/* Who wants to know what threads enter and leave. */
static void find_followers(void)
{
    uint32_t followers = trace_device_follower();

    if (trace_sender)
        followers |= TRACE_FOLLOWER_SENDER;
    if (trace_subscriber && trace_subscriber->entered)
        followers |= TRACE_FOLLOWER_SUBSCRIBER;
    if (trace_recording.meters)
        followers |= TRACE_FOLLOWER_METERS;
    __atomic_store_n(&trace_recording.followers, followers, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_recording.reported, trace_is_live() || trace_sender,
                     __ATOMIC_RELAXED);
}

/* A thread that still writes a record of the last recording gets neither space
 * nor an identifier of a call site in between. */
static void publish(struct trace_header *header)
{
    trace_sites_lock();
    trace_room_lock();
    trace_room_forget();
    trace_sites_forget();
    __atomic_store_n(&trace_recording.header, header, __ATOMIC_RELEASE);
    set_generation(0);
    trace_room_unlock();
    trace_sites_unlock();
}

/* Makes a mapping the process's recording. */
static void begin(struct trace_header *header, const struct place *place,
                  size_t size, size_t overflow)
{
    struct trace_header *last = trace_recording.header;
    size_t last_size = trace_recording.file_size;
    bool was_part = trace_recording.is_part;

    trace_recording.path[0] = '\0';
    if (place->path)
        strncpy(trace_recording.path, place->path,
                sizeof(trace_recording.path) - 1);
    __atomic_store_n(&trace_recording.stored, place->path || place->file,
                     __ATOMIC_RELAXED);
    keep_file(place->file);
    trace_recording.offset = place->offset;
    trace_recording.is_part = place->is_part;
    trace_recording.file_size = size;
    trace_recording.map_size = size + overflow;
    trace_recording.owner = header->pid;
    __atomic_store_n(&trace_recording.overflows, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_recording.writers, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_recording.live, overflow > 0, __ATOMIC_RELAXED);
    find_followers();
    set_open(true);
    trace_recording.yields = false;
    trace_untrack(header, trace_recording.map_size);
    trace_untrack_statics();
    trace_live_begin(header, trace_recording.map_size);
    publish(header);
    if (!was_part)
        release_file(last, last_size);
    if (last != header) /* parts may have the same addresses */
        trace_sigbus_release(last);
}

/* The header and the chunks within the limit. */
static size_t whole_chunks(uint64_t limit)
{
    size_t chunks = limit < TRACE_HEADER_SIZE
                        ? 0
                        : (limit - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;

    return TRACE_HEADER_SIZE + chunks * TRACE_CHUNK_SIZE;
}

static struct trace_header *make(const struct place *place,
                                 const struct sizes *sizes)
{
    if (place->file)
        return place->is_part || !reserve_first(place->file, sizes->file)
                   ? map_new(place->file, place->offset, sizes->file,
                             sizes->overflow)
                   : NULL;
    return place->path ? make_file(place->path, sizes->file, sizes->overflow)
                       : map(-1, 0, sizes->file, sizes->overflow);
}

/* Makes it without space for calls if the process may not have so much. */
static struct trace_header *make_fitting(const struct place *place,
                                         struct sizes *sizes)
{
    struct trace_header *header = make(place, sizes);

    if (header || !sizes->calls)
        return header;
    sizes->file -= sizes->calls;
    sizes->calls = 0;
    return make(place, sizes);
}

/* The bytes of whole chunks for calls. Places must remain smaller than the
 * numbers of calls. */
static size_t call_chunks(const struct trace_options *options, uint64_t limit)
{
    uint64_t most = TRACE_LIMIT_MOST - limit;
    uint64_t bytes =
        options->functions_limit < most ? options->functions_limit : most;

    return (size_t)(bytes / TRACE_CHUNK_SIZE * TRACE_CHUNK_SIZE);
}

static struct sizes sizes_for(const struct trace_options *options,
                              const struct place *place, uint64_t limit)
{
    bool live = trace_subscriber && trace_subscriber->live;
    bool stored = place->path || place->file;
    uint64_t most = stored ? cut_to_file_limit(place, limit) : limit;
    struct sizes sizes = {.file = whole_chunks(most)};

    if (stored && most == limit)
        sizes.calls = call_chunks(options, limit);
    if (sizes.calls && cut_to_file_limit(place, sizes.file + sizes.calls) <
                           sizes.file + sizes.calls)
        sizes.calls = 0;
    sizes.file += sizes.calls;
    sizes.overflow = live ? (size_t)TRACE_OVERFLOWS * TRACE_CHUNK_SIZE : 0;
    return sizes;
}

static int open_at(const struct place *place,
                   const struct trace_options *options)
{
    uint64_t limit = options->limit ? options->limit : TRACE_LIMIT_DEFAULT;
    struct trace_header *header;
    struct sizes sizes;

    if (limit < TRACE_LIMIT_LEAST || limit > TRACE_LIMIT_MOST) {
        errno = EINVAL;
        return -1;
    }
    if (trace_recorder_prepare())
        return -1;
    sizes = sizes_for(options, place, limit);
    header = make_fitting(place, &sizes);
    if (!header)
        return -1;
    /* Others can truncate it, also while threads end what they record after the
     * recording has ended. */
    if (place->file)
        trace_sigbus_guard(header, sizes.file);
    trace_recording.file_limited =
        sizes.file - sizes.calls < whole_chunks(limit);
    fill_header(header, &sizes, options);
    trace_recording.functions = options->functions;
    trace_recording.meters = options->meters;
    header->disabled = disabled > 0;
    trace_device_resume();
    begin(header, place, sizes.file, sizes.overflow);
    put_meta(options->meta);
    trace_device_note_again();
    lock_switching();
    enable(!disabled);
    pthread_mutex_unlock(&switching);
    return 0;
}

/* A child may leave a part of its parent's for one of its own. */
static bool is_parents_part(const struct place *place)
{
    return place->is_part && trace_recording.is_part &&
           trace_recording.owner != (uint32_t)getpid();
}

/* A program's thread and that of its server may begin one at once. */
static int open_one(const struct place *place,
                    const struct trace_options *options)
{
    int result = -1;

    if (__atomic_exchange_n(&changing, true, __ATOMIC_ACQUIRE)) {
        errno = EBUSY;
        return -1;
    }
    if (trace_is_recording() && !trace_recording.yields &&
        !is_parents_part(place))
        errno = EBUSY;
    else
        result = open_at(place, options);
    __atomic_store_n(&changing, false, __ATOMIC_RELEASE);
    return result;
}

int trace_open(const char *path, const struct trace_options *options)
{
    return open_one(&(struct place){.path = path}, options);
}

int trace_open_file(int file, const struct trace_options *options)
{
    return open_one(&(struct place){.file = file}, options);
}

int trace_open_at(int file, uint64_t offset,
                  const struct trace_options *options)
{
    struct place place = {.offset = offset, .is_part = true};
    int result;

    place.file = fcntl(file, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR_HIGH);
    if (place.file < 0)
        return -1;
    result = open_one(&place, options);
    if (result)
        close(place.file);
    return result;
}

struct trace_reader *trace_reader_open_own(void)
{
    if (!trace_is_recording() || !trace_recording.path[0]) {
        errno = ENOENT;
        return NULL;
    }
    if (trace_recording.header->version == TRACE_FORMAT_RAW)
        return trace_reader_open(trace_recording.path);
    return trace_reader_open_mapped(trace_recording.header,
                                    trace_recording.file_size);
}

bool trace_is_open(void)
{
    return trace_is_recording();
}

void trace_close(void)
{
    struct trace_header *header = trace_recording.header;

    if (!trace_is_recording() || (uint32_t)getpid() != trace_recording.owner)
        return;
    trace_device_flush(true);
    trace_annotation_note();
    lock_switching();
    set_open(false);
    enable(false);
    pthread_mutex_unlock(&switching);
    header->end = trace_anchor_now();
    __atomic_store_n(&header->ended, 1, __ATOMIC_RELEASE);
}

/* Ends the file with its last chunk, and gives back the address space behind
 * it. If somebody else truncated it, it is unknown which chunks threads have.
 */
static void cut(void)
{
    struct trace_header *header = trace_recording.header;
    const struct trace_descriptor *file = &trace_recording.file;
    uint64_t end = trace_chunks_end(header);

    if (header->magic != TRACE_MAGIC)
        return;
    __atomic_store_n(&header->used, end, __ATOMIC_SEQ_CST);
    end = trace_chunks_end(header); /* taken before that */
    if (trace_descriptor_is_ours(file) && !ftruncate(file->fd, (off_t)end))
        trace_unmap_unused();
}

void trace_close_file(void (*closed)(void))
{
    while (__atomic_exchange_n(&changing, true, __ATOMIC_ACQUIRE))
        sched_yield();
    trace_close();
    closed();
    if (!trace_recording.is_part)
        cut();
    __atomic_store_n(&changing, false, __ATOMIC_RELEASE);
}

/* ---- Joining ---- */

void trace_invite(void)
{
    if (trace_is_recording() && trace_recording.path[0])
        setenv(TRACE_INVITATION, trace_recording.path, 1);
}

/* Returns whether it is a recording that another process has open. */
static bool is_running(const struct trace_header *header, size_t size)
{
    return header->magic == TRACE_MAGIC && trace_is_written(header->version) &&
           header->header_size == TRACE_HEADER_SIZE &&
           header->chunk_size == TRACE_CHUNK_SIZE &&
           header->clock == (uint32_t)trace_clock_choose() &&
           header->limit == (size - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE &&
           !__atomic_load_n(&header->ended, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
}

static struct trace_header *map_running(const char *path, size_t *size)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct trace_header *header = NULL;
    struct stat status;

    if (fd < 0)
        return NULL;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid() && status.st_size >= TRACE_HEADER_SIZE) {
        *size = (size_t)status.st_size;
        header = map(fd, 0, *size, 0);
    }
    close(fd);
    if (header && !is_running(header, *size)) {
        munmap(header, *size);
        header = NULL;
    }
    return header;
}

/* A program that a test started dies as the test's forked children do. */
static void watch_joined(const struct trace_header *header)
{
    static const struct trace_crash_watch none;

    if (!header->watched)
        return;
    trace_crash_prepare();
    trace_crash_watch(&none);
}

int trace_join(const char *path)
{
    struct trace_header *header;
    size_t size;

    if (trace_is_recording() || trace_recorder_prepare())
        return -1;
    header = map_running(path, &size);
    if (!header)
        return -1;
    begin(header, &(struct place){.path = path}, size, 0);
    trace_recording.yields = true;
    lock_switching();
    enable(!disabled);
    pthread_mutex_unlock(&switching);
    watch_joined(header);
    return 0;
}

int trace_join_invited(void)
{
    const char *path = secure_getenv(TRACE_INVITATION);

    return path ? trace_join(path) : -1;
}

/* ---- Disabling ---- */

void trace_disable(void)
{
    lock_switching();
    if (trace_is_recording())
        __atomic_store_n(&trace_recording.header->disabled, 1,
                         __ATOMIC_RELAXED);
    if (!disabled++)
        enable(false);
    pthread_mutex_unlock(&switching);
}

void trace_enable(void)
{
    lock_switching();
    if (disabled && !--disabled)
        enable(trace_is_recording());
    pthread_mutex_unlock(&switching);
}
