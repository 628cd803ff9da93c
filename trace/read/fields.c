/* fields.c: collects a span's fields, those of its creation and later ones.
 *
 * A renderer asks for them again and again, each time a little later. For spans
 * with many late fields the result is cached, so that no field is read twice.
 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/values.h"

enum {
    FEW = 16,      /* late fields that are read every time */
    KEPT_BITS = 4, /* cached spans: 2 to that power */
    KEPT = 1 << KEPT_BITS,
};

struct trace_gathered {
    uint32_t span;        /* 0: none */
    uint64_t began, time; /* ns: creation, and the time of the cached fields */
    size_t late;          /* late fields read so far */
    size_t count;
    struct trace_field fields[TRACE_FIELDS_MAX];
};

/* ---- Late fields ---- */

/* Returns where a span's late fields begin in the sorted array. */
static size_t first_late(const struct trace_reader *reader, uint32_t span)
{
    size_t low = 0, high = reader->late_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (reader->late[middle].span < span)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool trace_reader_late(const struct trace_reader *reader, uint32_t place,
                       uint64_t time, size_t *cursor, struct trace_entry *entry)
{
    static const struct trace_thread nobody = {.name = ""};
    size_t i = *cursor ? *cursor : first_late(reader, place);

    for (; i < reader->late_count && reader->late[i].span == place; i++)
        if (trace_reader_entry(reader, reader->late[i].place, &nobody, entry)) {
            if (entry->time > time)
                break;
            *cursor = i + 1;
            return true;
        }
    return false;
}

/* ---- Gathering ---- */

/* Adds an entry's fields; a name that exists gets the new value. */
static size_t gather(const struct trace_entry *entry,
                     struct trace_field *fields, size_t count)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++) {
        size_t at = 0;

        if (value.type == TRACE_TYPE_EMPTY)
            continue;
        while (at < count && strcmp(fields[at].name, site->fields[i]))
            at++;
        if (at == TRACE_FIELDS_MAX)
            continue;
        fields[at] = (struct trace_field){site->fields[i], value};
        count += at == count;
    }
    return count;
}

/* Adds a span's late fields up to `time`, from `cursor` on. */
static size_t gather_late(const struct trace_reader *reader, uint32_t span,
                          uint64_t time, size_t *cursor,
                          struct trace_field *fields, size_t count)
{
    struct trace_entry late;

    while (trace_reader_late(reader, span, time, cursor, &late))
        count = gather(&late, fields, count);
    return count;
}

/* ---- Cache ---- */

void trace_fields_prepare(struct trace_reader *reader)
{
    if (!reader->gathered && reader->late_count > FEW)
        reader->gathered = calloc(KEPT, sizeof(*reader->gathered));
}

void trace_fields_free(struct trace_reader *reader)
{
    free(reader->gathered);
    reader->gathered = NULL;
}

/* Returns the cached fields of a span, if they are not later than `time`. */
static struct trace_gathered *kept_of(const struct trace_reader *reader,
                                      const struct trace_entry *span,
                                      uint64_t time)
{
    uint32_t hash = span->id * UINT32_C(2654435769); /* Fibonacci hashing */
    struct trace_gathered *kept = &reader->gathered[hash >> (32 - KEPT_BITS)];

    if (kept->span != span->id || kept->began != span->time ||
        kept->time > time) {
        kept->span = span->id;
        kept->began = span->time;
        kept->late = 0;
        kept->count = gather(span, kept->fields, 0);
    }
    kept->time = time;
    return kept;
}

size_t trace_reader_fields(const struct trace_reader *reader,
                           const struct trace_entry *span, uint64_t time,
                           struct trace_field *fields)
{
    size_t first = span->id ? first_late(reader, span->id) : 0;
    size_t cursor = first, many = first + FEW;
    struct trace_gathered *kept;

    if (!span->id)
        return gather(span, fields, 0);
    if (!reader->gathered || many >= reader->late_count ||
        reader->late[many].span != span->id)
        return gather_late(reader, span->id, time, &cursor, fields,
                           gather(span, fields, 0));
    kept = kept_of(reader, span, time);
    cursor += kept->late;
    kept->count =
        gather_late(reader, span->id, time, &cursor, kept->fields, kept->count);
    kept->late = cursor - first;
    memcpy(fields, kept->fields, kept->count * sizeof(*fields));
    return kept->count;
}
