/* name_rows.c: the durations of spans and kernels in two runs, name by name. */
#include <stdlib.h>
#include <string.h>

#include "against.h"
#include "trace/base/buckets.h"
#include "trace/base/text.h"

const struct test_log_table_kind runners_name_kind = {
    "names",
    17,
    {{"kind", TEST_LOG_NUMBER},
     {"name", TEST_LOG_NUMBER},
     {"shape", TEST_LOG_NUMBER},
     {"verdict", TEST_LOG_NUMBER},
     {"noise", TEST_LOG_REAL},
     {"old_count", TEST_LOG_SIGNED},
     {"new_count", TEST_LOG_SIGNED},
     {"old_total", TEST_LOG_SIGNED},
     {"new_total", TEST_LOG_SIGNED},
     {"old_self", TEST_LOG_SIGNED},
     {"new_self", TEST_LOG_SIGNED},
     {"old_median", TEST_LOG_SIGNED},
     {"new_median", TEST_LOG_SIGNED},
     {"old_p99", TEST_LOG_SIGNED},
     {"new_p99", TEST_LOG_SIGNED},
     {"old_most", TEST_LOG_SIGNED},
     {"new_most", TEST_LOG_SIGNED}}};

const struct test_log_table_kind runners_bucket_kind = {
    "buckets",
    5,
    {{"name", TEST_LOG_DELTA},
     {"from", TEST_LOG_SIGNED},
     {"to", TEST_LOG_SIGNED},
     {"old", TEST_LOG_SIGNED},
     {"new", TEST_LOG_SIGNED}}};

/* What testlog diff says of a name; faster is what it says from the new run to
 * the old one. */
enum {
    SLOWER = 1,
    MORE_FREQUENT = 2,
    FASTER = 4,
    LESS_FREQUENT = 8,
    TOO_NOISY = 16, /* and its median is longer */
};

/* A name in both runs. */
struct pair {
    const struct sum *sides[2]; /* NULL: it does not occur */
    unsigned verdict;
    double noise;
};

struct pairs {
    struct pair *all;
    size_t count;
};

static const struct percentiles nothing;

static const struct percentiles *durations_of(const struct pair *pair, int side)
{
    return pair->sides[side] ? &pair->sides[side]->durations : &nothing;
}

/* ---- Pairs ---- */

/* Those of the new run keep their places; those of the old run alone follow. */
static int find_pairs(struct pairs *pairs, const struct slowdowns *slowdowns)
{
    const struct sums *old = &slowdowns->sides[0].sums;
    const struct sums *new = &slowdowns->sides[1].sums;

    pairs->all = calloc(old->count + new->count + 1, sizeof(*pairs->all));
    if (!pairs->all)
        return -1;
    for (size_t i = 0; i < new->count; i++)
        pairs->all[pairs->count++] = (struct pair){
            .sides = {runners_sums_like(old, &new->all[i]), &new->all[i]}};
    for (size_t i = 0; i < old->count; i++)
        if (!runners_sums_like(new, &old->all[i]))
            pairs->all[pairs->count++].sides[0] = &old->all[i];
    return 0;
}

static unsigned flags_of(const struct slowdown *one, unsigned slower,
                         unsigned frequent)
{
    if (one->frequent)
        return frequent;
    return one->judgement.verdict == VERDICT_SLOWER ? slower : 0;
}

/* Notes what was found for the sums of the new run, which begin at `first`. */
static void note_slower(struct pairs *pairs, const struct slowdowns *slowdowns,
                        const struct sum *first)
{
    for (size_t i = 0; i < slowdowns->count; i++) {
        const struct slowdown *one = &slowdowns->all[i];
        struct pair *pair = &pairs->all[one->after - first];

        pair->verdict |= flags_of(one, SLOWER, MORE_FREQUENT);
        if (!one->frequent &&
            runners_may_be_slower(&one->judgement,
                                  runners_over_least(MEASURE_TIME)))
            pair->verdict |= TOO_NOISY;
        if (!one->frequent && (pair->verdict & (SLOWER | TOO_NOISY)))
            pair->noise = one->judgement.noise;
    }
}

static int note_faster(struct pairs *pairs, const struct slowdowns *slowdowns)
{
    struct slowdowns back = {
        .sides = {slowdowns->sides[1], slowdowns->sides[0]}};
    int status =
        runners_slowdowns_compare(&back, runners_over_least(MEASURE_TIME));

    for (size_t i = 0; i < back.count; i++)
        pairs->all[back.all[i].before - slowdowns->sides[1].sums.all].verdict |=
            flags_of(&back.all[i], FASTER, LESS_FREQUENT);
    free(back.all);
    return status;
}

static uint64_t size_of(const struct pair *pair)
{
    uint64_t old = durations_of(pair, 0)->total;
    uint64_t new = durations_of(pair, 1)->total;

    return old > new ? old : new;
}

