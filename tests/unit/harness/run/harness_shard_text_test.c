/* harness_shard_text_test.c: names of a shard for people and for run.json. */
#include "harness/machine/notice.h"
#include "harness/run/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static const struct test_log_shard second = {
    .index = 1, .total = 5, .way = TEST_LOG_SHARD_HASH, .origin = "--shard"};
static struct trace_text text;

static void end(void)
{
    trace_text_free(&text);
}

TestSuite(harness_shard_text, .fini = end);

/* People count from 1. */
Test(harness_shard_text, counts_from_one_for_people)
{
    test_log_shard_text(&text, &second);
    cr_expect_str_eq(text.data, "shard: 2/5 by hash (--shard)");
}

Test(harness_shard_text, tells_that_auto_found_no_scheduler)
{
    const struct test_log_shard none = {.origin = "TEST_SHARD"};

    test_log_shard_text(&text, &none);
    cr_assert_not_null(text.data);
    cr_expect(strstr(text.data, "TEST_SHARD=auto"), "%s", text.data);
}

Test(harness_shard_text, has_no_text_without_shards)
{
    const struct test_log_shard none = {.total = 0};

    test_log_shard_text(&text, &none);
    cr_expect_null(text.data);
}

Test(harness_shard_text, counts_from_zero_in_run_json)
{
    const struct test_log_shard none = {.total = 0};

    test_log_shard_json(&text, &second);
    cr_expect_str_eq(text.data, "{\"index\":1,\"total\":5,\"by\":\"hash\"}");
    trace_text_clear(&text);
    test_log_shard_json(&text, &none);
    cr_expect_str_eq(text.data, "null");
}

Test(harness_shard_text, reports_only_an_empty_shard)
{
    struct test_log_run run = {.shard = second};
    char *printed = NULL;
    size_t size = 0;

    test_log_out = open_memstream(&printed, &size);
    run.count = 1;
    test_log_print_empty_shard(&run);
    cr_expect_eq(fflush(test_log_out), 0);
    cr_expect_eq(size, 0);
    run.count = 0;
    test_log_print_empty_shard(&run);
    cr_expect_str_eq(printed, "testlog: shard 2/5 has no test\n");
    fclose(test_log_out);
    free(printed);
}
