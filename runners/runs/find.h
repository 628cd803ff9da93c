/* find.h: finds runs and their recordings, packed and compressed ones too.
 * Private. */
#ifndef TESTLOG_FIND_H
#define TESTLOG_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace/read/reader.h"

struct log_filter;
struct log_lines;
struct test_log_options;
struct test_log_run;
struct trace_profiler;

/* ---- select_tests.c ---- */

struct selectable {
    const char *name;  /* "suite/test" */
    const char *title; /* NULL: the name */
    bool selected;
};

/* runners_select_tests selects the tests that a word (NULL ends them) names,
 * which may be an extended glob, by their names or titles. If a word names
 * none, it selects those whose names contain it. Without a word, all are
 * selected. */
void runners_select_tests(char **words, struct selectable *tests, size_t count);

/* ---- recordings.c ---- */

struct recording {
    char *path;
    char *program;   /* its folder in the run, "" if it is in none */
    char *test;      /* "suite/test" */
    char *title;     /* for people */
    uint64_t opened; /* ticks; 0: unknown */
    size_t lines;    /* that were printed */
    bool unreadable;
    /* For --follow: */
    struct log_lines *followed;
    bool ended;
    int runner; /* the process that ends its run; 0: unknown */
};

struct recordings {
    bool with_damaged;     /* finds those that cannot be read, too */
    struct recording *all; /* by program and test */
    size_t count, capacity;
    struct trace_table known; /* paths, also those that were not wanted */
};

/* runners_recordings_find adds new recordings at `where`, which is a run, the
 * folder of a test, or a recording; with `patterns` only those of tests that
 * these select. -1 with errno if nothing is there. */
int runners_recordings_find(struct recordings *, const char *where,
                            char **patterns);
void runners_recordings_free(struct recordings *);

/* runners_recordings_retry has recordings read again that could not be read:
 * they were still being made, or were gone and have copies, which a later
 * search finds. */
void runners_recordings_retry(struct recordings *);

/* runners_is_gone tells whether a process has ended. */
bool runners_is_gone(int process);

/* runners_recordings_move notes that the folder `from`, in which recordings
 * were found, was renamed to `to`. */
void runners_recordings_move(struct recordings *, const char *from,
                             const char *to);

/* runners_run_of returns the run that the first argument names, and skips it;
 * otherwise the latest run. A pack is opened as runners_find_run does. NULL if
 * it has printed what is wrong with the pack or the settings. */
const char *runners_run_of(char ***arguments);

/* runners_recordings_refuse prints that nothing was found; returns the exit
 * code. */
int runners_recordings_refuse(const char *command, const char *where,
                              char **patterns);

/* runners_flush flushes stdout. runners_written does so and returns `code`; if
 * not all could be written, it prints why and returns TEST_LOG_EXIT_FAILED. */
void runners_flush(void);
int runners_written(const char *command, int code);

/* ---- follow_recording.c ---- */

/* runners_follow_look finds the new records of a followed recording that have
 * settled, and all of them once no process adds any, which sets `ended`. 1 if
 * there were new ones, 0 if not, -1 without memory. */
int runners_follow_look(struct trace_reader *, bool *ended);

/* runners_follow_pause pauses before the next look: a little while records
 * arrive, otherwise longer and longer, and never less than the looks took that
 * began at `began`. Returns the pause, which the next call takes as `last`; all
 * in ns. */
uint64_t runners_follow_pause(uint64_t last, uint64_t began, bool any);

/* ---- kept_runs.c ---- */

/* runners_settings reads the variables and testlog.conf; `dir` is the argument,
 * if there is one. -1 if it has printed what is wrong; otherwise call
 * test_log_options_free. */
int runners_settings(struct test_log_options *, const char *command,
                     char **arguments);

/* runners_refuse_dir prints that a folder of runs cannot be read: errno. */
void runners_refuse_dir(const char *command, const char *dir);

