/* results.c: makes results of the tests in a journal. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/core/in_process.h"
#include "harness/machine/notice.h"
#include "harness/options/known_failures.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/format.h"
#include "trace/parts/parts.h"
#include "trace/read/crashes.h"
#include "trace/read/reader.h"

/* Puts the path of a file that the program's tests share; -1 if it is too long.
 */
static int shared_name(const struct test_log_run *run, const char *file,
                       char *name)
{
    return snprintf(name, PATH_MAX, "tests/%s/%s", test_log_process_folder(run),
                    file) < PATH_MAX
               ? 0
               : -1;
}

static char *recording_of(const struct test_log_run *run,
                          const struct test_log_noted *test)
{
    char *name = NULL;

    if (test->has_recording &&
        asprintf(&name, "tests/%s/%s#%llu", test_log_process_folder(run),
                 test->is_compact ? TEST_LOG_RECORDING : TEST_LOG_LIVE,
                 (unsigned long long)test->recorded) < 0)
        name = NULL;
    return name;
}

/* Splits "file:line: why", as assertions have it. */
static void find_place(struct test_log_result *result)
{
    struct test_log_place place = test_log_place_of(result);

    if (!place.found)
        return;
    result->file = strndup(place.file, place.size);
    result->line = place.line;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* A result with 0 would not have run. */
static uint64_t began_of(const struct test_log_run *run,
                         const struct test_log_noted *test)
{
    uint64_t began = trace_between(run->start.monotonic, test->began);

    return began ? began : 1;
}

struct test_log_result *test_log_core_result(struct test_log_run *run,
                                             const struct test_log_noted *test,
                                             const char *flavour)
{
    struct test_log_result *result = test_log_run_add(run);

    if (!result)
        return NULL;
    result->program = copy(run->program ? run->program : "?");
    result->suite = copy(test->suite);
    result->test = copy(test->test);
    result->title = copy(test->title);
    result->flavour = copy(flavour);
    result->filter = copy(run->show);
    result->reason = copy(test->reason);
    result->outcome = test->outcome;
    result->began = began_of(run, test);
    result->duration = trace_between(test->began, test->ended);
    result->recording = recording_of(run, test);
    result->gpu = run->gpu.state;
    result->folder = copy(test->folder);
    if (test->threads &&
        asprintf(&result->survivors, "%u thread%s", test->threads,
                 test->threads == 1 ? "" : "s") < 0)
        result->survivors = NULL;
    find_place(result);
    if (test->known)
        test_log_known_judge(
            &(struct test_log_known_failure){
                .reason = test->known,
                .strict = test->strict,
                .expected =
                    test->flaky ? TEST_LOG_EXPECT_FLAKY : TEST_LOG_EXPECT_FAIL},
            NULL, result);
    return result;
}

/* ---- The folder of a test that did not pass ---- */

/* A framework may allow any characters in names. */
static void put_safe(struct trace_text *name, const char *text)
{
    enum { MOST = 100 };

    for (const char *end = text + strnlen(text, MOST); text < end; text++) {
        unsigned char c = (unsigned char)*text;

        trace_text_char(name, c <= ' ' || c == '/' || c == 0x7f || c > 0x7f
                                  ? '_'
                                  : (char)c);
    }
}

/* Another test may have a folder of that name. */
bool test_log_make_test_folder(const struct test_log_run *run,
                               struct test_log_result *result)
{
    const char *suite = result->suite ? result->suite : "";
    struct trace_text name = {0};
    bool made = false, taken = true;
    size_t size;

    trace_text_printf(&name, "tests/%s/", result->program);
    put_safe(&name, suite[0] == '.' ? "_" : "");
    put_safe(&name, suite);
    trace_text_char(&name, '.');
    put_safe(&name, result->test);
    size = name.size;
    while (!made && taken && !name.failed) {
        unsigned number;

        name.data[name.size = size] = '\0';
        number = test_log_free_number(run, name.data);
        if (number > 1)
            trace_text_printf(&name, "~%u", number);
        made = number && !name.failed && !test_log_make_folder(run, name.data);
        taken = errno == EEXIST; /* another process was faster */
    }
    if (!made) {
        trace_text_free(&name);
        return false;
    }
    result->folder = name.data;
    return true;
}

static int open_shared(const struct test_log_run *run, const char *file)
{
    char name[PATH_MAX];

    return shared_name(run, file, name) ? -1
                                        : test_log_open(run, name, O_RDONLY);
}

/* Copies a range of a shared file to one of the test: `as`. */
static void extract(const struct test_log_run *run,
                    const struct test_log_result *result, const char *file,
                    const char *as, uint64_t from, uint64_t to)
{
    int fd = open_shared(run, file);
    struct trace_file copied;

    if (fd < 0)
        return;
    if (!test_log_create_file(run, result, as, &copied)) {
        trace_copy_range(fd, from, to - from, copied.stream);
        trace_file_commit(&copied);
    }
    close(fd);
}

static uint64_t size_of_part(const struct test_log_run *run, uint64_t offset)
{
    int fd = open_shared(run, TEST_LOG_LIVE);
    uint64_t size;

    if (fd < 0)
        return 0;
    size = trace_part_size(fd, offset);
    close(fd);
    return size;
}

void test_log_core_extract(const struct test_log_run *run,
                           struct test_log_result *result,
                           const struct test_log_noted *test)
{
    uint64_t size = test->has_recording ? size_of_part(run, test->recorded) : 0;

    if (!run->path || !test_log_make_test_folder(run, result))
        return;
    if (test->printed_to > test->printed)
        extract(run, result, TEST_LOG_OUTPUT, TEST_LOG_OUTPUT, test->printed,
                test->printed_to);
    if (!size)
        return;
    extract(run, result, TEST_LOG_LIVE, TEST_LOG_RECORDING, test->recorded,
            test->recorded + size);
}

/* ---- All results ---- */

/* Finds the signal and the time in the recording of a process that is gone. */
static void find_end(const struct test_log_run *run,
                     const struct test_log_result *result,
                     struct test_log_noted *test, const char *died)
{
    struct trace_reader *reader = test_log_recording(run, result);
    const unsigned char *stack;
    struct trace_crash crash;
    size_t cursor = 0;

    if (reader && trace_reader_crash(reader, &cursor, &crash, &stack))
        test->reason = copy(test_log_signal(crash.signal));
    if (reader)
        test->ended = run->start.monotonic + trace_reader_summary(reader).end;
    trace_reader_close(reader);
    if (!test->reason)
        test->reason = copy(died ? died : "its process died");
}

static void judge_crashes(struct test_log_run *run,
                          struct test_log_journal *journal)
{
    uint64_t printed_to = UINT64_MAX; /* by the next test on */

    for (size_t i = journal->count; i--;) {
        struct test_log_noted *test = &journal->tests[i];
        struct test_log_result *result;

        if (test->outcome == TEST_LOG_OUTCOME_NONE) {
            test->outcome = TEST_LOG_OUTCOME_CRASHED;
            test->ended = test->began;
            test->printed_to = printed_to;
            result = test_log_core_result(run, test, NULL);
            if (result) {
                test_log_core_extract(run, result, test);
                test->folder = copy(result->folder);
                find_end(run, result, test,
                         test->process == test_log_journal_owner(journal)
                             ? test_log_journal_value(journal, TEST_LOG_DIED)
                             : NULL);
                test_log_run_drop(run);
            }
        }
        printed_to = test->printed;
    }
}

void (*test_log_core_look)(const struct test_log_run *,
                           const struct test_log_result *);

static void set_reason(const struct test_log_run *run,
                       struct test_log_result *result)
{
    char *reason = test_log_stacks_reason(run, result, "");

    if (!reason)
        return;
    free(result->reason);
    result->reason = reason;
}

static void add(struct test_log_run *run, const struct test_log_noted *test,
                const char *flavour, const struct log_style *style, bool sent)
{
    struct test_log_result *result = test_log_core_result(run, test, flavour);

    if (!result)
        return;
    if (result->outcome == TEST_LOG_OUTCOME_CRASHED) {
        if (test_log_core_look)
            test_log_core_look(run, result);
        set_reason(run, result);
        test_log_render(run, result, style, false);
    } else if (sent)
        result->written = result->outcome;
}

/* ---- The recording of the tests that have no folder ---- */

static int copy_parts(const struct test_log_journal *journal, int from,
                      FILE *to, uint64_t *offsets)
{
    uint64_t at = 0;

    for (size_t i = 0; i < journal->count; i++) {
        const struct test_log_noted *test = &journal->tests[i];

        offsets[i] = test->recorded;
        if (test->has_recording && !test->folder &&
            test->outcome != TEST_LOG_OUTCOME_NONE &&
            trace_copy_part(from, &offsets[i], to, &at))
            return -1;
    }
    return 0;
}

/* Makes a copy without unused space. */
static int make_copy(const struct test_log_run *run,
                     const struct test_log_journal *journal, uint64_t *offsets)
{
    char name[PATH_MAX];
    struct trace_file file;
    int from = open_shared(run, TEST_LOG_LIVE);
    int status = -1;

    if (from < 0)
        return -1;
    if (!shared_name(run, TEST_LOG_RECORDING, name) &&
        !test_log_create(run, name, &file)) {
        status = copy_parts(journal, from, file.stream, offsets);
        if (status)
            trace_file_abandon(&file);
        else
            status = trace_file_commit(&file);
    }
    close(from);
    return status;
}

/* Without space for a copy, the file stays as it is. */
static void compact(const struct test_log_run *run,
                    struct test_log_journal *journal)
{
    uint64_t *offsets = calloc(journal->count + 1, sizeof(*offsets));

    if (offsets && run->path && !make_copy(run, journal, offsets))
        for (size_t i = 0; i < journal->count; i++) {
            journal->tests[i].recorded = offsets[i];
            journal->tests[i].is_compact = true;
        }
    free(offsets);
}

void test_log_core_results(struct test_log_run *run, size_t from,
                           struct test_log_journal *journal,
                           const struct log_style *style, bool sent)
{
    const char *flavour = test_log_journal_value(journal, "flavour");
    struct trace_table known = {0}; /* results, by when they began */
    uintptr_t number;

    if (journal->torn)
        test_log_notice("%s: a full disk has cut %zu %s of " TEST_LOG_JOURNAL
                        ", which %s not count",
                        run->program, journal->torn,
                        journal->torn == 1 ? "line" : "lines",
                        journal->torn == 1 ? "does" : "do");
    /* No two tests of a program begin in the same nanosecond. */
    for (size_t i = from; i < run->count; i++)
        trace_table_set(&known, run->results[i].began, i);
    judge_crashes(run, journal);
    compact(run, journal);
    for (size_t i = 0; i < journal->count; i++) {
        const struct test_log_noted *test = &journal->tests[i];

        if (trace_table_find(&known, began_of(run, test), &number)) {
            /* The result may have come before its recording was copied. */
            free(run->results[number].recording);
            run->results[number].recording = recording_of(run, test);
        } else {
            add(run, test, flavour, style, sent);
        }
    }
    trace_table_free(&known);
    for (size_t i = from; i < run->count; i++)
        run->results[i].unrendered =
            journal->count > TEST_LOG_PARTS_RENDERED && !run->results[i].folder;
}

static void remove_shared(const struct test_log_run *run, const char *file)
{
    char name[PATH_MAX];

    if (!shared_name(run, file, name))
        test_log_remove(run, name);
}

static bool is_there(const struct test_log_run *run, const char *file)
{
    int fd = open_shared(run, file);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool test_log_core_is_written(const struct test_log_run *run)
{
    int fd = test_log_open(run, "run.json", O_RDONLY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

void test_log_core_remove_journal(const struct test_log_run *run)
{
    if (is_there(run, TEST_LOG_RECORDING))
        remove_shared(run, TEST_LOG_LIVE);
    remove_shared(run, TEST_LOG_JOURNAL);
}
