/* outcomes.c: reads and writes the last outcomes of a program's tests. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/tsv.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/outcomes.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

enum { COLUMNS = 5, REASON_MOST = 200, FILE_MOST = 256 << 20 };

static int name_of(const char *program, char *name)
{
    errno = ENAMETOOLONG;
    return snprintf(name, NAME_MAX, "%s.outcomes", program) < NAME_MAX ? 0 : -1;
}

void test_log_outcomes_free(struct test_log_outcomes *outcomes)
{
    free(outcomes->runs);
    free(outcomes->tests);
    free(outcomes->tries);
    free(outcomes->text);
    *outcomes = (struct test_log_outcomes){.whole = 0};
}

/* ---- Reading ---- */

/* Adds a line; a malformed one adds nothing. Returns false without memory. */
static bool add_line(struct test_log_outcomes *outcomes, char *line)
{
    char *columns[COLUMNS];
    size_t count = test_log_tsv_cut(line, columns, COLUMNS);

    if (count == 5 && !strcmp(columns[0], "run")) {
        if (!TRACE_ARRAY_RESERVE(outcomes->runs, outcomes->run_capacity,
                                 outcomes->run_count + 1))
            return false;
        outcomes->runs[outcomes->run_count++] = (struct test_log_past_run){
            columns[1], columns[2], columns[3], columns[4]};
    } else if (count == 3 && !strcmp(columns[0], "test")) {
        if (strtoul(columns[1], NULL, 10) != outcomes->test_count)
            return true;
        if (!TRACE_ARRAY_RESERVE(outcomes->tests, outcomes->test_capacity,
                                 outcomes->test_count + 1))
            return false;
        outcomes->tests[outcomes->test_count++] = columns[2];
    } else if (count >= 4) {
        struct test_log_past_try one = {
            .test = strtoul(columns[1], NULL, 10),
            .run = outcomes->run_count - 1,
            .outcome = test_log_outcome_of(columns[0]),
            .number = (unsigned)strtoul(columns[2], NULL, 10),
            .duration = strtoull(columns[3], NULL, 10),
            .reason = count > 4 ? columns[4] : NULL,
        };

        if (one.outcome == TEST_LOG_OUTCOME_NONE || !one.number ||
            one.test >= outcomes->test_count || !outcomes->run_count)
            return true;
        if (!TRACE_ARRAY_RESERVE(outcomes->tries, outcomes->try_capacity,
                                 outcomes->try_count + 1))
            return false;
        outcomes->tries[outcomes->try_count++] = one;
    }
    return true;
}

static int read_open(struct test_log_outcomes *outcomes, int fd)
{
    char *end, *line;
    size_t size;

    line = outcomes->text = trace_file_bytes(fd, FILE_MOST, &size);
    if (!line)
        return -1;
    for (; (end = memchr(line, '\n', size - outcomes->whole)); line = end + 1) {
        *end = '\0';
        if (!add_line(outcomes, line)) {
            errno = ENOMEM;
            return -1;
        }
        outcomes->whole = (size_t)(end + 1 - outcomes->text);
    }
    return 0;
}

int test_log_outcomes_read(struct test_log_outcomes *outcomes,
                           const char *program, const char *path, int folder)
{
    const struct test_log_run place = {.path = (char *)path, .folder = folder};
    char name[NAME_MAX];
    int fd, status;

    *outcomes = (struct test_log_outcomes){.whole = 0};
    fd = name_of(program, name) ? -1 : test_log_open(&place, name, O_RDONLY);
    if (fd < 0)
        return -1;
    status = read_open(outcomes, fd);
    close(fd);
    if (status)
        test_log_outcomes_free(outcomes);
    return status;
}

/* ---- Lines ---- */

static void put_column(struct trace_text *text, const char *value)
{
    size_t before;

    trace_text_char(text, '\t');
    before = text->size;
    if (value)
        test_log_sanitize_line(text, value);
    if (text->size == before)
        trace_text_char(text, '-');
}

static void put_run(struct trace_text *text,
                    const struct test_log_past_run *run)
{
    trace_text_string(text, "run");
    put_column(text, run->name);
    put_column(text, run->flavour);
    put_column(text, run->commit);
    put_column(text, run->host);
    trace_text_char(text, '\n');
}