/* Changed ones first, then those that may be slower. */
static int rank_of(const struct pair *pair)
{
    if (pair->verdict & ~(unsigned)TOO_NOISY)
        return 0;
    return pair->verdict ? 1 : 2;
}

/* By rank, then the largest first. */
static int by_size(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    if (size_of(x) != size_of(y))
        return size_of(x) < size_of(y) ? 1 : -1;
    return 0;
}

/* ---- Rows ---- */

static void put_shape(struct trace_text *out, const struct sum *sum)
{
    static const char *const names[STAT_TEXTS] = {
        [STAT_GRID] = "grid",
        [STAT_BLOCK] = "block",
        [STAT_REGISTERS] = "registers",
        [STAT_SHARED] = "shared",
        [STAT_OCCUPANCY] = "occupancy"};

    for (int i = 0; i < STAT_TEXTS; i++)
        if (names[i] && sum->texts[i])
            trace_text_printf(out, "%s%s=%s", out->size ? " " : "", names[i],
                              sum->texts[i]);
}

static void add_name(struct against_block *block, const char *kind,
                     const struct pair *pair)
{
    const struct sum *any = pair->sides[1] ? pair->sides[1] : pair->sides[0];
    const struct percentiles *old = durations_of(pair, 0);
    const struct percentiles *new = durations_of(pair, 1);
    struct test_log_strings *strings = &block->strings;
    struct trace_text shape = {0};

    put_shape(&shape, any);
    TEST_LOG_ROW(&block->names, test_log_strings_of(strings, kind),
                 test_log_strings_of(strings, any->texts[STAT_NAME]),
                 test_log_strings_add(strings, shape.data, shape.size),
                 pair->verdict, test_log_real(pair->noise), old->count,
                 new->count, old->total, new->total,
                 pair->sides[0] ? pair->sides[0]->self : 0,
                 pair->sides[1] ? pair->sides[1]->self : 0,
                 runners_percentiles_quantile(old, 0.5),
                 runners_percentiles_quantile(new, 0.5),
                 runners_percentiles_quantile(old, 0.99),
                 runners_percentiles_quantile(new, 0.99), old->most, new->most);
    trace_text_free(&shape);
}

enum { FINE = RUNNERS_PERCENTILES_STEPS, COARSE = 3 };

static size_t coarse_of(const struct percentiles *durations, size_t i)
{
    if (i >= durations->bucket_count)
        return SIZE_MAX;
    return trace_bucket_of(
        trace_bucket_least(durations->buckets[i].number, FINE), COARSE);
}

/* Returns how many durations the wide bucket has; `next` is that after it. */
static uint64_t count_in(const struct percentiles *durations, size_t *next,
                         size_t bucket)
{
    uint64_t count = 0;

    for (; coarse_of(durations, *next) == bucket; ++*next)
        count += durations->buckets[*next].count;
    return count;
}

/* A bar of the page is as wide as an eighth of a power of two. */
static void add_buckets(struct against_block *block, const struct pair *pair)
{
    const struct percentiles *old = durations_of(pair, 0);
    const struct percentiles *new = durations_of(pair, 1);
    size_t next[2] = {0}, bucket;

    while ((bucket = coarse_of(old, next[0])) != SIZE_MAX ||
           coarse_of(new, next[1]) != SIZE_MAX) {
        if (coarse_of(new, next[1]) < bucket)
            bucket = coarse_of(new, next[1]);
        TEST_LOG_ROW(&block->buckets, block->names.rows - 1,
                     trace_bucket_least(bucket, COARSE),
                     trace_bucket_least(bucket + 1, COARSE),
                     count_in(old, &next[0], bucket),
                     count_in(new, &next[1], bucket));
    }
}

static void add_all(struct against_block *block, const struct pairs *pairs,
                    enum stat_table table)
{
    size_t first = block->names.rows;

    for (size_t i = 0; i < pairs->count; i++) {
        if (block->names.rows - first >= block->most) {
            block->left_out.names += pairs->count - i;
            return;
        }
        add_name(block, table == STAT_KERNEL ? "kernel" : "span",
                 &pairs->all[i]);
        add_buckets(block, &pairs->all[i]);
    }
}

int runners_against_names(struct against_block *block,
                          const struct slowdowns *slowdowns)
{
    struct pairs pairs = {.count = 0};
    int status = find_pairs(&pairs, slowdowns);

    if (!status) {
        note_slower(&pairs, slowdowns, slowdowns->sides[1].sums.all);
        status = note_faster(&pairs, slowdowns);
        qsort(pairs.all, pairs.count, sizeof(*pairs.all), by_size);
        add_all(block, &pairs, slowdowns->sides[0].sums.table);
    }
    free(pairs.all);
    return status;
}
