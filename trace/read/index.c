/* index.c: the call sites, threads, metadata and late fields that a reader has
 * found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/values.h"
#include "trace/format.h"

static bool next_text(struct trace_values *values, const char **text)
{
    struct trace_value value;

    if (!trace_values_next(values, &value) ||
        (value.type != TRACE_TYPE_STRING && value.type != TRACE_TYPE_DISPLAY))
        return false;
    *text = value.as.text;
    return true;
}

/* ---- Call sites ---- */

static struct trace_site *site_of(const struct trace_record *record)
{
    struct trace_values values = trace_values_in(record);
    size_t fields = (record->end >> 16) & 0xff;
    struct trace_site *site = calloc(1, sizeof(*site));
    const char **names = calloc(fields + 1, sizeof(*names));
    bool ok = site && names && next_text(&values, &site->name) &&
              next_text(&values, &site->target) &&
              next_text(&values, &site->file) &&
              next_text(&values, &site->function);

    for (size_t i = 0; ok && i < fields; i++)
        ok = next_text(&values, &names[i]);
    if (!ok) {
        free(site);
        free(names);
        return NULL;
    }
    site->fields = names;
    site->field_count = (uint8_t)fields;
    site->level = record->end & 0xff;
    site->kind = (record->end >> 8) & 0xff;
    site->line = (uint32_t)(record->end >> 32);
    site->id = record->site;
    return site;
}

/* Ids are consecutive, so an id beyond this limit is damage: it must not
 * allocate memory. */
enum { SITES_EXPECTED = 1 << 16 };

bool trace_reader_add_site(struct trace_reader *reader,
                           const struct trace_record *record)
{
    uint32_t id = record->site;

    if (!id || id > SITES_EXPECTED + reader->records)
        return true;
    if (!TRACE_ARRAY_RESERVE(reader->sites, reader->site_count, id + 1))
        return false;
    if (!reader->sites[id])
        reader->sites[id] = site_of(record);
    return true;
}

void trace_reader_free_site(struct trace_site *site)
{
    if (site)
        free((void *)site->fields);
    free(site);
}

/* ---- Late fields ---- */

bool trace_reader_add_late(struct trace_reader *reader,
                           const struct trace_record *record, uint64_t place)
{
    if (!TRACE_ARRAY_RESERVE(reader->late, reader->late_capacity,
                             reader->late_count + 1))
        return false;
    reader->late[reader->late_count++] =
        (struct trace_late){record->span, (uint32_t)place};
    return true;
}

/* Chunks are handed out in order, but a span's late fields may come from
 * several threads. They need the time, which qsort's comparison cannot see. */
static int by_span(const void *a, const void *b, void *context)
{
    const struct trace_late *x = a, *y = b;
    const struct trace_reader *reader = context;

    if (x->span != y->span)
        return x->span < y->span ? -1 : 1;

    uint64_t s = trace_slot_at(reader, x->place)->time;
    uint64_t t = trace_slot_at(reader, y->place)->time;

    return s < t ? -1 : s > t;
}

bool trace_reader_sort_late(struct trace_reader *reader, size_t sorted)
{
    struct trace_late *late = reader->late, *new;
    size_t at = reader->late_count, count = at - sorted;

    if (!count)
        return true;
    qsort_r(late + sorted, count, sizeof(*late), by_span, reader);
    if (!sorted || by_span(&late[sorted - 1], &late[sorted], reader) <= 0)
        return true;
    new = malloc(count * sizeof(*new));
    if (!new)
        return false;
    memcpy(new, late + sorted, count * sizeof(*new));
    while (count)
        if (sorted && by_span(&late[sorted - 1], &new[count - 1], reader) > 0)
            late[--at] = late[--sorted];
        else
            late[--at] = new[--count];
    free(new);
    return true;
}

/* ---- Metadata ---- */

/* If two names have the same key, only the last one is found. */
static uint64_t name_key(const char *name)
{
    return trace_hash_string(TRACE_HASH, name);
}

