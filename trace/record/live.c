/* live.c: reports records to a live subscriber as they are made.
 *
 * The subscriber sees the process's own recording through a reader, one record
 * at a time, so that it uses the same code as renderers of recordings. A live
 * run writes each line immediately anyway; a lock costs little beside that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "trace/read/reader_parts.h"
#include "write.h"

static struct trace_reader reader;

/* ---- The lock ---- */

enum {
    WINDOW = 200000, /* ns that an answer is valid */
    MANY = 28,       /* lines for which asking pays: it takes 55 system calls */
};

/* Returns whether the program may handle signals, so that they must be blocked,
 * which takes two system calls. Only asks after a window with many lines. */
static bool may_have_handlers(void)
{
    static uint64_t began, lines; /* atomic: the window and its lines */
    static bool may = true;       /* atomic */
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);

    if (now - __atomic_load_n(&began, __ATOMIC_RELAXED) > WINDOW) {
        bool many = __atomic_exchange_n(&lines, 0, __ATOMIC_RELAXED) >= MANY;

        __atomic_store_n(&may, !many || trace_has_handlers(), __ATOMIC_RELAXED);
        __atomic_store_n(&began, now, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&may, __ATOMIC_RELAXED);
}

/* The thread's state before it reports. */
struct reporting {
    struct trace_hold hold;
    uintptr_t busy;
};

/* A handler that jumps would leave the lock locked, and printing is a
 * cancellation point. The allocator may be the program's own. */
static void begin(struct reporting *reporting)
{
    if (may_have_handlers())
        trace_hold(&reporting->hold);
    else
        trace_hold_cancelling(&reporting->hold);
    reporting->busy = trace_ours_begin(&trace_writer);
    pthread_mutex_lock(&trace_recording.live_lock);
}

static void end(const struct reporting *reporting)
{
    pthread_mutex_unlock(&trace_recording.live_lock);
    trace_ours_end(&trace_writer, reporting->busy);
    trace_release(&reporting->hold);
}

/* ---- Data of the reader ---- */

void trace_live_begin(const struct trace_header *header, size_t size)
{
    if (!trace_is_live())
        return;
    pthread_mutex_init(&trace_recording.live_lock, NULL);
    for (size_t i = 0; i < reader.site_count; i++)
        free(reader.sites[i]);
    free(reader.sites);
    free(reader.late);
    trace_fields_free(&reader);
    memset(&reader, 0, sizeof(reader));
    reader.base = (const unsigned char *)header;
    reader.size = size;
    reader.header = *header;
    trace_reader_set_end(&reader, header->start);
}

/* Copies a string to `room` and advances it; without `room` it only counts. */
static const char *copy_text(const char *text, char **room, size_t *size)
{
    size_t length = strlen(text ? text : "") + 1;
    char *copy = *room;

    *size += length;
    if (!copy)
        return NULL;
    memcpy(copy, text ? text : "", length);
    *room += length;
    return copy;
}

/* Fills a copy of a site, whose strings start at `room`; returns their size. */
static size_t copy_texts(struct trace_site *copy, const char **names,
                         const struct trace_site *site, char *room)
{
    size_t size = 0;

    copy->name = copy_text(site->name, &room, &size);
    copy->target = copy_text(site->target, &room, &size);
    copy->file = copy_text(site->file, &room, &size);
    copy->function = copy_text(site->function, &room, &size);
    for (size_t i = 0; i < site->field_count; i++) {
        const char *name = copy_text(site->fields[i], &room, &size);

        if (name)
            names[i] = name;
    }
    return size;
}

/* Records outlive the object of their site: dlclose. Returns NULL without
 * memory. */
static struct trace_site *copy_site(const struct trace_site *site, uint32_t id)
{
    struct trace_site unused;
    size_t names = site->field_count * sizeof(char *);
    size_t texts = copy_texts(&unused, NULL, site, NULL);
    struct trace_site *copy = malloc(sizeof(*copy) + names + texts);

    if (!copy)
        return NULL;
    *copy = *site;
    copy->fields = (const char **)(copy + 1);
    copy_texts(copy, (const char **)(copy + 1), site,
               (char *)(copy + 1) + names);
    copy->id = id;
    copy->next = NULL;
    copy->verdict = NULL;
    return copy;
}

