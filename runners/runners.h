/* runners.h: the subcommands of `testlog`. */
#ifndef TESTLOG_RUNNERS_H
#define TESTLOG_RUNNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/reader.h"

/* Each takes its own arguments, its name first, and returns the exit code. */
int runners_run(int argc, char **argv);
int runners_record(int argc, char **argv);
int runners_log(int argc, char **argv);
int runners_export(int argc, char **argv);
int runners_filter(int argc, char **argv);

/* ---- run.c ---- */

struct test_log_options;
struct test_log_run;

/* runners_write writes the files of a whole run; runners_copy_settings notes in
 * it which filters are in force. */
void runners_write(const struct test_log_run *);
void runners_copy_settings(struct test_log_run *,
                           const struct test_log_options *);

/* ---- batch.c ---- */

/* runners_batch answers the cases on standard input; returns the exit code. */
int runners_batch(bool strict);

/* ---- recordings.c ---- */

struct recording {
    char *path;
    char *program; /* its folder in the run, "" if it is in none */
    char *test;    /* "suite/test" */
    /* Of who follows it: */
    size_t lines;            /* that were written, but for those of devices */
    struct trace_table told; /* the places of what devices did */
    bool ended;
    int runner; /* the process that ends its run; 0: not known */
};

struct recordings {
    struct recording *all; /* by program and test */
    size_t count;
};

/* runners_recordings_find adds the recordings at `where` that are not there
 * yet: a run, a folder of a test, or one recording; with `patterns` (NULL at
 * the end) only those of tests that match one. -1 with errno if there is no
 * such thing. */
int runners_recordings_find(struct recordings *, const char *where,
                            char **patterns);
void runners_recordings_free(struct recordings *);

/* runners_run_of returns the run that the first argument names, which it steps
 * over, or the latest run. */
const char *runners_run_of(char ***arguments);

/* runners_recordings_refuse says that nothing was found; returns the exit
 * code. */
int runners_recordings_refuse(const char *command, const char *where,
                              char **patterns);

/* runners_refuse_flag says what getopt_long, whose short flags begin with a
 * colon and whose long ones are `longs`, did not understand; returns the exit
 * code. */
struct option;
int runners_refuse_flag(const char *command, int c, char **argv,
                        const struct option *longs);

/* runners_flush writes what stands in stdout's buffer. runners_written does so
 * and returns `code`; or, if not all could be written, it says so and returns
 * TEST_LOG_FAILED. */
void runners_flush(void);
int runners_written(const char *command, int code);

/* ---- compressed.c ---- */

struct test_log_profiler;
struct trace_reader;

/* runners_compress puts recording.zst in place of the recordings of a run whose
 * processes are gone, but for small ones and if options of profilers do not
 * say otherwise. */
void runners_compress(const struct test_log_run *,
                      const struct test_log_profiler *);

/* runners_is_there tells whether there is something at `path`, or the
 * recording that was there, compressed. */
bool runners_is_there(const char *path);

/* runners_open opens a recording as trace_reader_open does, be it compressed
 * or not. Of one that is damaged it says so; errno is EBADMSG then.
 * runners_open_beginning opens at least the metadata that it was begun with,
 * and says nothing. */
struct trace_reader *runners_open(const char *path);
struct trace_reader *runners_open_beginning(const char *path);

/* ---- children.c ---- */

/* runners_take_signals takes over SIGINT, SIGTERM, SIGHUP and SIGUSR1, which
 * then go to the program that runs; runners_interrupted returns the one that
 * ended the run, or 0. */
void runners_take_signals(void);
int runners_interrupted(void);

/* runners_hand_on_signals does so for a program that knows nothing of testlog:
 * each signal is the program's, and it alone decides when to end. */
void runners_hand_on_signals(void);

/* runners_spawn runs a program to its end; returns what waitpid tells, or
 * -errno if it cannot be run. */
int runners_spawn(char *path, char **argv);

#endif
