/* merged_runs.c: the runs that a merged run was made of, in run.json. */
#include <inttypes.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/results/reports/writers.h"
#include "trace/base/containers.h"
#include "trace/base/text.h"

static const char *const ends[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_ENDS(TEST_LOG_X)
#undef TEST_LOG_X
};

enum test_log_end test_log_end_of(const char *word)
{
    for (size_t i = 0; word && i < sizeof(ends) / sizeof(*ends); i++)
        if (!strcmp(word, ends[i]))
            return (enum test_log_end)i;
    return TEST_LOG_END_FINISHED;
}

static void put_text(struct trace_text *text, const char *name,
                     const char *value)
{
    trace_text_printf(text, "\"%s\":", name);
    if (value)
        trace_json_string(text, value, strlen(value));
    else
        trace_text_literal(text, "null");
    trace_text_char(text, ',');
}

static void put_part(struct trace_text *text, const struct test_log_part *part)
{
    trace_text_char(text, '{');
    put_text(text, "run", part->run);
    put_text(text, "host", part->host);
    put_text(text, "testlog", part->testlog);
    put_text(text, "end", ends[part->end]);
    test_log_shard_member(text, &part->shard);
    trace_text_literal(text, ",\"start\":\"");
    trace_text_moment(text, part->start);
    trace_text_printf(
        text, "\",\"offset_ns\":%" PRId64 ",\"uncertainty_ns\":", part->offset);
    if (part->uncertainty == UINT64_MAX)
        trace_text_literal(text, "null");
    else
        trace_json_number(text, part->uncertainty);
    trace_text_printf(text, ",\"tests\":%zu}", part->tests);
}

void test_log_parts_member(struct trace_text *text,
                           const struct test_log_run *run)
{
    if (!run->part_count)
        return;
    trace_text_literal(text, ",\n\"merged\":[");
    for (size_t i = 0; i < run->part_count; i++) {
        trace_text_string(text, i ? ",\n" : "\n");
        put_part(text, &run->parts[i]);
    }
    trace_text_literal(text, "\n]");
}

/* Numbers the hosts that are known. */
static void number_hosts(struct test_log_run *run)
{
    struct trace_table numbers = {0};

    run->host_count = 0;
    for (size_t i = 0; i < run->part_count; i++) {
        struct test_log_part *part = &run->parts[i];
        uintptr_t number;
        uint64_t key;

        if (!part->host)
            continue;
        key = trace_hash_string(TRACE_HASH, part->host);
        if (!trace_table_find(&numbers, key, &number))
            trace_table_set(&numbers, key, number = run->host_count++);
        part->host_number = number;
    }
    trace_table_free(&numbers);
}

/* A run that was killed early names no host. If all other runs have one host,
 * the run belongs to that; otherwise it has an unknown host of its own. */
void test_log_parts_complete(struct test_log_run *run)
{
    size_t known, unknown = 0;

    number_hosts(run);
    known = run->host_count;
    for (size_t i = 0; i < run->part_count; i++)
        if (!run->parts[i].host) {
            run->parts[i].host_number = known > 1 ? known : 0;
            unknown++;
        }
    if (!known || (known > 1 && unknown))
        run->host_count++;
}

static bool is_part(const struct test_log_run *run, size_t part)
{
    return run->host_count > 1 && part && part <= run->part_count;
}

const char *test_log_host(const struct test_log_run *run, size_t part)
{
    return is_part(run, part) ? run->parts[part - 1].host : NULL;
}

size_t test_log_host_number(const struct test_log_run *run, size_t part)
{
    return is_part(run, part) ? run->parts[part - 1].host_number : 0;
}
