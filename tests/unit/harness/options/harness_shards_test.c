/* harness_shards_test.c: finds the shard of a process, and the tests in a
 * shard. */
#include "harness/criterion/plan/balance.h"
#include "harness/criterion/plan/plan.h"
#include "harness/options/options.h"
#include "harness/session.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/support.h"

static const char *const variables[] = {"TEST_SHARD_INDEX",
                                        "TEST_TOTAL_SHARDS",
                                        "GTEST_SHARD_INDEX",
                                        "GTEST_TOTAL_SHARDS",
                                        "JOB_COMPLETION_INDEX",
                                        "SLURM_ARRAY_TASK_ID",
                                        "SLURM_ARRAY_TASK_MIN",
                                        "SLURM_ARRAY_TASK_COUNT",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "CI_NODE_INDEX",
                                        "CI_NODE_TOTAL",
                                        "TESTLOG_SESSION"};

static void clear(void)
{
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
    test_log_session_forget();
}

TestSuite(harness_shards, .init = clear);

static struct test_log_rank found_rank;

/* Finds the shard and rank under a line of variables, separated by spaces. */
static int find(struct test_log_shard *shard, const char *line,
                const char *asked)
{
    const struct test_log_setting setting = {asked, asked ? "--shard" : NULL};
    char words[256], *rest = words, *word;
    int status;

    *shard = (struct test_log_shard){.total = 0};
    snprintf(words, sizeof(words), "%s", line);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value = '\0';
        setenv(word, value + 1, 1);
    }
    test_log_session_forget();
    status = test_log_shard_find(shard, &setting);
    test_log_rank_find(&found_rank, shard);
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
    return status;
}

#define ARRAY                                                                  \
    "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4 "
#define STEP "SLURM_PROCID=0 SLURM_NTASKS=6 "
#define OMPI "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 "

static const struct {
    const char *variables, *asked;
    size_t index, total;
    const char *origin;
} found[] = {
    {"", NULL, 0, 0, NULL},
    {"", "2/5", 1, 5, "--shard"},
    {"", "1/1", 0, 1, "--shard"},
    {"", "1000000/1000000", 999999, 1000000, "--shard"},
    {"TEST_SHARD_INDEX=2 TEST_TOTAL_SHARDS=3", NULL, 2, 3, "TEST_SHARD_INDEX"},
    {"TEST_SHARD_INDEX=2 TEST_TOTAL_SHARDS=3", "1/2", 0, 2, "--shard"},
    {"TEST_SHARD_INDEX=2 TEST_TOTAL_SHARDS=3 " STEP, "auto", 2, 3,
     "TEST_SHARD_INDEX"},
    {"TEST_SHARD_INDEX= TEST_TOTAL_SHARDS=", NULL, 0, 0, NULL},
    {"GTEST_SHARD_INDEX=0 GTEST_TOTAL_SHARDS=2", NULL, 0, 2,
     "GTEST_SHARD_INDEX"},
    {"TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=0 "
     "GTEST_TOTAL_SHARDS=2",
     NULL, 1, 4, "TEST_SHARD_INDEX"},
    /* Without a request, a scheduler's variables have no effect. */
    {ARRAY STEP OMPI "PMI_RANK=1 PMI_SIZE=2 JOB_COMPLETION_INDEX=1", NULL, 0, 0,
     NULL},
    {"", "auto", 0, 0, "--shard"},
    {"JOB_COMPLETION_INDEX=1 TEST_TOTAL_SHARDS=3", "auto", 1, 3,
     "JOB_COMPLETION_INDEX"},
    {ARRAY STEP, "AUTO", 2, 4, "SLURM_ARRAY_TASK_ID"},
    {STEP, "auto", 0, 6, "SLURM_PROCID"},
    {STEP OMPI, "auto", 1, 3, "OMPI_COMM_WORLD_RANK"},
    {"SLURM_NTASKS=6 " OMPI, "auto", 1, 3, "OMPI_COMM_WORLD_RANK"},
    {"PMI_RANK=1 PMI_SIZE=2", "auto", 1, 2, "PMI_RANK"},
    {"CI_NODE_INDEX=1 CI_NODE_TOTAL=3", "auto", 0, 3, "CI_NODE_INDEX"},
    {"CI_NODE_INDEX=3 CI_NODE_TOTAL=3", "auto", 2, 3, "CI_NODE_INDEX"},
    {"CI_NODE_INDEX=3 CI_NODE_TOTAL=3 " STEP, "auto", 0, 6, "SLURM_PROCID"},
    {"CI_NODE_INDEX=3 CI_NODE_TOTAL=3", NULL, 0, 0, NULL},
    {"CI_NODE_TOTAL=1", "auto", 0, 0, "--shard"},
    {"TESTLOG_SESSION=nested=1:1 TEST_SHARD_INDEX=2 TEST_TOTAL_SHARDS=3", NULL,
     0, 0, NULL},
    {"TESTLOG_SESSION=nested=1:1", "2/3", 1, 3, "--shard"},
};

