/* trace_values_test.c: stores values and reads them back. */
#include "tests/support/support.h"

#include "trace/base/values.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 13 };

static const long double wide = 1.25L;

static void print_text(struct trace_text *out, const void *object)
{
    trace_text_string(out, object);
}

static void some_values(struct trace_value *values)
{
    const struct trace_value some[COUNT] = {
        trace_empty(),
        trace_bool(true),
        trace_i64_(INT64_MIN),
        trace_u64_(UINT64_MAX),
        trace_f32_(0.1f),
        trace_f64_(-0.0),
        trace_i128_((trace_i128_t)1 << 100),
        trace_u128_(~(trace_u128_t)0),
        trace_text_("seven b"),
        trace_string("a\0b", 3),
        trace_bytes("12345678", 8),
        trace_pointer_((void *)16),
        trace_errno(-1),
    };

    memcpy(values, some, sizeof(some));
}

static bool has_bytes(const struct trace_value *value)
{
    return value->type == TRACE_TYPE_STRING ||
           value->type == TRACE_TYPE_DISPLAY ||
           value->type == TRACE_TYPE_BYTES ||
           value->type == TRACE_TYPE_LONG_DOUBLE;
}

static void expect_same(const struct trace_value *a,
                        const struct trace_value *b)
{
    cr_assert_eq(a->type, b->type);
    cr_assert_eq(a->size, b->size);
    if (has_bytes(a))
        cr_assert_eq(memcmp(a->as.bytes, b->as.bytes, a->size), 0);
    else
        cr_assert_eq(a->as.u, b->as.u);
    cr_assert_eq(a->more.u, b->more.u);
}

Test(trace_values, reads_values_back_as_stored)
{
    struct trace_value values[COUNT + 1], value;
    unsigned char *bytes;

    some_values(values);
    values[COUNT] = trace_bytes(&wide, sizeof(wide));
    values[COUNT].type = TRACE_TYPE_LONG_DOUBLE;

    size_t size = trace_values_size(COUNT + 1, values);

    cr_assert_eq(size % 8, 0);
    bytes = malloc(
        size); /* of exactly this size, so that a sanitizer sees overruns */
    trace_values_store(bytes, COUNT + 1, values);

    struct trace_values at = {bytes, bytes + size, NULL};

    for (size_t i = 0; i <= COUNT; i++) {
        cr_assert(trace_values_next(&at, &value), "value %zu", i);
        expect_same(&value, &values[i]);
    }
    cr_expect_not(trace_values_next(&at, &value));
    cr_expect_eq(at.next, at.end);
    free(bytes);
}

Test(trace_values, terminates_texts_and_stops_at_damage)
{
    struct trace_value value = trace_text_("text");
    uint64_t bytes[2];
    unsigned char *from = (unsigned char *)bytes;
    struct trace_values at = {from, from + sizeof(bytes), NULL};

    cr_assert_eq(trace_values_size(1, &value), sizeof(bytes));
    trace_values_store(bytes, 1, &value);
    cr_assert(trace_values_next(&at, &value));
    cr_expect_eq(value.as.text[4], '\0');
    from[8 + 4] = 'x';
    at.next = from;
    cr_expect_not(trace_values_next(&at, &value));
}

Test(trace_values, survives_any_length_and_any_bytes)
{
    struct trace_value values[COUNT], value;
    unsigned char stored[512], *copy;

    some_values(values);

    size_t size = trace_values_size(COUNT, values);

    cr_assert_leq(size, sizeof(stored));
    trace_values_store(stored, COUNT, values);
    test_seed(10);
    for (size_t round = 0; round < 20000; round++) {
        size_t length = round <= size ? round : size;

        copy = malloc(length + 1);
        memcpy(copy, stored, length);
        if (round > size)
            copy[test_below((uint32_t)length)] = (unsigned char)test_random();

        struct trace_values at = {copy, copy + length, NULL};
        size_t count = 0;

        while (trace_values_next(&at, &value))
            count++;
        cr_assert(count <= COUNT || round > size);
        cr_assert_leq(at.next, at.end);
        free(copy);
    }
}

Test(trace_values, prints_callbacks_as_text)
{
    char much[5000];
    struct trace_text text = {0};
    struct trace_value copy[TRACE_ARGS_MAX];

    memset(much, 'x', sizeof(much) - 1);
    much[sizeof(much) - 1] = '\0';

    const struct trace_value values[] = {
        trace_display(print_text, "first"),
        trace_i64_(1),
        trace_display(print_text, much),
        trace_display(print_text, ""),
    };
    const struct trace_value *printed =
        trace_values_print(4, values, copy, &text);

    cr_expect_eq(printed, copy);
    cr_expect_eq(printed[0].type, TRACE_TYPE_DISPLAY);
    cr_expect_eq(printed[0].size, 5);
    cr_expect_eq(memcmp(printed[0].as.text, "first", 5), 0);
    cr_expect_eq(printed[1].as.i, 1);
    cr_expect_eq(printed[2].size, sizeof(much) - 1);
    cr_expect_eq(memcmp(printed[2].as.text, much, sizeof(much) - 1), 0);
    cr_expect_eq(printed[3].size, 0);
    cr_expect_eq(trace_values_print(1, values + 1, copy, &text), values + 1);
    trace_text_free(&text);
}
