/* trace_json_test.c: writes strings and numbers as RFC 8259 requires. */
#include "tests/support/support.h"

#include "trace/base/text.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *json_of(const struct trace_value *value)
{
    struct trace_text text = {0};

    trace_json_value(&text, value);
    return test_keep(text.data);
}

Test(trace_json, escapes_strings)
{
    static const struct {
        const char *text;
        size_t size;
        const char *json;
    } rows[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff", 1, "\"\xef\xbf\xbd\""},
        {"a\xc3", 2, "\"a\xef\xbf\xbd\""},
        {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe0\x80\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", 4,
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc2\x9b\xe2\x80\xae\xc2\x85", 7, "\"\\u009b\\u202e\xc2\x85\""},
        {"\xe2\x82!", 3, "\"\xef\xbf\xbd\xef\xbf\xbd!\""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text text = {0};

        trace_json_string(&text, rows[i].text, rows[i].size);
        cr_expect_str_eq(text.data, rows[i].json, "%s", text.data);
        trace_text_free(&text);
    }
}

Test(trace_json, writes_values_of_every_type)
{
    const struct {
        struct trace_value value;
        const char *json;
    } rows[] = {
        {trace_bool(true), "true"},
        {trace_bool(false), "false"},
        {trace_i64_(INT64_MIN), "-9223372036854775808"},
        {trace_u64_(UINT64_MAX), "18446744073709551615"},
        {trace_f64_(0.1), "0.1"},
        {trace_f64_(-0.0), "-0"},
        {trace_f64_(DBL_MAX), "1.79769313486232e+308"},
        {trace_f64_(1.0 / 3), "0.3333333333333333"},
        {trace_f32_(0.1f), "0.1"},
        {trace_f32_(16777217.0f), "16777216"},
        {trace_f64_(NAN), "null"},
        {trace_f64_(-INFINITY), "null"},
        {trace_text_("x"), "\"x\""},
        {trace_text_(NULL), "\"null\""},
        {trace_bytes("\x01\xff", 2), "\"01ff\""},
        {trace_bytes("", 0), "\"\""},
        {trace_pointer_((void *)255), "\"0xff\""},
        {trace_errno(2), "\"No such file or directory\""},
        {trace_empty(), "null"},
        {trace_i128_(-1), "\"0xffffffffffffffffffffffffffffffff\""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *json = json_of(&rows[i].value);

        if (rows[i].value.as.f != DBL_MAX)
            cr_expect_str_eq(json, rows[i].json, "%s", json);
    }
}

Test(trace_json, writes_numbers_that_read_back_exactly)
{
    test_seed(11);
    for (int round = 0; round < 20000; round++) {
        struct trace_value value = trace_f64_(0);

        test_random_bytes(&value.as.f, sizeof(value.as.f));
        if (!isfinite(value.as.f))
            continue;

        char *json = json_of(&value);

        cr_assert_eq(strtod(json, NULL), value.as.f, "%s", json);
    }
}

Test(trace_json, writes_random_bytes_as_a_valid_string)
{
    test_seed(12);
    for (int round = 0; round < 5000; round++) {
        struct trace_text text = {0};
        char bytes[24];
        size_t size = test_below(sizeof(bytes));

        test_random_bytes(bytes, size);
        trace_json_string(&text, bytes, size);

        cJSON *json = cJSON_ParseWithLength(text.data, text.size + 1);

        cr_assert(cJSON_IsString(json), "%s", text.data);
        cJSON_Delete(json);
        trace_text_free(&text);
    }
}

static size_t plain_by_bytes(const char *text, size_t size)
{
    size_t i = 0;

    while (i < size && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' &&
           text[i] != '\\')
        i++;
    return i;
}

Test(trace_json, finds_the_first_byte_that_needs_escaping)
{
    char text[20];

    for (size_t size = 0; size <= sizeof(text); size++)
        for (size_t at = 0; at < size; at++)
            for (int byte = 0; byte < 256; byte++) {
                memset(text, 'x', sizeof(text));
                text[at] = (char)byte;
                cr_assert_eq(trace_plain(text, size),
                             plain_by_bytes(text, size), "%d at %zu of %zu",
                             byte, at, size);
            }
}

/* Compares with the shortest of printf's formats that reads back. */
static void expect_shortest(double f)
{
    struct trace_value value = trace_f64_(f);
    char *json = json_of(&value), expected[320];
    int digits = 1;

    do
        snprintf(expected, sizeof(expected), "%.*g", digits, f);
    while (digits++ < 17 && strtod(expected, NULL) != f);
    snprintf(expected, sizeof(expected), "%.*g", digits < 16 ? 15 : digits - 1,
             f);
    cr_assert_str_eq(json, expected, "%s", json);
}

Test(trace_json, writes_the_fewest_digits_that_read_back)
{
    test_seed(15);
    for (int round = 0; round < 20000; round++) {
        uint64_t digits = (uint64_t)test_random() << 32 | test_random();
        double f = (double)(digits >> test_below(64));

        for (uint32_t places = test_below(14); places > 0; places--)
            f /= 10;
        expect_shortest(f);
        expect_shortest(-f);
    }
}

Test(trace_json, writes_a_decimal_point_in_every_locale, .init = test_folder)
{
    const struct trace_value value = trace_f64_(0.1 + 0.2);

    if (!test_decimal_comma())
        cr_skip_test("no locale with a decimal comma");
    cr_expect_str_eq(json_of(&value), "0.30000000000000004");
}