static bool meta_at(const struct trace_reader *reader, size_t at,
                    const char **name, const char **value)
{
    struct trace_values values =
        trace_values_in(trace_slot_at(reader, reader->metas[at]));

    return next_text(&values, name) && next_text(&values, value);
}

static bool add_meta(struct trace_reader *reader, uint64_t place)
{
    size_t at = reader->meta_count;
    const char *name, *value;

    if (!TRACE_ARRAY_RESERVE(reader->metas, reader->meta_capacity, at + 1))
        return false;
    reader->metas[reader->meta_count++] = (uint32_t)place;
    return !meta_at(reader, at, &name, &value) ||
           trace_table_set(&reader->meta_table, name_key(name), at);
}

/* A child's note may come before the test's in the file. */
static void note_phase(struct trace_reader *reader,
                       const struct trace_record *record)
{
    uint64_t *phase = &reader->phases[record->end];

    if (!*phase || record->time < *phase)
        *phase = record->time;
}

bool trace_reader_add_meta(struct trace_reader *reader,
                           const struct trace_record *record, uint64_t place)
{
    if (!record->end)
        return add_meta(reader, place);
    if (record->end < TRACE_PHASE_COUNT)
        note_phase(reader, record);
    return true;
}

bool trace_reader_metas(const struct trace_reader *reader, size_t *cursor,
                        const char **name, const char **value)
{
    while (*cursor < reader->meta_count)
        if (meta_at(reader, (*cursor)++, name, value))
            return true;
    return false;
}

const char *trace_reader_meta(const struct trace_reader *reader,
                              const char *name)
{
    const char *key, *value;
    uintptr_t at;

    return trace_table_find(&reader->meta_table, name_key(name), &at) &&
                   meta_at(reader, at, &key, &value) && !strcmp(key, name)
               ? value
               : NULL;
}

/* ---- Threads ---- */

uint64_t trace_thread_key(const struct trace_thread *thread)
{
    const uint32_t parts[] = {0, thread->pid, thread->tid, thread->start};

    return trace_hash(TRACE_HASH, parts, sizeof(parts));
}

/* Finds a thread; without a start, the latest one that has its ids. */
static struct trace_thread *find_thread(const struct trace_reader *reader,
                                        struct trace_thread thread)
{
    uintptr_t index;

    return trace_table_find(&reader->thread_table, trace_thread_key(&thread),
                            &index)
               ? &reader->threads[index]
               : NULL;
}

/* Makes a thread the latest one that has its ids. */
static bool append_thread(struct trace_reader *reader,
                          struct trace_thread thread)
{
    struct trace_thread ids = {.pid = thread.pid, .tid = thread.tid};
    const struct trace_thread *earlier = find_thread(reader, ids);
    size_t index = reader->thread_count;

    if (earlier)
        thread.earlier = (uint32_t)(earlier - reader->threads) + 1;
    if (!TRACE_ARRAY_RESERVE(reader->threads, reader->thread_capacity,
                             index + 1) ||
        !trace_table_set(&reader->thread_table, trace_thread_key(&ids),
                         index) ||
        !trace_table_set(&reader->thread_table, trace_thread_key(&thread),
                         index))
        return false;
    reader->threads[reader->thread_count++] = thread;
    return true;
}

/* Finds the thread of a THREAD record, or adds it. */
bool trace_reader_add_thread(struct trace_reader *reader,
                             const struct trace_record *record, uint32_t *index)
{
    struct trace_values values = trace_values_in(record);
    struct trace_thread thread = {.pid = (uint32_t)(record->end >> 32),
                                  .tid = (uint32_t)record->end,
                                  .start = record->site,
                                  .span = record->span,
                                  .name = ""};
    const struct trace_thread *found = find_thread(reader, thread);

    *index = (uint32_t)(found ? found - reader->threads
                              : (ptrdiff_t)reader->thread_count);
    if (found)
        return true;
    next_text(&values, &thread.name);
    return append_thread(reader, thread);
}