static void put_test(struct trace_text *text, size_t number, const char *name)
{
    trace_text_printf(text, "test\t%zu", number);
    put_column(text, name);
    trace_text_char(text, '\n');
}

/* Puts the first line of a reason, cut between characters. */
static void put_reason(struct trace_text *text, const char *reason)
{
    size_t size = strcspn(reason, "\n");
    char *line;

    if (size > REASON_MOST)
        for (size = REASON_MOST; size && trace_utf8_continues(reason[size]);)
            size--;
    line = strndup(reason, size);
    trace_text_char(text, '\t');
    if (line)
        test_log_sanitize_line(text, line);
    free(line);
}

static void put_try(struct trace_text *text,
                    const struct test_log_past_try *one)
{
    trace_text_printf(text, "%s\t%zu\t%u\t%" PRIu64,
                      test_log_outcome_word(one->outcome), one->test,
                      one->number, one->duration);
    if (one->reason && test_log_outcome_bad(one->outcome))
        put_reason(text, one->reason);
    trace_text_char(text, '\n');
}

/* ---- A run's lines ---- */

/* A run that is added to the file of a program. */
struct addition {
    const struct test_log_run *run;
    const struct test_log_outcomes *known;
    struct trace_table numbers;    /* of tests, by the hash of the name */
    size_t count;                  /* of tests */
    struct test_log_past_run last; /* of the lines before */
    struct trace_text *text;
};

static void put_result_try(struct addition *addition, size_t test,
                           size_t number, enum test_log_outcome outcome,
                           uint64_t duration, const char *reason)
{
    /* Other shards may start later, and must read the same durations. */
    bool shards = test_log_shard_by_time(&addition->run->shard);
    const struct test_log_past_try one = {.test = test,
                                          .number = (unsigned)number,
                                          .outcome = outcome,
                                          .duration = shards ? 0 : duration,
                                          .reason = reason};

    if (outcome != TEST_LOG_OUTCOME_NONE && outcome != TEST_LOG_OUTCOME_SKIPPED)
        put_try(addition->text, &one);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Whether the run that was merged has been remembered by itself. */
static bool is_known(const struct addition *addition, size_t source)
{
    const char *name =
        source ? trace_base_name(addition->run->sources[source - 1].run) : NULL;

    for (size_t i = addition->known->run_count; name && i-- > 0;)
        if (!strcmp(addition->known->runs[i].name, name))
            return true;
    return false;
}

/* Repetitions are one test. A program that left no results has no test. Results
 * of one flavour and host are below one line. */
static void put_result(struct addition *addition,
                       const struct test_log_result *result,
                       struct test_log_past_run run)
{
    size_t count = result->earlier_count;
    char name[512];
    uintptr_t test;
    uint64_t key;

    snprintf(name, sizeof(name), "%s", test_log_name(result));
    if (!strchr(name, '/') ||
        (!count && (result->outcome == TEST_LOG_OUTCOME_NONE ||
                    result->outcome == TEST_LOG_OUTCOME_SKIPPED)) ||
        is_known(addition, result->source))
        return;
    name[test_log_base_size(name)] = '\0';
    if (!addition->last.name || !same(addition->last.flavour, run.flavour) ||
        !same(addition->last.host, run.host))
        put_run(addition->text, &run);
    addition->last = run;
    key = trace_hash_string(TRACE_HASH, name);
    if (!trace_table_find(&addition->numbers, key, &test)) {
        test = addition->count++;
        trace_table_set(&addition->numbers, key, test);
        put_test(addition->text, test, name);
    }
    for (size_t i = 0; i < count; i++)
        put_result_try(addition, test, i + 1, result->earlier[i].outcome,
                       result->earlier[i].duration, result->earlier[i].reason);
    put_result_try(addition, test, count + 1, result->outcome, result->duration,
                   result->reason);
}

static void put_results(struct trace_text *text, const struct test_log_run *run,
                        const char *program,
                        const struct test_log_outcomes *known)
{
    struct addition addition = {
        .run = run, .known = known, .count = known->test_count, .text = text};
    char commit[16]; /* its first digits, and a + */
    const char *whole = run->commit ? run->commit : "";
    struct utsname own;
    bool has_own = !uname(&own);

    snprintf(commit, sizeof(commit), "%.12s%s", whole,
             strchr(whole, '+') ? "+" : "");
    for (size_t i = 0; i < known->test_count; i++)
        trace_table_set(&addition.numbers,
                        trace_hash_string(TRACE_HASH, known->tests[i]), i);
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        const char *host = test_log_host(run, result->source);
        const struct test_log_past_run its = {
            .name = trace_base_name(run->path),
            .flavour = result->flavour,
            .commit = commit,
            .host = host || !has_own ? host : own.nodename};

        if (!strcmp(result->program, program))
            put_result(&addition, result, its);
    }
    trace_table_free(&addition.numbers);
}

