/* made_recording.c: writes recordings of what another tool has recorded. */
#include "made_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"
#include "trace/base/values.h"

/* ---- Records ---- */

static size_t slots_of(size_t count, const struct trace_value *values)
{
    size_t bytes = sizeof(struct trace_record) +
                   (count ? trace_values_size(count, values) : 0);

    return (bytes + TRACE_SLOT_SIZE - 1) / TRACE_SLOT_SIZE;
}

/* Appends a record, which must fit in the chunk; NULL without memory. */
static struct trace_record *append(struct runners_made_recording *import,
                                   enum trace_kind kind, uint64_t time,
                                   size_t count,
                                   const struct trace_value *values)
{
    size_t slots = slots_of(count, values);
    struct trace_record *record;

    if (import->count + slots > UINT32_MAX - TRACE_FIRST_PLACE ||
        !TRACE_ARRAY_RESERVE(import->slots, import->capacity,
                             import->count + slots)) {
        import->failed = true;
        return NULL;
    }
    record = &import->slots[import->count];
    memset(record, 0, slots * sizeof(*record));
    record->time = time ? time : 1;
    record->kind = (uint8_t)kind;
    record->count = (uint16_t)count;
    record->slots = (uint32_t)slots;
    if (count)
        trace_values_store(record + 1, count, values);
    import->count += slots;
    return record;
}

static void begin_range(struct runners_made_recording *import, uint64_t time)
{
    const struct trace_value name =
        trace_text_(import->thread ? import->thread : "");
    struct trace_record *thread =
        append(import, TRACE_KIND_THREAD, time, 1, &name);

    if (thread)
        thread->end = (uint64_t)import->pid << 32 | import->tid;
}

/* Fills the rest of a chunk with nothing. */
static void skip(struct runners_made_recording *import, size_t slots)
{
    if (!TRACE_ARRAY_RESERVE(import->slots, import->capacity,
                             import->count + slots)) {
        import->failed = true;
        return;
    }
    memset(import->slots + import->count, 0, slots * sizeof(*import->slots));
    import->count += slots;
}

/* Appends a record of the thread. Each chunk begins with the thread's. */
static struct trace_record *put(struct runners_made_recording *import,
                                enum trace_kind kind, uint64_t time,
                                size_t count, const struct trace_value *values)
{
    size_t free = TRACE_CHUNK_SLOTS - import->count % TRACE_CHUNK_SLOTS;

    if (free < slots_of(count, values))
        skip(import, free);
    if (import->count % TRACE_CHUNK_SLOTS == 0)
        begin_range(import, time);
    return append(import, kind, time, count, values);
}

void runners_made_thread(struct runners_made_recording *import, uint32_t pid,
                         uint32_t tid, const char *name)
{
    size_t used = import->count % TRACE_CHUNK_SLOTS;

    import->pid = pid;
    import->tid = tid;
    import->thread = name;
    if (used)
        skip(import, TRACE_CHUNK_SLOTS - used);
}

/* ---- Spans ---- */

enum { NAME_MOST = 4096 /* bytes: a record must fit in a chunk */ };

static void put_site(struct runners_made_recording *import, const char *name,
                     uint64_t time)
{
    const struct trace_value values[] = {
        {.type = TRACE_TYPE_STRING,
         .size = (uint32_t)strnlen(name, NAME_MOST),
         .as.text = name},
        trace_text_("fn"),
        trace_text_(""),
        trace_text_(""),
    };
    struct trace_record *site = put(import, TRACE_KIND_SITE, time, 4, values);

    if (!site)
        return;
    site->site = ++import->site_count;
    site->end = TRACE_LEVEL_TRACE | TRACE_SITE_SPAN << 8;
}

