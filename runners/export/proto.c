/* proto.c: the encoding of Protocol Buffers. */
#include <string.h>

#include "proto.h"
#include "trace/base/text.h"

enum wire_type { VARINT, FIXED64, BYTES };

/* The bytes kept for the size of a message, a varint that may be padded. */
enum { SIZE_BYTES = 4 };

static void put_varint(struct trace_text *text, uint64_t number)
{
    unsigned char bytes[10];
    size_t size = 0;

    for (; number > 0x7f; number >>= 7)
        bytes[size++] = (unsigned char)(number | 0x80);
    bytes[size++] = (unsigned char)number;
    trace_text_put(text, bytes, size);
}

static void put_tag(struct trace_text *text, unsigned field,
                    enum wire_type type)
{
    put_varint(text, (uint64_t)field << 3 | type);
}

void runners_proto_number(struct trace_text *text, unsigned field,
                          uint64_t number)
{
    put_tag(text, field, VARINT);
    put_varint(text, number);
}

void runners_proto_fixed64(struct trace_text *text, unsigned field,
                           uint64_t number)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    put_tag(text, field, FIXED64);
    trace_text_put(text, bytes, sizeof(bytes));
}

void runners_proto_double(struct trace_text *text, unsigned field,
                          double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    runners_proto_fixed64(text, field, bits);
}

void runners_proto_bytes(struct trace_text *text, unsigned field,
                         const void *bytes, size_t size)
{
    put_tag(text, field, BYTES);
    put_varint(text, size);
    trace_text_put(text, bytes, size);
}

void runners_proto_string(struct trace_text *text, unsigned field,
                          const char *string)
{
    runners_proto_bytes(text, field, string, strlen(string));
}

size_t runners_proto_begin(struct trace_text *text, unsigned field)
{
    put_tag(text, field, BYTES);
    trace_text_put(text, "\x80\x80\x80", SIZE_BYTES); /* and its NUL */
    return text->size;
}

void runners_proto_end(struct trace_text *text, size_t place)
{
    size_t size = text->size - place;

    text->failed |= size >> 7 * SIZE_BYTES != 0;
    if (text->failed)
        return;
    for (size_t i = 0; i < SIZE_BYTES; i++, size >>= 7)
        text->data[place - SIZE_BYTES + i] |= (char)(size & 0x7f);
}
