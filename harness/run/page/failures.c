/* failures.c: what report.html shows first of a failed test: stacks, the last
 * lines of its output and log, and open spans. */
#include <sys/stat.h>

#include <stdlib.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"
#include "harness/run/page/report_html.h"
#include "harness/run/terminal/terminal.h"

enum {
    FAILURES_MOST = 200,  /* tests */
    TAIL_MOST = 16 << 10, /* bytes */
};

const struct test_log_table_kind test_log_failure_kind = {
    "failures",
    8,
    {{"test", TEST_LOG_NUMBER},
     {"where", TEST_LOG_NUMBER},
     {"stacks", TEST_LOG_NUMBER},
     {"output", TEST_LOG_NUMBER},
     {"output_cut", TEST_LOG_NUMBER},
     {"lines", TEST_LOG_NUMBER},
     {"recorded", TEST_LOG_NUMBER},
     {"open", TEST_LOG_NUMBER}}};

/* ---- The ends of files ---- */

/* Skips to the first complete line of the file's tail, or into the line if it
 * is longer than the tail; returns how many bytes it skipped. */
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
                                        const char *folder,
                                        const char *recording)
{
    const struct test_log_result result = {.folder = (char *)folder,
                                           .recording = (char *)recording};

    return test_log_recording(page->run, &result);
}

static void add_lines(struct trace_text *lines, const struct log_filter *filter,
                      const struct log_style *style,
                      struct trace_reader *reader)
{
    struct log_replay *replay = log_replay_new(filter);
    struct trace_entry entry;

    while (replay && trace_reader_next(reader, &entry))
        if (log_line(replay, style, reader, &entry, lines) &&
            lines->size > (size_t)TAIL_MOST * 4)
            test_log_keep_end(lines, TAIL_MOST);
    test_log_keep_end(lines, TAIL_MOST);
    log_replay_free(replay);
}

void test_log_failure_lines(struct trace_text *shown, struct trace_text *hidden,
                            size_t most, struct trace_reader *reader)
{
    const struct log_style style = {.time = LOG_TIME_UTC};
    const char *text = trace_reader_meta(reader, "log");
    struct log_filter *filter =
        log_filter_parse(text ? text : "", "info", "LOG", NULL);

    if (filter) {
        add_lines(shown, filter, &style, reader);
        log_add_hidden(filter, &style, reader, most, hidden);
        test_log_keep_end(hidden, TAIL_MOST);
    }
    log_filter_free(filter);
}

static void add_open_spans(struct trace_text *open,
                           const struct test_log_page *page,
                           const struct test_log_result *result,
                           struct trace_reader *reader)
{
    char *alive = test_log_stacks_alive(page->run, result);

    test_log_open_spans_text(open, reader, alive, "");
    free(alive);
}

static uint32_t add_text(struct test_log_strings *strings,
                         struct trace_text *text)
{
    uint32_t number = test_log_strings_add(strings, text->data, text->size);

    trace_text_free(text);
    return number;
}

static void add_failure(struct test_log_table *failures,
                        struct test_log_strings *strings,
                        const struct test_log_page *page, size_t number)
{
    const struct test_log_result *result = &page->run->results[number];
    struct trace_reader *reader =
        result->folder ? test_log_page_open(page, result->folder, NULL) : NULL;
    struct trace_text where = {0}, stacks = {0};
    struct trace_text shown = {0}, hidden = {0}, open = {0};
    uint64_t cut;
    uint32_t output = add_end(strings, page->run, result, "output.txt", &cut);

    if (reader) {
        test_log_failure_lines(&shown, &hidden, page->fail_log, reader);
        add_open_spans(&open, page, result, reader);
    }
    trace_reader_close(reader);
    test_log_stacks_where(&where, page->run, result);
    test_log_stacks_text(&stacks, page->run, result);
    TEST_LOG_ROW(failures, number, add_text(strings, &where),
                 add_text(strings, &stacks), output, cut,
                 add_text(strings, &shown), add_text(strings, &hidden),
                 add_text(strings, &open));
}

void test_log_failures_add(struct test_log_table *failures,
                           struct test_log_strings *strings,
                           const struct test_log_page *page)
{
    const struct test_log_run *run = page->run;

    for (size_t i = 0; i < run->count && failures->rows < FAILURES_MOST; i++)
        if (test_log_failed(&run->results[i]))
            add_failure(failures, strings, page, i);
}
