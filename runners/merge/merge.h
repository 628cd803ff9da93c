/* merge.h: what the files of `testlog merge` share. Private.
 *
 * Sources are the runs that are merged; the i-th is number i + 1 in the merged
 * run. Nothing is written until all sources have been read and are valid.
 */
#ifndef TESTLOG_MERGE_H
#define TESTLOG_MERGE_H

#include <sys/types.h>

#include "harness/options/options.h"
#include "harness/run/model/model.h"
#include "harness/run/past/durations.h"
#include "runners/run/run.h"

struct run_file;

/* The clocks of a source's host while it ran. */
struct merge_clock {
    struct trace_anchor *origins; /* time zero of its recordings */
    size_t count, capacity;
    int64_t first, least, most; /* the wall clock less the monotonic one, ns */
    int64_t last;               /* at the moment `at` of the monotonic clock */
    uint64_t at;
    bool aligned;   /* by a span: the offset is known */
    uint64_t error; /* ns that the host's kernel stated; UINT64_MAX: unknown */
};

struct merge_source {
    char *path;
    char *commit; /* that it tested; NULL: unknown */
    dev_t device;
    ino_t inode;
    struct test_log_merged_run
        merged;           /* until the run has those of all sources */
    uint64_t duration;    /* ns; 0: unknown */
    uint64_t identity;    /* of a run; its copies have the same */
    uint64_t lane;        /* sources of one lane are tries of the same tests */
    char *label;          /* tells tests of this lane from those of others */
    const char *labelled; /* one of its programs that got it; NULL: none */
    struct merge_clock clock;
};

struct merge {
    struct test_log_options options;
    struct test_log_run run; /* the merged one */
    struct merge_source *sources;
    size_t count;
    struct trace_table by_test; /* result of a lane, program and name */
    struct merge_plan {         /* of a program */
        struct cJSON *json;
        uint64_t hash;
        const struct test_log_merged_run *first; /* run that has it */
    } * plans;
    size_t plan_count, plan_capacity;
    struct trace_table by_program; /* plan of a program */
    bool first;                    /* no head is merged yet */
    const char *output;            /* the folder of the new run */
    bool allow_missing;
    const char *align; /* align clocks by this span; NULL: by the wall clocks */
    size_t unread;     /* recordings that cannot be read */
    const char *history;              /* file of durations; NULL: none */
    struct test_log_durations before; /* contents of that file */
};

/* ---- sources.c ---- */

/* merge_sources_read reads the runs named by `words` without their tests, in
 * order of their start, and adds them to the run. -1 if it has
 * printed why they cannot be merged. */
int merge_sources_read(struct merge *, char **words);
void merge_sources_free(struct merge *);

/* merge_source_files returns a run to open the files of a source with. */
struct test_log_run merge_source_files(const struct merge_source *);

/* ---- plans.c: which tests each shard has ---- */

/* merge_plan_add adds the plan of a source, as text; -1 if it has printed that
 * an earlier one differs. */
int merge_plan_add(struct merge *, const struct merge_source *,
                   const char *plan);

/* merge_plan_shard_of returns the shard that has a test, total 0 if none has.
 */
struct test_log_shard merge_plan_shard_of(const struct merge *,
                                          const char *program,
                                          const char *test);

/* merge_plan_find_missing adds a result for each shard with unknown tests, and
 * one without an outcome for each test that is missing. */
void merge_plan_find_missing(struct merge *);

/* ---- test_names.c ---- */

/* merge_test_key identifies a test of a lane. */
uint64_t merge_test_key(uint64_t lane, const char *program, const char *name);

/* merge_did_run tells whether a test ran to its end; in an interrupted or
 * killed run, it may not have. */
bool merge_did_run(const struct test_log_result *);

/* merge_name makes a name a single part of a path, because a run.json may
 * contain any name. */
void merge_name(char *name);

/* ---- tests.c ---- */

/* merge_tests_read adds the tests of all sources to the run: a retry to its
 * test, and tests of the same name with names that tell them apart. -1 with
 * errno. */
int merge_tests_read(struct merge *);

/* merge_tests_sort sorts them by program and name. */
void merge_tests_sort(struct merge *);

/* ---- files.c ---- */

/* merge_files_link links or copies the folders of all tests into the run. -1
 * with errno. */
int merge_files_link(struct merge *);

/* ---- merged_durations.c ---- */

/* merge_durations_read reads the file of --history, if there is one;
 * merge_durations_write replaces in it the durations of the tests that ran. -1
 * if they have printed what is wrong. */
int merge_durations_read(struct merge *);
int merge_durations_write(struct merge *);

/* ---- clocks.c ---- */

/* merge_clock_note notes the clocks of a host from a recording of the source.
 * merge_clocks_align finds offsets by the span; -1 if it has printed why it
 * cannot. merge_clocks_apply puts all times on one clock, and writes the file
 * for recordings; -1 with errno. merge_clocks_print prints offsets. */
void merge_clock_note(struct merge_source *, const struct trace_reader *);
int merge_clocks_align(struct merge *);
int merge_clocks_apply(struct merge *);
void merge_clocks_print(const struct merge *);

#endif
