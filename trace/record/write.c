/* write.c: the rare parts of writing a record: new call sites, short space. */
#include <errno.h>

#include "trace/device.h"
#include "write.h"

enum { FEW_SLOTS = 8 };

/* A refusal is final once the space for errors has been set aside. Space that
 * is too small for most records is given up: the next ones need not ask. */
static void note_refusal(struct trace_writer *writer, size_t slots,
                         uint32_t returns)
{
    writer->loss = trace_why_no_room(slots);
    trace_take_counters(writer);
    if (slots > TRACE_CHUNK_SLOTS || !trace_has_run_short())
        return;
    writer->refused = (uint32_t)slots;
    writer->returns = returns;
    if (slots <= FEW_SLOTS) {
        writer->end = writer->next;
        writer->refused = 1;
    }
}

static __attribute__((noinline)) bool seek_room(struct trace_writer *writer,
                                                size_t slots)
{
    uint32_t returns = __atomic_load_n(&trace_room_returns, __ATOMIC_RELAXED);
    int error = errno;
    struct trace_hold hold;
    bool found;

    trace_hold(&hold);
    found = trace_more_room(writer, slots);
    if (!found)
        note_refusal(writer, slots, returns);
    trace_release(&hold);
    errno = error;
    return found;
}

__attribute__((noinline)) bool trace_find_room(struct trace_writer *writer,
                                               size_t slots)
{
    if (!trace_is_refused(writer, slots) && seek_room(writer, slots))
        return true;
    trace_drop(writer);
    return false;
}

struct trace_record *trace_put(struct trace_writer *writer,
                               enum trace_kind kind, uint32_t span,
                               size_t count, const struct trace_value *values)
{
    return trace_put_now(writer, kind, span, count, values,
                         trace_bytes_of(count, values));
}

void trace_commit(struct trace_writer *writer, struct trace_record *record)
{
    __atomic_store_n(&record->time, trace_stamp(writer), __ATOMIC_RELEASE);
}

/* ---- Call sites in the recording ---- */

enum { SITE_SLOTS = 16 }; /* of most call sites */

/* Copies a call site into the recording and gives it an id. */
static uint32_t put_site(struct trace_writer *writer, struct trace_site *site)
{
    struct trace_value values[4 + TRACE_ACTIVITY_FIELDS];
    size_t count = trace_site_values(site, values);
    uint32_t id;
    struct trace_record *record =
        trace_put(writer, TRACE_KIND_SITE, 0, count, values);

    if (!record) { /* the caller's record is counted */
        trace_undrop(writer);
        return 0;
    }
    id = __atomic_add_fetch(&trace_header_now()->sites, 1, __ATOMIC_RELAXED);
    record->site = id;
    record->end = trace_site_facts(site);
    trace_commit(writer, record);
    trace_live_site(site, id);
    if (trace_sender)
        trace_sender->site(writer, site, id);
    return id;
}

__attribute__((noinline)) uint32_t trace_site_id(struct trace_writer *writer,
                                                 struct trace_site *site)
{
    int error = errno;

    if (writer->end - writer->next < SITE_SLOTS &&
        trace_is_refused(writer, SITE_SLOTS))
        return 0;
    trace_sites_lock();

    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

    if (!id && trace_writer_begin(writer)) {
        trace_site_complete(site);
        id = put_site(writer, site);
        __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
    }
    trace_sites_unlock();
    errno = error;
    return id;
}

/* ---- Space and values ---- */

/* Returns whether a record may use the reserved space once there is no other:
 * a crash, an error, a module, or our own message. */
static bool spared(enum trace_kind kind, const struct trace_site *site)
{
    if (kind == TRACE_KIND_META || kind == TRACE_KIND_CRASH ||
        kind == TRACE_KIND_MODULE)
        return true;
    return kind == TRACE_KIND_EVENT && (site->level == TRACE_LEVEL_ERROR ||
                                        (site->function && !site->function[0]));
}

__attribute__((noinline)) bool trace_is_lost(const struct trace_site *site)
{
    struct trace_writer *writer = trace_enter();
    bool lost;

    if (!writer)
        return true;
    lost = trace_is_refused(writer, 1) && !trace_is_judged(site) &&
           !spared(TRACE_KIND_EVENT, site);
    if (lost)
        trace_drop(writer);
    trace_leave(writer);
    return lost;
}

/* Such a record finds space there. */
__attribute__((noinline)) struct trace_record *trace_put_spare(
    struct trace_writer *writer, enum trace_kind kind, struct trace_site *site,
    uint32_t span, size_t count, const struct trace_value *values)
{
    if (!spared(kind, site))
        return NULL;

    size_t bytes = trace_bytes_of(count, values);

    if (!trace_spare_room(writer, 32 + 1 + bytes / TRACE_SLOT_SIZE))
        return NULL;

    uint32_t id = site ? trace_id_of(writer, site) : 0;
    struct trace_record *record =
        trace_put_now(writer, kind, span, count, values, bytes);

    /* Other records follow it, so leave a hole that the reader can skip. */
    if (writer->next < writer->end)
        writer->next->slots = (uint32_t)(writer->end - writer->next);
    writer->next = writer->end = NULL;
    if (!record)
        return NULL;
    record->site = id;
    trace_undrop(writer);
    return record;
}

struct trace_record *trace_put_meta(struct trace_writer *writer, size_t count,
                                    const struct trace_value *values)
{
    struct trace_record *record =
        trace_put(writer, TRACE_KIND_META, 0, count, values);

    return record ? record
                  : trace_put_spare(writer, TRACE_KIND_META, NULL, 0, count,
                                    values);
}