static uint64_t start_of(const struct trace_reader *reader,
                         const struct trace_thread *thread)
{
    const struct trace_record *record =
        trace_reader_record(reader, thread->start);

    return record ? record->time : 0;
}

/* Returns whether `start` is a better answer than `best` to what began last
 * before a time, or else soonest after it. */
static bool is_closer(uint64_t start, uint64_t best, uint64_t ticks)
{
    return start <= ticks ? best > ticks || start > best
                          : best > ticks && start < best;
}

/* So many threads that had the same ids are looked at. */
enum { EARLIER_MOST = 1024 };

bool trace_reader_find_thread(const struct trace_reader *reader, uint32_t pid,
                              uint32_t tid, uint64_t ticks, uint32_t *index)
{
    struct trace_thread ids = {.pid = pid, .tid = tid};
    const struct trace_thread *thread = find_thread(reader, ids);
    uint64_t best;

    if (!thread)
        return false;
    *index = (uint32_t)(thread - reader->threads);
    best = thread->earlier ? start_of(reader, thread) : 0;
    for (int i = 0; thread->earlier && i < EARLIER_MOST; i++) {
        uint32_t earlier = thread->earlier - 1;
        uint64_t start;

        thread = &reader->threads[earlier];
        start = start_of(reader, thread);
        if (is_closer(start, best, ticks)) {
            best = start;
            *index = earlier;
        }
    }
    return true;
}

bool trace_reader_add_caller(struct trace_reader *reader, uint32_t recorder,
                             uint32_t tid)
{
    uint32_t pid = reader->header.pid, index;

    return tid == reader->threads[recorder].tid ||
           trace_reader_find_thread(reader, pid, tid, 0, &index) ||
           append_thread(reader, (struct trace_thread){
                                     .pid = pid, .tid = tid, .name = ""});
}

/* A later name is metadata, "thread.TID.name", because a program may name a
 * thread from another one. */
void trace_reader_rename_threads(struct trace_reader *reader)
{
    const char *name, *value;
    size_t cursor = 0;
    uint32_t index;
    unsigned tid;
    int size;

    while (trace_reader_metas(reader, &cursor, &name, &value)) {
        size = 0;
        if (sscanf(name, "thread.%u.name%n", &tid, &size) == 1 && size &&
            !name[size] &&
            trace_reader_find_thread(
                reader, reader->header.pid, tid,
                trace_slot_at(reader, reader->metas[cursor - 1])->time, &index))
            reader->threads[index].name = value;
    }
}

/* ---- Gaps ---- */

/* The chunk that is reserved for errors has several owners at a time. If one
 * died before it left a hole, others have continued behind it. */
uint64_t trace_reader_past_gap(const struct trace_reader *reader,
                               uint64_t place, bool first)
{
    const struct trace_header *header = &reader->header;
    uint64_t used = header->spare_slots < TRACE_CHUNK_SLOTS
                        ? header->spare_slots
                        : TRACE_CHUNK_SLOTS;
    uint64_t begin =
        TRACE_FIRST_PLACE + ((uint64_t)header->spare - 1) * TRACE_CHUNK_SLOTS;

    if (!header->spare || place < begin || begin > trace_place_limit(reader))
        return place;
    while (place < begin + used && place < trace_place_limit(reader)) {
        const struct trace_record *record = trace_slot_at(reader, place);

        if (record->slots && (!first || trace_begins_range(record)))
            break;
        place += record->slots ? record->slots : 1;
    }
    return place;
}

bool trace_reader_add_samples(struct trace_reader *reader,
                              const struct trace_record *record, uint64_t place,
                              uint32_t thread)
{
    uint64_t most = (uint64_t)(record->slots - 1) * TRACE_SLOT_SIZE /
                    sizeof(struct trace_sample_entry);
    struct trace_sample_block block = {
        (uint32_t)place, record->span < most ? record->span : (uint32_t)most,
        thread};

    if (!TRACE_ARRAY_RESERVE(reader->samples, reader->sample_capacity,
                             reader->sample_count + 1))
        return false;
    reader->samples[reader->sample_count++] = block;
    return true;
}
