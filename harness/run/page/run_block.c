/* run_block.c: the block about the run: facts, tests, earlier tries, failures.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/page/report_html.h"
#include "harness/version.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

static const struct test_log_table_kind test_kind = {
    "tests",
    25,
    {{"program", TEST_LOG_NUMBER},   {"name", TEST_LOG_NUMBER},
     {"title", TEST_LOG_NUMBER},     {"outcome", TEST_LOG_NUMBER},
     {"reason", TEST_LOG_NUMBER},    {"assertions", TEST_LOG_NUMBER},
     {"file", TEST_LOG_NUMBER},      {"line", TEST_LOG_NUMBER},
     {"duration", TEST_LOG_NUMBER},  {"start", TEST_LOG_NUMBER},
     {"worker", TEST_LOG_NUMBER},    {"tries", TEST_LOG_NUMBER},
     {"dropped", TEST_LOG_NUMBER},   {"gpu", TEST_LOG_NUMBER},
     {"rerun", TEST_LOG_NUMBER},     {"debug", TEST_LOG_NUMBER},
     {"host", TEST_LOG_NUMBER},      {"cpu", TEST_LOG_NUMBER},
     {"voluntary", TEST_LOG_NUMBER}, {"involuntary", TEST_LOG_NUMBER},
     {"peak", TEST_LOG_NUMBER},      {"read", TEST_LOG_NUMBER},
     {"written", TEST_LOG_NUMBER},   {"minor", TEST_LOG_NUMBER},
     {"major", TEST_LOG_NUMBER}}};

static const struct test_log_table_kind try_kind = {
    "tries",
    7,
    {{"test", TEST_LOG_NUMBER},
     {"try", TEST_LOG_NUMBER},
     {"outcome", TEST_LOG_NUMBER},
     {"reason", TEST_LOG_NUMBER},
     {"start", TEST_LOG_NUMBER},
     {"worker", TEST_LOG_NUMBER},
     {"duration", TEST_LOG_NUMBER}}};

struct run_block {
    const struct test_log_page *page;
    struct trace_table programs; /* by the hash of a folder */
    uint32_t *workers;           /* of all tries; NULL without memory */
    size_t next;                 /* try */
    struct test_log_strings strings;
    struct test_log_table tests, tries, failures;
};

/* ---- Commands ---- */

/* A repetition "test#1" is run again with all others. */
static void put_filter(struct trace_text *text,
                       const struct test_log_result *result)
{
    struct trace_text name = {0};
    const char *all = test_log_title(result);

    if (test_log_is_of_suite(result)) { /* all tests of the suite */
        trace_text_add(&name, all, strlen(all) - strlen(result->test));
        trace_text_char(&name, '*');
    } else {
        trace_text_add(&name, all, test_log_base_size(all));
    }
    trace_text_literal(text, " --filter ");
    test_log_add_word(text, name.data ? name.data : "");
    trace_text_free(&name);
}

/* Returns the program of a test, NULL if it is unknown. */
static const struct test_log_page_program *program_of(
    const struct run_block *block, const char *program)
{
    const struct test_log_page *page = block->page;
    uintptr_t number;

    return trace_table_find(&block->programs,
                            trace_hash_string(TRACE_HASH, program), &number) &&
                   !strcmp(page->programs[number].folder, program)
               ? &page->programs[number]
               : NULL;
}

/* Returns a command for a test, followed by a flag: a string. A program without
 * results has no test names. */
static uint32_t command_of(struct run_block *block,
                           const struct test_log_result *result,
                           const char *command, const char *flag)
{
    struct trace_text text = {0};
    uint32_t number;

    if (!command || !result->suite)
        return 0;
    trace_text_string(&text, command);
    put_filter(&text, result);
    trace_text_string(&text, flag);
    number = test_log_strings_add(&block->strings, text.data, text.size);
    trace_text_free(&text);
    return number;
}

static uint32_t rerun_of(struct run_block *block,
                         const struct test_log_result *result)
{
    const struct test_log_page_program *program =
        program_of(block, result->program);

    return command_of(block, result,
                      program                      ? program->command
                      : block->page->program_count ? NULL
                                                   : block->page->rerun,
                      "");
}

/* A debugger cannot look at a test that hangs. */
static uint32_t debug_of(struct run_block *block,
                         const struct test_log_result *result)
{
    const struct test_log_page_program *program =
        program_of(block, result->program);
    bool looked_at = (result->outcome == TEST_LOG_OUTCOME_FAILED ||
                      result->outcome == TEST_LOG_OUTCOME_CRASHED) &&
                     !test_log_is_of_suite(result);

    return looked_at
               ? command_of(block, result,
                            program                      ? program->debug
                            : block->page->program_count ? NULL
                                                         : block->page->debug,
                            " --debug-failed")
               : 0;
}

/* ---- Tests ---- */

/* 0 is a test that did not run. */
static uint64_t start_of(uint64_t began)
{
    return began ? began + 1 : 0;
}

static uint32_t next_worker(struct run_block *block)
{
    return block->workers ? block->workers[block->next++] : 0;
}

static uint32_t reason_of(struct run_block *block,
                          const struct test_log_result *result)
{
    struct trace_text text = {0};
    uint32_t number;

    if (!result->known)
        return test_log_strings_of(&block->strings, result->reason);
    trace_text_printf(&text, "known failure: %s (%s%s%s)", result->known,
                      test_log_outcome_text(result->outcome),
                      result->reason ? ": " : "",
                      result->reason ? result->reason : "");
    number = test_log_strings_of(&block->strings, text.data);
    trace_text_free(&text);
    return number;
}

