/* model_recording_test.c: explores every interleaving of a few recording
 * threads, with a crash at each step: the reader finds exactly the committed
 * records. The steps are the stores and atomic operations of room.c, recorder.c
 * and write.c, in their order, on chunks of eight units (a unit is one or more
 * pieces). Each state that a crash can leave is written to a file and opened by
 * the real reader.
 */
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    UNITS = 8, /* of a chunk */
    UNIT_SLOTS = TRACE_CHUNK_SLOTS / UNITS,
    CHUNKS = 4,
    THREADS = 3,
    ITEMS = 4,
    CHILD = THREADS - 1, /* a forked process, which shares no tails */
};

/* What a thread records: an event of that many units, or an error. */
struct item {
    uint8_t units;
    bool error;
};

/* The next step of a thread; X(step). */
#define STEPS(X)                                                               \
    X(BEGIN)                                                                   \
    X(FIND_TAIL)                                                               \
    X(TAKE_PIECES)                                                             \
    X(TAKE_CHUNKS)                                                             \
    X(RESERVE)                                                                 \
    X(SHARE)                                                                   \
    X(RESERVE_SPARE)                                                           \
    X(SET_SPARE)                                                               \
    X(DROP)                                                                    \
    X(TAKE_SPARE)                                                              \
    X(THREAD_SLOTS)                                                            \
    X(THREAD_VALUES)                                                           \
    X(THREAD_TIME)                                                             \
    X(EVENT_SLOTS)                                                             \
    X(EVENT_VALUES)                                                            \
    X(LEAVE_HOLE)                                                              \
    X(EVENT_TIME)                                                              \
    X(END)

enum step {
#define TEST_X(step) step,
    STEPS(TEST_X)
#undef TEST_X
};

struct unit {
    uint8_t slots; /* in units */
    uint8_t kind, thread, item, time;
};

struct thread {
    uint8_t step, item;
    uint8_t next, end; /* units from the first chunk's begin */
    uint8_t record, first;
    uint8_t pieces; /* how many it took when it last needed room */
    uint8_t time;
    uint8_t committed; /* a bit for each item */
    bool spare;
};

struct state {
    uint8_t chunks, reserved, spare, spare_units;
    uint8_t shared; /* the next free unit; if it begins a chunk, none is free */
    uint8_t tail_next, tail_end; /* at most one tail; 0, 0: none */
    struct thread threads[THREADS];
    struct unit units[CHUNKS * UNITS];
};

static struct item items[THREADS][ITEMS];
static unsigned limit; /* chunks */

/* ---- The recorder's steps ---- */

static void next_item(struct thread *t)
{
    t->item++;
    t->step = BEGIN;
}

static void begin_item(struct thread *t, const struct item *item)
{
    if (t->item == ITEMS || !item->units)
        t->step = END;
    else if (t->end - t->next >= item->units)
        t->step = EVENT_SLOTS;
    else
        t->step = item->units + 1 <= UNITS ? FIND_TAIL : TAKE_CHUNKS;
}

/* The units that a thread takes at once, with room for its THREAD record. */
static unsigned wanted(const struct thread *t, unsigned units)
{
    unsigned wanted = t->pieces ? t->pieces * 2 : 1;

    return wanted > units + 1 ? wanted : units + 1;
}

static void find_tail(struct state *s, struct thread *t, unsigned units)
{
    t->step = wanted(t, units) < UNITS ? TAKE_PIECES : TAKE_CHUNKS;
    if (t == &s->threads[CHILD] || s->tail_end - s->tail_next < (int)units + 1)
        return;
    t->next = s->tail_next;
    t->end = s->tail_end;
    s->tail_next = s->tail_end = 0;
    t->step = THREAD_SLOTS;
}

static void own(struct thread *t, unsigned first, unsigned units)
{
    t->pieces = (uint8_t)units;
    t->next = (uint8_t)first;
    t->end = (uint8_t)(first + units);
    t->step = THREAD_SLOTS;
}

static void take_pieces(struct state *s, struct thread *t, unsigned units)
{
    unsigned used = s->shared % UNITS, free = used ? UNITS - used : 0;
    unsigned count = wanted(t, units) < free ? wanted(t, units) : free;

    t->step = TAKE_CHUNKS;
    if (count < units + 1)
        return;
    own(t, s->shared, count);
    s->shared = (uint8_t)(s->shared + count);
}

