/* history_file.c: reads and writes the history of a program's tests, a line
 * each: outcome, nanoseconds, those of its last passes (separated by commas),
 * name, and those of the workers of its last passes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/tsv.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/history.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"

struct test_log_past *test_log_history_add(struct test_log_history *history,
                                           const char *program,
                                           const char *name)
{
    struct test_log_past past = {.outcome = TEST_LOG_OUTCOME_SKIPPED,
                                 .program = strdup(program),
                                 .name = strdup(name)};

    if (past.program && past.name &&
        TRACE_ARRAY_RESERVE(history->tests, history->capacity,
                            history->count + 1) &&
        trace_table_set(&history->numbers, test_log_key(program, name),
                        history->count)) {
        history->tests[history->count] = past;
        return &history->tests[history->count++];
    }
    free(past.program);
    free(past.name);
    return NULL;
}

static void parse_times(uint64_t times[TEST_LOG_PAST_TIMES], char *text)
{
    char *number;

    for (size_t i = 0; i < TEST_LOG_PAST_TIMES; i++)
        if ((number = strsep(&text, ",")))
            times[i] = strtoull(number, NULL, 10);
}

struct loading {
    struct test_log_history *history;
    const char *program;
};

static void take_line(void *context, char **columns, size_t count)
{
    const struct loading *loading = context;
    struct test_log_past *past;

    if (count < 4 || !*columns[3])
        return;
    past = test_log_history_add(loading->history, loading->program, columns[3]);
    if (!past)
        return;
    past->outcome = test_log_outcome_of(columns[0]);
    past->duration = strtoull(columns[1], NULL, 10);
    parse_times(past->times, columns[2]);
    parse_times(past->occupied, columns[4]);
}

static int name_of(const char *program, char *name)
{
    errno = ENAMETOOLONG;
    return snprintf(name, NAME_MAX, "%s.tsv", program) < NAME_MAX ? 0 : -1;
}

int test_log_history_load(struct test_log_history *history, const char *program,
                          int folder)
{
    struct test_log_run place = {.path = history->path, .folder = folder};
    struct loading loading = {history, program};
    char name[NAME_MAX];

    return !name_of(program, name) &&
                   test_log_tsv_each(test_log_open(&place, name, O_RDONLY), 5,
                                     take_line, &loading)
               ? 0
               : -1;
}

static void put_times(FILE *out, const uint64_t times[TEST_LOG_PAST_TIMES])
{
    for (size_t i = 0; i < TEST_LOG_PAST_TIMES && times[i]; i++)
        fprintf(out, "%s%" PRIu64, i ? "," : "", times[i]);
}

static void put(FILE *out, const struct test_log_past *past)
{
    struct trace_text name = {0};

    test_log_sanitize_line(&name, past->name);
    fprintf(out, "%s\t%" PRIu64 "\t", test_log_outcome_word(past->outcome),
            past->duration);
    put_times(out, past->times);
    fprintf(out, "\t%s\t", name.data ? name.data : past->name);
    put_times(out, past->occupied);
    fputc('\n', out);
    trace_text_free(&name);
}

int test_log_history_save(const struct test_log_history *history,
                          const char *program, int folder)
{
    struct test_log_run place = {.path = history->path, .folder = folder};
    char name[NAME_MAX];
    struct trace_file file;

    if (name_of(program, name) || test_log_create(&place, name, &file))
        return -1;
    for (size_t i = 0; i < history->count; i++)
        put(file.stream, &history->tests[i]);
    return trace_file_commit(&file);
}
