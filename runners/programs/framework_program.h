/* framework_program.h: what the files about a program of another framework
 * share. Private to this folder. */
#ifndef TESTLOG_FRAMEWORK_PROGRAM_H
#define TESTLOG_FRAMEWORK_PROGRAM_H

#include "frameworks.h"
#include "harness/run/model/model.h"
#include "trace/base/containers.h"

struct framework_program {
    const struct framework *framework;
    const struct test_log_options *options;
    const char *path, *name;
    const char *arguments; /* of testlog.conf; NULL: none */
    struct framework_place place;
    bool has_adapter;
    struct framework_start flags, start;
    struct framework_tests chosen; /* that have not run, or run again */
    bool chooses;                  /* otherwise all tests run */
    bool elsewhere;                /* there are tests in other shards */
    size_t batch; /* most of the chosen tests that a process runs; 0: all */
    size_t taken; /* of these, by the last process */
    bool broken;  /* it dies, whichever test runs */
    char *death;  /* how a process ended outside of its tests; NULL: none did */
    enum test_log_outcome end; /* then */
    size_t tries;              /* that the chosen tests had left; 0: unknown */
    unsigned deaths;           /* of processes */
    int chosen_file;           /* 0: none */
    bool takes_library;        /* one that handles crashes */
    bool is_sanitized;         /* see sanitizer_exit.c */
    bool has_sanitizer_error;  /* a process of it has told so */
    int crash_file;            /* where it writes; 0 or less: none */
    const struct test_log_history *history;
    bool selects;    /* all tests run, but only some count */
    bool explained;  /* a test that does not count has failed */
    size_t left_out; /* how many tests did not count */
    size_t again;    /* how often it ran again, for its failed tests */
    struct {
        struct framework_tests chosen; /* as they were at first */
        bool chooses;
        size_t number;            /* that runs, from 1 on; 0: there is one */
        struct test_log_run done; /* results of those before it */
    } repetition;
    struct test_log_run results; /* of all processes that have ended */
    struct trace_table known;    /* hashes of their names: their numbers */
    struct test_log_run seen;    /* of one, from its output */
    struct printed_tests printed;
    uint64_t began;   /* ns since the run's start, of the process */
    uint64_t changed; /* ns, monotonic, when it was last seen to go on */
    size_t told;      /* then, a measure of what it had done */
    bool late;        /* it was killed because of a time-out */
    uint64_t named;   /* `since` of the test that was named as slow */
    bool is_empty;    /* its last process has no tests */
    bool by_code;     /* the exit code of that process is all that counts */
    bool interrupted; /* we got a signal, so that process did not end by itself
                       */
    struct trace_text stacks;       /* when it was killed, or crashed */
    struct trace_text death_stacks; /* of `death` */
    char *folder; /* an absolute path, for its report; NULL: it has none */
    struct report_pipe {
        int fd; /* 0: it has none */
        struct trace_text text;
    } pipes[FRAMEWORK_PIPES];
};

/* runners_framework_list_own replaces the chosen tests by all of the program,
 * as runners_framework_list does; -1 if it cannot be asked. */
int runners_framework_list_own(struct framework_program *, bool all);

/* runners_sanitizer_begin makes sanitizers in a program exit with their own
 * code; -1 without memory. runners_sanitizer_ended tells whether one has ended
 * a process. */
int runners_sanitizer_begin(struct framework_program *);
bool runners_sanitizer_ended(const struct framework_program *, int status);

/* runners_framework_repetition writes "#2", as names of the repetition that
 * runs end, with zeros so that names sort. */
void runners_framework_repetition(const struct framework_program *,
                                  char text[32]);

/* ---- report_pipes.c ---- */

/* runners_report_pipes_open makes the pipes of a process in the program's
 * folder, runners_report_pipes_read reads what the process has written,
 * and runners_report_pipes_end puts a file with all of it in the place of
 * each. */
void runners_report_pipes_open(struct framework_program *);
void runners_report_pipes_read(struct framework_program *);
void runners_report_pipes_end(struct framework_program *);

/* ---- left_crash.c ---- */

/* runners_left_crash_begin loads a library into the next process, if it can,
 * that leaves its stack when it crashes; -1 without memory.
 * runners_left_crash_read adds that stack to program->stacks, if there is one
 * of that signal.
 */
int runners_left_crash_begin(struct framework_program *);
void runners_left_crash_read(struct framework_program *, int signal);

#endif
