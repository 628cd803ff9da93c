/* room.c: hands out space in the recording to threads, a chunk at a time. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/base/file.h"
#include "trace/base/lock.h"
#include "trace/base/valgrind_requests.h"
#include "trace/device.h"
#include "write.h"

/* Holes that ended threads left, by the logarithm of their size in slots. Each
 * has the place of the next one in its `span`. */
enum { TAIL_SIZES = 16 };
static TRACE_UNTRACKED uint32_t tails[2][TAIL_SIZES]; /* of records, of calls */

TRACE_UNTRACKED uint32_t trace_room_returns;

static TRACE_UNTRACKED struct trace_lock lock;

void trace_room_lock(void)
{
    trace_lock(&lock);
}

void trace_room_unlock(void)
{
    trace_unlock(&lock);
}

void trace_room_forget(void)
{
    memset(tails, 0, sizeof(tails));
}

void trace_room_unlock_forked(void)
{
    lock = (struct trace_lock){0};
}

static int given_file(void)
{
    errno = EBADF;
    return trace_descriptor_is_ours(&trace_recording.file)
               ? trace_recording.file.fd
               : -1;
}

/* Asks the file system for a range if the kernel cannot populate it. These
 * calls are cancellation points: a thread that ended here would leave locks
 * locked. */
