/* reader.h: recordings read, and written as other files: what renderers use.
 * Private to the project. Conventions are those of trace.h.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <locale.h>
#include <string.h>

#include <testlog/trace.h>

#include "containers.h"
#include "device.h"
#include "strings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading a recording ---- */

enum trace_entry_kind {
    TRACE_ENTRY_SPAN, /* a span begins; `entered` tells whether it is entered */
    TRACE_ENTRY_ENTER,  /* a span is entered again */
    TRACE_ENTRY_EXIT,   /* an entering of `span` ends */
    TRACE_ENTRY_CLOSE,  /* a span closed later than its last exit */
    TRACE_ENTRY_FIELDS, /* values recorded late for `span` */
    TRACE_ENTRY_EVENT,
    TRACE_ENTRY_DEVICE, /* a device, or its driver, did something */
};

/* A thread of a recording. */
struct trace_thread {
    uint32_t pid, tid;
    uint32_t span;    /* that its process was forked in; 0 = none */
    const char *name; /* "" if it had none */
};

/* One thing that happened. Everything it points to lives as long as the
 * reader. */
struct trace_entry {
    enum trace_entry_kind kind;
    bool entered;  /* SPAN: at once */
    bool printf_;  /* EVENT: the values are arguments of site->name */
    bool message;  /* EVENT: the values are its message */
    uint64_t time; /* ns since the recording's origin */
    uint64_t end;  /* SPAN, ENTER, DEVICE: ns; UINT64_MAX = still open */
    uint32_t id;   /* SPAN, DEVICE: its place */
    uint32_t span; /* the span it belongs to; SPAN: its parent; 0 = none */
    const struct trace_site *site; /* never NULL */
    const struct trace_thread *thread;
    const unsigned char *values;    /* for trace_values_next */
    size_t values_size;             /* bytes */
    struct trace_activity_place at; /* DEVICE */
    const unsigned char *launch; /* DEVICE: the values of trace_launch_fields,
                                  * NULL: none */
};

/* Why records were lost; X(NAME, word in run.json, what follows "lost"). */
#define TRACE_LOSSES(X)                                                        \
    X(LIMIT, "limit", "after TRACE_LIMIT was reached")                         \
    X(FILE_SIZE, "file_size",                                                  \
      "after the file size limit (ulimit -f) was reached")                     \
    X(MEMORY, "memory", "for lack of memory")                                  \
    X(DISK, "disk", "because the file could not grow")                         \
    X(NESTED, "nested", "in signal handlers that interrupted recording")       \
    X(END, "end", "after the test had ended")

enum trace_loss {
#define TRACE_X(name, word, text) TRACE_LOSS_##name,
    TRACE_LOSSES(TRACE_X)
#undef TRACE_X
        TRACE_LOSS_COUNT
};

/* What stands in a recording's header. */
struct trace_summary {
    uint32_t pid;
    bool ended;       /* closed in order */
    uint64_t end;     /* ns: the last moment known */
    uint64_t dropped; /* records that were lost, and why: */
    uint64_t lost[TRACE_LOSS_COUNT];
    int error; /* errno of the first failed reservation, or 0 */
    bool limit_reached;
    bool refused;  /* nothing could be recorded, because of `error` */
    bool disabled; /* trace_disable held for a while */
    struct trace_anchor origin;
};

/* trace_reader_open opens the recording at `path`, or the process's own, as it
 * is now, if that is NULL; trace_reader_close frees it. Any bytes at all are
 * read without harm; NULL with errno EINVAL if it is no recording. */
struct trace_reader *trace_reader_open(const char *path);

/* trace_reader_beneath opens one in a folder, as trace_beneath does. */
struct trace_reader *trace_reader_beneath(int folder, const char *name);
void trace_reader_close(struct trace_reader *);
struct trace_summary trace_reader_summary(const struct trace_reader *);