void trace_live_site(const struct trace_site *site, uint32_t id)
{
    if (!trace_is_live())
        return;
    pthread_mutex_lock(&trace_recording.live_lock);
    if (TRACE_ARRAY_RESERVE(reader.sites, reader.site_count, id + 1))
        reader.sites[id] = copy_site(site, id);
    pthread_mutex_unlock(&trace_recording.live_lock);
}

/* They are kept sorted; most belong to a recent span. */
static void add_late(const struct trace_record *record, uint32_t place)
{
    size_t at = reader.late_count;

    if (!TRACE_ARRAY_RESERVE(reader.late, reader.late_capacity, at + 1))
        return;
    for (; at && reader.late[at - 1].span > record->span; at--)
        reader.late[at] = reader.late[at - 1];
    reader.late[at] = (struct trace_late){record->span, place};
    reader.late_count++;
    trace_fields_prepare(&reader);
}

/* The longer the interval behind the clock's rate, the more precise it is. */
static void refine_clock(uint64_t ticks)
{
    const struct trace_header *header = &reader.header;

    if (ticks - header->origin.ticks >
        2 * (header->end.ticks - header->origin.ticks))
        trace_reader_set_end(&reader, trace_anchor_now());
}

static void report(const struct trace_entry *entry)
{
    if (trace_subscriber && trace_subscriber->live)
        trace_subscriber->live(&reader, entry);
}

/* Returns the current thread; `name` holds the name that it has now. */
static struct trace_thread current_thread(char name[16])
{
    const struct trace_self *self = trace_self(&trace_writer);

    if (trace_subscriber && trace_subscriber->names)
        prctl(PR_GET_NAME, name);
    return (struct trace_thread){.pid = self->pid,
                                 .tid = self->tid,
                                 .start = self->start,
                                 .span = trace_forked_in(&trace_writer),
                                 .name = name};
}

/* A record behind the end of the file is printed, but not stored. */
static void count_overflow(const struct trace_record *record)
{
    const unsigned char *at = (const unsigned char *)record;

    if ((size_t)(at - reader.base) >= trace_recording.file_size)
        trace_lose(trace_why_no_room(record->slots));
}

static void report_live(const struct trace_record *record)
{
    uint32_t place =
        (uint32_t)(record - (const struct trace_record *)reader.base);
    char name[16] = "";
    int error = errno;
    struct trace_thread thread = current_thread(name);
    struct trace_entry entry;
    struct reporting reporting;

    begin(&reporting);
    refine_clock(record->time);
    count_overflow(record);
    if (record->kind == TRACE_KIND_FIELDS)
        add_late(record, place);
    if (trace_reader_entry(&reader, place, &thread, &entry)) {
        if (entry.kind == TRACE_ENTRY_DEVICE && entry.at.thread) {
            thread.tid = entry.at.thread;
            thread.name = ""; /* unknown: another thread's */
        }
        report(&entry);
    }
    end(&reporting);
    errno = error;
}

void trace_report(const struct trace_record *record)
{
    if (trace_sender)
        trace_sender->record(&trace_writer, record);
    if (trace_is_live())
        report_live(record);
}

void trace_live_phase(const struct trace_record *record)
{
    struct reporting reporting;

    if (!trace_is_live())
        return;
    begin(&reporting);
    if (!reader.phases[record->end])
        reader.phases[record->end] = record->time;
    end(&reporting);
}

void trace_live_exit(const struct trace_record *record, uint64_t time)
{
    uint32_t place =
        (uint32_t)(record - (const struct trace_record *)reader.base);
    char name[16] = "";
    int error = errno;
    struct trace_thread thread = current_thread(name);
    struct trace_entry entry;
    struct reporting reporting;

    begin(&reporting);
    if (trace_reader_entry(&reader, place, &thread, &entry)) {
        entry.span = entry.kind == TRACE_ENTRY_SPAN ? place : entry.span;
        entry.kind = TRACE_ENTRY_EXIT;
        entry.time = trace_reader_time(&reader, time);
        report(&entry);
    }
    end(&reporting);
    errno = error;
}
