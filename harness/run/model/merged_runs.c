/* merged_runs.c: the runs that a merged run was made of, in run.json. */
#include <inttypes.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "trace/base/containers.h"
#include "trace/base/text.h"

static const char *const ends[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_ENDS(TEST_LOG_X)
#undef TEST_LOG_X
};

const char *test_log_end_word(enum test_log_end end)
{
    return ends[end];
}

enum test_log_end test_log_end_of(const char *word)
{
    for (size_t i = 0; word && i < sizeof(ends) / sizeof(*ends); i++)
        if (!strcmp(word, ends[i]))
            return (enum test_log_end)i;
    return TEST_LOG_END_FINISHED;
}

/* Numbers the hosts that are known. */
static void number_hosts(struct test_log_run *run)
{
    struct trace_table numbers = {0};

    run->host_count = 0;
    for (size_t i = 0; i < run->source_count; i++) {
        struct test_log_merged_run *merged = &run->sources[i];
        uintptr_t number;
        uint64_t key;

        if (!merged->host)
            continue;
        key = trace_hash_string(TRACE_HASH, merged->host);
        if (!trace_table_find(&numbers, key, &number))
            trace_table_set(&numbers, key, number = run->host_count++);
        merged->host_number = number;
    }
    trace_table_free(&numbers);
}

/* A run that was killed early names no host. If all other runs have one host,
 * the run belongs to that; otherwise it has an unknown host of its own. */
void test_log_merged_runs_complete(struct test_log_run *run)
{
    size_t known, unknown = 0;

    number_hosts(run);
    known = run->host_count;
    for (size_t i = 0; i < run->source_count; i++)
        if (!run->sources[i].host) {
            run->sources[i].host_number = known > 1 ? known : 0;
            unknown++;
        }
    if (!known || (known > 1 && unknown))
        run->host_count++;
}

static bool has_source(const struct test_log_run *run, size_t source)
{
    return run->host_count > 1 && source && source <= run->source_count;
}

const char *test_log_host(const struct test_log_run *run, size_t source)
{
    return has_source(run, source) ? run->sources[source - 1].host : NULL;
}

size_t test_log_host_number(const struct test_log_run *run, size_t source)
{
    return has_source(run, source) ? run->sources[source - 1].host_number : 0;
}
