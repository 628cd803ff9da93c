/* runners_proto_test.c: writes messages in the encoding of Protocol Buffers. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/support.h"

#include "runners/export/proto.h"

static void expect_bytes(const struct trace_text *text, const char *bytes,
                         size_t size)
{
    cr_assert_eq(text->size, size, "%zu", text->size);
    cr_expect_arr_eq(text->data, bytes, size);
}

#define EXPECT_BYTES(text, bytes) expect_bytes(text, bytes, sizeof(bytes) - 1)

/* The first two are the examples of Google's documentation. */
Test(runners_proto, writes_numbers_as_varints)
{
    struct trace_text text = {0};

    runners_proto_number(&text, 1, 150);
    EXPECT_BYTES(&text, "\x08\x96\x01");
    trace_text_clear(&text);
    runners_proto_string(&text, 2, "testing");
    EXPECT_BYTES(&text, "\x12\x07testing");
    trace_text_clear(&text);
    runners_proto_number(&text, 16, 0);
    runners_proto_number(&text, 1, UINT64_MAX);
    EXPECT_BYTES(&text, "\x80\x01\x00"
                        "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    trace_text_free(&text);
}

Test(runners_proto, writes_fixed_numbers_in_little_endian)
{
    struct trace_text text = {0};

    runners_proto_fixed64(&text, 47, UINT64_C(0x0102030405060708));
    runners_proto_double(&text, 1, 1.0);
    EXPECT_BYTES(&text, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"
                        "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f");
    trace_text_free(&text);
}

Test(runners_proto, pads_the_sizes_of_nested_messages)
{
    struct trace_text text = {0};
    size_t outer = runners_proto_begin(&text, 3);
    size_t inner = runners_proto_begin(&text, 1);
    char bytes[300] = {0};

    runners_proto_bytes(&text, 2, bytes, sizeof(bytes));
    runners_proto_end(&text, inner);
    runners_proto_end(&text, outer);
    cr_assert_eq(text.size, 5 + 5 + 3 + sizeof(bytes));
    cr_expect_arr_eq(
        text.data, "\x1a\xb4\x82\x80\x00\x0a\xaf\x82\x80\x00\x12\xac\x02", 13);
    trace_text_free(&text);
}