Test(harness_shards, finds_the_shard)
{
    for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++) {
        struct test_log_shard shard;

        cr_expect_eq(find(&shard, found[i].variables, found[i].asked), 0,
                     "row %zu", i);
        cr_expect_eq(shard.index, found[i].index, "row %zu", i);
        cr_expect_eq(shard.total, found[i].total, "row %zu", i);
        cr_expect_str_eq(shard.origin ? shard.origin : "none",
                         found[i].origin ? found[i].origin : "none", "row %zu",
                         i);
    }
}

static const struct {
    const char *variables, *asked, *printed;
} refused[] = {
    {"", "",
     "--shard: \"\" is not a shard; write K/N, such as 2/5, with N up to "
     "1000000, or auto"},
    {"", "2",
     "--shard: \"2\" is not a shard; write K/N, such as 2/5, with N up to "
     "1000000, or auto"},
    {"", "2/x",
     "--shard: \"2/x\" is not a shard; write K/N, such as 2/5, with N up to "
     "1000000, or auto"},
    {"", "1/0",
     "--shard: \"1/0\" is not a shard; write K/N, such as 2/5, with N up to "
     "1000000, or auto"},
    {"", "1/1000001",
     "--shard: \"1/1000001\" is not a shard; write K/N, such as 2/5, with N up "
     "to 1000000, or auto"},
    {"", "0/5", "--shard: \"0/5\" is not a shard; write 1/5 to 5/5"},
    {"", "6/5", "--shard: \"6/5\" is not a shard; write 1/5 to 5/5"},
    {"", "/5", "--shard: \"/5\" is not a shard; write 1/5 to 5/5"},
    {"", "-1/5", "--shard: \"-1/5\" is not a shard; write 1/5 to 5/5"},
    {"TEST_SHARD_INDEX=1", NULL,
     "TEST_SHARD_INDEX is set and TEST_TOTAL_SHARDS is not; set both or "
     "neither"},
    {"TEST_TOTAL_SHARDS=1", NULL,
     "TEST_TOTAL_SHARDS is set and TEST_SHARD_INDEX is not; set both or "
     "neither"},
    {"TEST_TOTAL_SHARDS=3 JOB_COMPLETION_INDEX=1", NULL,
     "TEST_TOTAL_SHARDS is set and TEST_SHARD_INDEX is not; set both or "
     "neither"},
    {"JOB_COMPLETION_INDEX=1", "auto",
     "JOB_COMPLETION_INDEX is set and TEST_TOTAL_SHARDS is not; set both or "
     "neither"},
    {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2", "auto",
     "SLURM_ARRAY_TASK_ID is set and SLURM_ARRAY_TASK_MIN is not; set both or "
     "neither"},
    {"SLURM_NTASKS=1", "auto",
     "SLURM_NTASKS is set and SLURM_PROCID is not; set both or neither"},
    {"TEST_SHARD_INDEX=3 TEST_TOTAL_SHARDS=3", NULL,
     "TEST_SHARD_INDEX: \"3\" is not a shard of 3 (TEST_TOTAL_SHARDS); write 0 "
     "to 2"},
    {"TEST_SHARD_INDEX=1e0 TEST_TOTAL_SHARDS=3", NULL,
     "TEST_SHARD_INDEX: \"1e0\" is not a shard of 3 (TEST_TOTAL_SHARDS); write "
     "0 to 2"},
    {"TEST_SHARD_INDEX=18446744073709551617 TEST_TOTAL_SHARDS=3", NULL,
     "TEST_SHARD_INDEX: \"18446744073709551617\" is not a shard of 3 "
     "(TEST_TOTAL_SHARDS); write 0 to 2"},
    {"TEST_SHARD_INDEX=0 TEST_TOTAL_SHARDS=0", NULL,
     "TEST_TOTAL_SHARDS: \"0\" is not a number of shards; write 1 to 1000000"},
    {"GTEST_SHARD_INDEX=0 GTEST_TOTAL_SHARDS=x", NULL,
     "GTEST_TOTAL_SHARDS: \"x\" is not a number of shards; write 1 to 1000000"},
    {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=2",
     "auto",
     "SLURM_ARRAY_TASK_ID: \"4\" is not a shard of 2 (SLURM_ARRAY_TASK_COUNT); "
     "write 5 to 6"},
    {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=y SLURM_ARRAY_TASK_COUNT=2",
     "auto", "SLURM_ARRAY_TASK_MIN: \"y\" is not a number"},
    {"CI_NODE_INDEX=0 CI_NODE_TOTAL=3", "auto",
     "CI_NODE_INDEX: \"0\" is not a shard of 3 (CI_NODE_TOTAL); write 1 to 3"},
};

