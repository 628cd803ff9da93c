/* plan.h: which tests run. Private. */
#ifndef TESTLOG_PLAN_H
#define TESTLOG_PLAN_H

#include "harness/criterion/watch/jobs.h"
#include "harness/session.h"

struct dl_phdr_info;
struct criterion_test;
struct criterion_test_set;

/* ---- plan.c ---- */

/* test_log_plan_expand makes every parameter instance a test of its own. */
void test_log_plan_expand(struct criterion_test_set *);

/* test_log_plan_select removes the tests that no pattern matches and returns
 * how many are left; test_log_plan_only removes those that are not in `names`,
 * if not NULL. */
size_t test_log_plan_select(struct criterion_test_set *,
                            const struct test_log_options *);
void test_log_plan_only(struct criterion_test_set *, char **names);

/* test_log_plan_has tells whether one of the tests has one of the names. */
bool test_log_plan_has(struct criterion_test_set *, char **names);

/* test_log_plan_first moves the tests with these names to the beginning of
 * their suites, and their suites to the beginning. */
void test_log_plan_first(struct criterion_test_set *, char **names);

/* test_log_plan_print_unmatched prints which patterns, if there are several,
 * matched none of the selected tests. */
void test_log_plan_print_unmatched(struct criterion_test_set *,
                                   const struct test_log_options *);

/* test_log_plan_nearest returns what patterns without a match probably meant, a
 * test or a quoted pattern; NULL if none is similar. It lasts until the next
 * selection. */
const char *test_log_plan_nearest(void);

/* test_log_plan_repeat replaces every test by `times` tests, "name#1",
 * "name#2", ... */
void test_log_plan_repeat(struct criterion_test_set *, size_t times);

/* test_log_plan_mark adds "#rank2" to the names of the tests. */
void test_log_plan_mark(struct criterion_test_set *,
                        const struct test_log_rank *);

/* test_log_plan_keep removes the tests that are not `wanted`. */
typedef bool test_log_wanted(const struct criterion_test *);
void test_log_plan_keep(struct criterion_test_set *, test_log_wanted *wanted);

/* test_log_plan_hold takes the `wanted` tests out of the set and returns how
 * many there are; test_log_plan_release puts them back, in the same order. */
size_t test_log_plan_hold(struct criterion_test_set *, test_log_wanted *wanted);
void test_log_plan_release(struct criterion_test_set *);

/* test_log_plan_seal fixes the order in which instances get parameters;
 * test_log_plan_free frees the parameters. */
void test_log_plan_seal(struct criterion_test_set *);
void test_log_plan_free(void);

/* ---- match_names.c ---- */

/* test_log_plan_has_word tells whether a name contains one of the words.
 * test_log_plan_selects tells whether the patterns and words, if there are any,
 * match a test "suite/test" of any program, or its title; NULL: it has none. */
bool test_log_plan_has_word(const struct test_log_options *, const char *name);
bool test_log_plan_selects(const struct test_log_options *, const char *name,
                           const char *title);

/* ---- shard_durations.c ---- */

extern const char test_log_shard_no_memory[]; /* what is printed without it */

/* test_log_shard_read_durations reads the durations that `testlog run` passes
 * to its programs, or the file of --history, and prints if a flag has no
 * effect. -1 if it has printed what is wrong. test_log_shard_recall takes them
 * from the history if neither is given, keeps those that are `wanted`, and
 * notes in options->shard which are used. */
int test_log_shard_read_durations(struct test_log_options *);
void test_log_shard_recall(struct test_log_options *,
                           const struct test_log_history *,
                           test_log_duration_wanted *wanted,
                           const void *context);

/* test_log_shard_recall_program does the same for the tests of a program; under
 * `testlog run`, for those of all its programs. */
void test_log_shard_recall_program(struct test_log_options *,
                                   const struct test_log_history *,
                                   const char *program);

/* ---- shard_tests.c ---- */

/* test_log_shard_take removes the tests of other shards; it adds the tests of
 * all shards to `plan`, if not NULL, as those of `program` in "plan" of
 * run.json. test_log_shard_list lists the tests that filters and shards leave
 * to `program`. */
void test_log_shard_take(struct criterion_test_set *,
                         const struct test_log_options *, const char *program,
                         struct trace_text *plan);
void test_log_shard_list(struct criterion_test_set *,
                         const struct test_log_options *, const char *program);

/* test_log_shard_select leaves the tests that test_log_shard_list lists. */
void test_log_shard_select(struct criterion_test_set *,
                           const struct test_log_options *,
                           const char *program);

/* ---- list_json.c ---- */

/* test_log_list_json prints the tests, with what the options and the history
 * have of them, as an array. -1 with errno. */
int test_log_list_json(const struct criterion_test_set *,
                       const struct test_log_options *,
                       const struct test_log_history *, const char *program);

/* ---- listed_test.c: what a list has of tests of any framework ---- */

/* test_log_list_past adds the members "outcome" and "median_ns" of a test, if
 * the history knows them; test_log_list_tags adds "tags" from testlog.conf. */
void test_log_list_past(struct trace_text *, const struct test_log_history *,
                        const char *program, const char *name);
void test_log_list_tags(struct trace_text *, const struct test_log_options *,
                        const char *suite, const char *test);

/* ---- prepare.c ---- */

/* ---- filter_functions.c: --functions and --lines ---- */

/* test_log_functions_prepare makes the filter of a run's calls and lines, once,
 * and returns a session's field `functions`. The program has the `modules`, up
 * to one without a name; NULL: it is this one.
 * test_log_functions_find_unmatched notes in the run which globs matched no
 * function. */
const char *test_log_functions_prepare(const struct test_log_options *,
                                       const struct test_log_run *,
                                       struct dl_phdr_info *modules);
void test_log_functions_find_unmatched(struct test_log_run *,
                                       const struct test_log_options *);

/* ---- prepare.c ---- */

struct criterion_suite;

/* test_log_plan_limit returns a test's time limit in seconds, 0 without one:
 * testlog.conf's for this test, otherwise its own, or --timeout if that is
 * shorter. */
double test_log_plan_limit(const struct test_log_options *,
                           const struct criterion_suite *,
                           const struct criterion_test *);

/* test_log_prepare_run prepares a run: chooses its tests and makes their
 * folders, jobs and session. test_log_prepare_retry prepares the number-th try
 * of the tests that have one left, and returns how many there are. */
void test_log_prepare_run(struct test_log_runner *,
                          struct criterion_test_set *);
size_t test_log_prepare_retry(struct test_log_runner *,
                              struct criterion_test_set *, size_t number);

/* ---- serial_turns.c: serial tests among those of other programs ---- */

/* test_log_turn_take waits for the turn of the next tests. Serial tests wait
 * until no test of another program runs, others until no serial test runs. It
 * does nothing outside of `testlog run`, or if no test may be serial. */
void test_log_turn_take(const struct test_log_runner *);
void test_log_turn_end(void);

/* ---- bazel.c ---- */

/* test_log_bazel_begin creates two files for Bazel: one shows that the test has
 * not ended, the other that it supports shards. test_log_bazel_end removes the
 * first. */
void test_log_bazel_begin(const struct test_log_session *);
void test_log_bazel_end(void);

#endif
