/* internal.h: what the files of trace/ share. Private. */
#ifndef TRACE_INTERNAL_H
#define TRACE_INTERNAL_H

#include <stdarg.h>
#include <string.h>

#include "format.h"
#include "reader.h"

/* ---- values.c: values in a record ---- */

/* A value is a word with its type and size, and its data in whole words. */
enum { TRACE_WORD = 8 };

/* What a callback takes is not known before it has become text. */
#define TRACE_UNPRINTED ((size_t)1 << 40)

/* trace_text_room returns the bytes of a text's data: a NUL, and padding to
 * words, are behind it. */
static inline size_t trace_text_room(size_t size)
{
    return (size + TRACE_WORD) / TRACE_WORD * TRACE_WORD;
}

/* trace_values_size returns the bytes that `count` values take; TRACE_UNPRINTED
 * and more with a callback among them. To be stored, all must have become
 * text. */
size_t trace_values_size(size_t count, const struct trace_value *);
void trace_values_store(void *to, size_t count, const struct trace_value *);

/* trace_values_print turns the callbacks among `values` into text in `text`;
 * returns `values` itself or, if it had to change some, `copy`. */
const struct trace_value *trace_values_print(size_t count,
                                             const struct trace_value *values,
                                             struct trace_value *copy,
                                             struct trace_text *text);

/* ---- printf.c ---- */

enum { TRACE_ARGS_MAX = 32 };

/* trace_args_take takes printf's arguments as values, which take `bytes`, and
 * returns how many; -1 if the message must be formatted at the call; -2 for %n,
 * which is refused. */
int trace_args_take(struct trace_site *, const char *format, va_list *args,
                    struct trace_value *, size_t *bytes);

/* trace_format_writes tells whether a format has a %n. */
bool trace_format_writes(const char *format);

/* ---- print.c ---- */

/* Values whose callbacks have become text. */
struct trace_printed {
    const struct trace_value *values;
    struct trace_value copy[TRACE_ARGS_MAX];
    int error;
};

/* trace_print_begin formats at the call, before a record begins, and keeps
 * errno for trace_print_end, which ends the texts. False if the thread does so
 * already: the record is dropped. */
bool trace_print_begin(struct trace_printed *, size_t count,
                       const struct trace_value *);
void trace_print_end(struct trace_printed *);

/* trace_print_free releases what the thread keeps for that. */
void trace_print_free(void);

/* ---- site.c ---- */

/* trace_join_invited has the process record into the recording of the test that
 * started it, if there is one: trace_invite. */
void trace_join_invited(void);

/* trace_sites_refresh asks the subscriber about every site anew, or turns all
 * off; trace_sites_forget takes the ids of the last recording away. */
void trace_sites_refresh(void);
void trace_sites_enable(bool on);
void trace_sites_forget(void);
void trace_site_complete(struct trace_site *);

/* trace_site_interest asks the subscriber, with the sites locked;
 * trace_site_register adds a site of C++ at its first use. */
unsigned trace_site_interest(struct trace_site *);
void trace_site_register(struct trace_site *);
void trace_sites_lock(void);
void trace_sites_unlock(void);

/* trace_sites_unlock_forked unlocks in a child whatever its parent's threads
 * held. */
void trace_sites_unlock_forked(void);

extern const struct trace_subscriber *trace_subscriber;

/* ---- sigbus.c ---- */

/* trace_sigbus_guard has the pages of a mapped file read as zeros once they are
 * beyond its end, until trace_sigbus_release, which comes before munmap; false
 * with errno if too many are guarded. */
bool trace_sigbus_guard(const void *base, size_t size);
void trace_sigbus_release(const void *base);

/* ---- reader.c ---- */

struct trace_late {
    uint32_t span, place;
};

/* What a device did, by when it began. */
struct trace_begun {
    uint64_t begin; /* ticks */
    uint32_t place;
    uint32_t thread; /* that recorded it */
};

/* A piece of a thread's records. */
struct trace_segment {
    uint32_t thread; /* index in `threads` */
    uint32_t place, end;
    uint64_t time; /* ticks of its first record */
};

struct trace_reader {
    int fd;         /* of the file, while it is opened; -1: none */
    size_t records; /* that were found */
    const unsigned char *base;
    size_t size;   /* bytes that may be read */
    size_t mapped; /* bytes */
    struct trace_header header;
    struct trace_site **sites; /* by id; NULL where there is none */
    size_t site_count;
    struct trace_thread *threads;
    size_t thread_count, thread_capacity;
    struct trace_table thread_table; /* pid << 32 | tid */
    struct trace_segment *segments;  /* by thread, then time */
    size_t segment_count, segment_capacity;
    struct trace_late *late; /* by span, then time */
    size_t late_count, late_capacity;
    struct trace_begun *devices; /* in order */
    size_t device_count, device_capacity;
    uint32_t *metas; /* places, as they were recorded */
    size_t meta_count, meta_capacity;
    struct trace_table meta_table; /* the last of each name, by name_key */
    uint32_t *later; /* the span of each ENTER and CLOSE, in order */
    size_t later_count, later_capacity;
    struct trace_merge *merge;
    struct trace_gathered *gathered; /* fields.c */
    uint64_t last;                   /* ticks: the last moment known */
    uint64_t used;    /* the place behind the last finished record */
    long double rate; /* ns of a tick; 0: ticks are ns */
    uint64_t scale;   /* the same, a fixed point number; 0: none */
};

/* trace_reader_record returns the finished record at `place`, NULL if none. */
const struct trace_record *trace_reader_record(const struct trace_reader *,
                                               uint32_t place);

/* trace_reader_entry describes a record; false if its kind is not shown. */
bool trace_reader_entry(const struct trace_reader *, uint32_t place,
                        const struct trace_thread *, struct trace_entry *);

/* ---- mapping.c ---- */

/* trace_reader_map maps a file, of which trace_beneath has the name, and
 * trace_reader_map_own the process's own recording; false with errno.
 * trace_reader_leave_file closes the file, and keeps errno. */
bool trace_reader_map(struct trace_reader *, int folder, const char *name);
bool trace_reader_map_own(struct trace_reader *);
void trace_reader_leave_file(struct trace_reader *);
void trace_reader_unmap(struct trace_reader *);

/* trace_reader_drop gives back the memory of what was read of a large
 * recording; who looks there again has it read again. */
void trace_reader_drop(const struct trace_reader *, uint64_t from, uint64_t to);

/* trace_reader_past_hole returns the chunk from `place` on of which the file
 * has something: one with holes has any size. */
uint64_t trace_reader_past_hole(const struct trace_reader *, uint64_t place);

/* ---- reader.c, again ---- */

/* trace_reader_set_end makes a later moment that on which times rest. */
void trace_reader_set_end(struct trace_reader *, struct trace_anchor end);

/* trace_reader_time turns ticks into ns since the origin. */
uint64_t trace_reader_time(const struct trace_reader *, uint64_t ticks);

/* ---- fields.c ---- */

/* trace_fields_prepare, once there are late fields, and trace_fields_free keep
 * and forget what fields came to. */
void trace_fields_prepare(struct trace_reader *);
void trace_fields_free(struct trace_reader *);

/* ---- merge.c ---- */

struct trace_merge *trace_merge_new(const struct trace_reader *);
void trace_merge_free(struct trace_merge *);
bool trace_merge_next(struct trace_merge *, struct trace_entry *);

#endif
