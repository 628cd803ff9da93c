/* harness_columns_test.c: the tables of report.html. */
#include "harness/run/page/columns.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/page.h"
#include "tests/support/support.h"

static const struct test_log_table_kind kind = {"table",
                                                4,
                                                {{"n", TEST_LOG_NUMBER},
                                                 {"i", TEST_LOG_SIGNED},
                                                 {"d", TEST_LOG_DELTA},
                                                 {"f", TEST_LOG_REAL}}};

static struct page_block decode(const struct test_log_strings *strings,
                                const struct test_log_table *table)
{
    struct trace_text block = {0};

    test_log_block_put(&block, "\"member\":7,", strings, &table, 1);
    cr_assert_not(block.failed);
    return page_decode(test_keep(block.data), block.size);
}

Test(harness_columns, numbers_come_back)
{
    static const uint64_t numbers[] = {0,          1,
                                       127,        128,
                                       16383,      16384,
                                       UINT32_MAX, UINT64_C(1) << 32,
                                       1234567890, INT64_MAX,
                                       5,          (uint64_t)-1,
                                       UINT64_MAX, UINT64_MAX - 6};
    size_t count = sizeof(numbers) / sizeof(*numbers);
    struct test_log_table table = {.kind = &kind};
    struct test_log_strings strings = {.count = 0};
    struct page_block block;

    for (size_t i = 0; i < count; i++)
        TEST_LOG_ROW(&table, numbers[i], numbers[i], numbers[i],
                     test_log_real(0.5 * (double)i));
    block = decode(&strings, &table);
    cr_expect_eq(page_rows(&block, "table"), count);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq((uint64_t)page_number(&block, "table", "n", i),
                     numbers[i]);
        cr_expect_eq((uint64_t)page_number(&block, "table", "i", i),
                     numbers[i]);
        cr_expect_eq((uint64_t)page_number(&block, "table", "d", i),
                     numbers[i]);
        cr_expect_eq(page_real(&block, "table", "f", i), 0.5 * (double)i);
    }
    test_log_table_free(&table);
}

Test(harness_columns, rows_that_differ_little_are_small)
{
    struct test_log_table table = {.kind = &kind};

    for (uint64_t i = 0; i < 1000; i++)
        TEST_LOG_ROW(&table, 1, 1, 1000000000 + i * 50, 0);
    cr_expect_lt(table.columns[2].bytes.size, 1010);
    test_log_table_free(&table);
}

Test(harness_columns, strings_are_kept_once)
{
    struct test_log_table table = {.kind = &kind};
    struct test_log_strings strings = {.count = 0};
    uint32_t a = test_log_strings_of(&strings, "a");
    uint32_t b = test_log_strings_add(&strings, "b\0\n\"</script>", 13);
    struct page_block block;

    cr_expect_eq(test_log_strings_of(&strings, ""), 0);
    cr_expect_eq(test_log_strings_of(&strings, NULL), 0);
    cr_expect_neq(a, b);
    cr_expect_eq(test_log_strings_of(&strings, "a"), a);
    cr_expect_eq(test_log_strings_add(&strings, "ab", 1), a);
    TEST_LOG_ROW(&table, a, 0, 0, 0);
    TEST_LOG_ROW(&table, 0, 0, 0, 0);
    block = decode(&strings, &table);
    cr_expect_str_eq(page_text(&block, "table", "n", 0), "a");
    cr_expect_str_eq(page_text(&block, "table", "n", 1), "");
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(block.json, "strings")),
                 3);
    cr_expect_eq(cJSON_GetObjectItem(block.json, "member")->valuedouble, 7);
    test_log_strings_free(&strings);
    test_log_table_free(&table);
}

Test(harness_columns, shortens_a_long_string)
{
    struct test_log_strings strings = {.count = 0};
    size_t size = 3 << 20;
    char *text = malloc(size);

    for (size_t i = 0; i < size; i++)
        text[i] = "\xc3\xa4"[i % 2];
    cr_expect_eq(test_log_strings_add(&strings, text, size), 1);
    cr_expect_eq(strings.cut, 1);
    cr_expect_lt(strings.bytes.size, 66000);
    cr_expect_not_null(
        strstr(strings.bytes.data, "\xc3\xa4... (3080192 more bytes)"));
    free(text);
    test_log_strings_free(&strings);
}

Test(harness_columns, leaves_out_strings_beyond_the_most)
{
    struct test_log_strings strings = {.count = 0};
    static char text[60000];
    size_t added = 0;

    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < 2000; i++) {
        memcpy(text, &i, sizeof(i));
        added += test_log_strings_add(&strings, text, sizeof(text)) > 0;
    }
    cr_expect_leq(strings.bytes.size, 64 << 20);
    cr_expect_eq(added + strings.cut, 2000);
    cr_expect_gt(added, 1000);
    cr_expect_gt(strings.cut, 0);
    test_log_strings_free(&strings);
}

Test(harness_columns, a_row_of_another_size_is_an_error)
{
    struct test_log_table table = {.kind = &kind};

    TEST_LOG_ROW(&table, 1, 2);
    cr_expect(table.failed);
    cr_expect_eq(table.rows, 0);
    test_log_table_free(&table);
}

Test(harness_columns, survives_missing_memory)
{
    size_t allocations = 1;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns malloc");
    for (size_t nth = 1; allocations >= nth; nth++) {
        struct test_log_table table = {.kind = &kind};
        struct test_log_strings strings = {.count = 0};
        struct trace_text block = {0};
        const struct test_log_table *const tables[] = {&table};

        test_fail_memory(nth, true);
        TEST_LOG_ROW(&table, test_log_strings_of(&strings, "text"), 0, 0, 0);
        test_log_block_put(&block, "", &strings, tables, 1);
        allocations = test_fail_memory(0, true);
        cr_expect(table.failed || block.failed || strings.cut ||
                  strings.count < 2 || allocations >= nth);
        test_log_strings_free(&strings);
        test_log_table_free(&table);
        trace_text_free(&block);
    }
}
