/* path_rows.c: the trees of spans of two runs, merged into one. */
#include <stdlib.h>

#include "against.h"

const struct test_log_table_kind runners_path_kind = {
    "paths",
    8,
    {{"parent", TEST_LOG_DELTA},
     {"name", TEST_LOG_NUMBER},
     {"old_count", TEST_LOG_SIGNED},
     {"new_count", TEST_LOG_SIGNED},
     {"old_total", TEST_LOG_SIGNED},
     {"new_total", TEST_LOG_SIGNED},
     {"old_self", TEST_LOG_SIGNED},
     {"new_self", TEST_LOG_SIGNED}}};

/* A path narrower than this share of the whole cannot be seen. */
enum { SHARES = 10000 };

/* A path in both runs. */
struct path {
    const struct sum *sides[2]; /* NULL: it does not occur */
    size_t parent;              /* its place, from 1 on; 0: none */
    size_t row;                 /* of the table, from 1 on */
    bool kept;
};

struct paths {
    struct path *all; /* each after its parent */
    size_t count;
    size_t *places; /* of those of the old run, by their number, from 1 on */
    uint64_t whole[2];
};

static uint64_t total_of(const struct path *path, int side)
{
    return path->sides[side] ? path->sides[side]->durations.total : 0;
}

static void add(struct paths *paths, const struct sum *sum, int side,
                size_t parent)
{
    struct path *path = &paths->all[paths->count++];

    path->sides[side] = sum;
    path->parent = parent;
    if (!parent)
        paths->whole[side] += sum->durations.total;
}

/* Adds a path of the old run; the new run's paths have their own numbers. */
static void add_old(struct paths *paths, const struct sum *sum,
                    const struct sums *new)
{
    size_t parent = sum->parent ? paths->places[sum->parent] : 0;
    const struct sum *same = NULL;

    if (parent <= new->count)
        same = runners_sums_below(new, parent, sum);
    if (!same) {
        add(paths, sum, 0, parent);
        paths->places[sum->number] = paths->count;
        return;
    }
    paths->places[sum->number] = same->number;
    paths->all[same->number - 1].sides[0] = sum;
    if (!parent)
        paths->whole[0] += sum->durations.total;
}

static int merge(struct paths *paths, const struct slowdowns *slowdowns)
{
    const struct sums *old = &slowdowns->sides[0].sums;
    const struct sums *new = &slowdowns->sides[1].sums;

    paths->all = calloc(old->count + new->count + 1, sizeof(*paths->all));
    paths->places = calloc(old->count + 1, sizeof(*paths->places));
    if (!paths->all || !paths->places)
        return -1;
    for (size_t i = 0; i < new->count; i++)
        add(paths, &new->all[i], 1, new->all[i].parent);
    for (size_t i = 0; i < old->count; i++)
        add_old(paths, &old->all[i], new);
    return 0;
}

/* Keeps those that can be seen in one of the runs, and their parents. */
static void keep(struct paths *paths)
{
    for (size_t i = paths->count; i-- > 0;) {
        struct path *path = &paths->all[i];

        for (int side = 0; side < 2; side++)
            if (total_of(path, side) &&
                total_of(path, side) >= paths->whole[side] / SHARES)
                path->kept = true;
        if (path->kept && path->parent)
            paths->all[path->parent - 1].kept = true;
    }
}

static void add_row(struct against_block *block, const struct paths *paths,
                    struct path *path)
{
    static const struct sum none;
    const struct sum *old = path->sides[0] ? path->sides[0] : &none;
    const struct sum *new = path->sides[1] ? path->sides[1] : &none;
    const char *name = (path->sides[1] ? new : old)->texts[STAT_NAME];

    TEST_LOG_ROW(
        &block->paths, path->parent ? paths->all[path->parent - 1].row : 0,
        test_log_strings_of(&block->strings, name), old->durations.count,
        new->durations.count, old->durations.total, new->durations.total,
        old->self, new->self);
    path->row = block->paths.rows;
}

int runners_against_paths(struct against_block *block,
                          const struct slowdowns *slowdowns)
{
    struct paths paths = {.count = 0};
    int status = merge(&paths, slowdowns);

    if (!status)
        keep(&paths);
    for (size_t i = 0; !status && i < paths.count; i++) {
        struct path *path = &paths.all[i];

        if (path->kept && block->paths.rows < block->most &&
            (!path->parent || paths.all[path->parent - 1].row))
            add_row(block, &paths, path);
        else
            block->left_out.paths++;
    }
    free(paths.all);
    free(paths.places);
    return status;
}
