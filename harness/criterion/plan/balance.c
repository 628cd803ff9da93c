/* balance.c: divides tests among shards, by their names or so that all shards
 * take equally long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/criterion/plan/balance.h"
#include "trace/base/strings.h"

/* Equally long tests are sorted by program and name. */
static int compare(const void *a, const void *b)
{
    const struct test_log_balanced *left = a, *right = b;
    int order = (left->time < right->time) - (left->time > right->time);

    if (!order)
        order = strcmp(left->program, right->program);
    return order ? order : strcmp(left->name, right->name);
}

/* The work of a shard; a heap has the shard with least work first. */
struct load {
    uint64_t time;
    size_t shard;
};

static bool is_less(const struct load *left, const struct load *right)
{
    return left->time != right->time ? left->time < right->time
                                     : left->shard < right->shard;
}

/* Moves the first load to its place. */
static void sink(struct load *heap, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        struct load load = heap[at];

        if (child + 1 < count && is_less(&heap[child + 1], &heap[child]))
            child++;
        if (!is_less(&heap[child], &load))
            return;
        heap[at] = heap[child];
        heap[child] = load;
    }
}

int test_log_balance(struct test_log_balanced *tests, size_t count,
                     size_t total)
{
    struct load *heap = calloc(total, sizeof(*heap));

    if (!heap) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < total; i++)
        heap[i].shard = i;
    qsort(tests, count, sizeof(*tests), compare);
    for (size_t i = 0; i < count; i++) {
        tests[i].shard = heap[0].shard;
        heap[0].time += tests[i].time;
        sink(heap, total);
    }
    free(heap);
    return 0;
}

size_t test_log_shard_of(const struct test_log_shard *shard, size_t place,
                         const char *name)
{
    /* The hash must never change: machines of any version share the tests. */
    uint64_t number = shard->way == TEST_LOG_SHARD_SLICE
                          ? (uint64_t)place
                          : trace_hash_string(TRACE_HASH, name);

    return number % shard->total;
}