/* Another thread may have shared a chunk since this one saw that none is
 * shared. */
static void share(struct state *s, struct thread *t, unsigned units)
{
    unsigned first = t->first * UNITS, count = wanted(t, units);

    if (s->shared % UNITS) {
        own(t, first, UNITS);
        return;
    }
    own(t, first, count);
    s->shared = (uint8_t)(first + count);
}

static unsigned chunks_of(unsigned units)
{
    return (units + 1 + UNITS - 1) / UNITS;
}

static void raise_reserved(struct state *s, unsigned last)
{
    if (last >= s->reserved)
        s->reserved = (uint8_t)(last + 1);
}

static void take_chunks(struct state *s, struct thread *t, unsigned units)
{
    t->step = DROP;
    if (s->spare)
        return;
    t->first = s->chunks;
    s->chunks = (uint8_t)(s->chunks + chunks_of(units));
    t->step = RESERVE;
}

static void reserve(struct state *s, struct thread *t, unsigned units)
{
    unsigned next = t->first + chunks_of(units);

    t->step = RESERVE_SPARE;
    if (next >= limit)
        return;
    raise_reserved(s, next);
    t->next = (uint8_t)(t->first * UNITS);
    t->end = (uint8_t)(next * UNITS);
    t->step = t->first && wanted(t, units) < UNITS ? SHARE : THREAD_SLOTS;
}

static void reserve_spare(struct state *s, struct thread *t)
{
    t->step = DROP;
    if (t->first >= limit)
        return;
    raise_reserved(s, t->first);
    t->step = SET_SPARE;
}

static void take_spare(struct state *s, struct thread *t, unsigned units)
{
    unsigned all = 1 + units + 1, used = s->spare_units;

    next_item(t);
    if (!s->spare)
        return;
    s->spare_units = (uint8_t)(used + all);
    if (used + all > UNITS)
        return;
    t->item--;
    t->next = (uint8_t)((s->spare - 1) * UNITS + used);
    t->end = (uint8_t)(t->next + all);
    t->spare = true;
    t->step = THREAD_SLOTS;
}

static void put_slots(struct state *s, struct thread *t, unsigned units)
{
    t->record = t->next;
    t->next = (uint8_t)(t->next + units);
    s->units[t->record].slots = (uint8_t)units;
    t->step++;
}

static void put_values(struct state *s, struct thread *t, unsigned kind)
{
    struct unit *unit = &s->units[t->record];

    unit->kind = (uint8_t)kind;
    unit->thread = (uint8_t)(t - s->threads);
    unit->item = t->item;
    t->step++;
    if (t->step == LEAVE_HOLE && !t->spare)
        t->step = EVENT_TIME;
}

static void leave_hole(struct state *s, struct thread *t)
{
    if (t->next < t->end)
        s->units[t->next].slots = (uint8_t)(t->end - t->next);
    t->next = t->end = 0;
    t->spare = false;
    t->step = EVENT_TIME;
}

static void end_thread(struct state *s, struct thread *t)
{
    if (t != &s->threads[CHILD] && !s->tail_end && t->end - t->next > 0) {
        s->units[t->next].slots = (uint8_t)(t->end - t->next);
        s->tail_next = t->next;
        s->tail_end = t->end;
    }
    t->next = t->end = 0;
}

static void set_spare(struct state *s, struct thread *t)
{
    s->spare = s->spare ? s->spare : (uint8_t)(t->first + 1);
    t->step = DROP;
}

static void drop(struct thread *t, const struct item *item)
{
    if (item->error)
        t->step = TAKE_SPARE;
    else
        next_item(t);
}

static void commit(struct state *s, struct thread *t)
{
    s->units[t->record].time = ++t->time;
    t->committed |= (uint8_t)(1u << t->item);
    next_item(t);
}

/* Returns false if the thread has ended before. */
static bool end(struct state *s, struct thread *t)
{
    if (t->item > ITEMS)
        return false;
    end_thread(s, t);
    t->item = ITEMS + 1;
    return true;
}

