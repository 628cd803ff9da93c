/* live.c: tells a subscriber of records as they are made.
 *
 * The subscriber sees the process's own recording through a reader, one record
 * at a time, so that it renders with the code that renders recordings. A live
 * run writes each line at once anyway; a lock costs it little.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

static struct trace_reader reader;
static size_t site_capacity, late_capacity;

void trace_live_begin(const struct trace_header *header, size_t size)
{
    if (!trace_recording.live)
        return;
    pthread_mutex_init(&trace_recording.live_lock, NULL);
    free(reader.sites);
    free(reader.late);
    memset(&reader, 0, sizeof(reader));
    site_capacity = late_capacity = 0;
    reader.base = (const unsigned char *)header;
    reader.size = size;
    reader.header = *header;
    trace_reader_set_end(&reader, header->start);
    reader.live = true;
}

/* Makes room for one more element; false without memory. */
static bool room(void *array, size_t *capacity, size_t count, size_t size)
{
    void **at = array;

    if (count < *capacity)
        return true;

    size_t more = *capacity ? *capacity * 2 : 64;

    more = more > count ? more : count + 1;

    void *grown = realloc(*at, more * size);

    if (!grown)
        return false;
    memset((char *)grown + *capacity * size, 0, (more - *capacity) * size);
    *at = grown;
    *capacity = more;
    return true;
}

void trace_live_site(struct trace_site *site, uint32_t id)
{
    if (!trace_recording.live)
        return;
    pthread_mutex_lock(&trace_recording.live_lock);
    if (room(&reader.sites, &site_capacity, id, sizeof(*reader.sites))) {
        reader.sites[id] = site;
        if (id >= reader.site_count)
            reader.site_count = id + 1;
    }
    pthread_mutex_unlock(&trace_recording.live_lock);
}

static void add_late(const struct trace_record *record, uint32_t place)
{
    if (!room(&reader.late, &late_capacity, reader.late_count,
              sizeof(*reader.late)))
        return;
    reader.late[reader.late_count++] = (struct trace_late){record->span, place};
}

/* The longer the stretch that the clock's rate is taken from, the better. */
static void refine_clock(uint64_t ticks)
{
    const struct trace_header *header = &reader.header;

    if (ticks - header->origin.ticks >
        2 * (header->end.ticks - header->origin.ticks))
        trace_reader_set_end(&reader, trace_anchor_now());
}

static void tell(const struct trace_entry *entry)
{
    if (trace_subscriber && trace_subscriber->live)
        trace_subscriber->live(&reader, entry);
}

/* Who tells; the name lives in `name`. Of what each is a system call, only what
 * may have changed and is wanted is asked for. */
static struct trace_thread teller(char name[16])
{
    static _Thread_local struct {
        uint32_t generation, pid, tid;
    } self;

    if (self.generation != trace_writer.generation || !self.tid) {
        self.generation = trace_writer.generation;
        self.pid = (uint32_t)getpid();
        self.tid = (uint32_t)syscall(SYS_gettid);
    }
    if (trace_subscriber && trace_subscriber->names)
        prctl(PR_GET_NAME, name);
    return (struct trace_thread){self.pid, self.tid,
                                 trace_forked_in(&trace_writer), name};
}

void trace_live_tell(const struct trace_record *record)
{
    uint32_t place =
        (uint32_t)(record - (const struct trace_record *)reader.base);
    char name[16] = "";
    int error = errno;
    struct trace_thread thread = teller(name);
    struct trace_entry entry;

    pthread_mutex_lock(&trace_recording.live_lock);
    refine_clock(record->time);
    if (record->kind == TRACE_KIND_FIELDS)
        add_late(record, place);
    if (trace_reader_entry(&reader, place, &thread, &entry)) {
        if (entry.kind == TRACE_ENTRY_DEVICE && entry.at.thread) {
            thread.tid = entry.at.thread;
            thread.name = ""; /* it is another's */
        }
        tell(&entry);
    }
    pthread_mutex_unlock(&trace_recording.live_lock);
    errno = error;
}

void trace_live_exit(const struct trace_record *record, uint64_t time)
{
    uint32_t place =
        (uint32_t)(record - (const struct trace_record *)reader.base);
    char name[16] = "";
    int error = errno;
    struct trace_thread thread = teller(name);
    struct trace_entry entry;

    pthread_mutex_lock(&trace_recording.live_lock);
    if (trace_reader_entry(&reader, place, &thread, &entry)) {
        entry.span = entry.kind == TRACE_ENTRY_SPAN ? place : entry.span;
        entry.kind = TRACE_ENTRY_EXIT;
        entry.time = trace_reader_time(&reader, time);
        tell(&entry);
    }
    pthread_mutex_unlock(&trace_recording.live_lock);
    errno = error;
}
