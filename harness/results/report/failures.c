/* failures.c: what report.html shows first of a failed test: stacks, the last
 * lines of its output and log, and open spans. */
#include <sys/stat.h>

#include "harness/results/report/report.h"
#include "harness/results/run_folder.h"
#include "harness/results/stacks.h"
#include "harness/results/terminal.h"

enum {
    FAILURES_MOST = 200,  /* tests */
    TAIL_MOST = 16 << 10, /* bytes */
};

const struct test_log_table_kind test_log_failure_kind = {
    "failures",
    7,
    {{"test", TEST_LOG_NUMBER},
     {"stacks", TEST_LOG_NUMBER},
     {"output", TEST_LOG_NUMBER},
     {"output_cut", TEST_LOG_NUMBER},
     {"lines", TEST_LOG_NUMBER},
     {"recorded", TEST_LOG_NUMBER},
     {"open", TEST_LOG_NUMBER}}};

/* ---- The ends of files ---- */

/* Skips to the first whole line of the end of a file, or into a long line;
 * returns how many bytes. */
static uint64_t skip_to_end(FILE *file)
{
    struct stat status;
    long size;
    int c;

    if (fstat(fileno(file), &status) || status.st_size <= TAIL_MOST ||
        fseek(file, status.st_size - TAIL_MOST, SEEK_SET))
        return 0;
    size = status.st_size;
    while ((c = fgetc(file)) != EOF && c != '\n')
        ;
    if (ftell(file) >= size)
        fseek(file, size - TAIL_MOST, SEEK_SET);
    return (uint64_t)ftell(file);
}

/* Adds the end of a test's file: a string. `cut` is how many bytes are before
 * it. */
static uint32_t add_end(struct test_log_strings *strings,
                        const struct test_log_run *run,
                        const struct test_log_result *result, const char *name,
                        uint64_t *cut)
{
    FILE *file = test_log_read(run, result, name);
    char bytes[TAIL_MOST];
    size_t size;

    *cut = 0;
    if (!file)
        return 0;
    *cut = skip_to_end(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    return test_log_strings_add(strings, bytes, size);
}

/* ---- What was recorded ---- */

struct trace_reader *test_log_page_open(const struct test_log_page *page,
                                        const char *folder)
{
    const struct test_log_result result = {.folder = (char *)folder};

    return page->open ? page->open(page->run, folder)
                      : test_log_recording(page->run, &result);
}

/* Adds the last lines that LOG did not show, and open spans. */
static void read_recording(const struct test_log_page *page,
                           const struct test_log_result *result,
                           struct trace_text *hidden, struct trace_text *open)
{
    const struct log_style style = {.time = LOG_TIME_UTC};
    struct trace_reader *reader =
        result->folder ? test_log_page_open(page, result->folder) : NULL;
    const char *filter = reader ? trace_reader_meta(reader, "log") : NULL;
    struct log_filter *shown =
        reader ? log_filter_parse(filter ? filter : "", "info", "LOG", NULL)
               : NULL;

    if (shown)
        log_add_hidden(shown, &style, reader, page->fail_log, hidden);
    if (reader)
        test_log_open_spans_text(open, reader, "");
    log_filter_free(shown);
    trace_reader_close(reader);
}

static void add_failure(struct test_log_table *failures,
                        struct test_log_strings *strings,
                        const struct test_log_page *page, size_t number)
{
    const struct test_log_result *result = &page->run->results[number];
    struct trace_text hidden = {.ceiling = TAIL_MOST}, stacks = {0};
    struct trace_text open = {.ceiling = TAIL_MOST};
    uint64_t output_cut, cut;
    uint32_t output =
        add_end(strings, page->run, result, "output.txt", &output_cut);
    uint32_t lines = add_end(strings, page->run, result, "log.txt", &cut);

    read_recording(page, result, &hidden, &open);
    test_log_stacks_text(&stacks, page->run, result);
    TEST_LOG_ROW(failures, number,
                 test_log_strings_add(strings, stacks.data, stacks.size),
                 output, output_cut, lines,
                 test_log_strings_add(strings, hidden.data, hidden.size),
                 test_log_strings_add(strings, open.data, open.size));
    trace_text_free(&hidden);
    trace_text_free(&stacks);
    trace_text_free(&open);
}

void test_log_failures_add(struct test_log_table *failures,
                           struct test_log_strings *strings,
                           const struct test_log_page *page)
{
    const struct test_log_run *run = page->run;

    for (size_t i = 0; i < run->count && failures->rows < FAILURES_MOST; i++)
        if (test_log_outcome_bad(run->results[i].outcome))
            add_failure(failures, strings, page, i);
}
