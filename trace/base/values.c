/* values.c: stores and loads values in records. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "values.h"

#define FOUR(n)    (char)(n), (char)((n) + 1), (char)((n) + 2), (char)((n) + 3)
#define SIXTEEN(n) FOUR(n), FOUR((n) + 4), FOUR((n) + 8), FOUR((n) + 12)
#define QUARTER(n)                                                             \
    SIXTEEN(n), SIXTEEN((n) + 16), SIXTEEN((n) + 32), SIXTEEN((n) + 48)

const char trace_characters_[256] = {QUARTER(0), QUARTER(64), QUARTER(128),
                                     QUARTER(192)};

/* The beginning of a value, in memory as in a record. */
struct value_head {
    uint32_t type, size;
};

_Static_assert(offsetof(struct trace_value, type) == 0 &&
                   offsetof(struct trace_value, size) ==
                       offsetof(struct value_head, size),
               "a value begins with its head");

/* The form of a value's data behind its head. */
enum layout {
    ONE_WORD,
    TWO_WORDS,
    NOTHING,
    BLOB, /* `size` bytes */
    TEXT, /* the same and a NUL */
    UNPRINTED,
};

static inline enum layout layout_of(uint32_t type)
{
    static const uint8_t layouts[TRACE_TYPE_COUNT] = {
        [TRACE_TYPE_EMPTY] = NOTHING,    [TRACE_TYPE_I128] = TWO_WORDS,
        [TRACE_TYPE_U128] = TWO_WORDS,   [TRACE_TYPE_STRING] = TEXT,
        [TRACE_TYPE_DISPLAY] = TEXT,     [TRACE_TYPE_BYTES] = BLOB,
        [TRACE_TYPE_LONG_DOUBLE] = BLOB, [TRACE_TYPE_CALLBACK] = UNPRINTED,
    };

    if (type == TRACE_TYPE_NAME)
        return NOTHING;
    return type < TRACE_TYPE_COUNT ? (enum layout)layouts[type] : ONE_WORD;
}

/* The size of the data with its padding. */
static inline size_t room_of(enum layout layout, size_t size)
{
    switch (layout) {
    case NOTHING:
        return 0;
    case TWO_WORDS:
        return 2 * TRACE_WORD;
    case BLOB:
        return (size + TRACE_WORD - 1) / TRACE_WORD * TRACE_WORD;
    case TEXT:
        return trace_text_room(size);
    case UNPRINTED:
        return TRACE_UNPRINTED;
    default:
        return TRACE_WORD;
    }
}

size_t trace_values_size(size_t count, const struct trace_value *values)
{
    size_t size = count * (sizeof(struct value_head) + TRACE_WORD);

    for (size_t i = 0; i < count; i++) {
        enum layout layout = layout_of(values[i].type);

        if (layout != ONE_WORD)
            size += room_of(layout, values[i].size) - TRACE_WORD;
    }
    return size;
}

static unsigned char *store_more(unsigned char *at, enum layout layout,
                                 const struct trace_value *value)
{
    if (layout == TWO_WORDS) {
        memcpy(at, &value->as.u, TRACE_WORD);
        memcpy(at + TRACE_WORD, &value->more.u, TRACE_WORD);
    }
    if (layout == TEXT || layout == BLOB)
        memcpy(at, value->as.bytes, value->size);
    if (layout == TEXT)
        at[value->size] = '\0';
    return at + room_of(layout, value->size);
}

void trace_values_store(void *to, size_t count,
                        const struct trace_value *values)
{
    unsigned char *at = to;

    for (size_t i = 0; i < count; i++) {
        const struct trace_value *value = &values[i];
        enum layout layout = layout_of(value->type);

        memcpy(at, value, sizeof(struct value_head));
        at += sizeof(struct value_head);
        if (layout == ONE_WORD) {
            memcpy(at, &value->as, TRACE_WORD);
            at += TRACE_WORD;
        } else {
            at = store_more(at, layout, value);
        }
    }
}

const struct trace_value *trace_values_print(size_t count,
                                             const struct trace_value *values,
                                             struct trace_value *copy,
                                             struct trace_text *text)
{
    size_t starts[TRACE_ARGS_MAX];
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= values[i].type == TRACE_TYPE_CALLBACK;
    if (!any)
        return values;
    for (size_t i = 0; i < count; i++) {
        copy[i] = values[i];
        starts[i] = text->size;
        if (values[i].type != TRACE_TYPE_CALLBACK)
            continue;
        values[i].as.print(text, values[i].more.object);
        copy[i].type = TRACE_TYPE_DISPLAY;
        copy[i].size = (uint32_t)(text->size - starts[i]);
    }
    /* Last, because the text may have moved while it grew. */
    for (size_t i = 0; i < count; i++)
        if (values[i].type == TRACE_TYPE_CALLBACK)
            copy[i].as.text = text->data ? text->data + starts[i] : "";
    return copy;
}

bool trace_values_next(struct trace_values *values, struct trace_value *value)
{
    struct value_head head;
    size_t left = (size_t)(values->end - values->next);

    if (left < sizeof(head))
        return false;
    memcpy(&head, values->next, sizeof(head));
    left -= sizeof(head);

    enum layout layout = layout_of(head.type);
    size_t room = room_of(layout, head.size);

    if (head.type == TRACE_TYPE_NAME) {
        *value = trace_text_(values->name ? values->name : "?");
        value->type = TRACE_TYPE_DISPLAY;
        values->next += sizeof(head);
        return true;
    }
    if (head.type >= TRACE_TYPE_CALLBACK || room > left)
        return false;

    const unsigned char *data = values->next + sizeof(head);

    if (layout == TEXT && data[head.size])
        return false;
    *value = (struct trace_value){.type = head.type, .size = head.size};
    if (layout == TEXT || layout == BLOB)
        value->as.bytes = data;
    if (layout == ONE_WORD || layout == TWO_WORDS)
        memcpy(&value->as.u, data, TRACE_WORD);
    if (layout == TWO_WORDS)
        memcpy(&value->more.u, data + TRACE_WORD, TRACE_WORD);
    values->next = data + room;
    return true;
}

bool trace_number_of(const struct trace_value *value, double *number)
{
    switch (value->type) {
    case TRACE_TYPE_BOOL:
    case TRACE_TYPE_U64:
        *number = (double)value->as.u;
        return true;
    case TRACE_TYPE_I64:
        *number = (double)value->as.i;
        return true;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        *number = value->as.f;
        return isfinite(*number);
    default:
        return false;
    }
}
