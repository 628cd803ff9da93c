/* runners.h: the subcommands of `testlog`. */
#ifndef TESTLOG_RUNNERS_H
#define TESTLOG_RUNNERS_H

#include <stdbool.h>

#include "harness/options/flags.h"

extern const struct test_log_command runners_run, runners_record,
    runners_capture, runners_import, runners_log, runners_show, runners_export,
    runners_report, runners_stat, runners_list, runners_flaky, runners_diff,
    runners_bisect, runners_merge_runs, runners_view, runners_clean,
    runners_pack, runners_filter;

/* runners_version prints the version for `testlog --version`; returns the exit
 * code. */
int runners_version(char **argv);

/* ---- complete.c ---- */

/* runners_complete prints what may follow the words of a command line, of which
 * the last is still being written: a line each, with a tab before its help.
 * Returns the exit code. */
int runners_complete(const struct test_log_command *const *commands,
                     char **words);

/* ---- judge_dying.c ---- */

/* runners_judge_dying judges the run of a program that is about to die, whose
 * paths are the words, and prints its tests; returns the exit code. */
int runners_judge_dying(char **words);

/* ---- batch.c ---- */

/* runners_batch answers the cases on standard input; returns the exit code. */
int runners_batch(bool strict);

#endif
