/* follow.c: reads a recording while processes write it.
 *
 * Each range that a thread writes has a cursor, which tells where the reader
 * stopped in it. A piece that no range has reached yet has one, too: a range
 * may begin there. A range is read in order; what all have is sorted by time
 * once it is complete. Nothing is written to the recording.
 *
 * If there are too many spans, those that are short are only counted: an entry
 * of each would cost far more than recording it did.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/clock.h"
#include "trace/format.h"

#define NOBODY UINT32_MAX
#define SECOND UINT64_C(1000000000) /* ns */

struct cursor {
    uint64_t begin, place; /* of the range, of the next record */
    uint64_t stop;         /* where another one begins */
    uint32_t thread;       /* NOBODY: no range is known to begin here */
    bool filling;          /* the next record is an incomplete buffer */
};

/* An entry that was found: a record, the exit of one that enters, or the first
 * of several spans, whose time is then as long as theirs. */
struct found {
    uint64_t ticks;
    uint32_t place, thread;
    uint32_t count, ticks_long; /* of a sum */
    bool exit;
};

struct list {
    struct found *all;
    size_t count, capacity;
};

/* Short spans are summed up if there are many. A sum is SUM_LENGTH times longer
 * than they may be. */
enum { WIDTH_LEAST = 1024 /* ticks */, SUM_LENGTH = 100 };

struct short_spans {
    uint64_t most;    /* entries of spans in a second; 0: no limit */
    uint64_t looked;  /* ns: the last time */
    uint64_t room;    /* for entries, until the next look */
    uint64_t entries; /* of spans since the last look */
    uint64_t allowed; /* before the width grows */
    uint64_t width;   /* ticks: shorter spans are summed; 0: none are */
    uint64_t end;     /* ticks: of the last span in the sum */
    uint32_t span;    /* around the sum */
    struct found sum; /* count 0: there is none */
};

struct trace_follow {
    bool opening;           /* looks only for the metadata at the beginning */
    bool skips_spans;       /* no entries for these */
    uint64_t chunks;        /* that have cursors */
    struct cursor *cursors; /* by place */
    size_t count, capacity;
    struct cursor derived; /* where derived records were read to */
    struct short_spans shorts;
    struct list open;  /* enters without an exit */
    struct list found; /* by time */
    size_t next;       /* of `found` */
    uint64_t until;    /* ns: up to here the caller wants them */
    struct trace_anchor now;
};

static bool add(struct list *list, struct found found)
{
    if (!TRACE_ARRAY_RESERVE(list->all, list->capacity, list->count + 1))
        return false;
    list->all[list->count++] = found;
    return true;
}

/* ---- A record that is found ---- */

static uint64_t end_of(const struct trace_reader *reader, struct found found)
{
    return __atomic_load_n(&trace_slot_at(reader, found.place)->end,
                           __ATOMIC_ACQUIRE);
}

static bool add_exit(struct trace_follow *follow, struct found enter,
                     uint64_t end)
{
    /* An end before the beginning is damage; such a span stays open. */
    return end <= enter.ticks ||
           add(&follow->found, (struct found){.ticks = end,
                                              .place = enter.place,
                                              .thread = enter.thread,
                                              .exit = true});
}

/* ---- Short spans ---- */

static bool end_sum(struct trace_follow *follow)
{
    struct short_spans *shorts = &follow->shorts;
    struct found sum = shorts->sum;

    shorts->sum.count = 0;
    if (!sum.count)
        return true;
    sum.ticks_long = (uint32_t)(shorts->end - sum.ticks);
    return add(&follow->found, sum);
}

/* Returns whether a span belongs to the sum: it is in the same span, or in one
 * of the sum. */
static bool continues(const struct short_spans *shorts,
                      const struct trace_record *record)
{
    return shorts->sum.count &&
           (record->span == shorts->span ||
            record->span >= shorts->sum.place) &&
           record->time - shorts->sum.ticks < SUM_LENGTH * shorts->width;
}

/* Sums a short span up; false if it gets an entry. */
static bool sum_up(struct trace_follow *follow,
                   const struct trace_record *record, struct found found,
                   uint64_t end)
{
    struct short_spans *shorts = &follow->shorts;

    if (!end || end <= found.ticks || end - found.ticks >= shorts->width)
        return false;
    if (!continues(shorts, record)) {
        if (!end_sum(follow))
            return false;
        shorts->entries++;
        shorts->sum = found;
        shorts->span = record->span;
        shorts->end = end;
    }
    shorts->sum.count++;
    if (end > shorts->end)
        shorts->end = end;
    return true;
}

