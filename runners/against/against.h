/* against.h: against.html, a page that compares two runs. Private.
 *
 * The page in harness/run/page/report/against/ is followed by one block of
 * data, which harness/run/page/format.md describes.
 */
#ifndef TESTLOG_AGAINST_H
#define TESTLOG_AGAINST_H

#include <stdio.h>

#include "harness/run/page/blocks.h"
#include "harness/run/page/columns.h"
#include "runners/diff/compared.h"

/* What the page shows. */
struct against {
    const char *command; /* for messages */
    struct compared compared;
    struct slowdowns paths; /* the spans as trees */
    bool named;             /* tests were named */
};

/* runners_against_read reads and compares two runs; -1 if it has printed what
 * is wrong, such as that no test ran in both. Call runners_against_free in any
 * case. runners_against_put writes the page; errors are the stream's. */
int runners_against_read(struct against *, const struct recorded_runs *);
void runners_against_put(const struct against *, FILE *);
void runners_against_free(struct against *);

/* A block that is being built. Each table has at most so many rows of the
 * most important tests and names; the rest is counted. */
struct against_block {
    size_t most;
    struct test_log_strings strings;
    struct test_log_table pairs, names, buckets, paths;
    struct {
        size_t pairs, names, paths;
    } left_out;
};

/* ---- pair_rows.c ---- */

extern const struct test_log_table_kind runners_pair_kind;

/* runners_against_pairs adds the tests. */
void runners_against_pairs(struct against_block *, const struct changes *);

/* ---- name_rows.c ---- */

extern const struct test_log_table_kind runners_name_kind, runners_bucket_kind;

/* runners_against_names adds the names of spans or kernels and how their
 * durations are spread, the slower ones first. -1 without memory. */
int runners_against_names(struct against_block *, const struct slowdowns *);

/* ---- path_rows.c ---- */

extern const struct test_log_table_kind runners_path_kind;

/* runners_against_paths adds the paths of spans; each follows its parent. -1
 * without memory. */
int runners_against_paths(struct against_block *, const struct slowdowns *);

/* ---- recording_blocks.c ---- */

/* runners_against_recordings writes the recordings of tests that changed or
 * were named, among the first `rows` of the pairs. */
void runners_against_recordings(const struct against *, size_t rows,
                                struct test_log_page_file *);

#endif
