/* report_html.c: writes report.html: the page, and the blocks of data behind
 * it.
 *
 * The file is written in one pass, to save memory: failed tests first, then the
 * others, the slowest first, until their share of the file is full. The block
 * at the end has what is known only after all recordings are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/page/attempts.h"
#include "harness/run/page/report_html.h"
#include "trace/base/file.h"
#include "trace/base/text.h"

enum {
    END_ROOM = 1 << 20, /* bytes that are kept for the block at the end */
    BLOCK_LEAST = 512,  /* bytes of a block */
    LARGE = 1 << 20,    /* bytes of a recording */
    SHRINKS = 8,        /* a large recording is rarely less than 8 times as */
    SHRINKS_MOST = 32,  /* large as its block, and rarely more than 32 times */
};

struct writer {
    const struct test_log_page *page;
    struct test_log_page_file file;
    uint64_t passing; /* bytes of the file that are left for passing tests */
    uint64_t reading; /* bytes of their large recordings that may be read */
    struct test_log_end_block end;
};

/* What part of the file a recording may fill. */
enum share { SHARE_OF_FAILED, SHARE_OF_PASSING, SHARE_WITHOUT_LIMIT };

/* ---- Tests ---- */

/* Whether the share of passing tests will be full before the file is. */
static bool is_limited(const struct writer *writer, enum share share)
{
    return share == SHARE_OF_PASSING && writer->passing < writer->file.left;
}

static uint64_t left_for(const struct writer *writer, enum share share)
{
    return is_limited(writer, share) ? writer->passing : writer->file.left;
}

static const char *why_full(const struct writer *writer, enum share share)
{
    return is_limited(writer, share) ? "passing" : "size";
}

/* Writes a block into the part of the file that the test has; false if it does
 * not fit. */
static bool write_block(struct writer *writer,
                        const struct test_log_attempt *attempt,
                        const struct trace_text *block, enum share share)
{
    uint64_t left = writer->file.left, most = left_for(writer, share), used;
    struct test_log_packed packed;
    char id[64];
    bool written = false;

    if (attempt->attempt)
        snprintf(id, sizeof(id), "t%zu.%zu", attempt->number, attempt->attempt);
    else
        snprintf(id, sizeof(id), "t%zu", attempt->number);
    if (!test_log_pack(&packed, block)) {
        writer->file.left = most;
        written = test_log_page_element(&writer->file, id, &packed,
                                        share == SHARE_WITHOUT_LIMIT);
        used = most - writer->file.left;
        writer->file.left = left - used;
        if (share == SHARE_OF_PASSING)
            writer->passing -= used;
    }
    free(packed.bytes);
    return written;
}

static void write_recording(struct writer *writer,
                            const struct test_log_attempt *attempt,
                            struct trace_reader *reader, enum share share)
{
    struct trace_text block = {0};
    struct test_log_counts counts = {0};
    int status =
        test_log_attempt_block(&block, writer->page, attempt, reader, &counts);

    test_log_end_count(&writer->end, writer->page, attempt, reader, &counts);
    if (status)
        test_log_end_leave_out(&writer->end, writer->page, attempt, "memory",
                               true);
    else if (!write_block(writer, attempt, &block, share))
        test_log_end_leave_out(&writer->end, writer->page, attempt,
                               why_full(writer, share), true);
    trace_text_free(&block);
}

/* Returns why it is not worth the time to make a block of a passing test's
 * recording; NULL if it is. */
static const char *why_not(struct writer *writer,
                           const struct trace_reader *reader)
{
    uint64_t size = trace_reader_summary(reader).size;
    uint64_t left = left_for(writer, SHARE_OF_PASSING);

    if (left < BLOCK_LEAST || (size > LARGE && size / SHRINKS_MOST > left))
        return why_full(writer, SHARE_OF_PASSING);
    if (size <= LARGE)
        return NULL;
    if (size > writer->reading)
        return "large";
    writer->reading -= size;
    return NULL;
}

static enum share share_of(const struct test_log_page *page,
                           const struct test_log_attempt *attempt)
{
    if (page->is_whole && page->is_whole(attempt->result, page->context))
        return SHARE_WITHOUT_LIMIT;
    return test_log_outcome_bad(attempt->outcome) ? SHARE_OF_FAILED
                                                  : SHARE_OF_PASSING;
}

/* To open each of 100,000 recordings takes seconds. */
static bool is_one_of_many(const struct test_log_run *run,
                           const struct test_log_attempt *attempt)
{
    return run->count > TEST_LOG_PARTS_RENDERED &&
           !test_log_outcome_bad(attempt->outcome);
}

static void write_attempt(struct writer *writer,
                          const struct test_log_attempt *attempt)
{
    const enum share share = share_of(writer->page, attempt);
    struct test_log_counts counts;
    struct trace_reader *reader;
    const char *why = NULL;

    if (!attempt->folder && is_one_of_many(writer->page->run, attempt)) {
        test_log_end_leave_out(&writer->end, writer->page, attempt, "many",
                               true);
        return;
    }
    reader =
        test_log_page_open(writer->page, attempt->folder, attempt->recording);
    if (reader && share == SHARE_OF_PASSING)
        why = why_not(writer, reader);
    if (!reader) {
        test_log_end_leave_out(&writer->end, writer->page, attempt,
                               errno == ENOENT ? "missing" : "damaged", false);
    } else if (why) {
        if (!test_log_count_all(&counts, reader))
            test_log_end_count(&writer->end, writer->page, attempt, reader,
                               &counts);
        test_log_end_leave_out(&writer->end, writer->page, attempt, why, true);
    } else {
        write_recording(writer, attempt, reader, share);
    }
    trace_reader_close(reader);
}

