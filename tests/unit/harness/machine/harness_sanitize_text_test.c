/* harness_sanitize_text_test.c: turns any bytes into text that readers
 * accept. */
#include "harness/machine/notice.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct trace_text text;

static void forget(void)
{
    trace_text_free(&text);
}

TestSuite(harness_sanitize_text, .fini = forget);

static const struct {
    const char *bytes, *clean;
} cases[] = {
    {"", ""},
    {"a\tb\nc", "a\tb\nc"},
    {"a\001b\033[1mc\177d\re", "a?b?[1mc?d?e"},
    {"gr\303\274n \342\202\254 \360\237\246\212",
     "gr\303\274n \342\202\254 \360\237\246\212"},
    {"a\377b", "a\357\277\275b"},
    {"cut\342\202", "cut\357\277\275\357\277\275"},
    {"\355\240\200", "\357\277\275\357\277\275\357\277\275"},
    {"a\357\277\276\357\277\277b", "a\357\277\275\357\277\275b"},
    {"a\302\200\302\237b\302\240", "a\357\277\275\357\277\275b\302\240"},
    {"\357\277\275", "\357\277\275"},
};

Test(harness_sanitize_text, replaces_characters_that_readers_reject)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        trace_text_clear(&text);
        test_log_sanitize(&text, cases[i].bytes, strlen(cases[i].bytes));
        cr_expect_str_eq(text.data ? text.data : "", cases[i].clean, "%zu", i);
    }
}

/* U+061C, U+200E, U+202A, U+202E, U+2066 and U+2069, but not their
 * neighbors. */
Test(harness_sanitize_text, replaces_characters_that_reorder_text)
{
    static const char controls[] = "\330\234\342\200\216\342\200\252"
                                   "\342\200\256\342\201\246\342\201\251";
    static const char others[] = "\330\233\342\200\220\342\200\251"
                                 "\342\200\257\342\201\245\342\201\252";

    test_log_sanitize(&text, controls, strlen(controls));
    cr_expect_str_eq(text.data, "\357\277\275\357\277\275\357\277\275"
                                "\357\277\275\357\277\275\357\277\275");
    trace_text_clear(&text);
    test_log_sanitize(&text, others, strlen(others));
    cr_expect_str_eq(text.data, others);
}

Test(harness_sanitize_text, replaces_nul_bytes)
{
    test_log_sanitize(&text, "a\0b", 3);
    cr_expect_str_eq(text.data, "a?b");
}

Test(harness_sanitize_text, replaces_newlines_only_in_the_added_line)
{
    trace_text_string(&text, "before\n");
    test_log_sanitize_line(&text, "one\ntwo\tthree");
    cr_expect_str_eq(text.data, "before\none two three");
}

Test(harness_sanitize_text, keeps_clean_text)
{
    char bytes[512];
    struct trace_text again = {0};

    test_seed(11);
    for (int i = 0; i < 200; i++) {
        test_random_bytes(bytes, sizeof(bytes));
        trace_text_clear(&text);
        trace_text_clear(&again);
        test_log_sanitize(&text, bytes, sizeof(bytes));
        test_log_sanitize(&again, text.data, text.size);
        cr_assert_str_eq(text.data, again.data);
        for (size_t j = 0; j < text.size; j++)
            cr_assert((unsigned char)text.data[j] >= 0x20 ||
                      text.data[j] == '\n' || text.data[j] == '\t');
    }
    trace_text_free(&again);
}

Test(harness_sanitize_text, fails_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("sanitizers replace malloc");
    test_fail_memory(1, false);
    test_log_sanitize(&text, "a\377b", 3);
    test_fail_memory(0, false);
    cr_expect(text.failed);
}
