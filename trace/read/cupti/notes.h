/* notes.h: what a process notes in the recording for those who decode CUPTI's
 * records there, because the records do not say it. Private; part of the
 * recording's format: the RAW_NOTE records of this back end.
 */
#ifndef TRACE_READ_CUPTI_NOTES_H
#define TRACE_READ_CUPTI_NOTES_H

#include "decoder.h"

/* X(NAME, key, bytes). Numbers are as the process has them, texts end with a
 * NUL. */
#define CUPTI_NOTES(X)                                                         \
    X(LAYOUT, "-", "a struct cupti_noted_layout")                              \
    X(TEXT, "an address", "the text there")                                    \
    X(CALL, "its domain << 32 | id", "its name")                               \
    X(ERROR, "its domain << 32 | result", "its name")                          \
    X(NODE, "id of a graph's node", "id of its original, name of a span")      \
    X(PCI, "hash of a device's UUID", "its PCI address")                       \
    X(RECORDS, "-", "records that came before the recording began")            \
    X(OWN, "-", "a struct cupti_own")                                          \
    X(CUT, "-", "struct cupti_noted_cut of each incomplete buffer")            \
    X(END, "number of records that CUPTI dropped", "-")

enum cupti_note {
#define TRACE_X(name, key, bytes) CUPTI_NOTE_##name,
    CUPTI_NOTES(TRACE_X)
#undef TRACE_X
        CUPTI_NOTE_COUNT
};

/* The library's records, and when tracing began. */
struct cupti_noted_layout {
    uint32_t version, system_threads;
    struct trace_anchor first;
    struct cupti_limits limits;
    uint16_t strides[CUPTI_KIND_LIMIT];
};

/* An address gets another text. In the first `size` bytes of the buffer with
 * that number, records have the old one. So have all records of buffers that
 * are complete by then, and none of buffers that the note leaves out. */
struct cupti_noted_cut {
    uint64_t number, size;
};

/* cupti_noted_call returns the key of a call or of an error. */
static inline uint64_t cupti_noted_call(enum cupti_domain domain, uint32_t id)
{
    return (uint64_t)domain << 32 | id;
}

/* ---- mentions.c: the notes that records need ---- */

enum { CUPTI_MENTIONS_MOST = 2, CUPTI_UUID_ROOM = 48 };

/* cupti_mentions finds what a record mentions that only its process knows:
 * pairs of TEXT, CALL, ERROR, NODE, and PCI, whose key is unset. Returns how
 * many there are. */
struct cupti_mention {
    enum cupti_note what;
    uint64_t key;
};
size_t cupti_mentions(const struct cupti_record *,
                      struct cupti_mention[CUPTI_MENTIONS_MOST]);

/* cupti_is_resource returns whether CUPTI writes such a record once for a
 * device, a context, a stream or a name: each recording needs it. */
bool cupti_is_resource(uint32_t kind);

/* cupti_uuid writes a UUID as the driver's tools do: "GPU-8a0f...". Returns
 * false if the record has none. */
bool cupti_uuid(char text[CUPTI_UUID_ROOM], const char *prefix,
                const struct cupti_record *, enum cupti_field);

/* ---- noted.c: a source that has what was noted ---- */

/* Notes, by key. The zero value has none. */
struct cupti_noted {
    struct trace_table known[CUPTI_NOTE_COUNT];
};

/* cupti_noted_take takes a note whose bytes stay valid. It ignores those that
 * are damaged, and those that tell nothing about a record; false without
 * memory. */
bool cupti_noted_take(struct cupti_noted *, enum cupti_note, uint64_t key,
                      const void *bytes, size_t size);
void cupti_noted_free(struct cupti_noted *);

/* A source whose context begins with a struct cupti_noted. */
extern const struct cupti_source cupti_noted_source;

#endif
