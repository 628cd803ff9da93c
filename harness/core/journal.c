/* journal.c: writes and reads journal.tsv. Each line has a word and its
 * columns:
 *
 *  fact NAME VALUE .
 *  begin PROCESS TIME RECORDED PRINTED SUITE TEST [TITLE] .
 *  known PROCESS fail|flaky|strict REASON .
 *  end PROCESS TIME OUTCOME PRINTED THREADS FOLDER [REASON] .
 *
 * RECORDED and FOLDER are "-" if the test has none. Texts have \n, \t and \\ in
 * place of a newline, a tab and a backslash. The point says that a full disk
 * has not cut the line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/core/in_process.h"
#include "harness/machine/notice.h"
#include "harness/machine/process_tree.h"
#include "harness/machine/tsv.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"

enum { COLUMNS = 8, FILE_MOST = 1 << 30 };

#define END "\t."

static const struct {
    char letter, meant;
} escapes[] = {{'n', '\n'}, {'t', '\t'}, {'\\', '\\'}};

enum { ESCAPES = sizeof(escapes) / sizeof(*escapes) };

/* ---- Writing ---- */

static void put_text(struct trace_text *line, const char *text)
{
    for (; text && *text; text++) {
        int i = 0;

        while (i < ESCAPES && escapes[i].meant != *text)
            i++;
        if (i < ESCAPES)
            trace_text_char(line, '\\');
        trace_text_char(line, i < ESCAPES ? escapes[i].letter : *text);
    }
}

/* Ends and writes a line, and frees it. A line after one that was cut begins
 * with a newline. */
static int write_line(int fd, struct trace_text *line)
{
    static bool was_cut;
    int status = -1;

    trace_text_string(line, END "\n");
    if (line->failed)
        errno = ENOMEM;
    else if (!was_cut || !(status = test_log_write_all(fd, "\n", 1)))
        status = test_log_write_all(fd, line->data, line->size);
    was_cut = status;
    trace_text_free(line);
    return status;
}

int test_log_journal_fact(int fd, const char *name, const char *value)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "fact\t%s\t", name);
    put_text(&line, value);
    return write_line(fd, &line);
}

int test_log_journal_begin(int fd, const struct test_log_noted *test)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "begin\t%ld\t%" PRIu64 "\t", (long)test->process,
                      test->began);
    if (test->has_recording)
        trace_text_printf(&line, "%" PRIu64, test->recorded);
    else
        trace_text_char(&line, '-');
    trace_text_printf(&line, "\t%" PRIu64 "\t", test->printed);
    put_text(&line, test->suite);
    trace_text_char(&line, '\t');
    put_text(&line, test->test);
    if (test->title) {
        trace_text_char(&line, '\t');
        put_text(&line, test->title);
    }
    return write_line(fd, &line);
}

int test_log_journal_known(int fd, const struct test_log_noted *test)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "known\t%ld\t%s\t", (long)test->process,
                      test->flaky    ? "flaky"
                      : test->strict ? "strict"
                                     : "fail");
    put_text(&line, test->known);
    return write_line(fd, &line);
}

int test_log_journal_end(int fd, const struct test_log_noted *test)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "end\t%ld\t%" PRIu64 "\t%s\t%" PRIu64 "\t%u\t",
                      (long)test->process, test->ended,
                      test_log_outcome_word(test->outcome), test->printed_to,
                      test->threads);
    put_text(&line, test->folder ? test->folder : "-");
    if (test->reason) {
        trace_text_char(&line, '\t');
        put_text(&line, test->reason);
    }
    return write_line(fd, &line);
}

/* ---- Reading ---- */

/* Replaces escapes, in place. */
static char *plain(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        int i = ESCAPES;

        if (*from == '\\')
            for (i = 0; i < ESCAPES && escapes[i].letter != from[1]; i++)
                ;
        *to++ = i < ESCAPES ? escapes[i].meant : *from;
        from += i < ESCAPES;
    }
    *to = '\0';
    return text;
}

