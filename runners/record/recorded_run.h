/* recorded_run.h: runs of processes that recorded themselves. Private. */
#ifndef TESTLOG_RECORDED_RUN_H
#define TESTLOG_RECORDED_RUN_H

#include "harness/options/options.h"
#include "harness/run/model/model.h"

struct dl_phdr_info;

/* How the program ended. */
struct recorded_end {
    enum test_log_outcome outcome;
    char reason[128]; /* "": none */
    int code;         /* exit code of testlog */
    bool started;
    bool over; /* no process records any more */
    uint64_t duration;
};

/* runners_recorded_shown sets the filter of the lines that log.txt has, unless
 * the user chose one. runners_recorded_options writes the profiler options of a
 * process. */
void runners_recorded_shown(struct test_log_options *);
void runners_recorded_options(const struct test_log_options *,
                              struct trace_text *);

/* runners_modules_of returns the modules of a program and of the libraries that
 * it loads when it starts, up to one without a name; NULL without memory.
 * runners_free_modules frees them. */
struct dl_phdr_info *runners_modules_of(const char *program);
void runners_free_modules(struct dl_phdr_info *);

/* runners_recorded_open makes the folders of a run of a program, and sets
 * `folder`, which has PATH_MAX bytes, to that of its processes; "" if it has
 * printed why that failed. runners_recorded_end prints where the run is, once
 * its files are written. */
void runners_recorded_open(struct test_log_run *,
                           const struct test_log_options *, const char *program,
                           char *folder);
void runners_recorded_end(struct test_log_run *,
                          const struct test_log_options *);

/* runners_recorded_write adds the process.PID in `folder`, which is that of the
 * run's program, as results, and finishes the run. */
void runners_recorded_write(struct test_log_run *,
                            const struct test_log_options *,
                            const struct recorded_end *, const char *folder);

#endif
