/* runners.h: the subcommands of `testlog`. */
#ifndef TESTLOG_RUNNERS_H
#define TESTLOG_RUNNERS_H

#include <stdbool.h>

/* Each takes its arguments, its name first, and returns the exit code. */
int runners_run(int argc, char **argv);
int runners_record(int argc, char **argv);
int runners_capture(int argc, char **argv);
int runners_import(int argc, char **argv);
int runners_log(int argc, char **argv);
int runners_export(int argc, char **argv);
int runners_report(int argc, char **argv);
int runners_filter(int argc, char **argv);
int runners_version(int argc, char **argv);
int runners_list(int argc, char **argv);
int runners_flaky(int argc, char **argv);
int runners_stat(int argc, char **argv);
int runners_diff(int argc, char **argv);
int runners_bisect(int argc, char **argv);
int runners_merge_runs(int argc, char **argv);
int runners_clean(int argc, char **argv);
int runners_pack(int argc, char **argv);
int runners_view(int argc, char **argv);

/* ---- batch.c ---- */

/* runners_batch answers the cases on standard input; returns the exit code. */
int runners_batch(bool strict);

#endif
