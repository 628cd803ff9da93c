/* history.c: results.tsv, one line for each test of a run: outcome,
 * nanoseconds, program, name. It suits cut and sort. The next run reads from it
 * which tests failed and how long each test takes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/history.h"
#include "harness/results/notice.h"
#include "harness/results/run_folder.h"
#include "trace/containers.h"

/* ---- Writing ---- */

static void put_column(FILE *out, const char *text)
{
    struct trace_text line = {0};

    test_log_sanitize_line(&line, text);
    fputs(line.data ? line.data : "", out);
    trace_text_free(&line);
}

int test_log_history_write(const struct test_log_run *run, const char *name)
{
    struct trace_file file;

    if (test_log_create(run, name, &file))
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->outcome == TEST_LOG_OUTCOME_NONE)
            continue;
        fprintf(file.stream, "%s\t%" PRIu64 "\t",
                test_log_outcome_word(result->outcome), result->duration);
        put_column(file.stream, result->program);
        fputc('\t', file.stream);
        put_column(file.stream, test_log_name(result));
        fputc('\n', file.stream);
    }
    if (run->left_out.data)
        fputs(run->left_out.data, file.stream);
    return trace_file_commit(&file);
}

/* ---- Reading ---- */

static bool add(struct test_log_history *history, struct test_log_past past)
{
    if (!TRACE_ARRAY_RESERVE(history->tests, history->capacity,
                             history->count + 1))
        return false;
    history->tests[history->count++] = past;
    return true;
}

static void add_line(struct test_log_history *history, char *line)
{
    char *columns[4] = {NULL}, *at = line;
    struct test_log_past past = {.duration = 0};

    for (size_t i = 0; i < 4; i++)
        columns[i] = strsep(&at, "\t");
    if (!columns[3])
        return;
    past.outcome = test_log_outcome_of(columns[0]);
    past.duration = strtoull(columns[1], NULL, 10);
    past.program = strdup(columns[2]);
    past.name = strdup(columns[3]);
    if (past.program && past.name && add(history, past))
        return;
    free(past.program);
    free(past.name);
}

static void read_lines(struct test_log_history *history)
{
    struct test_log_run run = {.path = history->path};
    int fd = test_log_open(&run, "results.tsv", O_RDONLY);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    while (in && (size = getline(&line, &room, in)) > 0) {
        line[size - (line[size - 1] == '\n')] = '\0';
        add_line(history, line);
    }
    free(line);
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
}

void test_log_history_read(struct test_log_history *history, const char *dir,
                           const char *given)
{
    char path[PATH_MAX], real[PATH_MAX];
    uid_t owner;

    *history = (struct test_log_history){.path = NULL};
    if (!given &&
        (!dir || snprintf(path, sizeof(path), "%s/latest", dir) >= PATH_MAX))
        return;
    /* Results of a user who is not trusted are ignored. */
    if (realpath(given ? given : path, real) &&
        (given || test_log_trusts_folder(real, &owner)))
        history->path = strdup(real);
    if (history->path)
        read_lines(history);
}

void test_log_history_free(struct test_log_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        free(history->tests[i].program);
        free(history->tests[i].name);
    }
    free(history->tests);
    free(history->path);
    *history = (struct test_log_history){.path = NULL};
}

/* ---- Failed tests ---- */

static bool failed_in(const struct test_log_past *past, const char *program)
{
    return test_log_outcome_bad(past->outcome) &&
           (!program || !strcmp(past->program, program));
}

bool test_log_history_failed(const struct test_log_history *history,
                             const char *program)
{
    for (size_t i = 0; i < history->count; i++)
        if (failed_in(&history->tests[i], program))
            return true;
    return false;
}

bool test_log_history_has(const struct test_log_history *history,
                          const char *program)
{
    for (size_t i = 0; i < history->count; i++)
        if (!strcmp(history->tests[i].program, program))
            return true;
    return false;
}

void test_log_history_carry(const struct test_log_history *history,
                            const char *program, struct trace_text *lines)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct test_log_past *past = &history->tests[i];

        if (!strcmp(past->program, program))
            trace_text_printf(lines, "%s\t%" PRIu64 "\t%s\t%s\n",
                              test_log_outcome_word(TEST_LOG_OUTCOME_NONE),
                              past->duration, program, past->name);
    }
}

const struct test_log_past *test_log_history_of(
    const struct test_log_history *history, const char *program,
    const char *name)
{
    static size_t expected; /* callers ask in the file's order */

    for (size_t i = 0; i < history->count; i++) {
        size_t number = (expected + i) % history->count;
        const struct test_log_past *past = &history->tests[number];

        if (strcmp(past->name, name) || strcmp(past->program, program))
            continue;
        expected = number + 1;
        return past;
    }
    return NULL;
}
