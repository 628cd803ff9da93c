/* report_html.c: writes report.html: the page, and the blocks of data behind
 * it.
 *
 * The file is written in one pass, to save memory. The block at the end has
 * what is known only after all recordings are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/results/folder/run_folder.h"
#include "harness/results/report/recorded.h"
#include "harness/results/report/report_html.h"
#include "harness/results/reports/writers.h"
#include "trace/base/file.h"
#include "trace/base/text.h"

enum { END_ROOM = 1 << 20 /* bytes that are kept for the block at the end */ };

static const struct test_log_table_kind count_kind = {
    "counts",
    10,
    {{"test", TEST_LOG_NUMBER},
     {"try", TEST_LOG_NUMBER},
     {"spans", TEST_LOG_NUMBER},
     {"lines", TEST_LOG_NUMBER},
     {"slices", TEST_LOG_NUMBER},
     {"kernels", TEST_LOG_NUMBER},
     {"copies", TEST_LOG_NUMBER},
     {"compiles", TEST_LOG_NUMBER},
     {"start", TEST_LOG_NUMBER},
     {"end", TEST_LOG_NUMBER}}};

static const struct test_log_table_kind left_out_kind = {
    "left_out",
    4,
    {{"test", TEST_LOG_NUMBER},
     {"try", TEST_LOG_NUMBER},
     {"why", TEST_LOG_NUMBER},
     {"command", TEST_LOG_NUMBER}}};

struct writer {
    const struct test_log_page *page;
    struct test_log_page_file file;
    /* The block at the end: */
    struct test_log_strings strings;
    struct test_log_table counts, left_out;
};

/* One try of a test. */
struct attempt {
    const struct test_log_result *result;
    size_t number;  /* of the test */
    size_t attempt; /* from 1; 0: the last */
    const char *folder;
    enum test_log_outcome outcome;
};

/* ---- The block at the end ---- */

/* Notes why a test has no block, and which command writes it. */
static void leave_out(struct writer *writer, const struct attempt *attempt,
                      const char *why, bool can_write)
{
    struct trace_text command = {0};

    if (can_write && writer->page->run->path)
        test_log_export_hint(&command, writer->page->run, attempt->result,
                             "report");
    TEST_LOG_ROW(
        &writer->left_out, attempt->number, attempt->attempt,
        test_log_strings_of(&writer->strings, why),
        test_log_strings_add(&writer->strings, command.data, command.size));
    trace_text_free(&command);
}

/* Returns the ns from the start of the run to a recording's time zero, which
 * programs of one run do not share. */
static uint64_t offset_of(const struct test_log_run *run,
                          const struct trace_reader *reader)
{
    return trace_between(run->start.wall,
                         trace_reader_summary(reader).origin.wall);
}

static void note_counts(struct writer *writer, const struct attempt *attempt,
                        const struct trace_reader *reader,
                        const struct test_log_counts *counts)
{
    uint64_t offset = offset_of(writer->page->run, reader);

    TEST_LOG_ROW(&writer->counts, attempt->number, attempt->attempt,
                 counts->spans, counts->lines, counts->slices, counts->kernels,
                 counts->copies, counts->compiles,
                 counts->some ? offset + counts->begin + 1 : 0,
                 offset + trace_reader_summary(reader).end);
}

static void write_end(struct writer *writer)
{
    const struct test_log_table *const tables[] = {&writer->counts,
                                                   &writer->left_out};
    struct test_log_packed packed;
    struct trace_text block = {0};

    test_log_block_put(&block, "\"whole\":true,", &writer->strings, tables,
                       sizeof(tables) / sizeof(*tables));
    if (!test_log_pack(&packed, &block))
        test_log_page_element(&writer->file, "end", &packed, true);
    free(packed.bytes);
    trace_text_free(&block);
}

/* ---- Tests ---- */

static void put_members(struct trace_text *out, const struct writer *writer,
                        const struct attempt *attempt,
                        const struct trace_reader *reader)
{
    const char *name = test_log_name(attempt->result);

    trace_text_literal(out, "\"name\":");
    trace_json_string(out, name, strlen(name));
    trace_text_printf(out, ",\"try\":%zu,\"offset\":%llu,", attempt->attempt,
                      (unsigned long long)offset_of(writer->page->run, reader));
}

/* Writes a block; false if it does not fit into the file. */
static bool write_block(struct writer *writer, const struct attempt *attempt,
                        const struct trace_text *block, bool whole)
{
    struct test_log_packed packed;
    char id[64];
    bool written = false;

    if (attempt->attempt)
        snprintf(id, sizeof(id), "t%zu.%zu", attempt->number, attempt->attempt);
    else
        snprintf(id, sizeof(id), "t%zu", attempt->number);
    if (!test_log_pack(&packed, block))
        written = test_log_page_element(&writer->file, id, &packed, whole);
    free(packed.bytes);
    return written;
}