/* The more entries there are, the longer a span must be to get one. */
static void count_entry(struct short_spans *shorts)
{
    if (!shorts->most || ++shorts->entries < shorts->allowed)
        return;
    shorts->allowed += shorts->room;
    shorts->width = shorts->width ? 2 * shorts->width : WIDTH_LEAST;
    if (shorts->width > UINT32_MAX / SUM_LENGTH / 2)
        shorts->width /= 2;
}

/* Adapts to what the last look has found, and to the time since. */
static void look_again(struct short_spans *shorts)
{
    const uint64_t least = SECOND / 100, longest = SECOND / 10;
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);
    uint64_t since = now - shorts->looked;

    since = since < least ? least : since > longest ? longest : since;
    if (shorts->entries < shorts->room / 4)
        shorts->width = shorts->width > WIDTH_LEAST ? shorts->width / 2 : 0;
    shorts->room = shorts->most * since / SECOND;
    shorts->allowed = shorts->room;
    shorts->entries = 0;
    shorts->looked = now;
}

/* ---- Records ---- */

static bool add_of_span(struct trace_reader *reader,
                        const struct trace_record *record, struct found found)
{
    struct trace_follow *follow = reader->follow;
    bool enters = record->kind == TRACE_KIND_ENTER ||
                  (record->kind == TRACE_KIND_SPAN &&
                   !(record->flags & TRACE_FLAG_NOT_ENTERED));
    uint64_t end;

    if (follow->skips_spans)
        return true;
    end = enters ? end_of(reader, found) : 0;
    if (follow->shorts.width && sum_up(follow, record, found, end))
        return true;
    if (!end_sum(follow) || !add(&follow->found, found))
        return false;
    count_entry(&follow->shorts);
    if (!enters)
        return true;
    return end ? add_exit(follow, found, end) : add(&follow->open, found);
}

static bool add_activity(struct trace_reader *reader,
                         const struct trace_record *record, struct found found)
{
    struct trace_activity_place at;
    struct trace_values unused;

    if (!trace_reader_activity(record, &unused, &at))
        return true;
    found.ticks = at.begin;
    return trace_reader_add_caller(reader, found.thread, at.thread) &&
           add(&reader->follow->found, found);
}

static bool take(struct trace_reader *reader, const struct trace_record *record,
                 struct cursor *cursor)
{
    struct found found = {.ticks = record->time,
                          .place = (uint32_t)cursor->place,
                          .thread = cursor->thread};

    reader->records++;
    reader->last = found.ticks > reader->last ? found.ticks : reader->last;
    switch (record->kind) {
    case TRACE_KIND_THREAD:
        return trace_reader_add_thread(reader, record, &cursor->thread);
    case TRACE_KIND_SITE:
        return trace_reader_add_site(reader, record);
    case TRACE_KIND_META:
        return trace_reader_add_meta(reader, record, found.place);
    case TRACE_KIND_FIELDS:
        return trace_reader_add_late(reader, record, found.place) &&
               add_of_span(reader, record, found);
    case TRACE_KIND_SPAN:
    case TRACE_KIND_ENTER:
    case TRACE_KIND_CLOSE:
        return add_of_span(reader, record, found);
    case TRACE_KIND_EVENT:
    case TRACE_KIND_COUNTER:
    case TRACE_KIND_SIGNPOST:
        return trace_derived_was_given(reader, record, found.place) ||
               add(&reader->follow->found, found);
    case TRACE_KIND_DEVICE:
        return trace_derived_was_given(reader, record, found.place) ||
               add_activity(reader, record, found);
    case TRACE_KIND_RAW:
    case TRACE_KIND_RAW_NOTE:
        return trace_derive_add(reader, record, found.place, found.thread);
    default:
        return true;
    }
}

/* ---- Records of a range ---- */

/* The state of a record, whose size is final only if it is finished. */
struct seen {
    const struct trace_record *record;
    bool finished;
    uint32_t slots;
};