/* ---- Their order ---- */

/* Failed tests first, as they are in the run; then the slowest. */
static int in_order(const void *a, const void *b)
{
    const struct test_log_result *one =
        *(const struct test_log_result *const *)a;
    const struct test_log_result *other =
        *(const struct test_log_result *const *)b;
    bool bad = test_log_outcome_bad(one->outcome);

    if (bad != test_log_outcome_bad(other->outcome))
        return bad ? -1 : 1;
    if (!bad && one->duration != other->duration)
        return one->duration > other->duration ? -1 : 1;
    return one < other ? -1 : 1;
}

/* Without memory, tests are written as they are in the run. */
static void write_tests(struct writer *writer)
{
    const struct test_log_run *run = writer->page->run;
    const struct test_log_result **tests =
        calloc(run->count + 1, sizeof(*tests));
    struct test_log_attempt attempt;

    for (size_t i = 0; tests && i < run->count; i++)
        tests[i] = &run->results[i];
    if (tests)
        qsort(tests, run->count, sizeof(*tests), in_order);
    for (size_t i = 0; i < run->count; i++) {
        size_t number = tests ? (size_t)(tests[i] - run->results) : i;

        for (size_t j = 0; j <= run->results[number].earlier_count; j++)
            if (test_log_attempt_of(&attempt, run, number, j))
                write_attempt(writer, &attempt);
    }
    free(tests);
}

/* ---- The page ---- */

/* Writes a block whatever its size. */
static void write_whole(struct writer *writer, const char *id,
                        struct trace_text *block)
{
    struct test_log_packed packed;

    if (!test_log_pack(&packed, block))
        test_log_page_element(&writer->file, id, &packed, true);
    free(packed.bytes);
    trace_text_free(block);
}

/* ---- Without scripts ---- */

enum {
    PLAIN_MOST = 200,  /* failed tests */
    REASON_MOST = 300, /* bytes */
};

static void write_failed(const struct test_log_result *result, FILE *stream)
{
    const char *reason = result->reason ? result->reason : "";
    size_t size = strcspn(reason, "\r\n");
    struct trace_text text = {0};

    if (size > REASON_MOST)
        size = trace_utf8_boundary(reason, REASON_MOST);
    trace_text_printf(&text, "%s (%s): %s%s%.*s", test_log_title(result),
                      result->program, test_log_outcome_text(result->outcome),
                      size ? ": " : "", (int)size, reason);
    fputs("<li>", stream);
    test_log_put_xml(stream, text.data ? text.data : "");
    fputs("</li>\n", stream);
    trace_text_free(&text);
}

/* Sites of CI show reports whose script they forbid. */
static void write_plain(const struct test_log_run *run, FILE *stream)
{
    struct test_log_sums sums = test_log_run_sums(run);
    size_t count = 0;

    fprintf(stream,
            "<section class=\"plain\"><h1>%zu passed, %zu failed, %zu "
            "skipped</h1>\n<ol>\n",
            sums.passed, sums.failed, sums.skipped);
    for (size_t i = 0; i < run->count && count < PLAIN_MOST; i++)
        if (test_log_failed(&run->results[i])) {
            write_failed(&run->results[i], stream);
            count++;
        }
    fputs("</ol>\n", stream);
    if (sums.failed > count)
        fprintf(stream, "<p>%zu more tests failed.</p>\n", sums.failed - count);
    fputs("</section>\n", stream);
}

/* ---- The whole ---- */

void test_log_page_put(const struct test_log_page *page, FILE *stream)
{
    uint64_t most = page->most ? page->most : TEST_LOG_PAGE_MOST;
    /* If a run writes all files of passing tests, its page has them, too. */
    uint64_t passing = page->passing           ? page->passing
                       : page->run->render_all ? TEST_LOG_PAGE_MOST
                                               : TEST_LOG_PAGE_PASSING;
    struct writer writer = {
        .page = page,
        .file = {stream,
                 trace_between(test_log_page_html_size + END_ROOM, most)},
        .passing = passing,
        .reading = passing * SHRINKS,
        .end = TEST_LOG_END_BLOCK};
    struct trace_text block = {0};

    fwrite(test_log_page_html, 1, test_log_page_html_size, stream);
    fputc('\n', stream);
    write_plain(page->run, stream);
    test_log_run_block(&block, page);
    write_whole(&writer, "run", &block);
    write_tests(&writer);
    test_log_end_put(&block, &writer.end, page);
    write_whole(&writer, "end", &block);
    fputs("</body></html>\n", stream);
    test_log_end_free(&writer.end);
}

static int write_file(const struct test_log_page *page)
{
    struct trace_file file;

    if (test_log_create(page->run, "report.html", &file))
        return -1;
    test_log_page_put(page, file.stream);
    return trace_file_commit(&file);
}

void test_log_page_write(const struct test_log_page *page)
{
    if (page->run->path && write_file(page))
        test_log_notice("cannot write report.html: %s; results are not "
                        "affected",
                        strerror(errno));
}
