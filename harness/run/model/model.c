/* model.c: a run and the results of its tests. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/model/model.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

static const struct {
    const char *word, *text;
} outcomes[] = {
#define TEST_LOG_X(name, word, text) {word, text},
    TEST_LOG_OUTCOMES(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { OUTCOMES = sizeof(outcomes) / sizeof(*outcomes) };

const char *test_log_outcome_word(enum test_log_outcome outcome)
{
    return outcomes[outcome].word;
}

const char *test_log_outcome_text(enum test_log_outcome outcome)
{
    return outcomes[outcome].text;
}

enum test_log_outcome test_log_outcome_of(const char *word)
{
    for (unsigned i = 0; i < OUTCOMES; i++)
        if (!strcmp(word, outcomes[i].word))
            return (enum test_log_outcome)i;
    return TEST_LOG_OUTCOME_NONE;
}

bool test_log_outcome_bad(enum test_log_outcome outcome)
{
    return outcome == TEST_LOG_OUTCOME_FAILED ||
           outcome == TEST_LOG_OUTCOME_CRASHED ||
           outcome == TEST_LOG_OUTCOME_TIMEOUT;
}

struct test_log_result *test_log_run_add(struct test_log_run *run)
{
    if (!TRACE_ARRAY_RESERVE(run->results, run->capacity, run->count + 1))
        return NULL;
    run->results[run->count] = (struct test_log_result){0};
    return &run->results[run->count++];
}

static void free_names(struct test_log_result *result)
{
    if (result->borrows)
        return;
    free(result->program);
    free(result->suite);
    free(result->test);
    free(result->file);
}

static void free_tries(struct test_log_result *result)
{
    for (size_t i = 0; i < result->earlier_count; i++) {
        free(result->earlier[i].reason);
        free(result->earlier[i].folder);
    }
    free(result->earlier);
}

static void free_result(struct test_log_result *result)
{
    free_names(result);
    free(result->reason);
    free(result->title);
    free(result->known);
    free(result->assertions);
    free(result->flavour);
    free(result->folder);
    free(result->recording);
    free(result->survivors);
    free(result->filter);
    log_device_summary_free(result->gpu_summary);
    free_tries(result);
}

void test_log_run_replace(struct test_log_run *run, size_t number)
{
    free_result(&run->results[number]);
    run->results[number] = run->results[--run->count];
}

uint64_t test_log_run_last_end(const struct test_log_run *run)
{
    uint64_t last = 1;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->began + result->duration > last)
            last = result->began + result->duration;
    }
    return last;
}

bool test_log_add_try(struct test_log_result *later,
                      struct test_log_result *before)
{
    size_t count = before->earlier_count, own = later->earlier_count;
    struct test_log_try *tries = calloc(count + 1 + own, sizeof(*tries));

    if (!tries)
        return false;
    if (count)
        memcpy(tries, before->earlier, count * sizeof(*tries));
    tries[count] = (struct test_log_try){.outcome = before->outcome,
                                         .reason = before->reason,
                                         .folder = before->folder,
                                         .began = before->began,
                                         .duration = before->duration,
                                         .source = before->source};
    if (own)
        memcpy(tries + count + 1, later->earlier, own * sizeof(*tries));
    free(later->earlier);
    later->earlier = tries;
    later->earlier_count = later->earlier_capacity = count + 1 + own;
    before->earlier_count = 0;
    before->reason = before->folder = NULL;
    return true;
}

/* Whether a result is a later line of a try, or has that try already. */
static bool has_try(const struct test_log_result *result,
                    const struct test_log_result *before)
{
    bool found = !before->began || before->began == result->began;

    for (size_t i = 0; i < result->earlier_count && !found; i++)
        found = result->earlier[i].began == before->began;
    return found;
}

size_t test_log_run_settle(struct test_log_run *run,
                           struct trace_table *numbers)
{
    struct test_log_result *last = &run->results[run->count - 1];
    uint64_t key = test_log_result_key(last);
    uintptr_t number = run->count - 1;

    if (!trace_table_find(numbers, key, &number))
        return trace_table_set(numbers, key, number) ? number : SIZE_MAX;
    if (!has_try(last, &run->results[number]) &&
        !test_log_add_try(last, &run->results[number]))
        return SIZE_MAX;
    test_log_run_replace(run, number);
    return number;
}

void test_log_run_drop(struct test_log_run *run)
{
    free_result(&run->results[--run->count]);
}

void test_log_run_free(struct test_log_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        free_result(&run->results[i]);
    for (size_t i = 0; i < run->unmatched_count; i++) {
        free(run->unmatched[i]);
        if (run->meant)
            free(run->meant[i]);
    }
    free(run->unmatched);
    free(run->meant);
    for (size_t i = 0; i < run->source_count; i++) {
        free(run->sources[i].run);
        free(run->sources[i].host);
        free(run->sources[i].testlog);
    }
    free(run->sources);
    test_log_devices_free(run);
    free(run->results);
    free(run->path);
    free(run->scratch);
    if (run->folder > 0)
        close(run->folder);
    if (run->shared > 0)
        close(run->shared);
    if (run->lock > 0)
        close(run->lock);
    free(run->command);
    free(run->commit);
    free(run->program);
    free(run->show);
    free(run->show_origin);
    free(run->record);
    free(run->record_origin);
    trace_text_free(&run->plan);
    *run = (struct test_log_run){0};
}