/* trace_reader_thread returns a thread that recorded, counted from 0; NULL
 * behind the last. */
const struct trace_thread *trace_reader_thread(const struct trace_reader *,
                                               size_t);

/* trace_reader_losses adds how many records were lost, and why; false if none
 * was. */
bool trace_reader_losses(struct trace_text *, const struct trace_reader *);

/* trace_seal stamps the end of a recording whose process has died, unless it
 * has one: spans that it left open end there. */
int trace_seal(const char *path);
int trace_seal_beneath(int folder, const char *name);

/* trace_invite has annotated programs that this process starts, and that record
 * nothing of their own, record into its recording. The variable is for those
 * who must keep their programs from it. */
#define TRACE_INVITATION "TESTLOG_RECORDING"
void trace_invite(void);

/* trace_shrink cuts a recording whose process is gone, or has closed it, to
 * what is used of it, and within the last chunk only if nobody can write there
 * any more; children that it left behind get no more room. */
int trace_shrink(const char *path);
int trace_shrink_beneath(int folder, const char *name);

/* trace_reader_meta returns the value of a pair that trace_open was given or
 * that was noted later, the last one called `name`; NULL if none.
 * trace_reader_metas visits all pairs: `cursor` starts at 0. */
const char *trace_reader_meta(const struct trace_reader *, const char *name);
bool trace_reader_metas(const struct trace_reader *, size_t *cursor,
                        const char **name, const char **value);

/* trace_reader_next reads what happened next, in the order of time over all
 * threads; false at the end. trace_reader_rewind begins anew. */
bool trace_reader_next(struct trace_reader *, struct trace_entry *);
int trace_reader_rewind(struct trace_reader *);

/* trace_reader_span reads the span at `place`, with its fields of creation;
 * false if there is none. */
bool trace_reader_span(const struct trace_reader *, uint32_t place,
                       struct trace_entry *);

/* A field with the value that counts. */
struct trace_field {
    const char *name;
    struct trace_value value;
};

enum { TRACE_FIELDS_MAX = 64 };

/* trace_reader_fields gathers the fields of a span as they were at `time`, as
 * many as TRACE_FIELDS_MAX; returns how many. */
size_t trace_reader_fields(const struct trace_reader *,
                           const struct trace_entry *span, uint64_t time,
                           struct trace_field *fields);

/* trace_reader_late visits the late fields of a span that were recorded up to
 * `time`, in order: `cursor` starts at 0. */
bool trace_reader_late(const struct trace_reader *, uint32_t place,
                       uint64_t time, size_t *cursor, struct trace_entry *);

/* trace_reader_later counts a span's closes and its enterings but for the one
 * that it began with; live, when these are still to come, none. */
size_t trace_reader_later(const struct trace_reader *, uint32_t);

/* trace_reader_site returns the call site with an id, NULL if there is none;
 * ids begin at 1. */
const struct trace_site *trace_reader_site(const struct trace_reader *,
                                           uint32_t id);

/* trace_values_next decodes the next value of an entry and steps over it;
 * false at the end or at damage. */
struct trace_values {
    const unsigned char *next, *end;
};
struct trace_values trace_values_of(const struct trace_entry *);
bool trace_values_next(struct trace_values *, struct trace_value *);

/* trace_format writes a recorded printf message: `format` as the recording has
 * it, its arguments from `values`. The format never reaches printf. */
void trace_format(struct trace_text *, const char *format,
                  struct trace_values *values);

/* trace_between returns the time from one moment to another: 0 if that is
 * earlier, as it may be on another thread, or by a clock that stepped back. */
static inline uint64_t trace_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* ---- Writing texts ---- */

/* trace_text_put is trace_text_add, in line where there is room;
 * trace_text_literal adds a constant. */