Test(harness_shards, names_bad_values)
{
    struct trace_text printed = {0};

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        struct test_log_shard shard;

        cr_expect_eq(find(&shard, refused[i].variables, refused[i].asked), -1,
                     "row %zu", i);
        trace_text_printf(&printed, "testlog: %s\n", refused[i].printed);
    }
    fflush(stderr);
    cr_expect_stderr_eq_str(printed.data);
    trace_text_free(&printed);
}

/* ---- Ranks ---- */

static const struct {
    const char *variables, *asked;
    size_t index, total;
} ranks[] = {
    {"", NULL, 0, 0},
    {OMPI, NULL, 1, 3},
    {OMPI, "1/2", 1, 3},
    {OMPI, "auto", 0, 0},
    {ARRAY OMPI, "auto", 1, 3},
    {"PMI_RANK=1 PMI_SIZE=2", NULL, 1, 2},
    {"PMI_RANK=0 PMI_SIZE=1", NULL, 0, 0},
    {"PMI_RANK=2 PMI_SIZE=2", NULL, 0, 0},
    {"PMI_RANK=x PMI_SIZE=2", NULL, 0, 0},
    {"OMPI_COMM_WORLD_RANK=1", NULL, 0, 0},
    {STEP, NULL, 0, 0},
    {"TESTLOG_SESSION=nested=1:1 " OMPI, NULL, 0, 0},
};

Test(harness_shards, finds_the_rank)
{
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++) {
        struct test_log_shard shard;

        cr_expect_eq(find(&shard, ranks[i].variables, ranks[i].asked), 0,
                     "row %zu", i);
        cr_expect_eq(found_rank.index, ranks[i].index, "row %zu", i);
        cr_expect_eq(found_rank.total, ranks[i].total, "row %zu", i);
    }
}

/* ---- Which tests ---- */

enum { TESTS = 101 };

static const char *name_of(size_t i)
{
    static char name[32];

    snprintf(name, sizeof(name), "suite/sizes[%03zu]", i);
    return name;
}

/* How many of `total` shards contain a test. */
static size_t owners(size_t total, enum test_log_shard_way way, size_t i,
                     size_t *counts)
{
    size_t sum = 0;

    for (size_t index = 0; index < total; index++) {
        const struct test_log_shard shard = {.total = total, .way = way};
        bool has = test_log_shard_of(&shard, i, name_of(i)) == index;

        sum += has;
        counts[index] += has;
    }
    return sum;
}

