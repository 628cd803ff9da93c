/* values.c: values as they lie in a record. */
#include <string.h>

#include "internal.h"

enum { WORD = 8 };

struct value_head {
    uint32_t type, size;
};

/* Bytes of data that a value of `type` has behind its head, and whether it is a
 * text, which has a NUL besides. */
static size_t data_size(uint32_t type, uint32_t size, bool *text)
{
    *text = type == TRACE_TYPE_STRING || type == TRACE_TYPE_DISPLAY;
    switch (type) {
    case TRACE_TYPE_EMPTY:
        return 0;
    case TRACE_TYPE_I128:
    case TRACE_TYPE_U128:
        return 16;
    case TRACE_TYPE_STRING:
    case TRACE_TYPE_DISPLAY:
    case TRACE_TYPE_BYTES:
    case TRACE_TYPE_LONG_DOUBLE:
        return size;
    default:
        return WORD;
    }
}

static size_t padded(uint32_t type, uint32_t size)
{
    bool text;
    size_t bytes = data_size(type, size, &text);

    return (bytes + text + WORD - 1) / WORD * WORD;
}

size_t trace_values_size(size_t count, const struct trace_value *values)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += sizeof(struct value_head) +
                padded(values[i].type, values[i].size);
    return size;
}

void trace_values_store(void *to, size_t count,
                        const struct trace_value *values)
{
    unsigned char *at = to;

    for (size_t i = 0; i < count; i++) {
        const struct trace_value *value = &values[i];
        struct value_head head = {value->type, value->size};
        bool text;
        size_t size = data_size(value->type, value->size, &text);

        memcpy(at, &head, sizeof(head));
        at += sizeof(head);
        if (text || value->type == TRACE_TYPE_BYTES ||
            value->type == TRACE_TYPE_LONG_DOUBLE) {
            memcpy(at, value->as.bytes, size);
            if (text)
                at[size] = '\0';
        } else {
            memcpy(at, &value->as.u, size ? WORD : 0);
            if (size > WORD)
                memcpy(at + WORD, &value->more.u, WORD);
        }
        at += padded(value->type, value->size);
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
    /* Only now, for the text may have moved while it grew. */
    for (size_t i = 0; i < count; i++)
        if (values[i].type == TRACE_TYPE_CALLBACK)
            copy[i].as.text = text->data ? text->data + starts[i] : "";
    return copy;
}

struct trace_values trace_values_of(const struct trace_entry *entry)
{
    return (struct trace_values){entry->values,
                                 entry->values + entry->values_size};
}

bool trace_values_next(struct trace_values *values, struct trace_value *value)
{
    struct value_head head;
    size_t left = (size_t)(values->end - values->next);
    bool text;

    if (left < sizeof(head))
        return false;
    memcpy(&head, values->next, sizeof(head));
    left -= sizeof(head);

    size_t size = data_size(head.type, head.size, &text);

    if (head.type >= TRACE_TYPE_CALLBACK ||
        padded(head.type, head.size) > left)
        return false;

    const unsigned char *data = values->next + sizeof(head);

    if (text && data[size])
        return false;
    *value = (struct trace_value){.type = head.type, .size = head.size};
    if (text || head.type == TRACE_TYPE_BYTES ||
        head.type == TRACE_TYPE_LONG_DOUBLE) {
        value->as.bytes = data;
    } else {
        memcpy(&value->as.u, data, size ? WORD : 0);
        if (size > WORD)
            memcpy(&value->more.u, data + WORD, WORD);
    }
    values->next = data + padded(head.type, head.size);
    return true;
}