static void add_test(struct run_block *block, size_t number,
                     const struct test_log_result *result)
{
    struct test_log_strings *strings = &block->strings;
    const char *gpu = test_log_gpu_word(result->gpu);
    const char *host = test_log_host(block->page->run, result->source);
    const char *outcome =
        result->running
            ? "running"
            : test_log_outcome_word(test_log_counted_outcome(result));
    const struct test_log_usage *used = &result->usage;
    uint64_t losses = 0;

    for (size_t i = 0; i < result->earlier_count; i++) {
        const struct test_log_try *before = &result->earlier[i];
        const char *word = test_log_outcome_word(before->outcome);

        TEST_LOG_ROW(
            &block->tries, number, i + 1, test_log_strings_of(strings, word),
            test_log_strings_of(strings, before->reason),
            start_of(before->began), next_worker(block), before->duration);
    }
    for (size_t i = 0; i < TRACE_LOSS_COUNT; i++)
        losses += result->lost[i];
    TEST_LOG_ROW(&block->tests, test_log_strings_of(strings, result->program),
                 test_log_strings_of(strings, test_log_name(result)),
                 test_log_strings_of(strings, result->title),
                 test_log_strings_of(strings, outcome),
                 reason_of(block, result),
                 test_log_strings_of(strings, result->assertions),
                 test_log_strings_of(strings, result->file), result->line,
                 result->duration, start_of(result->began), next_worker(block),
                 result->earlier_count + 1, losses,
                 test_log_strings_of(strings, gpu), rerun_of(block, result),
                 debug_of(block, result), test_log_strings_of(strings, host),
                 used->cpu, used->voluntary, used->involuntary, used->peak,
                 used->read, used->written, used->minor, used->major);
}

/* ---- Members ---- */

static void put_string(struct trace_text *out, const char *name,
                       const char *text)
{
    trace_text_printf(out, "\"%s\":", name);
    if (text)
        trace_json_string(out, text, strlen(text));
    else
        trace_text_literal(out, "null");
    trace_text_char(out, ',');
}

static void put_members(struct trace_text *out,
                        const struct test_log_page *page)
{
    const struct test_log_run *run = page->run;
    char path[PATH_MAX];
    const char *known = run->path ? realpath(run->path, path) : NULL;
    struct trace_text rerun = {0};  /* runs all failed tests again */
    struct trace_table named = {0}; /* the repetitions of a test once */
    struct trace_text filter = {0};
    uintptr_t unused;
    uint64_t key;
    bool some = false;

    put_string(out, "testlog", TEST_LOG_VERSION);
    put_string(out, "run", known ? trace_base_name(known) : "");
    if (page->shown_path)
        known = page->shown_path;
    put_string(out, "path", known ? known : run->path);
    trace_text_string(&rerun, page->rerun ? page->rerun : "");
    for (size_t i = 0; page->rerun && i < run->count; i++)
        if (test_log_failed(&run->results[i]) && run->results[i].suite) {
            put_filter(&filter, &run->results[i]);
            key = trace_hash(TRACE_HASH, filter.data ? filter.data : "",
                             filter.size);
            if (filter.data && !trace_table_find(&named, key, &unused) &&
                trace_table_set(&named, key, 1))
                trace_text_add(&rerun, filter.data, filter.size);
            trace_text_clear(&filter);
            some = true;
        }
    trace_text_free(&filter);
    trace_table_free(&named);
    put_string(out, "rerun", some ? rerun.data : NULL);
    trace_text_free(&rerun);
    trace_text_printf(out, "\"processors\":%ld,",
                      sysconf(_SC_NPROCESSORS_ONLN));
    test_log_compare(out, run);
    if (run->unfinished)
        trace_text_literal(out, "\"unfinished\":true,");
    if (page->members) {
        trace_text_string(out, page->members);
    } else {
        test_log_run_members(out, run);
        trace_text_char(out, ',');
    }
}

void test_log_run_block(struct trace_text *out,
                        const struct test_log_page *page)
{
    struct run_block block = {.page = page,
                              .workers = test_log_page_workers(page->run),
                              .tests = {.kind = &test_kind},
                              .tries = {.kind = &try_kind},
                              .failures = {.kind = &test_log_failure_kind}};
    const struct test_log_table *const tables[] = {&block.tests, &block.tries,
                                                   &block.failures};
    struct trace_text members = {0};

    /* If several programs have the same name, the first one has the folder of
     * that name. */
    for (size_t i = page->program_count; i-- > 0;)
        if (page->programs[i].folder)
            trace_table_set(
                &block.programs,
                trace_hash_string(TRACE_HASH, page->programs[i].folder), i);
    for (size_t i = 0; i < page->run->count; i++)
        add_test(&block, i, &page->run->results[i]);
    test_log_failures_add(&block.failures, &block.strings, page);
    put_members(&members, page);
    test_log_block_put(out, members.data ? members.data : "", &block.strings,
                       tables, sizeof(tables) / sizeof(*tables));
    out->failed |= members.failed || block.tests.failed;
    free(block.workers);
    trace_text_free(&members);
    trace_table_free(&block.programs);
    test_log_strings_free(&block.strings);
    test_log_table_free(&block.tests);
    test_log_table_free(&block.tries);
    test_log_table_free(&block.failures);
}