/* Tells whether a part has ended before a place. The next part may be there. */
static bool is_behind_part(const struct trace_reader *reader, uint64_t place)
{
    const struct trace_header *header = (const void *)reader->base;
    uint64_t used =
        reader->is_part ? __atomic_load_n(&header->used, __ATOMIC_ACQUIRE) : 0;

    return used && place * TRACE_SLOT_SIZE >= used;
}

/* Looks at a place; false if nothing has been written there. A part that had
 * not ended when the record was seen had none behind it. */
static bool look_at(const struct trace_reader *reader, uint64_t place,
                    struct seen *seen)
{
    uint64_t limit = trace_place_limit(reader);

    if (place >= limit)
        return false;
    seen->record = trace_slot_at(reader, place);
    seen->finished = __atomic_load_n(&seen->record->time, __ATOMIC_ACQUIRE);
    seen->slots = __atomic_load_n(&seen->record->slots, __ATOMIC_ACQUIRE);
    return seen->slots && seen->slots <= limit - place &&
           !is_behind_part(reader, place);
}

/* Returns whether a range may begin at a place: with a THREAD record. */
static bool may_begin(const struct trace_reader *reader, uint64_t place)
{
    struct seen seen;

    return (place - TRACE_FIRST_PLACE) % TRACE_PIECE_SLOTS == 0 &&
           look_at(reader, place, &seen) && seen.finished &&
           seen.record->kind == TRACE_KIND_THREAD;
}

/* Returns whether the thread of an unfinished record has continued behind it,
 * so that the record never will be finished. */
static bool is_left(const struct trace_reader *reader, uint64_t next)
{
    struct seen behind;

    return look_at(reader, next, &behind) && behind.finished &&
           !may_begin(reader, next);
}

/* Takes a record; a buffer only the first time. The end of a buffer is known
 * once it is complete: then `complete` is set. */
static bool take_once(struct trace_reader *reader, struct cursor *cursor,
                      struct seen *seen, bool *complete)
{
    bool known = cursor->filling;

    *complete = seen->record->kind != TRACE_KIND_RAW ||
                __atomic_load_n(&seen->record->end, __ATOMIC_ACQUIRE);
    cursor->filling = !*complete;
    if (*complete)
        look_at(reader, cursor->place, seen);
    return known || take(reader, seen->record, cursor);
}

/* Reads what is finished in a range; false without memory. */
static bool advance(struct trace_reader *reader, struct cursor *cursor)
{
    const bool opening = reader->follow->opening;
    bool complete = true;
    struct seen seen;

    for (;;) {
        cursor->place = trace_reader_past_gap(reader, cursor->place, false);
        if (cursor->place >= cursor->stop ||
            !look_at(reader, cursor->place, &seen))
            return true;
        if (opening && seen.record->kind > TRACE_KIND_META)
            return true;
        if (!seen.finished) {
            if (!is_left(reader, cursor->place + seen.slots))
                return true;
            look_at(reader, cursor->place, &seen); /* meanwhile finished? */
        }
        if (seen.finished && !take_once(reader, cursor, &seen, &complete))
            return false;
        if (!complete)
            return true;
        cursor->place += seen.slots;
        if (seen.finished && cursor->place > reader->used)
            reader->used = cursor->place;
    }
}

/* ---- Ranges ---- */

/* Adds cursors for the chunks that were handed out since. */
static bool add_pieces(struct trace_reader *reader)
{
    struct trace_follow *follow = reader->follow;
    uint64_t limit = trace_place_limit(reader);
    uint64_t place = TRACE_FIRST_PLACE + follow->chunks * TRACE_CHUNK_SLOTS;

    for (; follow->chunks < reader->header.chunks && place < limit;
         follow->chunks++) {
        if (!TRACE_ARRAY_RESERVE(follow->cursors, follow->capacity,
                                 follow->count + TRACE_CHUNK_PIECES))
            return false;
        for (int i = 0; i < TRACE_CHUNK_PIECES; i++) {
            follow->cursors[follow->count++] =
                (struct cursor){.begin = place,
                                .place = place,
                                .stop = UINT64_MAX,
                                .thread = NOBODY};
            place += TRACE_PIECE_SLOTS;
        }
    }
    return true;
}

