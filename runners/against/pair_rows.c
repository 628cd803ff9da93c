/* pair_rows.c: the tests of two runs, side by side. */
#include <string.h>

#include "against.h"
#include "harness/run/page/columns.h"
#include "trace/base/text.h"

enum { REASON_MOST = 300 /* bytes of a reason */ };

const struct test_log_table_kind runners_pair_kind = {
    "pairs",
    10,
    {{"program", TEST_LOG_NUMBER},
     {"name", TEST_LOG_NUMBER},
     {"change", TEST_LOG_NUMBER},
     {"old_outcome", TEST_LOG_NUMBER},
     {"new_outcome", TEST_LOG_NUMBER},
     {"old_reason", TEST_LOG_NUMBER},
     {"new_reason", TEST_LOG_NUMBER},
     {"old_duration", TEST_LOG_SIGNED},
     {"new_duration", TEST_LOG_SIGNED},
     {"bound", TEST_LOG_SIGNED}}};

static uint32_t reason_of(struct test_log_strings *strings,
                          const struct test_log_result *result)
{
    const char *reason = result && result->reason ? result->reason : "";
    size_t size = strlen(reason);

    if (size > REASON_MOST)
        size = trace_utf8_boundary(reason, REASON_MOST);
    return test_log_strings_add(strings, reason, size);
}

/* A test that did not run has no outcome. */
static uint32_t outcome_of(struct test_log_strings *strings,
                           const struct test_log_result *result)
{
    return test_log_strings_of(
        strings, result ? test_log_outcome_word(result->outcome) : NULL);
}

static void add(struct against_block *block, const struct change *change)
{
    const struct test_log_result *before = change->before;
    const struct test_log_result *after = change->after;
    const struct test_log_result *any = after ? after : before;
    struct test_log_strings *strings = &block->strings;

    TEST_LOG_ROW(
        &block->pairs, test_log_strings_of(strings, any->program),
        test_log_strings_of(strings, test_log_name(any)),
        test_log_strings_of(strings, runners_change_kinds[change->kind].word),
        outcome_of(strings, before), outcome_of(strings, after),
        reason_of(strings, before), reason_of(strings, after),
        before ? before->duration : 0, after ? after->duration : 0,
        change->bound);
}

void runners_against_pairs(struct against_block *block,
                           const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (block->pairs.rows < block->most)
            add(block, &changes->all[i]);
        else
            block->left_out.pairs++;
}
