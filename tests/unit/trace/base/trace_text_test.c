/* trace_text_test.c: growing texts, times, level words and sizes. */
#include "tests/support/support.h"

#include "trace/base/text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(trace_text, grows_as_text_is_added)
{
    struct trace_text text = {0};

    for (int i = 0; i < 1000; i++) {
        trace_text_add(&text, "ab", 2);
        trace_text_string(&text, "c");
        trace_text_char(&text, 'd');
        trace_text_printf(&text, "%d", i % 10);
    }
    cr_expect_eq(text.size, 5000);
    cr_expect_eq(strlen(text.data), 5000);
    cr_expect_eq(strncmp(text.data + 4990, "abcd8abcd9", 10), 0);
    cr_expect_not(text.failed);
    trace_text_free(&text);
    cr_expect_null(text.data);
}

Test(trace_text, writes_times_in_utc)
{
    struct trace_text text = {0};

    trace_text_moment(&text, UINT64_C(1234567890000001999));
    cr_expect_str_eq(text.data, "2009-02-13T23:31:30.000001Z");
    trace_text_clear(&text);
    trace_text_moment(&text, UINT64_MAX); /* as in a damaged recording */
    cr_expect_eq(text.size, strlen("2554-07-21T23:34:33.709551Z"));
    trace_text_free(&text);
}

Test(trace_text, accepts_empty_text)
{
    struct trace_text text = {0};

    trace_text_clear(&text);
    trace_text_add(&text, NULL, 0);
    trace_text_string(&text, "");
    cr_expect_eq(text.size, 0);
    trace_text_char(&text, '\0');
    cr_expect_eq(text.size, 1);
    trace_text_printf(&text, "%s", "");
    cr_expect_eq(text.size, 1);
    trace_text_free(&text);
    trace_text_free(&text);
}

Test(trace_text, drops_text_beyond_its_ceiling)
{
    struct trace_text text = {.ceiling = 10};

    trace_text_string(&text, "12345678");
    cr_expect_not(text.failed);
    trace_text_string(&text, "90");
    cr_expect(text.failed);
    trace_text_char(&text, 'x');
    trace_text_printf(&text, "%s", "y");
    cr_expect_str_eq(text.data, "12345678");
    trace_text_clear(&text);
    cr_expect_not(text.failed);
    trace_text_printf(&text, "%s", "123456789");
    cr_expect_str_eq(text.data, "123456789");
    trace_text_free(&text);
    cr_expect_eq(text.ceiling, 10);
}

Test(trace_text, reports_a_lack_of_memory)
{
    struct trace_text text = {0};

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_fail_memory(1, true);
    trace_text_string(&text, "lost");
    test_fail_memory(0, false);
    cr_expect(text.failed);
    cr_expect_null(text.data);
    trace_text_clear(&text);
    trace_text_string(&text, "kept");
    cr_expect_str_eq(text.data, "kept");
    trace_text_free(&text);
}

Test(trace_text, names_every_level)
{
    static const char *const words[] = {"off",   "error", "warn", "info",
                                        "debug", "trace", "?"};

    for (unsigned level = 0; level < 7; level++)
        cr_expect_str_eq(trace_level_word(level), words[level]);
    cr_expect_str_eq(trace_level_word(UINT32_MAX), "?");
}

Test(trace_text, parses_sizes_of_digits_and_a_unit)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t bytes;
    } rows[] = {
        {"0", true, 0},
        {"123", true, 123},
        {"1K", true, 1024},
        {"64M", true, 64 << 20},
        {"3G", true, UINT64_C(3) << 30},
        {"007K", true, 7168},
        {"18446744073709551615", true, UINT64_MAX},
        {"17179869183G", true, UINT64_C(17179869183) << 30},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999K", false, 0},
        {"17179869184G", false, 0},
        {"", false, 0},
        {"K", false, 0},
        {"1k", false, 0},
        {"1KB", false, 0},
        {"1 K", false, 0},
        {" 1", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {"1.5M", false, 0},
        {"0x10", false, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t bytes = 0;

        cr_expect_eq(trace_parse_size(rows[i].text, &bytes), rows[i].ok, "%s",
                     rows[i].text);
        cr_expect_eq(bytes, rows[i].bytes, "%s", rows[i].text);
    }
}