/* The reason of a crash may end with its place: "in sum (list.c:9)". */
static struct test_log_place place_of_crash(
    const struct test_log_result *result)
{
    const char *reason = result->reason ? result->reason : "";
    const char *file = strrchr(reason, '(');
    const char *colon = file ? strrchr(file, ':') : NULL;
    char *end;
    unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

    if (!line || line > INT_MAX || strcmp(end, ")") != 0)
        return (struct test_log_place){.file = "", .why = result->reason};
    file++;
    return (struct test_log_place){file, (size_t)(colon - file), (unsigned)line,
                                   result->reason, false};
}

struct test_log_place test_log_place_of(const struct test_log_result *result)
{
    const char *reason = result->reason ? result->reason : "";
    const char *own = result->file ? result->file : "";
    size_t size = strcspn(reason, ":\n");
    char *end = NULL;
    unsigned long line = reason[size] == ':' && isdigit(reason[size + 1])
                             ? strtoul(reason + size + 1, &end, 10)
                             : 0;

    if ((result->outcome == TEST_LOG_OUTCOME_FAILED ||
         result->outcome == TEST_LOG_OUTCOME_SKIPPED) &&
        size && end && !strncmp(end, ": ", 2) && line && line < INT_MAX)
        return (struct test_log_place){reason, size, (unsigned)line, end + 2,
                                       true};
    if (result->outcome == TEST_LOG_OUTCOME_CRASHED && !*own)
        return place_of_crash(result);
    return (struct test_log_place){own, strlen(own), result->line,
                                   result->reason, false};
}

const struct test_log_try *test_log_first_bad(
    const struct test_log_result *result)
{
    for (size_t i = 0; i < result->earlier_count; i++)
        if (result->earlier[i].outcome != TEST_LOG_OUTCOME_PASSED)
            return &result->earlier[i];
    return NULL;
}

bool test_log_failed(const struct test_log_result *result)
{
    return test_log_outcome_bad(result->outcome) && !result->known;
}

enum test_log_outcome test_log_counted_outcome(
    const struct test_log_result *result)
{
    return test_log_outcome_bad(result->outcome) && result->known
               ? TEST_LOG_OUTCOME_SKIPPED
               : result->outcome;
}

bool test_log_flaky(const struct test_log_result *result)
{
    return result->outcome == TEST_LOG_OUTCOME_PASSED &&
           test_log_first_bad(result);
}

struct test_log_sums test_log_run_sums(const struct test_log_run *run)
{
    struct test_log_sums sums = {0, 0, 0};

    for (size_t i = 0; i < run->count; i++) {
        enum test_log_outcome outcome =
            test_log_counted_outcome(&run->results[i]);

        sums.passed += outcome == TEST_LOG_OUTCOME_PASSED;
        sums.failed += test_log_outcome_bad(outcome);
        sums.skipped += outcome == TEST_LOG_OUTCOME_SKIPPED;
    }
    return sums;
}

const char *test_log_run_flavour(const struct test_log_run *run)
{
    const char *flavour = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const char *its = run->results[i].flavour;

        if (its && flavour && strcmp(its, flavour) != 0)
            return NULL;
        flavour = its ? its : flavour;
    }
    return flavour;
}

uint64_t test_log_run_time(const struct test_log_run *run)
{
    return run->took || run->unfinished
               ? run->took
               : trace_anchor_now().monotonic - run->start.monotonic;
}

const char *test_log_name(const struct test_log_result *result)
{
    static struct trace_text names[8];
    static unsigned next;
    struct trace_text *name = &names[next++ % 8];

    if (name->failed)
        trace_text_free(name);
    trace_text_clear(name);
    if (result->suite && result->suite[0])
        trace_text_printf(name, "%s/", result->suite);
    trace_text_string(name, result->test);
    return name->failed || !name->data ? result->test : name->data;
}

const char *test_log_title(const struct test_log_result *result)
{
    return result->title ? result->title : test_log_name(result);
}

bool test_log_is_of_suite(const struct test_log_result *result)
{
    return result->suite && !strcmp(result->test, TEST_LOG_OF_SUITE);
}

/* Catch2 allows any name: "mends issue #12" is no repetition. */
size_t test_log_base_size(const char *name)
{
    const char *mark = strrchr(name, '#'), *number;
    size_t size = strlen(name);

    if (!mark || mark == name || isspace((unsigned char)mark[-1]))
        return size;
    number = mark + 1 + (strncmp(mark + 1, "rank", 4) ? 0 : 4);
    return *number && number + strspn(number, "0123456789") == name + size
               ? (size_t)(mark - name)
               : size;
}

uint64_t test_log_key(const char *program, const char *name)
{
    uint64_t hash = trace_hash_string(TRACE_HASH, program);

    return trace_hash_string(trace_hash(hash, "", 1), name);
}

uint64_t test_log_result_key(const struct test_log_result *result)
{
    return test_log_key(result->program, test_log_name(result));
}

const char *test_log_signal(int number)
{
    static char text[32];
    const char *name = sigabbrev_np(number);

    if (name)
        snprintf(text, sizeof(text), "SIG%s", name);
    else
        snprintf(text, sizeof(text), "signal %d", number);
    return text;
}
