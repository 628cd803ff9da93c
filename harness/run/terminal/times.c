/* times.c: prints the slowest tests, and those that have become slower. */
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/past/history.h"
#include "harness/run/terminal/terminal.h"

enum { SLOWER_MAX = 5 /* how many are listed */ };

/* A test is slower if it takes over 1.5 times as long, and over 0.1 s longer;
 * less is noise on a busy machine. */
static const uint64_t noise = 100000000;

bool test_log_is_longer(uint64_t time, uint64_t before)
{
    return time > before + before / 2 && time > before + noise;
}

/* Returns the longest of the last times that a test passed; 0 unless it is
 * known for all of them. */
static uint64_t longest_before(const struct test_log_history *history,
                               const struct test_log_result *result)
{
    const struct test_log_past *past =
        test_log_history_of(history, result->program, test_log_name(result));
    uint64_t longest = 0;

    for (size_t i = 0; past && i < TEST_LOG_PAST_TIMES; i++) {
        if (!past->times[i])
            return 0;
        if (past->times[i] > longest)
            longest = past->times[i];
    }
    return longest;
}

/* Returns longest_before if the test took clearly longer now, otherwise 0. */
static uint64_t slower_than(const struct test_log_history *history,
                            const struct test_log_result *result)
{
    uint64_t before = longest_before(history, result);

    return result->outcome == TEST_LOG_OUTCOME_PASSED && before &&
                   test_log_is_longer(result->duration, before)
               ? before
               : 0;
}

static void put_time(const struct test_log_history *history,
                     const struct test_log_result *result)
{
    const char *name = test_log_name(result);
    uint64_t before = slower_than(history, result);
    struct trace_text text = {0};

    log_plain(&text, name, strlen(name));
    fprintf(test_log_stream(), "    %s: %.2f s", text.data ? text.data : "?",
            (double)result->duration / 1e9);
    if (before)
        fprintf(test_log_stream(),
                " (slower than its last %d passes, of at most %.2f s)",
                TEST_LOG_PAST_TIMES, (double)before / 1e9);
    fputc('\n', test_log_stream());
    trace_text_free(&text);
}

static int compare_longest_first(const void *a, const void *b)
{
    uint64_t left = (*(const struct test_log_result *const *)a)->duration;
    uint64_t right = (*(const struct test_log_result *const *)b)->duration;

    return (left < right) - (left > right);
}

static void print_slowest(const struct test_log_run *run,
                          const struct test_log_history *history, size_t count)
{
    const struct test_log_result **all = calloc(run->count, sizeof(*all));

    if (!all)
        return;
    for (size_t i = 0; i < run->count; i++)
        all[i] = &run->results[i];
    qsort(all, run->count, sizeof(*all), compare_longest_first);
    if (count > run->count)
        count = run->count;
    fputs("\nslowest:\n", test_log_stream());
    for (size_t i = 0; i < count && all[i]->duration; i++)
        put_time(history, all[i]);
    free(all);
}

static void print_slower(const struct test_log_run *run,
                         const struct test_log_history *history)
{
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++) {
        if (!slower_than(history, &run->results[i]) || ++count > SLOWER_MAX)
            continue;
        if (count == 1)
            fputs("\nslower than before:\n", test_log_stream());
        put_time(history, &run->results[i]);
    }
    if (count > SLOWER_MAX)
        fprintf(test_log_stream(), "    and %zu more\n", count - SLOWER_MAX);
}

void test_log_print_times(const struct test_log_run *run,
                          const struct test_log_output *output,
                          const struct test_log_history *history)
{
    if (output->durations && run->count)
        print_slowest(run, history, output->durations);
    else
        print_slower(run, history);
}
