/* harness_blocks_test.c: blocks of data as elements of report.html. */
#include "harness/run/page/blocks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/page.h"
#include "tests/support/support.h"

static struct trace_text block_of(size_t rest)
{
    static const char json[] = "{\"tables\":{},\"strings\":[\"\"]}";
    struct trace_text block = {0};

    trace_text_add(&block, json, sizeof(json));
    for (size_t i = 0; i < rest; i++)
        trace_text_char(&block, (char)(test_random() >> 7));
    return block;
}

static void check_comes_back(struct page_block read,
                             const struct trace_text *block, size_t rest)
{
    cr_assert_eq(read.size, rest);
    cr_expect_eq(memcmp(read.columns, block->data + block->size - rest, rest),
                 0);
}

static void check_packed(size_t rest)
{
    struct trace_text block = block_of(rest);
    struct test_log_packed packed;

    cr_assert_eq(test_log_pack(&packed, &block), 0);
    check_comes_back(page_inflate(packed.bytes, packed.size), &block, rest);
    free(packed.bytes);
    trace_text_free(&block);
}

Test(harness_blocks, zlib_reads_what_was_packed)
{
    if (!page_can_read())
        cr_skip_test("no zlib");
    test_seed(1);
    check_packed(0);
    check_packed(1);
    check_packed(200000);
}

/* The size of a stored block has 16 bits. */
Test(harness_blocks, zlib_reads_what_was_stored)
{
    static const size_t sizes[] = {0, 1, 65000, 65505, 65506, 65507, 300000};

    if (!page_can_read())
        cr_skip_test("no zlib");
    test_seed(2);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct trace_text block = block_of(sizes[i]);
        struct test_log_packed packed;

        cr_assert_eq(test_log_store(&packed, &block), 0);
        check_comes_back(page_inflate(packed.bytes, packed.size), &block,
                         sizes[i]);
        free(packed.bytes);
        trace_text_free(&block);
    }
}

static char *element(size_t rest, uint64_t left, bool whole, bool *written)
{
    struct trace_text block = block_of(rest);
    struct test_log_packed packed;
    char *html = NULL;
    size_t size;
    struct test_log_page_file file = {open_memstream(&html, &size), left};

    cr_assert_eq(test_log_pack(&packed, &block), 0);
    fputs("\n", file.stream);
    *written = test_log_page_element(&file, "t7.1", &packed, whole);
    fclose(file.stream);
    free(packed.bytes);
    trace_text_free(&block);
    cr_expect_leq(file.left, left);
    return test_keep(html);
}

Test(harness_blocks, an_element_has_the_block_in_base64)
{
    bool written;

    if (!page_can_read())
        cr_skip_test("no zlib");
    test_seed(3);
    for (size_t rest = 0; rest < 70000; rest = rest * 3 + 1) {
        char *html = element(rest, 1 << 20, false, &written);

        cr_expect(written);
        cr_expect_eq(page_block(html, "t7.1").size, rest);
        cr_expect_not(page_has(html, "t7"));
    }
}

Test(harness_blocks, leaves_out_what_does_not_fit)
{
    bool written;
    char *html = element(5000, 4000, false, &written);

    cr_expect_not(written);
    cr_expect_str_eq(html, "\n");
    html = element(5000, 4000, true, &written);
    cr_expect(written);
    cr_expect(page_has(html, "t7.1"));
}

Test(harness_blocks, refuses_a_block_without_memory)
{
    struct trace_text block = {.failed = true};
    struct test_log_packed packed;

    cr_expect_eq(test_log_pack(&packed, &block), -1);
    cr_expect_null(packed.bytes);
}