/* runners_find_run finds a run by its path, by its name in `dir`, or as
 * "latest" or "latest~N" there, and writes its path into PATH_MAX bytes. A pack
 * is unpacked into a temporary folder, which is removed when the process ends;
 * if that fails, it has printed why, and errno is EBADMSG. For a run in a
 * scratch folder, the path is that of the scratch folder. */
bool runners_find_run(const char *dir, const char *word, char *path);

/* runners_open_scratch replaces the path of a run by that of its scratch
 * folder, if it is recorded in one, as runners_find_run does. */
bool runners_open_scratch(char path[PATH_MAX]);

/* runners_left_scratch returns the path of a run that was opened in its scratch
 * folder and has moved since; otherwise NULL. */
const char *runners_left_scratch(const char *run);

/* runners_size_of returns the bytes that a folder takes on the disk. */
uint64_t runners_size_of(const char *path);

/* ---- packed.c ---- */

#define RUNNERS_PACK_SUFFIX ".tar.zst"

/* runners_is_named_pack tells whether a path ends with it. */
bool runners_is_named_pack(const char *path);

/* runners_open_packed replaces the path of a pack by that of the run in it, as
 * runners_find_run does. */
bool runners_open_packed(char path[PATH_MAX]);

/* runners_pack_of returns the path of the pack that a run was unpacked from,
 * NULL if it was not; runners_name_of then returns the run's own path. */
const char *runners_pack_of(const char *run);
const char *runners_name_of(const char *run);

/* ---- unmatched_directives.c ---- */

/* runners_print_unmatched warns about the directives of the filter `origin`
 * that match no call site of the recordings, as log_filter_seen has noted. */
void runners_print_unmatched(const struct log_filter *, const char *origin,
                             const struct recordings *);

/* ---- compressed.c ---- */

/* runners_is_link tells whether a path is a link, which a run that came from
 * elsewhere may have to what is not its own.
 * runners_is_there tells whether `path` or its compressed recording exists. */
bool runners_is_link(const char *path);
bool runners_is_there(const char *path);

/* runners_open opens a recording, compressed or not, as trace_reader_open does,
 * but no link: see runners_is_link. If it is damaged, it prints so and errno is
 * EBADMSG. runners_open_beginning prints nothing, and opens at least the
 * metadata at the beginning. */
struct trace_reader *runners_open(const char *path);
struct trace_reader *runners_open_beginning(const char *path);

/* runners_open_error describes errno after one of them. */
const char *runners_open_error(void);

/* runners_has_samples returns whether a recording can be read and has samples;
 * it prints nothing. */
bool runners_has_samples(const char *path);

/* runners_open_in opens the recording in a test's folder of a run.
 * runners_open_own does so unless a link below the run leads to it: errno is
 * ENOENT. */
struct trace_reader *runners_open_in(const struct test_log_run *,
                                     const char *folder);
struct trace_reader *runners_open_own(const struct test_log_run *,
                                      const char *folder);

/* ---- test_zero.c: from when the times of a test count ---- */

/* What the runner noted of the tests of a run; the zero value has nothing. It
 * is read once it is needed. */
struct noted_times {
    bool read;
    uint64_t start;          /* of the run, ns since 1970 */
    struct trace_noted *all; /* `began` is in ns since 1970 */
    size_t count, capacity;
    struct trace_table by_folder;
};

/* runners_zero_of returns the zero of a test's time, as trace_reader_zero. The
 * recordings are those of one run. Call runners_noted_free in the end. */
uint64_t runners_zero_of(struct noted_times *, const struct recording *,
                         struct trace_reader *);
void runners_noted_free(struct noted_times *);

/* ---- lost_records.c ---- */

/* Tests that lost records; the zero value has none. */
struct losses {
    struct trace_text first; /* what the first one lost */
    size_t count;
};

/* runners_losses_note adds a test if it lost records. runners_losses_say prints
 * a line about them, if there are any, and frees what they hold. */
void runners_losses_note(struct losses *, const struct recording *,
                         const struct trace_reader *);
void runners_losses_say(struct losses *, const char *command);

#endif