/* Does a step that finds room; returns false if the next step is another. */
static bool find_room(struct state *s, struct thread *t,
                      const struct item *item)
{
    switch ((enum step)t->step) {
    case FIND_TAIL:
        find_tail(s, t, item->units);
        break;
    case TAKE_PIECES:
        take_pieces(s, t, item->units);
        break;
    case TAKE_CHUNKS:
        take_chunks(s, t, item->units);
        break;
    case RESERVE:
        reserve(s, t, item->units);
        break;
    case SHARE:
        share(s, t, item->units);
        break;
    case RESERVE_SPARE:
        reserve_spare(s, t);
        break;
    case SET_SPARE:
        set_spare(s, t);
        break;
    case DROP:
        drop(t, item);
        break;
    case TAKE_SPARE:
        take_spare(s, t, item->units);
        break;
    default:
        return false;
    }
    return true;
}

/* Does a step that writes a record; returns false if it is another. */
static bool write_record(struct state *s, struct thread *t,
                         const struct item *item)
{
    switch ((enum step)t->step) {
    case THREAD_SLOTS:
        put_slots(s, t, 1);
        break;
    case THREAD_VALUES:
        put_values(s, t, TRACE_KIND_THREAD);
        break;
    case THREAD_TIME:
        s->units[t->record].time = ++t->time;
        t->step++;
        break;
    case EVENT_SLOTS:
        put_slots(s, t, item->units);
        break;
    case EVENT_VALUES:
        put_values(s, t, TRACE_KIND_EVENT);
        break;
    case LEAVE_HOLE:
        leave_hole(s, t);
        break;
    case EVENT_TIME:
        commit(s, t);
        break;
    default:
        return false;
    }
    return true;
}

/* Does a thread's next step; returns false if the thread has ended. */
static bool do_step(struct state *s, unsigned number)
{
    struct thread *t = &s->threads[number];
    const struct item none = {0, false};
    const struct item *item = t->item < ITEMS ? &items[number][t->item] : &none;

    if (find_room(s, t, item) || write_record(s, t, item))
        return true;
    if ((enum step)t->step == END)
        return end(s, t);
    begin_item(t, item);
    return true;
}

/* ---- What a crash leaves ---- */

enum { FILE_SIZE = TRACE_HEADER_SIZE + CHUNKS * TRACE_CHUNK_SIZE };

static unsigned char *file;
static char path[64];

static void make_file(void)
{
    int fd = memfd_create("model", MFD_CLOEXEC);

    cr_assert(fd >= 0 && !ftruncate(fd, FILE_SIZE));
    file = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(file, MAP_FAILED);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
}

static void write_unit(const struct unit *unit, size_t number)
{
    struct trace_record *record =
        (struct trace_record *)(file + TRACE_HEADER_SIZE) + number * UNIT_SLOTS;
    struct trace_value values[2] = {trace_u64_(unit->thread),
                                    trace_u64_(unit->item)};

    memset(record, 0, 3 * sizeof(*record));
    record->slots = (uint32_t)unit->slots * UNIT_SLOTS;
    record->kind = unit->kind;
    record->time = unit->time * 10u + unit->thread;
    record->time = unit->time ? record->time : 0;
    if (unit->kind == TRACE_KIND_THREAD)
        record->end = (uint64_t)1 << 32 | (unit->thread + 1u);
    if (unit->kind != TRACE_KIND_EVENT)
        return;
    record->count = 2;
    trace_values_store(record + 1, 2, values);
}

static void write_state(const struct state *s)
{
    struct trace_header header = {.magic = TRACE_MAGIC,
                                  .version = TRACE_FORMAT_VERSION,
                                  .header_size = TRACE_HEADER_SIZE,
                                  .chunk_size = TRACE_CHUNK_SIZE,
                                  .limit = limit,
                                  .chunks = s->chunks,
                                  .reserved = s->reserved,
                                  .shared = s->shared * 2u,
                                  .spare = s->spare,
                                  .spare_slots =
                                      (uint64_t)s->spare_units * UNIT_SLOTS};

    memcpy(file, &header, sizeof(header));
    for (size_t i = 0; i < CHUNKS * UNITS; i++)
        write_unit(&s->units[i], i);
}

/* Which items of which threads a reader finds. */
static void read_state(uint8_t *found)
{
    struct trace_reader *reader = trace_reader_open(path);
    struct trace_entry entry;

    cr_assert_not_null(reader);
    while (trace_reader_next(reader, &entry)) {
        struct trace_values values = trace_values_of(&entry);
        struct trace_value thread, item;

        cr_assert(trace_values_next(&values, &thread) &&
                  trace_values_next(&values, &item));
        cr_assert_eq(entry.thread->tid, thread.as.u + 1);
        cr_assert_not(found[thread.as.u] & 1u << item.as.u, "read twice");
        found[thread.as.u] |= (uint8_t)(1u << item.as.u);
    }
    trace_reader_close(reader);
}

