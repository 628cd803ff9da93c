/* against.c: reads two runs and writes against.html, which compares them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "against.h"
#include "harness/machine/notice.h"
#include "harness/run/page/report_html.h"
#include "harness/version.h"
#include "runners/runs/find.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

enum {
    ROWS_MOST = 50000, /* of each table; fewer if the page gets too large */
    ROWS_LEAST = 100,
};

/* ---- Reading ---- */

/* Tests that changed first, then as in their run. */
static int by_kind(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    const struct test_log_result *first = x->after ? x->after : x->before;
    const struct test_log_result *second = y->after ? y->after : y->before;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return first < second ? -1 : first > second;
}

int runners_against_read(struct against *against,
                         const struct recorded_runs *runs)
{
    const struct changes *changes = &against->compared.changes;
    bool some = false;

    *against =
        (struct against){.command = runs->command, .named = runs->patterns};
    if (runners_compared_read(&against->compared, runs,
                              runners_over_least(runs->by)))
        return -1;
    for (size_t i = 0; i < changes->count; i++)
        some |= changes->all[i].before && changes->all[i].after;
    if (!some) {
        test_log_notice("%s: no test%s ran in both %s and %s", runs->command,
                        runs->patterns ? " that you name" : "",
                        runners_name_of(runs->sides[0].all[0]),
                        runners_name_of(runs->sides[1].all[0]));
        return -1;
    }
    qsort(changes->all, changes->count, sizeof(struct change), by_kind);
    if (!runners_slowdowns_read(&against->paths, STAT_TREE, runs))
        return 0;
    test_log_notice("%s: out of memory", runs->command);
    return -1;
}

void runners_against_free(struct against *against)
{
    runners_compared_free(&against->compared);
    runners_slowdowns_free(&against->paths);
}

/* ---- Members ---- */

static void put_text(struct trace_text *out, const char *member,
                     const char *text)
{
    trace_text_printf(out, "\"%s\":", member);
    trace_json_string(out, text, strlen(text));
    trace_text_char(out, ',');
}

/* Follows the link "latest". */
static void put_run(struct trace_text *out, const struct against *against,
                    int side)
{
    const struct test_log_run *run =
        side ? &against->compared.after : &against->compared.before;
    const char *path = runners_name_of(run->path);
    char real[PATH_MAX];

    if (realpath(path, real))
        path = real;
    trace_text_printf(out, "\"%s\":{", side ? "new" : "old");
    put_text(out, "run", trace_base_name(path));
    put_text(out, "path", path);
    trace_text_printf(
        out, "\"duration_ns\":%llu,\"tests\":%zu,\"recordings\":%zu},",
        (unsigned long long)against->compared.times[side], run->count,
        against->compared.spans.sides[side].recordings);
}

static void put_members(struct trace_text *out, const struct against *against,
                        const struct against_block *block)
{
    put_text(out, "testlog", TEST_LOG_VERSION);
    put_run(out, against, 0);
    put_run(out, against, 1);
    trace_text_printf(
        out, "\"left_out\":{\"pairs\":%zu,\"names\":%zu,\"paths\":%zu},",
        block->left_out.pairs, block->left_out.names, block->left_out.paths);
}

/* ---- The page ---- */

/* Packs a block whose tables have at most so many rows; -1 with errno. */
static int pack(struct test_log_packed *packed, const struct against *against,
                size_t most)
{
    struct against_block block = {.most = most,
                                  .pairs = {.kind = &runners_pair_kind},
                                  .names = {.kind = &runners_name_kind},
                                  .buckets = {.kind = &runners_bucket_kind},
                                  .paths = {.kind = &runners_path_kind}};
    const struct test_log_table *const tables[] = {
        &block.pairs, &block.names, &block.buckets, &block.paths};
    const struct compared *compared = &against->compared;
    struct trace_text members = {0}, text = {0};
    int status;

    runners_against_pairs(&block, &compared->changes);
    status = runners_against_names(&block, &compared->spans) ||
                     runners_against_names(&block, &compared->kernels) ||
                     runners_against_paths(&block, &against->paths)
                 ? -1
                 : 0;
    put_members(&members, against, &block);
    if (!status)
        test_log_block_put(&text, members.data ? members.data : "",
                           &block.strings, tables,
                           sizeof(tables) / sizeof(*tables));
    if (!status)
        status = test_log_pack(packed, &text);
    trace_text_free(&members);
    trace_text_free(&text);
    test_log_strings_free(&block.strings);
    test_log_table_free(&block.pairs);
    test_log_table_free(&block.names);
    test_log_table_free(&block.buckets);
    test_log_table_free(&block.paths);
    return status;
}

/* Leaves out half of the rows until the block fits; returns how many rows it
 * has at most. */
static size_t put_block(const struct against *against,
                        struct test_log_page_file *file)
{
    struct test_log_packed packed;
    bool written = false;
    size_t most = 2 * ROWS_MOST;

    while (!written && most / 2 > ROWS_LEAST) {
        most /= 2;
        if (pack(&packed, against, most)) {
            test_log_notice("%s: out of memory", against->command);
            return 0;
        }
        written = test_log_page_element(file, "against", &packed,
                                        most / 2 <= ROWS_LEAST);
        free(packed.bytes);
    }
    return most;
}

void runners_against_put(const struct against *against, FILE *stream)
{
    struct test_log_page_file file = {
        stream, trace_between(test_log_against_html_size, TEST_LOG_PAGE_MOST)};
    size_t rows;

    fwrite(test_log_against_html, 1, test_log_against_html_size, stream);
    fputc('\n', stream);
    rows = put_block(against, &file);
    runners_against_recordings(against, rows, &file);
    fputs("</body></html>\n", stream);
}
