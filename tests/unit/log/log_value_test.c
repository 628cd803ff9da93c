/* log_value_test.c: formats values as Rust's Debug does. */
#include "tests/support/support.h"

#include "log/replay/entry_text.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect_shown(const struct trace_value *value, const char *expected)
{
    struct trace_text text = {0};

    log_value(&text, value);
    cr_expect_str_eq(text.data ? text.data : "", expected, "%s", text.data);
    trace_text_free(&text);
}

static struct trace_value display(const char *text)
{
    struct trace_value value = trace_text_(text);

    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

Test(log_value, formats_values_of_every_type)
{
    const struct {
        struct trace_value value;
        const char *text;
    } rows[] = {
        {trace_bool(true), "true"},
        {trace_bool(false), "false"},
        {trace_i64_(INT64_MIN), "-9223372036854775808"},
        {trace_u64_(UINT64_MAX), "18446744073709551615"},
        {trace_i128_(0), "0"},
        {trace_i128_(-1), "-1"},
        {trace_i128_((trace_i128_t)((trace_u128_t)1 << 127)),
         "-170141183460469231731687303715884105728"},
        {trace_u128_(~(trace_u128_t)0),
         "340282366920938463463374607431768211455"},
        {trace_text_("x y"), "\"x y\""},
        {trace_text_(""), "\"\""},
        {trace_text_(NULL), "null"},
        {display("shown as it is"), "shown as it is"},
        {trace_bytes("ab\xff", 3), "[61 62 ff]"},
        {trace_bytes("", 0), "[]"},
        {trace_pointer_((void *)0xbeef), "0xbeef"},
        {trace_pointer_(NULL), "0x0"},
        {trace_errno(2), "No such file or directory (ENOENT)"},
        {trace_errno(0), "Success (0)"},
        {trace_errno(99999), "Unknown error 99999 (?)"},
        {trace_empty(), ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        expect_shown(&rows[i].value, rows[i].text);
}

Test(log_value, formats_reals_as_the_shortest_that_read_back)
{
    static const struct {
        double f;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {100, "100.0"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {123456.789, "123456.789"},
        {1e15, "1000000000000000.0"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1e16"},
        {1.5e16, "1.5e16"},
        {-1.2345678901234568e17, "-1.2345678901234568e17"},
        {1e-4, "0.0001"},
        {9.99e-5, "9.99e-5"},
        {1e-5, "1e-5"},
        {1e300, "1e300"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {5e-324, "5e-324"},
        {NAN, "NaN"},
        {-NAN, "NaN"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_value value = trace_f64_(rows[i].f);

        expect_shown(&value, rows[i].text);
    }
}

Test(log_value, formats_floats_with_a_float_s_digits)
{
    static const struct {
        float f;
        const char *text;
    } rows[] = {
        {0.1f, "0.1"},           {1234.5f, "1234.5"},
        {0.000123f, "0.000123"}, {1.0f / 3, "0.33333334"},
        {-0.0f, "-0.0"},         {16777216.0f, "16777216.0"},
        {1e-5f, "1e-5"},         {3.4028235e38f, "3.4028235e38"},
        {1e-45f, "1e-45"},       {(float)NAN, "NaN"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_value value = trace_f32_(rows[i].f);

        expect_shown(&value, rows[i].text);
    }
}

Test(log_value, formats_random_reals_that_read_back)
{
    test_seed(13);
    for (int round = 0; round < 20000; round++) {
        struct trace_value value = trace_f64_(0);
        struct trace_text text = {0};

        test_random_bytes(&value.as.f, sizeof(value.as.f));
        if (!isfinite(value.as.f))
            continue;
        log_value(&text, &value);
        cr_assert_eq(strtod(text.data, NULL), value.as.f, "%s", text.data);
        trace_text_free(&text);
    }
}

/* Compares with the shortest format that reads back. */
static void expect_fewest_digits(double f)
{
    struct trace_value value = trace_f64_(f);
    struct trace_text text = {0};
    char expected[40];
    int digits = 0;
    size_t shown = 0;

    do
        snprintf(expected, sizeof(expected), "%.*e", digits, f);
    while (digits++ < 17 && strtod(expected, NULL) != f);
    log_value(&text, &value);
    for (const char *at = text.data; *at && *at != 'e'; at++)
        shown += *at >= '0' && *at <= '9' && (shown || *at != '0');
    for (size_t i = text.size; i-- > 0 && strchr("0.", text.data[i]);)
        shown -= text.data[i] == '0' && shown > 0;
    cr_assert_eq(strtod(text.data, NULL), f, "%s", text.data);
    if (!strchr(text.data, 'e') && f >= 1)
        cr_assert_leq(shown, (size_t)digits, "%s, %s", text.data, expected);
    trace_text_free(&text);
}

Test(log_value, formats_reals_with_the_fewest_digits)
{
    test_seed(16);
    for (int round = 0; round < 20000; round++) {
        double f = (double)((test_random() & 0xffffff) >> test_below(24));

        for (uint32_t places = test_below(12); places > 0; places--)
            f /= 10;
        expect_fewest_digits(f);
    }
    expect_fewest_digits(5e-324);
    expect_fewest_digits(DBL_MAX);
}

Test(log_value, escapes_quoted_text)
{
    static const struct {
        const char *text;
        size_t size;
        const char *shown;
    } rows[] = {
        {"it's \"quoted\\\"", 14, "\"it's \\\"quoted\\\\\\\"\""},
        {"\n\r\t\0", 4, "\"\\n\\r\\t\\0\""},
        {"\x01\x1b\x7f", 3, "\"\\u{1}\\u{1b}\\u{7f}\""},
        {"nrt", 3, "\"nrt\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"\xc2\x85\xc2\xa0\xc2\xad", 6, "\"\\u{85}\\u{a0}\\u{ad}\""},
        {"\xe2\x80\xa8\xef\xbb\xbf", 6, "\"\\u{2028}\\u{feff}\""},
        {"\xff\xc3(\xe2\x82", 5, "\"\\xff\\xc3(\\xe2\\x82\""},
        {"\xed\xa0\x80", 3, "\"\\xed\\xa0\\x80\""},
        {"\xc0\x80", 2, "\"\\xc0\\x80\""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_value value = trace_string(rows[i].text, rows[i].size);

        expect_shown(&value, rows[i].shown);
    }
}

Test(log_value, escapes_newlines_and_control_bytes_in_plain_text)
{
    static const struct {
        const char *text;
        size_t size;
        const char *shown;
    } rows[] = {
        {"plain \"text\" \\", 14, "plain \"text\" \\"},
        {"a\nb\rc\0d", 7, "a\\nb\\rc\\0d"},
        {"\ttab", 4, "\ttab"},
        {"\x1b[31m\x07\x7f", 7, "\\x1b[31m\\x07\\x7f"},
        {"\xc2\x9b"
         "31m\xc2\xa0",
         7, "\\u{9b}31m\xc2\xa0"},
        {"\xff\xe2\x82", 3, "\\xff\\xe2\\x82"},
        {"\xc3\xa9", 2, "\xc3\xa9"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text text = {0};

        log_plain(&text, rows[i].text, rows[i].size);
        cr_expect_str_eq(text.data, rows[i].shown, "%s", text.data);
        trace_text_free(&text);
    }
}

/* U+202E reverses the text that follows. */
Test(log_value, escapes_characters_that_reorder_text)
{
    struct trace_text text = {0};

    log_plain(&text, "a\342\200\256b\330\234c\342\201\251d\342\200\220", 15);
    cr_expect_str_eq(text.data, "a\\u{202e}b\\u{61c}c\\u{2069}d\342\200\220");
    trace_text_free(&text);
}

Test(log_value, escapes_any_bytes_that_break_a_line)
{
    test_seed(14);
    for (int round = 0; round < 20000; round++) {
        struct trace_text text = {0};
        char bytes[16];
        size_t size = test_below(sizeof(bytes));
        struct trace_value value = trace_string(bytes, size);

        test_random_bytes(bytes, size);
        value.type = round % 2 ? TRACE_TYPE_STRING : TRACE_TYPE_DISPLAY;
        log_value(&text, &value);
        for (size_t i = 0; i < text.size; i++)
            cr_assert((unsigned char)text.data[i] >= 0x20 ||
                      text.data[i] == '\t');
        trace_text_free(&text);
    }
}
