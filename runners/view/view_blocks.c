/* view_blocks.c: the blocks of a run's page, which format.md describes: those
 * of report.html, one by one, without its limits; and tests in the formats of
 * testlog export.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/page/attempts.h"
#include "runners/commands/report_page.h"
#include "runners/export/export.h"
#include "runners/runs/find.h"
#include "trace/base/text.h"
#include "view.h"

/* Bytes of the recordings whose records are counted for the block at the end.
 */
enum { COUNTED_MOST = 64 << 20 };

enum block_kind { BLOCK_RUN, BLOCK_END, BLOCK_TEST, BLOCK_LIVE, BLOCK_EXPORT };

struct block {
    char run[NAME_MAX + 1];
    enum block_kind kind;
    size_t number, attempt; /* of a test */
    const char *format;     /* BLOCK_EXPORT: its flag */
};

/* ---- Runs ---- */

bool view_find_run(const struct view *view, const char *name,
                   char path[PATH_MAX])
{
    struct stat status;

    return test_log_is_run_name(name) &&
           !fstatat(view->dir, name, &status, AT_SYMLINK_NOFOLLOW) &&
           S_ISDIR(status.st_mode) &&
           snprintf(path, PATH_MAX, "%s/%s", view->folder, name) < PATH_MAX &&
           runners_open_scratch(path);
}

/* Reads a run; one that has only begun has no tests yet. */
static int read_run(struct report_page *page, const struct view *view,
                    const char *name)
{
    char path[PATH_MAX];

    page->run.open = runners_open_own;
    if (!view_find_run(view, name, path)) {
        errno = ENOENT;
        return -1;
    }
    runners_page_read(page, path);
    return page->run.path ? 0 : -1;
}

/* ---- Blocks ---- */

static int put_test(struct trace_text *out, const struct test_log_page *page,
                    const struct block *block)
{
    struct test_log_attempt attempt;
    struct test_log_counts counts;
    struct trace_reader *reader;
    int status;

    errno = ENOENT;
    if (!test_log_attempt_of(&attempt, page->run, block->number,
                             block->attempt))
        return -1;
    reader = test_log_page_open(page, attempt.folder, attempt.recording);
    if (!reader)
        return -1;
    status = test_log_attempt_block(out, page, &attempt, reader, &counts);
    trace_reader_close(reader);
    return status;
}

static void put_name(struct trace_text *names,
                     const struct test_log_attempt *attempt)
{
    trace_text_printf(names, "%s\"t%zu", names->size ? "," : "",
                      attempt->number);
    if (attempt->attempt)
        trace_text_printf(names, ".%zu", attempt->attempt);
    trace_text_char(names, '"');
}

/* Notes what is known of a try: that it has a block, and what its recording
 * has, unless it takes long to count. */
static void note_attempt(struct test_log_end_block *end,
                         const struct test_log_page *page,
                         const struct test_log_attempt *attempt, uint64_t *left)
{
    struct trace_reader *reader =
        test_log_page_open(page, attempt->folder, attempt->recording);
    uint64_t size = reader ? trace_reader_summary(reader).size : 0;
    struct test_log_counts counts;

    if (!reader) {
        test_log_end_leave_out(end, page, attempt,
                               errno == ENOENT ? "missing" : "damaged", false);
        return;
    }
    put_name(&end->blocks, attempt);
    if (size <= *left && !test_log_count_all(&counts, reader)) {
        test_log_end_count(end, page, attempt, reader, &counts);
        *left -= size;
    }
    trace_reader_close(reader);
}

static void put_end(struct trace_text *out, const struct test_log_page *page)
{
    struct test_log_end_block end = TEST_LOG_END_BLOCK;
    struct test_log_attempt attempt;
    uint64_t left = COUNTED_MOST;

    for (size_t i = 0; i < page->run->count; i++)
        for (size_t j = 0; j <= page->run->results[i].earlier_count; j++)
            if (test_log_attempt_of(&attempt, page->run, i, j))
                note_attempt(&end, page, &attempt, &left);
    test_log_end_put(out, &end, page);
    test_log_end_free(&end);
}