void test_log_noted_free(struct test_log_noted *test)
{
    free(test->suite);
    free(test->test);
    free(test->title);
    free(test->reason);
    free(test->folder);
    free(test->known);
    *test = (struct test_log_noted){0};
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static void read_begin(struct test_log_journal *journal, char **columns,
                       size_t count)
{
    struct test_log_noted test = {
        .process = (pid_t)number(columns[1]),
        .began = number(columns[2]),
        .has_recording = columns[3][0] != '-',
        .recorded = number(columns[3]),
        .printed = number(columns[4]),
        .suite = strdup(plain(columns[5])),
        .test = strdup(plain(columns[6])),
        .title = count > 7 ? strdup(plain(columns[7])) : NULL,
    };

    if (test.suite && test.test &&
        TRACE_ARRAY_RESERVE(journal->tests, journal->capacity,
                            journal->count + 1))
        journal->tests[journal->count++] = test;
    else
        test_log_noted_free(&test);
}

/* The last test that the process has begun is near the end. */
static struct test_log_noted *open_test_of(struct test_log_journal *journal,
                                           pid_t process)
{
    for (size_t i = journal->count; i--;)
        if (journal->tests[i].process == process)
            return journal->tests[i].outcome == TEST_LOG_OUTCOME_NONE
                       ? &journal->tests[i]
                       : NULL;
    return NULL;
}

static void read_known(struct test_log_journal *journal, char **columns)
{
    struct test_log_noted *test =
        open_test_of(journal, (pid_t)number(columns[1]));

    if (!test)
        return;
    free(test->known);
    test->known = strdup(plain(columns[3]));
    test->flaky = !strcmp(columns[2], "flaky");
    test->strict = !strcmp(columns[2], "strict");
}

static void read_end(struct test_log_journal *journal, char **columns,
                     size_t count)
{
    struct test_log_noted *test =
        open_test_of(journal, (pid_t)number(columns[1]));

    if (!test)
        return;
    free(test->folder);
    free(test->reason);
    test->folder = test->reason = NULL;
    test->ended = number(columns[2]);
    test->outcome = test_log_outcome_of(columns[3]);
    test->printed_to = number(columns[4]);
    test->threads = (unsigned)number(columns[5]);
    if (strcmp(columns[6], "-") != 0)
        test->folder = strdup(plain(columns[6]));
    if (count > 7)
        test->reason = strdup(plain(columns[7]));
}

static void add_fact(struct trace_text *facts, const char *name, char *value)
{
    trace_text_add(facts, name, strlen(name) + 1);
    plain(value);
    trace_text_add(facts, value, strlen(value) + 1);
}

static void read_line(struct test_log_journal *journal,
                      struct trace_text *facts, char *line)
{
    char *columns[COLUMNS];
    size_t size = strlen(line), end = strlen(END), count;

    if (size < end || strcmp(line + size - end, END) != 0) {
        journal->torn += size > 0;
        return;
    }
    line[size - end] = '\0';
    count = test_log_tsv_cut(line, columns, COLUMNS);
    if (!strcmp(columns[0], "fact") && count == 3 && columns[1][0])
        add_fact(facts, columns[1], columns[2]);
    else if (!strcmp(columns[0], "begin") && count >= 7)
        read_begin(journal, columns, count);
    else if (!strcmp(columns[0], "known") && count == 4)
        read_known(journal, columns);
    else if (!strcmp(columns[0], "end") && count >= 7)
        read_end(journal, columns, count);
}

/* A process may have died while it wrote the last line, which does not count as
 * torn. */
int test_log_journal_read(struct test_log_journal *journal, int fd)
{
    struct trace_text facts = {0};
    size_t size;
    char *bytes = trace_file_bytes(fd, FILE_MOST, &size), *line = bytes, *end;

    *journal = (struct test_log_journal){0};
    if (!bytes)
        return -1;
    while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
        *end = '\0';
        read_line(journal, &facts, line);
        line = end + 1;
    }
    trace_text_add(&facts, "", 1);
    journal->facts = facts.data;
    free(bytes);
    return 0;
}

const char *test_log_journal_value(const struct test_log_journal *journal,
                                   const char *name)
{
    const char *value;

    for (const char *at = journal->facts; at && *at;
         at = value + strlen(value) + 1) {
        value = at + strlen(at) + 1;
        if (!strcmp(at, name))
            return value;
    }
    return NULL;
}

void test_log_journal_free(struct test_log_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++)
        test_log_noted_free(&journal->tests[i]);
    free(journal->tests);
    free(journal->facts);
    *journal = (struct test_log_journal){0};
}

/* ---- Processes ---- */

pid_t test_log_journal_owner(const struct test_log_journal *journal)
{
    const char *owner = test_log_journal_value(journal, "owner");

    return owner ? (pid_t)number(owner) : 0;
}

bool test_log_journal_is_alive(const struct test_log_journal *journal)
{
    const char *owner = test_log_journal_value(journal, "owner");
    const char *started = owner ? strchr(owner, ' ') : NULL;
    uint64_t now =
        started ? test_log_process_started(test_log_journal_owner(journal)) : 0;

    return now && now == number(started + 1) &&
           !test_log_journal_value(journal, TEST_LOG_DIED);
}

static bool has_died(const struct test_log_journal *journal, pid_t process)
{
    return process == test_log_journal_owner(journal) &&
           test_log_journal_value(journal, TEST_LOG_DIED);
}

const struct test_log_noted *test_log_journal_running(
    const struct test_log_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) {
        const struct test_log_noted *test = &journal->tests[i];

        if (test->outcome == TEST_LOG_OUTCOME_NONE &&
            test->process != getpid() && !has_died(journal, test->process) &&
            test_log_process_started(test->process))
            return test;
    }
    return NULL;
}

/* ---- Locks ---- */

/* Bytes of the file that stand for a lock. They belong to a process: a forked
 * child has none of its parent's, and the kernel drops them when the process
 * ends. */
enum { OWNER = 0, SPACE = 1 };

static struct flock lock_of(int byte, short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

int test_log_journal_own(int fd)
{
    struct flock lock = lock_of(OWNER, F_WRLCK);

    return fcntl(fd, F_SETLK, &lock);
}

bool test_log_journal_is_owned(int fd)
{
    struct flock lock = lock_of(OWNER, F_WRLCK);

    return !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

void test_log_journal_lock(int fd)
{
    struct flock lock = lock_of(SPACE, F_WRLCK);

    while (fcntl(fd, F_SETLKW, &lock) && errno == EINTR)
        ;
}

void test_log_journal_unlock(int fd)
{
    struct flock lock = lock_of(SPACE, F_UNLCK);

    fcntl(fd, F_SETLK, &lock);
}
