/* shards.c: finds which shard of the tests this process runs. */
#include <string.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/session.h"
#include "options.h"

/* X(index, total, the variable where indexes begin or NULL, where they begin
 * without it, whether "auto" asks for it). The first source that is set counts.
 * MPI's ranks come before Slurm, whose step may have launched only MPI's
 * daemons. All others come before GitLab, whose job may run a scheduler. */
#define SOURCES(X)                                                             \
    X("TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", NULL, 0, false)                 \
    X("GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", NULL, 0, false)               \
    X("JOB_COMPLETION_INDEX", "TEST_TOTAL_SHARDS", NULL, 0, true)              \
    X("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", \
      0, true)                                                                 \
    X("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, 0, true)           \
    X("PMI_RANK", "PMI_SIZE", NULL, 0, true)                                   \
    X("SLURM_PROCID", "SLURM_NTASKS", NULL, 0, true)                           \
    X("CI_NODE_INDEX", "CI_NODE_TOTAL", NULL, 1, true)

struct source {
    const char *index, *total, *first;
    size_t base;
    bool asked;
};

static const struct source sources[] = {
#define X(index, total, first, base, asked) {index, total, first, base, asked},
    SOURCES(X)
#undef X
};

enum {
    BAZEL,
    KUBERNETES = 2,
    OPEN_MPI = 4,
    PMI,
    SOURCE_COUNT = sizeof(sources) / sizeof(*sources),
    GITLAB = SOURCE_COUNT - 1
};

/* Slurm's arrays may begin at any index, but no scheduler has so many tasks. */
static const size_t most = 1000000, last_index = 1000000000;

/* Accepts only digits, not "1e3" or " 7". */
static bool is_number(const char *text, size_t limit, size_t *number)
{
    *number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || *number > limit)
            return false;
        *number = *number * 10 + (size_t)(*at - '0');
    }
    return *text && *number <= limit;
}

/* Finds the first source with a variable that is set. Its other variables must
 * come from the same source. */
static const struct source *find_source(bool all)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        const struct source *source = &sources[i];

        if (source->asked && !all)
            continue;
        if (test_log_variable(source->index))
            return source;
        /* Kubernetes sets only an index; users set the total under Bazel's
         * name. GitLab always sets the total. */
        if (test_log_variable(source->total) && i != GITLAB &&
            !(i == BAZEL && all &&
              test_log_variable(sources[KUBERNETES].index)))
            return source;
    }
    return NULL;
}

static const char *missing(const struct source *source)
{
    const char *const names[] = {source->index, source->total, source->first};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i] && !test_log_variable(names[i]))
            return names[i];
    return NULL;
}

/* Prints what is wrong with a source that lacks a variable. */
static int refuse_half(const struct source *source, const char *lacks)
{
    fprintf(stderr, "testlog: %s is set and %s is not; set both or neither\n",
            lacks == source->index ? source->total : source->index, lacks);
    return -1;
}

static int read_source(struct test_log_shard *shard,
                       const struct source *source)
{
    const char *lacks = missing(source), *index, *total;
    size_t first = source->base, last;

    if (lacks)
        return refuse_half(source, lacks);
    index = test_log_variable(source->index);
    total = test_log_variable(source->total);
    if (!is_number(total, most, &shard->total) || !shard->total) {
        fprintf(
            stderr,
            "testlog: %s: \"%s\" is not a number of shards; write 1 to %zu\n",
            source->total, total, most);
        return -1;
    }
    if (source->first &&
        !is_number(test_log_variable(source->first), last_index, &first)) {
        fprintf(stderr, "testlog: %s: \"%s\" is not a number\n", source->first,
                test_log_variable(source->first));
        return -1;
    }
    last = first + shard->total - 1;
    if (!is_number(index, last, &shard->index) || shard->index < first) {
        fprintf(stderr,
                "testlog: %s: \"%s\" is not a shard of %zu (%s); write %zu to "
                "%zu\n",
                source->index, index, shard->total, source->total, first, last);
        return -1;
    }
    shard->index -= first;
    shard->origin = source->index;
    return 0;
}

/* "2/5", counted from 1. */
static int read_pair(struct test_log_shard *shard,
                     const struct test_log_setting *asked)
{
    const char *slash = strchr(asked->value, '/');
    char index[16];

    if (!slash || !is_number(slash + 1, most, &shard->total) || !shard->total) {
        fprintf(stderr,
                "testlog: %s: \"%s\" is not a shard; write K/N, such as 2/5, "
                "with N up to %zu, or auto\n",
                asked->origin, asked->value, most);
        return -1;
    }
    snprintf(index, sizeof(index), "%.*s", (int)(slash - asked->value),
             asked->value);
    if (!is_number(index, shard->total, &shard->index) || !shard->index) {
        fprintf(stderr,
                "testlog: %s: \"%s\" is not a shard; write 1/%zu to %zu/%zu\n",
                asked->origin, asked->value, shard->total, shard->total,
                shard->total);
        return -1;
    }
    shard->index--;
    return 0;
}

int test_log_shard_find(struct test_log_shard *shard,
                        const struct test_log_setting *asked)
{
    bool all = asked->value && log_same_word(asked->value, "auto");
    const struct source *source = NULL;

    if (asked->value && !all) {
        shard->origin = asked->origin;
        return read_pair(shard, asked);
    }
    /* The variables are for the outer runner, not for programs that its tests
     * start. */
    if (all || !test_log_session()->nested)
        source = find_source(all);
    if (source)
        return read_source(shard, source);
    shard->origin = asked->origin; /* NULL, unless "auto" found nothing */
    return 0;
}

void test_log_rank_find(struct test_log_rank *rank,
                        const struct test_log_shard *shard)
{
    *rank = (struct test_log_rank){.total = 0};
    for (size_t i = OPEN_MPI; i <= PMI && !test_log_session()->nested; i++) {
        const char *index = test_log_variable(sources[i].index);
        const char *total = test_log_variable(sources[i].total);
        struct test_log_rank found;

        if (!index || !total || !is_number(index, most, &found.index) ||
            !is_number(total, most, &found.total) || found.index >= found.total)
            continue;
        if (found.total > 1 &&
            (!shard->total || shard->origin != sources[i].index))
            *rank = found;
        return;
    }
}

int test_log_shard_read_way(const char *name, const char *word,
                            enum test_log_shard_way *way)
{
    unsigned choice;

    if (test_log_read_word(name, word, test_log_shard_ways, &choice))
        return -1;
    *way = (enum test_log_shard_way)choice;
    return 0;
}