static int reserve_in_file(size_t offset, size_t size)
{
    int before, fd, error;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    fd = given_file();
    if (trace_recording.path[0])
        fd = open(trace_recording.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    offset += trace_recording.offset;
    error = fd < 0 ? errno : trace_allocate(fd, offset, size);
    if (fd >= 0 && trace_recording.path[0])
        close(fd);
    pthread_setcancelstate(before, NULL);
    errno = error;
    return error ? -1 : 0;
}

/* Reserves disk space up to chunk `last`, so that a store can never raise
 * SIGBUS. Populating is as fast as fallocate and faults together, within a
 * tenth, and needs no descriptor, which a test may close. */
static int reserve(uint64_t last)
{
    struct trace_header *header = trace_header_now();
    uint64_t from = __atomic_load_n(&header->reserved, __ATOMIC_ACQUIRE);

    if (last < from)
        return 0;

    size_t offset = TRACE_HEADER_SIZE + from * TRACE_CHUNK_SIZE;
    size_t size = (last + 1 - from) * TRACE_CHUNK_SIZE;
    unsigned char *at = (unsigned char *)header + offset;

    if (__atomic_load_n(&trace_recording.stored, __ATOMIC_RELAXED) &&
        madvise(at, size, MADV_POPULATE_WRITE)) {
        if (errno == EFAULT) /* this would have been a SIGBUS */
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

/* From now on only errors are recorded: in chunk `kept`, which has no other
 * owner, if it has space. */
static void run_short(uint64_t kept, int error)
{
    struct trace_header *header = trace_header_now();
    uint32_t none = 0;

    if (error)
        __atomic_store_n(&header->error, error, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&header->reached, 1, __ATOMIC_RELAXED);
    if (kept < header->limit && !reserve(kept))
        __atomic_compare_exchange_n(&header->spare, &none, (uint32_t)kept + 1,
                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Returns whether the records before chunk `next` need more than their part of
 * the limit. Calls note the chunks that they take before they take them. */
static bool is_beyond(const struct trace_header *header, uint64_t next)
{
    uint64_t calls = __atomic_load_n(&header->calls_chunks, __ATOMIC_RELAXED);

    calls = calls < header->calls_limit ? calls : header->calls_limit;
    return next - calls >= header->limit - header->calls_limit;
}

/* Takes `count` consecutive chunks, NULL if there is no space. The chunk behind
 * them is reserved, too, so that one is left for errors at the end. */
static struct trace_record *take_chunks(uint64_t count)
{
    struct trace_header *header = trace_header_now();

    if (__atomic_load_n(&header->spare, __ATOMIC_RELAXED))
        return NULL;

    uint64_t first =
        __atomic_fetch_add(&header->chunks, count, __ATOMIC_SEQ_CST);
    uint64_t next = first + count;
    bool limited = is_beyond(header, next) || next >= header->limit;

    /* A store beyond the end raises SIGBUS. A process that truncates the file
     * sets `used` before it reads `chunks`. */
    if (__atomic_load_n(&header->used, __ATOMIC_SEQ_CST))
        return NULL;

    if (limited || reserve(next)) {
        run_short(first, limited ? 0 : errno);
        return NULL;
    }
    return (struct trace_record *)((unsigned char *)header + TRACE_HEADER_SIZE +
                                   first * TRACE_CHUNK_SIZE);
}

/* Notes that calls take a chunk; false if they have `most` already. */
static bool note_call_chunk(struct trace_header *header, uint64_t most)
{
    uint64_t *taken = &header->calls_chunks;
    uint64_t before = __atomic_load_n(taken, __ATOMIC_RELAXED);

    do {
        if (before >= most)
            return false;
    } while (!__atomic_compare_exchange_n(taken, &before, before + 1, true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return true;
}

/* Takes one of `most` chunks for calls, NULL if there is none left, or the disk
 * is full. Other records still find space. */
static struct trace_record *take_call_chunk(struct trace_header *header,
                                            uint64_t most)
{
    uint64_t first;

    if (__atomic_load_n(&header->error, __ATOMIC_RELAXED) ||
        !note_call_chunk(header, most))
        return NULL;
    first = __atomic_fetch_add(&header->chunks, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&header->used, __ATOMIC_SEQ_CST) ||
        first >= header->limit || first >= TRACE_CALL_CHUNKS_MOST)
        return NULL;
    if (reserve(first + 1 < header->limit ? first + 1 : first)) {
        run_short(first, errno);
        return NULL;
    }
    return (struct trace_record *)((unsigned char *)header + TRACE_HEADER_SIZE +
                                   first * TRACE_CHUNK_SIZE);
}

/* One is for those without space. */
static struct trace_record *take_chunk_for(const struct trace_writer *writer)
{
    struct trace_header *header = trace_header_now();

    return writer->of_calls ? take_call_chunk(header, header->calls_limit - 1)
                            : take_chunks(1);
}

struct trace_record *trace_room_for_counts(struct trace_header *header)
{
    return take_call_chunk(header, header->calls_limit);
}

/* A thread that began its record before the recording did must not write to
 * it. */
static bool is_late(const struct trace_writer *writer)
{
    return writer->generation !=
           __atomic_load_n(&trace_recording.forks->generation,
                           __ATOMIC_RELAXED);
}

/* ---- Holes of ended threads ---- */

static unsigned log_of(size_t slots)
{
    unsigned log = 63 - (unsigned)__builtin_clzll(slots);

    return log < TAIL_SIZES ? log : TAIL_SIZES - 1;
}

/* Removes a free hole with that many slots. It looks only at the first hole of
 * each list, so that its time does not grow. */
static struct trace_record *unlink_tail(const struct trace_writer *writer,
                                        size_t slots)
{
    uint32_t *own = tails[writer->of_calls];

    for (unsigned i = log_of(slots); i < TAIL_SIZES; i++) {
        struct trace_record *tail = trace_record_at(writer, own[i]);

        if (!own[i] || tail->slots < slots)
            continue;
        own[i] = tail->span;
        return tail;
    }
    return NULL;
}

static void link_tail(const struct trace_writer *writer,
                      struct trace_record *tail, size_t slots)
{
    uint32_t *first = &tails[writer->of_calls][log_of(slots)];

    tail->span = *first;
    tail->slots = (uint32_t)slots;
    *first = trace_place_of(writer, tail);
}

/* Takes about `most` slots of a hole that is much larger. */
static bool take_tail(struct trace_writer *writer, size_t slots, size_t most)
{
    struct trace_record *tail = unlink_tail(writer, slots), *end;
    uint32_t rest;

    if (!tail)
        return false;
    end = tail + tail->slots;
    writer->next = tail;
    writer->end = end;
    if (tail->slots < most + TRACE_CHUNK_SLOTS)
        return true;
    rest = trace_place_of(writer, tail + most) + TRACE_PIECE_SLOTS - 1;
    writer->end = trace_record_at(writer, rest - rest % TRACE_PIECE_SLOTS);
    link_tail(writer, writer->end, (size_t)(end - writer->end));
    return true;
}

void trace_give_room(struct trace_writer *writer)
{
    struct trace_record *tail = writer->next;
    size_t slots = (size_t)(writer->end - tail);

    writer->next = writer->end = NULL;
    if (!slots)
        return;
    trace_lock(&lock);
    if (!is_late(writer)) {
        link_tail(writer, tail, slots);
        __atomic_fetch_add(&trace_room_returns, 1, __ATOMIC_RELAXED);
    }
    trace_unlock(&lock);
}

/* ---- Pieces of a chunk that threads share ---- */

/* The next free piece of the chunk that records, or calls, share. */
static uint64_t *shared_of(const struct trace_writer *writer)
{
    struct trace_header *header = trace_header_now();

    return writer->of_calls ? &header->calls_shared : &header->shared;
}

/* Takes as many free pieces as are wanted, or all if there are at least as many
 * as are needed; 0: there are too few. */
static uint64_t take_free(uint64_t *shared, uint64_t needed, uint64_t wanted,
                          uint64_t *first)
{
    uint64_t next = __atomic_load_n(shared, __ATOMIC_RELAXED), count;

    do {
        uint64_t used = next % TRACE_CHUNK_PIECES;
        uint64_t free = used ? TRACE_CHUNK_PIECES - used : 0;

        count = wanted < free ? wanted : free;
        if (count < needed)
            return 0;
    } while (!__atomic_compare_exchange_n(shared, &next, next + count, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    *first = next;
    return count;
}

/* Takes a chunk and shares the pieces that are not wanted. Keeps all of it if
 * another chunk has free pieces, or for the first thread, which is often the
 * only one. */
static uint64_t take_and_share(const struct trace_writer *writer,
                               uint64_t wanted, uint64_t *first)
{
    uint64_t *shared = shared_of(writer);
    struct trace_record *chunk = take_chunk_for(writer);
    uint64_t next = __atomic_load_n(shared, __ATOMIC_RELAXED);

    if (!chunk)
        return 0;
    *first =
        (trace_place_of(writer, chunk) - TRACE_FIRST_PLACE) / TRACE_PIECE_SLOTS;
    if (*first && next % TRACE_CHUNK_PIECES == 0 &&
        __atomic_compare_exchange_n(shared, &next, *first + wanted, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return wanted;
    return TRACE_CHUNK_PIECES;
}

static bool take_pieces(struct trace_writer *writer, uint64_t needed,
                        uint64_t wanted)
{
    uint64_t first, count;

    count = take_free(shared_of(writer), needed, wanted, &first);
    if (!count)
        count = take_and_share(writer, wanted, &first);
    if (!count)
        return false;
    writer->pieces = (uint32_t)count;
    writer->next = trace_record_at(
        writer, (uint32_t)(TRACE_FIRST_PLACE + first * TRACE_PIECE_SLOTS));
    writer->end = writer->next + count * TRACE_PIECE_SLOTS;
    return true;
}

/* ---- Counters of losses ---- */

void trace_take_counters(struct trace_writer *writer)
{
    struct trace_header *header = trace_header_now();
    uint64_t before = __atomic_load_n(&header->counting, __ATOMIC_RELAXED);
    int free;

    if (writer->losses)
        return;
    do {
        free = __builtin_ffsll((long long)~before) - 1;
        if (free < 0 || free >= TRACE_COUNTERS)
            return;
    } while (!__atomic_compare_exchange_n(&header->counting, &before,
                                          before | UINT64_C(1) << free, true,
                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    writer->losses = &header->counters[free];
}

void trace_give_counters(struct trace_writer *writer)
{
    struct trace_header *header = trace_header_now();

    if (writer->losses)
        __atomic_fetch_and(
            &header->counting,
            ~(UINT64_C(1) << (writer->losses - header->counters)),
            __ATOMIC_RELEASE);
    writer->losses = NULL;
}

/* ---- Space for a record ---- */

uint32_t trace_forked_in(const struct trace_writer *writer)
{
    return writer->forked && writer->inherited
               ? writer->stack[writer->inherited - 1].span
               : 0;
}

const struct trace_self *trace_self(struct trace_writer *writer)
{
    struct trace_self *self = &writer->self;

    if (!self->tid) {
        self->pid = (uint32_t)getpid();
        syscall(SYS_prctl, PR_GET_NAME, self->name);
        self->tid = (uint32_t)syscall(SYS_gettid);
    }
    return self;
}

/* Writes the owner of the records that follow. */
static void put_thread(struct trace_writer *writer)
{
    const struct trace_self *self = trace_self(writer);
    struct trace_value values[1 + TRACE_INHERITED_MAX];
    size_t count = 1;
    size_t inherited = writer->forked ? writer->inherited : 0;

    values[0] = trace_text_(self->name);
    for (size_t i = 0; i < inherited && i < TRACE_INHERITED_MAX; i++)
        values[count++] = trace_u64_(writer->stack[i].span);

    struct trace_record *record = trace_put(
        writer, TRACE_KIND_THREAD, trace_forked_in(writer), count, values);
    if (!record)
        return;
    record->flags = (writer->forked ? TRACE_FLAG_FORKED : 0) |
                    (writer->of_calls ? TRACE_FLAG_CALLS : 0);
    record->end = (uint64_t)self->pid << 32 | self->tid;
    if (!self->start)
        writer->self.start = trace_place_of(writer, record);
    record->site = self->start;
    trace_commit(writer, record);
}

/* Gives a thread of a live run memory of its own once the file is full, so that
 * its lines continue; always the same piece. */
static bool take_overflow(struct trace_writer *writer)
{
    size_t size = TRACE_CHUNK_SIZE;

    if (!trace_is_live() || writer->of_calls)
        return false;
    if (!writer->overflow) {
        uint32_t n =
            __atomic_fetch_add(&trace_recording.overflows, 1, __ATOMIC_RELAXED);

        if (n >= TRACE_OVERFLOWS)
            return false;
        writer->overflow =
            (struct trace_record *)((unsigned char *)trace_header_now() +
                                    trace_recording.file_size +
                                    (size_t)n * TRACE_CHUNK_SIZE);
    }
    memset(writer->overflow, 0, size);
    writer->next = writer->overflow;
    writer->end = writer->next + TRACE_CHUNK_SLOTS;
    return true;
}

/* The size of a writer's THREAD record: its name, and two words for each
 * inherited span. */
static size_t thread_slots(const struct trace_writer *writer)
{
    size_t spans = writer->forked ? writer->inherited : 0;

    if (spans > TRACE_INHERITED_MAX)
        spans = TRACE_INHERITED_MAX;
    return 2 + (spans + 1) / 2;
}

/* The slots that records may have. */
static uint64_t records_limit(void)
{
    const struct trace_header *header = trace_header_now();

    return (header->limit - header->calls_limit) * TRACE_CHUNK_SLOTS;
}

/* Takes consecutive chunks; for more than one, an eighth is added for what
 * follows the record. */
static bool take_whole(struct trace_writer *writer, size_t slots)
{
    uint64_t needed =
        slots > TRACE_CHUNK_SLOTS ? slots + TRACE_CHUNK_SLOTS / 8 : slots;
    uint64_t count = (needed + TRACE_CHUNK_SLOTS - 1) / TRACE_CHUNK_SLOTS;
    struct trace_record *chunk;

    if (slots > records_limit())
        return false;
    chunk = count == 1 ? take_chunk_for(writer) : take_chunks(count);
    if (!chunk)
        return false;
    writer->next = chunk;
    writer->end = chunk + count * TRACE_CHUNK_SLOTS;
    return true;
}

/* Each time a thread needs space it takes four times as much, up to a chunk:
 * the space of thousands of threads is in proportion to what they record. */
static bool take_some(struct trace_writer *writer, size_t slots)
{
    uint64_t needed = (slots + TRACE_PIECE_SLOTS - 1) / TRACE_PIECE_SLOTS;
    uint64_t wanted = writer->pieces ? writer->pieces * UINT64_C(4) : 1;

    if (slots <= TRACE_CHUNK_SLOTS &&
        take_tail(writer, slots, TRACE_CHUNK_SLOTS))
        return true;
    wanted = wanted < needed ? needed : wanted;
    return (wanted < TRACE_CHUNK_PIECES &&
            take_pieces(writer, needed, wanted)) ||
           take_whole(writer, slots);
}

/* With the lock, because otherwise each thread would share a chunk. */
static bool take_room(struct trace_writer *writer, size_t slots)
{
    bool taken;

    trace_lock(&lock);
    taken = !is_late(writer) && take_some(writer, slots);
    trace_unlock(&lock);
    return taken;
}

bool trace_more_room(struct trace_writer *writer, size_t slots)
{
    size_t all = slots + thread_slots(writer);

    if (!take_room(writer, all))
        return all <= TRACE_CHUNK_SLOTS && take_overflow(writer);
    put_thread(writer);
    return true;
}

/* ---- Buffers of back ends ---- */

enum {
    RAW_PART = 4,          /* of what is left: other records need space, too */
    RAW_CHUNKS_LEAST = 16, /* of a recording that has any */
};

/* Lines that are printed at once are made of records that are decoded at once.
 * A part has no space behind it for what readers derive. */
bool trace_raw_possible(void)
{
    return trace_is_recording() &&
           __atomic_load_n(&trace_recording.stored, __ATOMIC_RELAXED) &&
           !trace_recording.is_part && !trace_is_live() &&
           trace_recording.owner == (uint32_t)getpid() &&
           records_limit() >= RAW_CHUNKS_LEAST * TRACE_CHUNK_SLOTS;
}

/* Takes at most `count` chunks, and sets it to how many there are; NULL if
 * there are less than `least`. They have no space on the disk yet. */
static struct trace_record *take_raw_chunks(struct trace_header *header,
                                            uint64_t least, uint64_t *count)
{
    uint64_t limit = header->limit - header->calls_limit;
    uint64_t calls = __atomic_load_n(&header->calls_chunks, __ATOMIC_RELAXED);
    uint64_t taken = __atomic_load_n(&header->chunks, __ATOMIC_RELAXED) - calls;
    uint64_t left = taken < limit ? (limit - taken) / RAW_PART : 0;
    uint64_t first;

    *count = left < *count ? left : *count;
    if (*count < least)
        return NULL;
    first = __atomic_fetch_add(&header->chunks, *count, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&header->used, __ATOMIC_SEQ_CST) ||
        is_beyond(header, first + *count) || first + *count >= header->limit)
        return NULL;
    return (struct trace_record *)((unsigned char *)header + TRACE_HEADER_SIZE +
                                   first * TRACE_CHUNK_SIZE);
}

/* Reserves space for the chunks of a writer, one after the other: the kernel
 * locks the process's memory for each. Those that have none are left out. */
static bool reserve_raw(struct trace_writer *writer)
{
    uint64_t first =
        (trace_place_of(writer, writer->next) - (uint64_t)TRACE_FIRST_PLACE) /
        TRACE_CHUNK_SLOTS;
    uint64_t count = (uint64_t)(writer->end - writer->next) / TRACE_CHUNK_SLOTS;
    uint64_t ready = 0;

    /* One more, as for others: it will be for errors if the disk is full. */
    while (ready <= count && !reserve(first + ready))
        ready++;
    if (ready > count)
        return true;
    ready -= ready > 0;
    run_short(first + ready, errno);
    writer->end = writer->next + ready * TRACE_CHUNK_SLOTS;
    return ready > 0;
}

/* Takes a hole, or whole chunks. Nobody has to wait while these get space. */
static bool take_for_raw(struct trace_writer *writer, size_t least, size_t most)
{
    uint64_t count = most / TRACE_CHUNK_SLOTS;
    struct trace_record *chunks = NULL;
    bool hole = false;

    trace_lock(&lock);
    if (!is_late(writer)) {
        hole = take_tail(writer, least, most);
        if (!hole)
            chunks = take_raw_chunks(trace_header_now(),
                                     least / TRACE_CHUNK_SLOTS, &count);
    }
    trace_unlock(&lock);
    if (!chunks)
        return hole;
    writer->next = chunks;
    writer->end = chunks + count * TRACE_CHUNK_SLOTS;
    return reserve_raw(writer);
}

static struct trace_raw *begin_raw(struct trace_writer *writer)
{
    struct trace_header *header = trace_header_now();
    struct trace_record *thread = writer->next, *record;
    struct trace_raw *raw;

    put_thread(writer);
    if (trace_place_of(writer, writer->next) % 2 == 0) { /* a cache line */
        __atomic_store_n(&thread->slots, thread->slots + 1, __ATOMIC_RELEASE);
        writer->next++;
    }
    record = writer->next;
    record->end = 0;
    record->site = writer->generation;
    record->span = 0;
    record->kind = TRACE_KIND_RAW;
    record->flags = 0;
    record->count = 0;
    record->slots = (uint32_t)(writer->end - record);
    __atomic_store_n(&header->version, TRACE_FORMAT_RAW, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->raw, record->slots * (uint64_t)TRACE_SLOT_SIZE,
                       __ATOMIC_RELAXED);
    raw = (struct trace_raw *)(record + 1);
    raw->size = (record->slots - 1) * (uint64_t)TRACE_SLOT_SIZE;
    trace_commit(writer, record);
    return raw;
}

struct trace_raw *trace_raw_take(size_t least, size_t most)
{
    struct trace_writer *caller =
        trace_is_recording() && !trace_has_run_short() ? trace_enter() : NULL;
    struct trace_writer writer = {.next = NULL};
    struct trace_raw *raw = NULL;
    struct trace_hold hold;

    if (!caller)
        return NULL;
    trace_hold(&hold);
    writer.base = caller->base;
    writer.generation = caller->generation;
    writer.self = *trace_self(caller);
    if (take_for_raw(&writer, least / TRACE_SLOT_SIZE,
                     most / TRACE_SLOT_SIZE)) {
        raw = begin_raw(&writer);
        caller->self.start = writer.self.start;
    }
    trace_release(&hold);
    trace_leave(caller);
    return raw;
}

void trace_raw_lost(void)
{
    struct trace_header *header = trace_header_now();

    if (trace_is_recording() &&
        !__atomic_load_n(&header->error, __ATOMIC_RELAXED))
        __atomic_store_n(&header->reached, 1, __ATOMIC_RELAXED);
    trace_lose(trace_is_recording() ? trace_why_no_room(1) : TRACE_LOSS_END);
}

/* A recording that has ended is not written any more: the next one has begun,
 * and memory without a file is where the buffer was. */
void trace_raw_give(struct trace_raw *raw, size_t used)
{
    struct trace_record *record = (struct trace_record *)raw - 1;
    size_t slots = 1 + (used + TRACE_SLOT_SIZE - 1) / TRACE_SLOT_SIZE;
    struct trace_writer writer = {
        .base = (struct trace_record *)trace_header_now(),
        .generation = record->site,
        .next = record + slots,
        .end = record + record->slots,
    };
    struct trace_hold hold;
    bool shrinks = record->slots >= slots + TRACE_THREAD_SLOTS;

    if (record->site != trace_generation())
        return;
    if (shrinks)
        __atomic_store_n(&record->slots, (uint32_t)slots, __ATOMIC_RELEASE);
    __atomic_store_n(&record->end, trace_clock_now(), __ATOMIC_RELEASE);
    if (!shrinks)
        return;
    trace_hold(&hold);
    trace_give_room(&writer);
    trace_release(&hold);
}

enum trace_loss trace_why_no_room(size_t slots)
{
    const struct trace_header *header = trace_header_now();
    int error = __atomic_load_n(&header->error, __ATOMIC_RELAXED);

    if (__atomic_load_n(&header->used, __ATOMIC_RELAXED))
        return TRACE_LOSS_END;
    if (!error || slots > records_limit())
        return trace_recording.file_limited ? TRACE_LOSS_FILE_SIZE
                                            : TRACE_LOSS_LIMIT;
    return error == ENOMEM ? TRACE_LOSS_MEMORY : TRACE_LOSS_DISK;
}

bool trace_has_run_short(void)
{
    return __atomic_load_n(&trace_header_now()->spare, __ATOMIC_RELAXED);
}

struct trace_record *trace_spare_room(struct trace_writer *writer, size_t slots)
{
    struct trace_header *header = trace_header_now();
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
