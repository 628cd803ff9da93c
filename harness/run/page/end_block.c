/* end_block.c: the block at the end of a report: what is known only after all
 * recordings were read. */
#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/page/attempts.h"
#include "trace/base/text.h"

const struct test_log_table_kind test_log_count_kind = {
    "counts",
    12,
    {{"test", TEST_LOG_NUMBER},
     {"try", TEST_LOG_NUMBER},
     {"spans", TEST_LOG_NUMBER},
     {"lines", TEST_LOG_NUMBER},
     {"slices", TEST_LOG_NUMBER},
     {"kernels", TEST_LOG_NUMBER},
     {"copies", TEST_LOG_NUMBER},
     {"compiles", TEST_LOG_NUMBER},
     {"start", TEST_LOG_NUMBER},
     {"end", TEST_LOG_NUMBER},
     {"compiling", TEST_LOG_NUMBER},
     {"waiting", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_left_out_kind = {
    "left_out",
    4,
    {{"test", TEST_LOG_NUMBER},
     {"try", TEST_LOG_NUMBER},
     {"why", TEST_LOG_NUMBER},
     {"command", TEST_LOG_NUMBER}}};

void test_log_end_leave_out(struct test_log_end_block *end,
                            const struct test_log_page *page,
                            const struct test_log_attempt *attempt,
                            const char *why, bool can_write)
{
    struct trace_text command = {0};

    if (can_write && page->run->path)
        test_log_export_hint(&command, page->run, attempt->result, "report");
    TEST_LOG_ROW(
        &end->left_out, attempt->number, attempt->attempt,
        test_log_strings_of(&end->strings, why),
        test_log_strings_add(&end->strings, command.data, command.size));
    trace_text_free(&command);
}

void test_log_end_count(struct test_log_end_block *end,
                        const struct test_log_page *page,
                        const struct test_log_attempt *attempt,
                        const struct trace_reader *reader,
                        const struct test_log_counts *counts)
{
    uint64_t offset = test_log_attempt_offset(page->run, reader);

    TEST_LOG_ROW(&end->counts, attempt->number, attempt->attempt, counts->spans,
                 counts->lines, counts->slices, counts->kernels, counts->copies,
                 counts->compiles,
                 counts->some ? offset + counts->begin + 1 : 0,
                 offset + trace_reader_summary(reader).end,
                 counts->busy.compiling, counts->busy.waiting);
}

static void put_end_members(struct trace_text *out,
                            const struct test_log_run *run)
{
    struct trace_text command = {0};

    if (run->path) {
        trace_text_string(&command, "testlog report ");
        test_log_add_word(&command, run->path);
    }
    trace_text_literal(out, "\"whole\":true,\"report\":");
    trace_json_string(out, command.data ? command.data : "", command.size);
    trace_text_char(out, ',');
    trace_text_free(&command);
}

void test_log_end_put(struct trace_text *out,
                      const struct test_log_end_block *end,
                      const struct test_log_page *page)
{
    const struct test_log_table *const tables[] = {&end->counts,
                                                   &end->left_out};
    struct trace_text members = {0};

    put_end_members(&members, page->run);
    if (end->blocks.data)
        trace_text_printf(&members, "\"blocks\":[%s],", end->blocks.data);
    test_log_block_put(out, members.data ? members.data : "", &end->strings,
                       tables, sizeof(tables) / sizeof(*tables));
    trace_text_free(&members);
}

void test_log_end_free(struct test_log_end_block *end)
{
    test_log_strings_free(&end->strings);
    trace_text_free(&end->blocks);
    test_log_table_free(&end->counts);
    test_log_table_free(&end->left_out);
}
