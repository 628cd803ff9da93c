/* durations.c: how long tests took in earlier runs: reads and writes the file,
 * or takes the times from the history of a folder. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/machine/tsv.h"
#include "harness/run/past/durations.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

static void free_duration(struct test_log_duration *test)
{
    free(test->program);
    free(test->name);
}

void test_log_durations_free(struct test_log_durations *durations)
{
    for (size_t i = 0; i < durations->count; i++)
        free_duration(&durations->tests[i]);
    free(durations->tests);
    *durations = (struct test_log_durations){.count = 0};
}

int test_log_durations_add(struct test_log_durations *durations,
                           const struct test_log_duration *added)
{
    struct test_log_duration test = *added;

    test.program = strdup(added->program);
    test.name = strndup(added->name, test_log_base_size(added->name));
    test.time = added->time ? added->time : 1;
    if (test.program && test.name &&
        TRACE_ARRAY_RESERVE(durations->tests, durations->capacity,
                            durations->count + 1)) {
        durations->tests[durations->count++] = test;
        return 0;
    }
    free_duration(&test);
    errno = ENOMEM;
    return -1;
}

/* ---- Order ---- */

static int compare(const void *a, const void *b)
{
    const struct test_log_duration *left = a, *right = b;
    int order = strcmp(left->program, right->program);

    return order ? order : strcmp(left->name, right->name);
}

static int compare_times(const void *a, const void *b)
{
    const struct test_log_duration *left = a, *right = b;
    int order = compare(a, b);

    return order ? order
                 : (left->time < right->time) - (left->time > right->time);
}

void test_log_durations_sort(struct test_log_durations *durations)
{
    size_t kept = 0;

    if (durations->count)
        qsort(durations->tests, durations->count, sizeof(*durations->tests),
              compare_times);
    for (size_t i = 0; i < durations->count; i++) {
        struct test_log_duration *test = &durations->tests[i];

        if (kept && !compare(&durations->tests[kept - 1], test))
            free_duration(test);
        else
            durations->tests[kept++] = *test;
    }
    durations->count = kept;
}

void test_log_durations_keep(struct test_log_durations *durations,
                             test_log_duration_wanted *wanted,
                             const void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < durations->count; i++) {
        struct test_log_duration *test = &durations->tests[i];

        if (wanted(test, context))
            durations->tests[kept++] = *test;
        else
            free_duration(test);
    }
    durations->count = kept;
}

uint64_t test_log_durations_of(const struct test_log_durations *durations,
                               const char *program, const char *name)
{
    const struct test_log_duration key = {.program = (char *)program,
                                          .name = (char *)name},
                                   *found;

    found = durations->count ? bsearch(&key, durations->tests, durations->count,
                                       sizeof(*durations->tests), compare)
                             : NULL;
    return found ? found->time : 0;
}

/* ---- The file ---- */

enum { LINE_MOST = 8192 };

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* Adds a line, which it changes; -1 with errno, which is EBADMSG if it is not
 * one of results.tsv. */
static int add_line(struct test_log_durations *durations, char *line)
{
    bool whole = strchr(line, '\n');
    char *columns[6];
    size_t count = test_log_tsv_cut(line, columns, 6);
    struct test_log_duration test;
    uint64_t occupied;

    errno = EBADMSG;
    if (!whole || count < 4 || count > 5 || !is_number(columns[1]) ||
        (count > 4 && !is_number(columns[4])))
        return -1;
    test = (struct test_log_duration){
        .program = columns[2],
        .name = columns[3],
        .outcome = test_log_outcome_of(columns[0]),
    };
    if (test.outcome == TEST_LOG_OUTCOME_NONE)
        return -1;
    /* A program that left no results has a line without a test. */
    if (test.outcome == TEST_LOG_OUTCOME_SKIPPED || !strchr(test.name, '/'))
        return 0;
    occupied = strtoull(columns[4], NULL, 10);
    test.time = occupied ? occupied : strtoull(columns[1], NULL, 10);
    return test_log_durations_add(durations, &test);
}

/* Returns the number of the line that is wrong, 0 if none is, with errno. */
static size_t read_lines(struct test_log_durations *durations, FILE *in)
{
    char line[LINE_MOST];

    errno = 0;
    for (size_t number = 1; fgets(line, sizeof(line), in); number++)
        if (add_line(durations, line))
            return number;
    return 0;
}

int test_log_durations_read(struct test_log_durations *durations,
                            const char *path, const char *origin)
{
    FILE *in = fopen(path, "re");
    size_t wrong = in ? read_lines(durations, in) : 0;
    int error = !in || wrong || ferror(in) ? errno : 0;

    if (in)
        fclose(in);
    if (error == EBADMSG)
        test_log_notice("%s: %s:%zu is not a line of results.tsv: outcome, "
                        "nanoseconds, program and test, separated by tabs",
                        origin, path, wrong);
    else if (error)
        test_log_notice("%s: cannot read %s: %s; give all shards the same "
                        "file, which may be empty",
                        origin, path, strerror(error));
    test_log_durations_sort(durations);
    return error ? -1 : 0;
}

void test_log_durations_put(const struct test_log_durations *durations,
                            FILE *out)
{
    for (size_t i = 0; i < durations->count; i++)
        fprintf(out, "%s\t%" PRIu64 "\t%s\t%s\n",
                test_log_outcome_word(durations->tests[i].outcome),
                durations->tests[i].time, durations->tests[i].program,
                durations->tests[i].name);
}

uint64_t test_log_durations_digest(const struct test_log_durations *durations)
{
    uint64_t hash = TRACE_HASH;

    for (size_t i = 0; i < durations->count; i++) {
        const struct test_log_duration *test = &durations->tests[i];

        hash = trace_hash(hash, test->program, strlen(test->program) + 1);
        hash = trace_hash(hash, test->name, strlen(test->name) + 1);
        for (unsigned shift = 0; shift < 64; shift += 8) {
            unsigned char byte = (unsigned char)(test->time >> shift);

            hash = trace_hash(hash, &byte, 1);
        }
    }
    return hash;
}

/* ---- The history ---- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static uint64_t median(const uint64_t given[TEST_LOG_PAST_TIMES])
{
    uint64_t times[TEST_LOG_PAST_TIMES] = {0};
    size_t count = 0;

    while (count < TEST_LOG_PAST_TIMES && given[count]) {
        times[count] = given[count];
        count++;
    }
    qsort(times, count, sizeof(*times), compare_numbers);
    return count ? times[count / 2] : 0;
}

uint64_t test_log_history_median(const struct test_log_past *past)
{
    return median(past->times);
}

uint64_t test_log_history_occupied(const struct test_log_past *past)
{
    uint64_t occupied = median(past->occupied);

    return occupied ? occupied : median(past->times);
}

int test_log_durations_recall(struct test_log_durations *durations,
                              const struct test_log_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct test_log_past *past = &history->tests[i];
        const struct test_log_duration test = {past->program, past->name,
                                               test_log_history_occupied(past),
                                               TEST_LOG_OUTCOME_PASSED};

        if (test.time && test_log_durations_add(durations, &test))
            return -1;
    }
    test_log_durations_sort(durations);
    return 0;
}
