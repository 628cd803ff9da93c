/* workers.c: the row of each test in the picture of workers, as in the trace of
 * the run. */
#include <stdlib.h>

#include "harness/results/report/report.h"
#include "trace/reader.h"

/* When a try of a test ran. */
struct stay {
    uint64_t begin, end; /* ns since the run's start */
    size_t number;       /* of all tries, in order of tests */
};

static int in_order(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds a try that ran. */
static void add(struct stay *stays, size_t *count, size_t number,
                uint64_t begin, uint64_t duration)
{
    if (begin)
        stays[(*count)++] = (struct stay){begin, begin + duration, number};
}

static size_t add_all(struct stay *stays, const struct test_log_run *run)
{
    size_t count = 0, number = 0;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        for (size_t j = 0; j < result->earlier_count; j++)
            add(stays, &count, number++, result->earlier[j].began,
                result->earlier[j].duration);
        add(stays, &count, number++, result->began, result->duration);
    }
    return count;
}

static void find_rows(uint32_t *workers, const struct stay *stays, size_t count)
{
    struct trace_test_rows rows = {0};

    for (size_t i = 0; i < count; i++) {
        size_t row = trace_test_rows_find(&rows, stays[i].begin);

        if (row == SIZE_MAX)
            break;
        trace_test_rows_take(&rows, row, stays[i].end);
        workers[stays[i].number] = (uint32_t)row + 1;
    }
    trace_test_rows_free(&rows);
}

uint32_t *test_log_page_workers(const struct test_log_run *run)
{
    struct stay *stays;
    uint32_t *workers;
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++)
        count += run->results[i].earlier_count + 1;
    workers = calloc(count + 1, sizeof(*workers));
    stays = calloc(count + 1, sizeof(*stays));
    if (workers && stays) {
        count = add_all(stays, run);
        qsort(stays, count, sizeof(*stays), in_order);
        find_rows(workers, stays, count);
    }
    free(stays);
    return workers;
}
