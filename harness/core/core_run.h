/* core_run.h: the run that a program's tests are in. Private. */
#ifndef TESTLOG_CORE_RUN_H
#define TESTLOG_CORE_RUN_H

#include "harness/core/in_process.h"
#include "harness/options/filters.h"
#include "harness/options/options.h"

enum test_log_core_file {
    TEST_LOG_CORE_JOURNAL,
    TEST_LOG_CORE_RECORDING,
    TEST_LOG_CORE_OUTPUT,
    TEST_LOG_CORE_FILES
};

struct test_log_core {
    pid_t owner; /* the process that made the run and ends it; 0: none yet */
    bool nested; /* the process runs in a test of the same program: none */
    bool is_written; /* the run is, or is about to be: */
    bool is_closed;  /* it is, by this thread */
    pid_t closer;
    struct test_log_options options;
    struct test_log_filters filters;
    struct test_log_run run;
    char *folder;   /* absolute path of the program's; NULL: none */
    char *path;     /* absolute path of the run */
    char *began_in; /* the working directory */
    char *ending;   /* of all names, "#2"; NULL: none */
    struct trace_descriptor files[TEST_LOG_CORE_FILES], run_folder;
};

/* test_log_core returns the run of this process. */
struct test_log_core *test_log_core(void);

/* test_log_core_open makes the run, once, and lets `at_exit` be called when a
 * process exits, and `in_child` in forked children. -1 with errno.
 * test_log_core_close writes the run. */
int test_log_core_open(void (*at_exit)(void), void (*in_child)(void));
void test_log_core_close(void);

/* test_log_core_file returns a descriptor of a file, -1 if there is none; the
 * program may have closed the last one. */
int test_log_core_file(enum test_log_core_file);

/* test_log_core_keep_journal goes on with the journal in memory, because the
 * file cannot be written; 0, or -1 without memory. */
int test_log_core_keep_journal(void);

/* test_log_core_repair opens the run's folder again, if the program has closed
 * it. */
void test_log_core_repair(void);

/* ---- report_death.c ---- */

/* test_log_death_prepare finds the program testlog. test_log_death_report lets
 * it print the tests of this process, which is about to die, and write the run;
 * false if it has not. The caller may be a signal handler. Other threads that
 * call it or test_log_death_wait do not come back. */
void test_log_death_prepare(const struct test_log_core *);
bool test_log_death_report(const struct test_log_core *, const char *why);
void test_log_death_wait(void);

/* ---- judge_run.c ---- */

/* test_log_judge writes the files of a run whose only program has died without
 * them. It does nothing if there is no such program. */
void test_log_judge(const char *path);

/* test_log_judge_shown does so, too, and prints what the program would have
 * printed; -1 if the run could not be judged. */
int test_log_judge_shown(const char *path, const struct test_log_options *);

/* test_log_core_look, if it is set, is called for each test that crashed,
 * before the stacks that its processes left are erased from the recording.
 * `testlog` stores them; the program itself has no library that reads them. */
extern void (*test_log_core_look)(const struct test_log_run *,
                                  const struct test_log_result *);

/* test_log_judge_program adds to a run the tests of a program in it that has
 * died, unless they are among the results from number `from` on, and `prints`
 * the blocks of those that crashed. `process` is the name of the folder for
 * files of its process. Returns whether the program is one whose tests run in
 * one process. */
bool test_log_judge_program(struct test_log_run *, const char *program,
                            const char *process, size_t from, bool prints);

/* test_log_core_take_output adds to the output of a process in the run, which
 * is about to be killed, the line of stdout that it has not completed. */
void test_log_core_take_output(const struct test_log_run *,
                               const char *process);

#endif