static struct trace_noted noted_of(const struct writer *writer,
                                   const struct attempt *attempt,
                                   const struct trace_reader *reader)
{
    const struct test_log_result *result = attempt->result;
    struct trace_noted noted = {result->began, result->duration};

    if (attempt->attempt) {
        const struct test_log_try *before =
            &result->earlier[attempt->attempt - 1];

        noted = (struct trace_noted){before->began, before->duration};
    }
    if (noted.began)
        noted.began =
            trace_between(offset_of(writer->page->run, reader), noted.began) +
            1;
    return noted;
}

static void write_recording(struct writer *writer,
                            const struct attempt *attempt,
                            struct trace_reader *reader, bool whole)
{
    struct trace_text members = {0}, block = {0};
    struct test_log_counts counts = {0};
    uint64_t zero =
        trace_reader_zero(reader, noted_of(writer, attempt, reader));
    int status;

    put_members(&members, writer, attempt, reader);
    status =
        test_log_recorded_put(&block, members.data ? members.data : "", reader,
                              trace_reader_meta(reader, "log"), zero, &counts);
    note_counts(writer, attempt, reader, &counts);
    if (status)
        leave_out(writer, attempt, "memory", true);
    else if (!write_block(writer, attempt, &block, whole))
        leave_out(writer, attempt, "size", true);
    trace_text_free(&members);
    trace_text_free(&block);
}

/* Files of large recordings of passing tests are written on demand. */
static void write_counts(struct writer *writer, const struct attempt *attempt,
                         struct trace_reader *reader)
{
    struct test_log_counts counts;

    if (!test_log_count_all(&counts, reader))
        note_counts(writer, attempt, reader, &counts);
    leave_out(writer, attempt, "large", true);
}

static void write_attempt(struct writer *writer, const struct attempt *attempt)
{
    const struct test_log_page *page = writer->page;
    bool whole =
        page->is_whole && page->is_whole(attempt->result, page->context);
    struct trace_reader *reader;

    if (!attempt->folder)
        return;
    reader = test_log_page_open(page, attempt->folder);
    if (!reader)
        leave_out(writer, attempt, errno == ENOENT ? "missing" : "damaged",
                  false);
    else if (whole || test_log_is_rendered(page->run, attempt->outcome, reader))
        write_recording(writer, attempt, reader, whole);
    else
        write_counts(writer, attempt, reader);
    trace_reader_close(reader);
}

static void write_test(struct writer *writer, size_t number)
{
    const struct test_log_result *result = &writer->page->run->results[number];

    write_attempt(writer, &(struct attempt){result, number, 0, result->folder,
                                            result->outcome});
    for (size_t i = 0; i < result->earlier_count; i++)
        write_attempt(writer, &(struct attempt){result, number, i + 1,
                                                result->earlier[i].folder,
                                                result->earlier[i].outcome});
}

static void write_tests(struct writer *writer, bool bad)
{
    const struct test_log_run *run = writer->page->run;

    for (size_t i = 0; i < run->count; i++)
        if (test_log_outcome_bad(run->results[i].outcome) == bad)
            write_test(writer, i);
}

/* ---- The page ---- */

static void write_run(struct writer *writer)
{
    struct test_log_packed packed;
    struct trace_text block = {0};

    test_log_run_block(&block, writer->page);
    if (!test_log_pack(&packed, &block))
        test_log_page_element(&writer->file, "run", &packed, true);
    free(packed.bytes);
    trace_text_free(&block);
}

/* Returns how many bytes the blocks may have, except the one at the end. */
static uint64_t room_for(const struct test_log_page *page)
{
    uint64_t most = page->most ? page->most : TEST_LOG_PAGE_MOST;

    return trace_between(test_log_page_html_size + END_ROOM, most);
}

void test_log_page_put(const struct test_log_page *page, FILE *stream)
{
    struct writer writer = {.page = page,
                            .file = {stream, room_for(page)},
                            .counts = {.kind = &count_kind},
                            .left_out = {.kind = &left_out_kind}};

    fwrite(test_log_page_html, 1, test_log_page_html_size, stream);
    fputc('\n', stream);
    write_run(&writer);
    write_tests(&writer, true);
    write_tests(&writer, false);
    write_end(&writer);
    fputs("</body></html>\n", stream);
    test_log_strings_free(&writer.strings);
    test_log_table_free(&writer.counts);
    test_log_table_free(&writer.left_out);
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
