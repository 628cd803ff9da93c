/* run_json.h: reads run.json. Private. */
#ifndef TESTLOG_RUN_JSON_H
#define TESTLOG_RUN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cJSON;
struct test_log_result;
struct test_log_run;
struct trace_anchor;
struct trace_reader;

/* ---- read_run_json.c ---- */

/* Limits, because a pack of 100 KB can have a file of any size. */
enum {
    RUNNERS_FILE_MOST = 256 << 20, /* bytes of a file */
    RUNNERS_VALUES_MOST = 2 << 20, /* of a text; each takes 80 bytes */
    RUNNERS_TESTS_MOST = 1 << 19,  /* of a run; each takes 800 bytes */
    RUNNERS_TRIES_MOST = 1000,     /* of a test */
};

/* runners_json_parse parses a text; NULL if it is not JSON or has too many
 * values. */
struct cJSON *runners_json_parse(const char *text, size_t size);

/* runners_json_read parses a file of a run; NULL with errno, which is EBADMSG
 * if the file is not JSON. */
struct cJSON *runners_json_read(const struct test_log_run *, const char *name);

/* runners_json_text returns a member, NULL if it is not a string;
 * runners_json_string, a copy to be freed. runners_json_number returns 0 if the
 * member is not a number from 0 to 2^64. */
const char *runners_json_text(const struct cJSON *, const char *member);
char *runners_json_string(const struct cJSON *, const char *member);
uint64_t runners_json_number(const struct cJSON *, const char *member);

/* runners_json_add_test adds the result of a test in "tests" to a run, and
 * returns it; NULL without memory. runners_json_add_sources adds those of a
 * merged run. runners_json_shard reads "shard", total 0 without one. */
struct test_log_result *runners_json_add_test(struct test_log_run *,
                                              const struct cJSON *test);
void runners_json_add_sources(struct test_log_run *, const struct cJSON *head);
struct test_log_shard runners_json_shard(const struct cJSON *head);

/* runners_json_moment parses "2026-11-21T02:08:30.123456Z" into ns since 1970;
 * 0 if it is not of that form. */
uint64_t runners_json_moment(const char *);

/* runners_json_add_text adds a text of any bytes, or null, to an object.
 * runners_json_print prints JSON as one line on stdout. */
void runners_json_add_text(struct cJSON *, const char *member,
                           const char *text);
void runners_json_print(const struct cJSON *);

/* ---- run_file.c: run.json, test by test ---- */

struct run_file;

/* runners_run_file_open opens a file of a run, and runners_run_file_from a
 * descriptor, which it then owns; NULL with errno, which is EBADMSG if it is
 * damaged. runners_run_file_close frees it. */
struct run_file *runners_run_file_open(const struct test_log_run *,
                                       const char *name);
struct run_file *runners_run_file_from(int fd);
void runners_run_file_close(struct run_file *);

/* runners_run_file_head returns all but the tests and the plan, which
 * runners_run_file_plan returns as text, "" if there is none. Both are the
 * file's. */
const struct cJSON *runners_run_file_head(const struct run_file *);
const char *runners_run_file_plan(const struct run_file *);

/* runners_run_file_next returns the next test, which the caller deletes; NULL
 * at the end. runners_run_file_whole then tells whether that was the end of
 * the file. */
struct cJSON *runners_run_file_next(struct run_file *);
bool runners_run_file_whole(const struct run_file *);

/* runners_run_file_add adds all tests to a run, and closes the file; -1 with
 * errno, EBADMSG if it is damaged. */
int runners_run_file_add(struct run_file *, struct test_log_run *);

/* ---- read_run.c: a run however it ended ---- */

/* Takes the JSON of a test; false: that was the last one. */
typedef bool runners_take(void *context, const struct cJSON *test);

/* runners_read_run reads the run in the folder `path`: what run.json says of it
 * and its tests; if that is missing or cut off, the run is `unfinished`, and
 * its tests are those that its programs have reported and those that only have
 * a recording, in the order in which they began. *head becomes run.json without
 * its tests, to be deleted; NULL if there is none. -1 if the run has neither
 * that nor tests. */
int runners_read_run(struct test_log_run *, const char *path,
                     struct cJSON **head);

/* runners_read_each calls `take` with each test of such a run; of an unfinished
 * one, tests come again when more is known of them. Returns whether run.json
 * was whole. runners_read_lines does so with the lines of results.jsonl, those
 * that have the text `part` if it is not NULL. runners_read_program_files
 * visits the files of programs, which know of no others. Both return false if
 * the last call did. */
bool runners_read_each(const struct test_log_run *, runners_take *,
                       void *context);
bool runners_read_lines(const struct test_log_run *, const char *part,
                        runners_take *, void *context);
bool runners_read_program_files(const struct test_log_run *,
                                bool (*visit)(void *context, struct run_file *),
                                void *context);

/* runners_recording_folder returns the folder of a recording in its run,
 * "tests/PROGRAM/TEST", to be freed; NULL if it is in none, or all tests have
 * one recording.
 * runners_run_add_recording adds the test of a recording, without an outcome,
 * to a run; NULL without memory. */
struct recording;
char *runners_recording_folder(const struct recording *);
struct test_log_result *runners_run_add_recording(struct test_log_run *,
                                                  const struct recording *);

/* ---- merged_clocks.c: the clocks of a merged run ---- */

/* runners_merged_clock_put writes that recordings with an origin begin `after`
 * ns after the start of the merged run (ns since 1970), for the run's file
 * RUNNERS_ORIGINS. runners_merged_clock_apply makes the times of a recording
 * relative to that start, if the recording's run was merged. */
#define RUNNERS_ORIGINS "origins.tsv"
void runners_merged_clock_put(FILE *, const struct trace_anchor *origin,
                              uint64_t start, uint64_t after);
void runners_merged_clock_apply(struct trace_reader *, const char *path);

#endif
