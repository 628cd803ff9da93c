/* runners.h: the subcommands of `testlog`. */
#ifndef TESTLOG_RUNNERS_H
#define TESTLOG_RUNNERS_H

#include <stdbool.h>

/* Each takes its own arguments, its name first, and returns the exit code. */
int runners_run(int argc, char **argv);
int runners_filter(int argc, char **argv);

/* ---- batch.c ---- */

/* runners_batch answers the cases on standard input; returns the exit code. */
int runners_batch(bool strict);

#endif
