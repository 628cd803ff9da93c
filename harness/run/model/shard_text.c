/* shard_text.c: prints which shard this is, for people and in run.json. */
#include <inttypes.h>

#include "harness/machine/notice.h"
#include "harness/run/terminal/terminal.h"

const char *const test_log_shard_ways[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_SHARD_WAYS(TEST_LOG_X)
#undef TEST_LOG_X
        NULL};

bool test_log_shard_by_time(const struct test_log_shard *shard)
{
    return shard->total && shard->way == TEST_LOG_SHARD_TIME;
}

void test_log_shard_text(struct trace_text *text,
                         const struct test_log_shard *shard)
{
    if (shard->total)
        trace_text_printf(text, "shard: %zu/%zu by %s (%s)", shard->index + 1,
                          shard->total, test_log_shard_ways[shard->way],
                          shard->origin);
    else if (shard->origin)
        trace_text_printf(
            text,
            "shard: all tests, because no scheduler's variable is set "
            "(%s=auto)",
            shard->origin);
    if (test_log_shard_by_time(shard))
        trace_text_printf(text, ", %zu duration%s, history %016" PRIx64,
                          shard->durations, shard->durations == 1 ? "" : "s",
                          shard->history);
}

void test_log_print_empty_shard(const struct test_log_run *run)
{
    if (run->shard.total && !run->count)
        test_log_notice("shard %zu/%zu has no test", run->shard.index + 1,
                        run->shard.total);
}

void test_log_shard_json(struct trace_text *text,
                         const struct test_log_shard *shard)
{
    if (!shard->total) {
        trace_text_string(text, "null");
        return;
    }
    trace_text_printf(text, "{\"index\":%zu,\"total\":%zu,\"by\":\"%s\"",
                      shard->index, shard->total,
                      test_log_shard_ways[shard->way]);
    if (test_log_shard_by_time(shard))
        trace_text_printf(text,
                          ",\"durations\":%zu,\"history\":\"%016" PRIx64 "\"",
                          shard->durations, shard->history);
    trace_text_char(text, '}');
}