/* A visit to all cursors, in order. It keeps some. */
struct visit {
    size_t kept;
    struct cursor *before; /* the last range that was kept */
    uint64_t reached;      /* the highest place that was read */
};

static bool read_range(struct trace_reader *reader, struct visit *visit,
                       struct cursor *cursor)
{
    bool ok = advance(reader, cursor) && end_sum(reader->follow);

    if (cursor->place > visit->reached)
        visit->reached = cursor->place;
    return ok;
}

enum piece { UNUSED, BEGINS, INSIDE };

/* Judges a piece where no range is known to begin. It may lie inside the range
 * before it, which may contain anything; that range is therefore read first. A
 * record that is being written there hides what is behind it. */
static bool judge(struct trace_reader *reader, struct visit *visit,
                  uint64_t place, enum piece *piece)
{
    struct cursor *before = visit->before;
    struct seen seen;

    *piece = INSIDE;
    if (place < visit->reached)
        return true;
    *piece = UNUSED;
    if (!may_begin(reader, place))
        return true;
    if (before && !read_range(reader, visit, before))
        return false;
    if (place < visit->reached)
        *piece = INSIDE;
    else if (!before || !look_at(reader, before->place, &seen) ||
             before->place + seen.slots <= place)
        *piece = BEGINS;
    return true;
}

/* Visits each cursor, and forgets those of ranges that have been read to their
 * end. Returns false without memory. */
static bool visit_all(struct trace_reader *reader)
{
    struct trace_follow *follow = reader->follow;
    struct cursor *all = follow->cursors;
    struct visit visit = {0, NULL, 0};
    bool ok = true;
    size_t i = 0;

    while (ok && i < follow->count) {
        struct cursor cursor = all[i++];
        enum piece piece = BEGINS;

        if (cursor.thread == NOBODY)
            ok = judge(reader, &visit, cursor.place, &piece);
        if (!ok || piece == INSIDE)
            continue;
        if (piece == BEGINS) {
            /* The ranges before it end where it begins. They must know that
             * also when it has been read to its end and forgotten. */
            for (size_t before = visit.kept;
                 before-- > 0 && all[before].stop > cursor.begin;)
                all[before].stop = cursor.begin;
            ok = read_range(reader, &visit, &cursor);
        }
        if (!ok)
            continue;
        if (cursor.thread != NOBODY && cursor.place >= cursor.stop) {
            trace_reader_drop(reader, cursor.begin, cursor.place);
            continue;
        }
        all[visit.kept] = cursor;
        if (cursor.thread != NOBODY)
            visit.before = &all[visit.kept];
        visit.kept++;
    }
    if (i < follow->count) /* otherwise there may be no array */
        memmove(all + visit.kept, all + i, (follow->count - i) * sizeof(*all));
    follow->count -= i - visit.kept;
    return ok;
}

/* Reads what was derived from buffers since the last look. */
static bool read_derived(struct trace_reader *reader)
{
    struct cursor *cursor = &reader->follow->derived;
    struct trace_derived_records derived;

    if (!trace_derive(reader, reader->header.ended))
        return false;
    derived = trace_derived_records(reader);
    if (!cursor->place)
        cursor->place = derived.begin;
    if (derived.end)
        reader->size = derived.end * TRACE_SLOT_SIZE;
    while (cursor->place < derived.end) {
        const struct trace_record *record =
            trace_slot_at(reader, cursor->place);

        if (!take(reader, record, cursor))
            return false;
        cursor->place += record->slots;
    }
    return true;
}

/* ---- Entries ---- */

/* Adds the exits of spans that were open. */
static bool add_exits(struct trace_reader *reader, size_t open)
{
    struct list *list = &reader->follow->open;
    size_t kept = 0;
    bool ok = true;

    for (size_t i = 0; i < list->count; i++) {
        uint64_t end = i < open && ok ? end_of(reader, list->all[i]) : 0;

        if (end)
            ok = add_exit(reader->follow, list->all[i], end);
        else
            list->all[kept++] = list->all[i];
    }
    list->count = kept;
    return ok;
}

static int by_time(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->place != y->place ? (x->place < y->place ? -1 : 1)
                                : x->exit - y->exit;
}