/* ---- A file that is too long ---- */

/* Counts a try among those of its test and flavour. */
static size_t count_try(struct trace_table *counts,
                        const struct test_log_outcomes *outcomes,
                        const struct test_log_past_try *one)
{
    uint64_t key =
        trace_hash_string(TRACE_HASH, outcomes->runs[one->run].flavour);
    uintptr_t count;

    key = trace_hash(key, &one->test, sizeof(one->test));
    if (!trace_table_find(counts, key, &count))
        count = 0;
    trace_table_set(counts, key, count + 1);
    return count + 1;
}

/* Puts the last tries of each test and flavour. */
static void put_kept(struct trace_text *text, struct test_log_outcomes *known)
{
    size_t *numbers = calloc(known->test_count + 1, sizeof(*numbers));
    size_t count = 0, run = SIZE_MAX;
    struct trace_table counts = {0};

    for (size_t i = known->try_count; i-- > 0;)
        if (count_try(&counts, known, &known->tries[i]) >
            TEST_LOG_OUTCOMES_KEPT)
            known->tries[i].number = 0; /* it is not kept */
    trace_table_free(&counts);
    for (size_t i = 0; numbers && i < known->try_count; i++) {
        struct test_log_past_try one = known->tries[i];

        if (!one.number)
            continue;
        if (one.run != run)
            put_run(text, &known->runs[one.run]);
        run = one.run;
        if (!numbers[one.test]) {
            numbers[one.test] = ++count;
            put_test(text, count - 1, known->tests[one.test]);
        }
        one.test = numbers[one.test] - 1;
        put_try(text, &one);
    }
    text->failed |= !numbers;
    free(numbers);
}

static bool is_too_long(const struct test_log_outcomes *known)
{
    const size_t most = 2 * (size_t)TEST_LOG_OUTCOMES_KEPT;
    struct trace_table counts = {0};
    bool too_long = known->try_count > most * (known->test_count + 1);

    for (size_t i = 0; too_long && i < known->try_count; i++)
        count_try(&counts, known, &known->tries[i]);
    too_long &= known->try_count > most * counts.count;
    trace_table_free(&counts);
    return too_long;
}

static int write_anew(const struct test_log_run *place, const char *name,
                      struct test_log_outcomes *known)
{
    struct trace_text text = {0};
    struct trace_file file;
    int status = -1;

    put_kept(&text, known);
    errno = ENOMEM;
    if (!text.failed && !test_log_create(place, name, &file)) {
        if (text.size)
            fwrite(text.data, 1, text.size, file.stream);
        status = trace_file_commit(&file);
    }
    trace_text_free(&text);
    return status;
}

/* ---- Appending ---- */

int test_log_outcomes_append(const struct test_log_run *run,
                             const char *program, const char *path, int folder)
{
    const struct test_log_run place = {.path = (char *)path, .folder = folder};
    struct test_log_outcomes known = {.whole = 0};
    struct trace_text text = {0};
    char name[NAME_MAX];
    int status = -1, fd;

    fd = name_of(program, name) ? -1
                                : test_log_open(&place, name, O_RDWR | O_CREAT);
    if (fd < 0)
        return -1;
    if (read_open(&known, fd))
        goto out;
    put_results(&text, run, program, &known);
    errno = ENOMEM;
    if (text.failed)
        goto out;
    if (text.size &&
        (ftruncate(fd, (off_t)known.whole) || lseek(fd, 0, SEEK_END) < 0 ||
         test_log_write_all(fd, text.data, text.size)))
        goto out;
    status = 0;
    if (is_too_long(&known)) {
        test_log_outcomes_free(&known);
        status = read_open(&known, fd) ? -1 : write_anew(&place, name, &known);
    }
out:
    close(fd);
    trace_text_free(&text);
    test_log_outcomes_free(&known);
    return status;
}
