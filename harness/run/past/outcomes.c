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

static bool add_run(struct test_log_outcomes *outcomes, char **columns)
{
    if (!TRACE_ARRAY_RESERVE(outcomes->runs, outcomes->run_capacity,
                             outcomes->run_count + 1))
        return false;
    outcomes->runs[outcomes->run_count++] = (struct test_log_past_run){
        columns[1], columns[2], columns[3], columns[4]};
    return true;
}

static bool add_test(struct test_log_outcomes *outcomes, char **columns)
{
    if (strtoul(columns[1], NULL, 10) != outcomes->test_count)
        return true; /* malformed */
    if (!TRACE_ARRAY_RESERVE(outcomes->tests, outcomes->test_capacity,
                             outcomes->test_count + 1))
        return false;
    outcomes->tests[outcomes->test_count++] = columns[2];
    return true;
}

static bool add_try(struct test_log_outcomes *outcomes, char **columns,
                    size_t count)
{
    struct test_log_past_try one = {
        .test = strtoul(columns[1], NULL, 10),
        .outcome = test_log_outcome_of(columns[0]),
        .number = (unsigned)strtoul(columns[2], NULL, 10),
        .duration = strtoull(columns[3], NULL, 10),
        .reason = count > 4 ? columns[4] : NULL,
    };

    if (one.outcome == TEST_LOG_OUTCOME_NONE || !one.number ||
        one.test >= outcomes->test_count || !outcomes->run_count)
        return true; /* malformed */
    if (!TRACE_ARRAY_RESERVE(outcomes->tries, outcomes->try_capacity,
                             outcomes->try_count + 1))
        return false;
    one.run = outcomes->run_count - 1;
    outcomes->tries[outcomes->try_count++] = one;
    return true;
}

/* Returns false without memory. */
static bool add_line(struct test_log_outcomes *outcomes, char *line)
{
    char *columns[COLUMNS];
    size_t count = test_log_tsv_cut(line, columns, COLUMNS);

    if (count == 5 && !strcmp(columns[0], "run"))
        return add_run(outcomes, columns);
    if (count == 3 && !strcmp(columns[0], "test"))
        return add_test(outcomes, columns);
    return count < 4 || add_try(outcomes, columns, count);
}

static int parse(struct test_log_outcomes *outcomes, size_t size)
{
    char *end, *line = outcomes->text;

    while ((end = memchr(line, '\n', size - (size_t)(line - outcomes->text)))) {
        *end = '\0';
        if (!add_line(outcomes, line)) {
            errno = ENOMEM;
            return -1;
        }
        line = end + 1;
    }
    outcomes->whole = (size_t)(line - outcomes->text);
    return 0;
}