static void show_state(const struct state *s)
{
    fprintf(stderr, "chunks %u, reserved %u, spare %u: %u used\n", s->chunks,
            s->reserved, s->spare, s->spare_units);
    for (size_t i = 0; i < CHUNKS * UNITS; i++)
        if (s->units[i].slots)
            fprintf(stderr, "unit %zu: %u units, kind %u of %u, time %u\n", i,
                    s->units[i].slots, s->units[i].kind, s->units[i].thread,
                    s->units[i].time);
}

static void check(const struct state *s)
{
    uint8_t found[THREADS] = {0};

    write_state(s);
    read_state(found);
    for (int i = 0; i < THREADS; i++) {
        if (found[i] != s->threads[i].committed)
            show_state(s);
        cr_assert_eq(found[i], s->threads[i].committed,
                     "thread %d: items %#x instead of %#x", i, found[i],
                     s->threads[i].committed);
    }
}

/* ---- All interleavings ---- */

enum { SEEN = 1 << 22 };
static uint64_t *seen_states, *seen_files;
static size_t states;

static uint64_t hash(const void *bytes, size_t size)
{
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        sum =
            (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return sum | 1;
}

/* Returns whether the table has the hash; adds it otherwise. */
static bool seen(uint64_t *table, uint64_t sum)
{
    size_t at = sum >> 20 & (SEEN - 1);

    for (; table[at]; at = (at + 1) & (SEEN - 1))
        if (table[at] == sum)
            return true;
    table[at] = sum;
    return false;
}

static void explore(const struct state *s)
{
    if (seen(seen_states, hash(s, sizeof(*s))))
        return;
    cr_assert_lt(++states, SEEN / 2);

    struct state file_only = *s;

    for (int i = 0; i < THREADS; i++)
        file_only.threads[i] =
            (struct thread){.committed = s->threads[i].committed};
    file_only.tail_next = file_only.tail_end = 0;
    if (!seen(seen_files, hash(&file_only, sizeof(file_only))))
        check(s);
    for (unsigned i = 0; i < THREADS; i++) {
        struct state next = *s;

        if (do_step(&next, i))
            explore(&next);
    }
}

static void explore_all(void)
{
    struct state begin = {.reserved = 1};

    make_file();
    states = 0;
    seen_states = calloc(SEEN, sizeof(*seen_states));
    seen_files = calloc(SEEN, sizeof(*seen_files));
    cr_assert(seen_states && seen_files);
    explore(&begin);
    cr_expect_gt(states, 1000);
    if (getenv("SOAK"))
        fprintf(stderr, "testlog: %zu states\n", states);
    free(seen_states);
    free(seen_files);
}

/* The limit, and what each thread records. */
#define RECORDS(chunks, ...)                                                   \
    limit = (chunks);                                                          \
    memcpy(items, (struct item[THREADS][ITEMS])__VA_ARGS__, sizeof(items))

TestSuite(model_recording, .timeout = 600);

Test(model_recording, keeps_records_in_chunks_and_tails)
{
    RECORDS(4, {{{2, false}, {6, false}}, {{3, false}}, {{1, false}}});
    explore_all();
}

Test(model_recording, keeps_records_of_several_chunks)
{
    RECORDS(4, {{{12, false}, {1, false}}, {{3, false}, {2, false}}});
    explore_all();
}

Test(model_recording, keeps_errors_at_the_limit)
{
    RECORDS(3, {{{7, false}, {1, true}, {1, true}},
                {{6, false}, {1, true}, {1, true}},
                {{1, true}}});
    explore_all();
}

Test(model_recording, keeps_errors_of_several_processes)
{
    RECORDS(2, {{{1, true}}, {{6, false}, {1, true}}, {{1, true}, {1, true}}});
    explore_all();
}

/* The first keeps its chunk; the others share one. */
Test(model_recording, keeps_records_in_pieces_of_threads_and_a_process)
{
    RECORDS(4,
            {{{1, false}}, {{1, false}, {2, false}}, {{1, false}, {1, false}}});
    explore_all();
}