/* Returns the id of a function's call site; 0 without memory. */
static uint32_t site_of(struct runners_made_recording *import, const char *name,
                        uint64_t time)
{
    uint64_t key = trace_hash_string(TRACE_HASH, name);
    uintptr_t id;

    if (trace_table_find(&import->sites, key, &id))
        return (uint32_t)id;
    put_site(import, name, time);
    if (import->failed ||
        !trace_table_set(&import->sites, key, import->site_count))
        return 0;
    return import->site_count;
}

static void note_time(struct runners_made_recording *import, uint64_t time)
{
    if (!import->first || time < import->first)
        import->first = time;
    if (time > import->last)
        import->last = time;
}

uint32_t runners_made_begin(struct runners_made_recording *import,
                            const char *name, uint64_t time, uint32_t parent)
{
    uint32_t site = site_of(import, name, time);
    struct trace_record *span =
        site ? put(import, TRACE_KIND_SPAN, time, 0, NULL) : NULL;

    note_time(import, time);
    if (!span)
        return 0;
    span->site = site;
    span->span = parent;
    return TRACE_FIRST_PLACE + (uint32_t)(span - import->slots);
}

void runners_made_end(struct runners_made_recording *import, uint32_t place,
                      uint64_t time)
{
    note_time(import, time);
    if (place)
        import->slots[place - TRACE_FIRST_PLACE].end = time;
}

void runners_made_meta(struct runners_made_recording *import, const char *name,
                       const char *value)
{
    const struct trace_value pair[] = {trace_text_(name), trace_text_(value)};

    if (slots_of(2, pair) < TRACE_CHUNK_SLOTS - 8)
        put(import, TRACE_KIND_META, import->first, 2, pair);
}

/* ---- The file ---- */

static struct trace_anchor anchor_at(uint64_t time, uint64_t wall)
{
    return (struct trace_anchor){time, time, wall};
}

/* The wall clock of what was recorded is not known. */
static struct trace_header make_header(
    const struct runners_made_recording *import, uint32_t pid, uint64_t samples)
{
    uint64_t chunks =
        (import->count + TRACE_CHUNK_SLOTS - 1) / TRACE_CHUNK_SLOTS;
    uint64_t calls = samples / TRACE_CHUNK_SIZE;
    uint64_t wall = trace_anchor_now().wall;
    uint64_t first = import->first ? import->first : 1;
    uint64_t last = import->last > first ? import->last : first + 1;

    return (struct trace_header){
        .magic = TRACE_MAGIC,
        .version = TRACE_FORMAT_VERSION,
        .header_size = TRACE_HEADER_SIZE,
        .chunk_size = TRACE_CHUNK_SIZE,
        .clock = TRACE_CLOCK_MONOTONIC,
        .pid = pid,
        .ended = 1,
        .limit = chunks + calls,
        .origin = anchor_at(first, wall),
        .start = anchor_at(first, wall),
        .end = anchor_at(last, wall + (last - first)),
        .chunks = chunks,
        .reserved = chunks,
        .sites = import->site_count,
        .calls_limit = calls,
    };
}

int runners_made_write(const struct runners_made_recording *import,
                       const char *path, uint32_t pid, uint64_t samples)
{
    struct trace_header header = make_header(import, pid, samples);
    size_t rest = (size_t)header.chunks * TRACE_CHUNK_SLOTS - import->count;
    FILE *file;
    bool ok;

    if (import->failed)
        return errno = ENOMEM, -1;
    file = fopen(path, "wxe");
    if (!file)
        return -1;
    ok = fwrite(&header, sizeof(header), 1, file) == 1 &&
         (!import->count || fwrite(import->slots, sizeof(*import->slots),
                                   import->count, file) == import->count) &&
         !fseeko(file, (off_t)(rest * sizeof(*import->slots)), SEEK_CUR) &&
         !fflush(file) && !ftruncate(fileno(file), ftello(file));
    if (fclose(file))
        ok = false;
    return ok ? 0 : -1;
}

void runners_made_free(struct runners_made_recording *import)
{
    free(import->slots);
    trace_table_free(&import->sites);
    *import = (struct runners_made_recording){.slots = NULL};
}
