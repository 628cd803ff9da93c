/* blocking_rows.c: what made the host wait for devices. */
#include "harness/run/page/recorded.h"
#include "log/devices/blocking.h"

const struct test_log_table_kind test_log_blocking_kind = {
    "blocking",
    3,
    {{"text", TEST_LOG_NUMBER},
     {"start", TEST_LOG_DELTA},
     {"duration", TEST_LOG_NUMBER}}};

void test_log_blocking_put(struct test_log_recorded *recorded)
{
    struct test_log_table *table = &recorded->tables[TEST_LOG_BLOCKING];
    struct log_blockings found;

    if (log_blocking_find(&found, recorded->reader))
        table->failed = true;
    for (size_t i = 0; i < found.count && !table->failed; i++) {
        const struct log_blocking *one = &found.all[i];

        TEST_LOG_ROW(table,
                     test_log_strings_of(&recorded->strings, one->text.data),
                     one->from, one->to - one->from);
    }
    log_blockings_free(&found);
}