Test(harness_shards, puts_every_test_into_one_shard)
{
    static const enum test_log_shard_way ways[] = {TEST_LOG_SHARD_SLICE,
                                                   TEST_LOG_SHARD_HASH};

    for (size_t total = 1; total <= 2 * TESTS; total += 7)
        for (size_t way = 0; way < 2; way++) {
            size_t counts[2 * TESTS] = {0};

            for (size_t i = 0; i < TESTS; i++)
                cr_expect_eq(owners(total, ways[way], i, counts), 1,
                             "%zu of %zu", i, total);
            for (size_t i = 0; way == 0 && i < total; i++)
                cr_expect(counts[i] - TESTS / total <= 1, "slices differ");
        }
}

/* FNV-1a of "a" and "foobar", as published. */
Test(harness_shards, hashes_only_the_name)
{
    static const struct {
        const char *name;
        uint64_t sum;
    } known[] = {{"a", UINT64_C(0xaf63dc4c8601ec8c)},
                 {"foobar", UINT64_C(0x85944171f73967e8)}};
    const size_t total = 999983;

    for (size_t i = 0; i < 2; i++) {
        const struct test_log_shard shard = {.total = total,
                                             .way = TEST_LOG_SHARD_HASH};

        for (size_t place = 0; place < 100; place++)
            cr_expect_eq(test_log_shard_of(&shard, place, known[i].name),
                         known[i].sum % total);
    }
}

Test(harness_shards, parses_ways_to_split)
{
    enum test_log_shard_way way = TEST_LOG_SHARD_SLICE;

    cr_expect_eq(test_log_shard_read_way("--shard-by", "Hash", &way), 0);
    cr_expect_eq(way, TEST_LOG_SHARD_HASH);
    cr_expect_eq(test_log_shard_read_way("--shard-by", "name", &way), -1);
    fflush(stderr);
    cr_expect_stderr_eq_str("testlog: --shard-by: unknown value \"name\"; "
                            "write slice, hash or time\n");
}

/* ---- Output ---- */

static void expect_text(struct test_log_shard shard, const char *printed,
                        const char *member)
{
    struct trace_text text = {0};

    test_log_shard_text(&text, &shard);
    cr_expect_str_eq(text.data ? text.data : "", printed);
    trace_text_free(&text);
    text = (struct trace_text){0};
    test_log_shard_json(&text, &shard);
    cr_expect_str_eq(text.data, member);
    trace_text_free(&text);
}

Test(harness_shards, prints_the_shard_as_requested)
{
    expect_text((struct test_log_shard){.index = 1,
                                        .total = 5,
                                        .way = TEST_LOG_SHARD_HASH,
                                        .origin = "--shard"},
                "shard: 2/5 by hash (--shard)",
                "{\"index\":1,\"total\":5,\"by\":\"hash\"}");
    expect_text((struct test_log_shard){.index = 1,
                                        .total = 5,
                                        .way = TEST_LOG_SHARD_TIME,
                                        .origin = "--shard",
                                        .durations = 812,
                                        .history = 0xfeed},
                "shard: 2/5 by time (--shard), 812 durations, history "
                "000000000000feed",
                "{\"index\":1,\"total\":5,\"by\":\"time\","
                "\"durations\":812,\"history\":\"000000000000feed\"}");
    expect_text((struct test_log_shard){.total = 1,
                                        .way = TEST_LOG_SHARD_TIME,
                                        .origin = "--shard",
                                        .durations = 1},
                "shard: 1/1 by time (--shard), 1 duration, history "
                "0000000000000000",
                "{\"index\":0,\"total\":1,\"by\":\"time\","
                "\"durations\":1,\"history\":\"0000000000000000\"}");
    expect_text((struct test_log_shard){.way = TEST_LOG_SHARD_TIME}, "",
                "null");
    expect_text((struct test_log_shard){.origin = "TEST_SHARD"},
                "shard: all tests, because no scheduler's variable is set "
                "(TEST_SHARD=auto)",
                "null");
}