static int read_open(struct test_log_outcomes *outcomes, int fd)
{
    size_t size;

    outcomes->text = trace_file_bytes(fd, FILE_MOST, &size);
    return outcomes->text ? parse(outcomes, size) : -1;
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

/* ---- Writing ---- */

static void put_column(struct trace_text *text, const char *value)
{
    size_t before = text->size;

    if (value)
        test_log_sanitize_line(text, value);
    if (text->size == before)
        trace_text_char(text, '-');
}

static void put_run(struct trace_text *text, const char *name,
                    const char *flavour, const char *commit, const char *host)
{
    trace_text_string(text, "run\t");
    put_column(text, name);
    trace_text_char(text, '\t');
    put_column(text, flavour);
    trace_text_char(text, '\t');
    put_column(text, commit);
    trace_text_char(text, '\t');
    put_column(text, host);
    trace_text_char(text, '\n');
}

static void put_test(struct trace_text *text, size_t number, const char *name)
{
    trace_text_printf(text, "test\t%zu\t", number);
    put_column(text, name);
    trace_text_char(text, '\n');
}

/* Puts the first line of a reason, cut between characters. */
static void put_reason(struct trace_text *text, const char *reason)
{
    size_t size = strcspn(reason, "\n");
    char *line;

    if (size > REASON_MOST)
        for (size = REASON_MOST; size && ((reason[size] & 0xc0) == 0x80);)
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

struct addition {
    const struct test_log_run *run;
    const struct test_log_outcomes *known;
    const char *program;
    char commit[16];            /* its first digits, and a + */
    struct trace_table numbers; /* of tests, by the hash of the name */
    size_t count;               /* of tests */
    bool begun;
    const char *flavour, *host; /* of the lines before */
    char own_host[sizeof(((struct utsname *)0)->nodename)];
    struct trace_text *text;
};

static void put_result_try(struct addition *addition, size_t test,
                           unsigned number, enum test_log_outcome outcome,
                           uint64_t duration, const char *reason)
{
    const struct test_log_past_try one = {
        .test = test,
        .outcome = outcome,
        .number = number,
        /* Other shards may start later, and must read the same durations. */
        .duration =
            test_log_shard_by_time(&addition->run->shard) ? 0 : duration,
        .reason = reason,
    };

    if (outcome != TEST_LOG_OUTCOME_NONE && outcome != TEST_LOG_OUTCOME_SKIPPED)
        put_try(addition->text, &one);
}

static size_t number_of(struct addition *addition, const char *name)
{
    uint64_t key = trace_hash_string(TRACE_HASH, name);
    uintptr_t number;

    if (trace_table_find(&addition->numbers, key, &number))
        return number;
    trace_table_set(&addition->numbers, key, addition->count);
    put_test(addition->text, addition->count, name);
    return addition->count++;
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

/* Results of one flavour and host are below one line. */
static void begin_lines(struct addition *addition,
                        const struct test_log_result *result)
{
    const char *host = test_log_host(addition->run, result->source);

    if (!host)
        host = addition->own_host;
    if (addition->begun && same(addition->flavour, result->flavour) &&
        same(addition->host, host))
        return;
    addition->begun = true;
    addition->flavour = result->flavour;
    addition->host = host;
    put_run(addition->text, trace_base_name(addition->run->path),
            result->flavour, addition->commit, host);
}

/* Repetitions are one test. A program that left no results has no test. */
static void put_result(struct addition *addition,
                       const struct test_log_result *result)
{
    char name[512];
    size_t test;

    snprintf(name, sizeof(name), "%s", test_log_name(result));
    if (!strchr(name, '/') ||
        (!result->earlier_count &&
         (result->outcome == TEST_LOG_OUTCOME_NONE ||
          result->outcome == TEST_LOG_OUTCOME_SKIPPED)) ||
        is_known(addition, result->source))
        return;
    name[strcspn(name, "#")] = '\0';
    begin_lines(addition, result);
    test = number_of(addition, name);
    for (size_t i = 0; i < result->earlier_count; i++)
        put_result_try(addition, test, (unsigned)i + 1,
                       result->earlier[i].outcome, result->earlier[i].duration,
                       result->earlier[i].reason);
    put_result_try(addition, test, (unsigned)result->earlier_count + 1,
                   result->outcome, result->duration, result->reason);
}

static void put_results(struct trace_text *text, const struct test_log_run *run,
                        const char *program,
                        const struct test_log_outcomes *known)
{
    struct addition addition = {.run = run,
                                .known = known,
                                .program = program,
                                .count = known->test_count,
                                .text = text};
    const char *commit = run->commit ? run->commit : "";
    struct utsname host;

    snprintf(addition.commit, sizeof(addition.commit), "%.12s%s", commit,
             strchr(commit, '+') ? "+" : "");
    if (!uname(&host))
        memcpy(addition.own_host, host.nodename, sizeof(host.nodename));
    for (size_t i = 0; i < known->test_count; i++)
        trace_table_set(&addition.numbers,
                        trace_hash_string(TRACE_HASH, known->tests[i]), i);
    for (size_t i = 0; i < run->count; i++)
        if (!strcmp(run->results[i].program, program))
            put_result(&addition, &run->results[i]);
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

/* Marks with number 0 all but the last tries of each test and flavour. */
static void drop_old(struct test_log_outcomes *outcomes)
{
    struct trace_table counts = {0};

    for (size_t i = outcomes->try_count; i-- > 0;)
        if (count_try(&counts, outcomes, &outcomes->tries[i]) >
            TEST_LOG_OUTCOMES_KEPT)
            outcomes->tries[i].number = 0;
    trace_table_free(&counts);
}

static void put_kept(struct trace_text *text, struct test_log_outcomes *known)
{
    size_t *numbers = calloc(known->test_count + 1, sizeof(*numbers));
    size_t count = 0, run = SIZE_MAX;

    drop_old(known);
    for (size_t i = 0; numbers && i < known->try_count; i++) {
        struct test_log_past_try one = known->tries[i];
        const struct test_log_past_run *its = &known->runs[one.run];

        if (!one.number)
            continue;
        if (one.run != run)
            put_run(text, its->name, its->flavour, its->commit, its->host);
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

static int append(int fd, const struct trace_text *text, size_t whole)
{
    if (!text->size)
        return 0;
    if (ftruncate(fd, (off_t)whole) || lseek(fd, 0, SEEK_END) < 0)
        return -1;
    return test_log_write_all(fd, text->data, text->size);
}

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
    if (!text.failed)
        status = append(fd, &text, known.whole);
    if (!status && is_too_long(&known)) {
        test_log_outcomes_free(&known);
        status = read_open(&known, fd) ? -1 : write_anew(&place, name, &known);
    }
out:
    close(fd);
    trace_text_free(&text);
    test_log_outcomes_free(&known);
    return status;
}
