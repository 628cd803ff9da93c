/* workers.c: the row of each test in the picture of workers, as in the trace of
 * the run. */
#include <stdlib.h>

#include "harness/run/page/report_html.h"
#include "trace/read/reader.h"
#include "trace/read/test_rows.h"

/* When a try of a test ran. */
struct stay {
    uint64_t begin, end; /* ns since the run's start */
    size_t number;       /* of all tries, in order of tests */
    size_t host;
};

static int in_order(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds a try that ran. */
static void add(struct stay *stays, size_t *count, struct stay stay,
                uint64_t duration)
{
    stay.end = stay.begin + duration;
    if (stay.begin)
        stays[(*count)++] = stay;
}

static size_t add_all(struct stay *stays, const struct test_log_run *run)
{
    size_t count = 0, number = 0;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        for (size_t j = 0; j < result->earlier_count; j++) {
            const struct test_log_try *before = &result->earlier[j];

            add(stays, &count,
                (struct stay){before->began, 0, number++,
                              test_log_host_number(run, before->source)},
                before->duration);
        }
        add(stays, &count,
            (struct stay){result->began, 0, number++,
                          test_log_host_number(run, result->source)},
            result->duration);
    }
    return count;
}

/* Finds the rows of one host, which follow `above` others; returns how many
 * there are. */
static size_t find_rows(uint32_t *workers, const struct stay *stays,
                        size_t count, size_t above)
{
    struct trace_test_rows rows = {0};
    uint64_t since;

    for (size_t i = 0; i < count; i++) {
        size_t row =
            trace_test_rows_add(&rows, stays[i].begin, stays[i].end, &since);

        if (row == SIZE_MAX)
            break;
        workers[stays[i].number] = (uint32_t)(above + row) + 1;
    }
    count = rows.count;
    trace_test_rows_free(&rows);
    return count;
}

static void find_all(uint32_t *workers, struct stay *stays, size_t count)
{
    size_t above = 0;

    qsort(stays, count, sizeof(*stays), in_order);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && stays[to].host == stays[from].host)
            to++;
        above += find_rows(workers, stays + from, to - from, above);
    }
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
        find_all(workers, stays, count);
    }
    free(stays);
    return workers;
}