static int write_packed(const struct test_log_page *page,
                        const struct block *block, FILE *out)
{
    struct test_log_packed packed = {.bytes = NULL};
    struct trace_text text = {0};
    int status = 0;

    if (block->kind == BLOCK_TEST)
        status = put_test(&text, page, block);
    else if (block->kind == BLOCK_END)
        put_end(&text, page);
    else
        test_log_run_block(&text, page);
    if (!status)
        status = test_log_pack(&packed, &text);
    if (!status)
        fwrite(packed.bytes, 1, packed.size, out);
    free(packed.bytes);
    trace_text_free(&text);
    return status;
}

static int write_block(const struct view *view, const void *context, FILE *out)
{
    const struct block *block = context;
    struct report_page read = {.command = NULL};
    struct test_log_attempt attempt;
    struct test_log_page page;
    int status = read_run(&read, view, block->run);

    if (!status) {
        page = runners_page_of(&read);
        errno = ENOENT;
        if (block->kind != BLOCK_EXPORT && block->kind != BLOCK_LIVE)
            status = write_packed(&page, block, out);
        else if (!test_log_attempt_of(&attempt, &read.run, block->number,
                                      block->attempt))
            status = -1;
        else if (block->kind == BLOCK_EXPORT)
            status = runners_export_put(block->format, &read.run,
                                        attempt.folder, out);
        else /* a recording that is written to is not compressed */
            status = view_follow(&page, &attempt, out);
    }
    if (status && errno != ENOENT)
        test_log_notice("view: %s: %s", block->run, strerror(errno));
    runners_page_free(&read);
    return status;
}

/* ---- Requests ---- */

/* Reads a number without leading zeros, as the page writes it. */
static bool read_number(const char **text, size_t *number)
{
    const char *from = *text;
    char *end;

    if (*from < '0' || *from > '9' ||
        (*from == '0' && from[1] >= '0' && from[1] <= '9'))
        return false;
    errno = 0;
    *number = strtoul(from, &end, 10);
    *text = end;
    return !errno;
}

/* Reads the name of a block: "run.bin", "end.bin", "t7.bin" or "t7.1.bin"; of
 * one that grows: "t7.live"; or of a test in another format: "t7.chrome". */
static bool read_name(struct block *block, const char *name)
{
    block->kind = !strcmp(name, "end.bin")   ? BLOCK_END
                  : !strcmp(name, "run.bin") ? BLOCK_RUN
                                             : BLOCK_TEST;
    if (block->kind != BLOCK_TEST)
        return true;
    if (*name++ != 't' || !read_number(&name, &block->number))
        return false;
    if (*name == '.' && name[1] >= '1' && name[1] <= '9') {
        name++;
        if (!read_number(&name, &block->attempt))
            return false;
    }
    if (!strcmp(name, ".bin"))
        return true;
    block->kind = strcmp(name, ".live") ? BLOCK_EXPORT : BLOCK_LIVE;
    if (block->kind == BLOCK_LIVE)
        return true;
    block->format = name + 1;
    return *name == '.' && runners_export_is_format(block->format);
}

view_result view_send_of_run(const struct view_request *request,
                             const char *path)
{
    struct block block = {.number = 0};
    const char *slash = strchr(path, '/');
    struct view_source source;

    if (!slash || slash - path > NAME_MAX || !read_name(&block, slash + 1))
        return view_send_file(request, path);
    memcpy(block.run, path, (size_t)(slash - path));
    source = (struct view_source){.write = write_block,
                                  .context = &block,
                                  .type = "application/octet-stream",
                                  .saved = block.kind == BLOCK_EXPORT};
    return block.kind == BLOCK_LIVE ? view_send_live(request, &source)
                                    : view_render(request, &source);
}