bool trace_follow_next(struct trace_reader *reader, struct trace_entry *entry)
{
    struct trace_follow *follow = reader->follow;

    while (follow->next < follow->found.count) {
        const struct found *found = &follow->found.all[follow->next];
        uint64_t time = trace_reader_time(reader, found->ticks);
        struct trace_entry span;

        if (time > follow->until)
            return false;
        follow->next++;
        if (!trace_reader_entry(reader, found->place,
                                &reader->threads[found->thread], entry))
            continue;
        if (found->exit) {
            entry->span =
                entry->kind == TRACE_ENTRY_SPAN ? entry->id : entry->span;
            entry->kind = TRACE_ENTRY_EXIT;
            entry->time = time;
        } else if (found->count) { /* of the first span in a sum */
            if (entry->kind == TRACE_ENTRY_ENTER &&
                trace_reader_span(reader, entry->span, &span))
                entry->site = span.site;
            entry->kind = TRACE_ENTRY_SUM;
            entry->count = found->count;
            entry->end =
                trace_reader_time(reader, found->ticks + found->ticks_long);
        }
        return true;
    }
    return false;
}

/* ---- The recording ---- */

/* Reads the header again: first whether the recording has ended, because what
 * is read later is then complete. */
static void refresh(struct trace_reader *reader)
{
    const struct trace_header *header = (const void *)reader->base;
    uint32_t ended = __atomic_load_n(&header->ended, __ATOMIC_ACQUIRE);
    struct trace_anchor *measured = &reader->follow->now, now;
    uint64_t origin;

    reader->size = reader->mapped;
    trace_reader_read_header(reader);
    reader->header.chunks =
        (trace_chunks_end(header) - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;
    if (reader->follow->opening && reader->header.chunks > 1)
        reader->header.chunks = 1;
    reader->header.ended = ended;
    if (reader->header.end.ticks > reader->last)
        reader->last = reader->header.end.ticks;
    /* The clock's rate becomes more exact the longer it is measured, and must
     * not change at each look. */
    now = trace_anchor_now();
    origin = reader->header.origin.ticks;
    if (reader->header.end.ticks)
        *measured = reader->header.end;
    else if (!measured->ticks ||
             now.ticks - origin >= 2 * (measured->ticks - origin))
        *measured = now;
    trace_reader_set_end(reader, *measured);
}

/* Finds what was recorded since the last time; false without memory. */
static bool find_new(struct trace_reader *reader)
{
    struct trace_follow *follow = reader->follow;
    struct list *found = &follow->found;
    size_t before, open = follow->open.count, late = reader->late_count;
    size_t metas = reader->meta_count, threads = reader->thread_count;
    bool ok;

    refresh(reader);
    trace_derive_look(reader);
    if (follow->shorts.most)
        look_again(&follow->shorts);
    /* The entries that the caller has taken are forgotten. */
    before = found->count -= follow->next;
    if (before)
        memmove(found->all, found->all + follow->next,
                before * sizeof(*found->all));
    follow->next = 0;
    ok = add_pieces(reader) && visit_all(reader) && add_exits(reader, open) &&
         read_derived(reader);
    if (reader->meta_count > metas || reader->thread_count > threads)
        trace_reader_rename_threads(reader);
    ok = trace_reader_sort_late(reader, late) && ok;
    trace_fields_prepare(reader);
    if (found->count > before)
        qsort(found->all, found->count, sizeof(*found->all), by_time);
    return ok;
}

bool trace_follow_begin(struct trace_reader *reader)
{
    bool ok;

    reader->follow = calloc(1, sizeof(*reader->follow));
    if (!reader->follow)
        return false;
    reader->follow->opening = true;
    ok = find_new(reader);
    reader->follow->opening = false;
    return ok;
}

void trace_follow_free(struct trace_reader *reader)
{
    struct trace_follow *follow = reader->follow;

    if (!follow)
        return;
    free(follow->cursors);
    free(follow->open.all);
    free(follow->found.all);
    free(follow);
}

void trace_reader_skip_spans(struct trace_reader *reader)
{
    reader->follow->skips_spans = true;
}

void trace_reader_sum_spans(struct trace_reader *reader, uint64_t most)
{
    reader->follow->shorts.most = most;
}

int trace_reader_look(struct trace_reader *reader, uint64_t until)
{
    size_t records = reader->records;

    reader->follow->until = until;
    if (find_new(reader))
        return reader->records > records;
    errno = ENOMEM;
    return -1;
}