static inline void trace_text_put(struct trace_text *text, const void *bytes,
                                  size_t size)
{
    if (text->failed || text->capacity - text->size <= size) {
        trace_text_add(text, bytes, size);
        return;
    }
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

#define trace_text_literal(text, string)                                       \
    trace_text_put(text, string, sizeof(string) - 1)

/* trace_text_moment adds ns since 1970 as "2026-11-21T02:08:30.123456Z". */
void trace_text_moment(struct trace_text *, uint64_t wall);

/* trace_locale_enter has the thread write and read numbers with a point,
 * whatever its locale, until trace_locale_leave gets what it returned. */
locale_t trace_locale_enter(void);
void trace_locale_leave(locale_t before);

/* trace_text_again adds what stands in the text from `from` to `to` again. */
void trace_text_again(struct trace_text *, size_t from, size_t to);

/* trace_plain returns how many bytes stand for themselves, in JSON and in
 * quotes: up to the first control, quote, backslash or byte beyond ASCII. */
size_t trace_plain(const char *, size_t);

/* trace_decimal finds the fewest digits that read back as a number that is not
 * negative: digits / 10^places. False if that takes more than are exact. */
bool trace_decimal(double, bool is_float, uint64_t *digits, unsigned *places);

/* trace_json_number adds a whole number. */
void trace_json_number(struct trace_text *, uint64_t);

/* ---- Exporting ---- */

/* trace_json_string adds a JSON string with its quotes; bytes that are not
 * UTF-8 become U+FFFD. */
void trace_json_string(struct trace_text *, const char *, size_t);
void trace_json_value(struct trace_text *, const struct trace_value *);

/* ---- Files in a folder where others may have put anything ---- */

/* trace_beneath opens the file that `name` is, from the descriptor `folder` on:
 * it follows no link, waits for no FIFO, and refuses "..", what is no regular
 * file, files of others and, for writing, those with a second name. It returns
 * a descriptor, -1 with errno on failure. From AT_FDCWD on, a path that a
 * person has named, it refuses nothing. */
int trace_beneath(int folder, const char *name, int flags);

/* trace_beneath_folder opens the folder that `name` is in, likewise; *last is
 * what it is called there. */
int trace_beneath_folder(int folder, const char *name, const char **last);

/* A file that appears complete: written aside, renamed at its commit. What is
 * no file, such as a pipe, is written to as it is. */
struct trace_file {
    FILE *stream; /* NULL: not open */
    int folder;   /* that its path starts from */
    char *path, *aside;
};

/* trace_file_open follows the links in a path that a person has named;
 * trace_file_beneath follows none, see trace_beneath. */
int trace_file_open(struct trace_file *, const char *path);
int trace_file_beneath(struct trace_file *, int folder, const char *name);

/* trace_file_commit closes the file and puts it in place, if nothing that was
 * written to it failed; else it is removed. */
int trace_file_commit(struct trace_file *);
void trace_file_abandon(struct trace_file *);

/* A trace in Chrome's trace event format, JSON object form:
 * "Trace Event Format", by N. Duca and D. Sinclair. One or more recordings,
 * each a process track of its own. */
struct trace_chrome {
    FILE *stream;
    bool some;    /* an event stands already */
    bool several; /* to be set before: there will be several recordings */
    uint32_t recordings;
    uint64_t start;            /* of the first one: time zero, ns since 1970 */
    uint64_t flows;            /* of which each has its number */
    struct trace_text devices; /* what the first one notes of devices... */
    struct trace_text state;   /* ...and whether it saw any */
};

void trace_chrome_begin(struct trace_chrome *, FILE *);

/* trace_chrome_add streams a recording as process `pid` called `name`. */
int trace_chrome_add(struct trace_chrome *, struct trace_reader *, uint32_t pid,
                     const char *name);

/* trace_chrome_end writes the metadata: pairs of names and values up to NULL,
 * all shown as strings, when time zero was, and, of a single recording, what it
 * notes of devices. */
void trace_chrome_end(struct trace_chrome *, const char *const *metadata);

#ifdef __cplusplus
}
#endif

#endif
