/* runners.h: the subcommands of `testlog`. */
#ifndef TESTLOG_RUNNERS_H
#define TESTLOG_RUNNERS_H

/* Each takes its own arguments, its name first, and returns the exit code. */
int runners_run(int argc, char **argv);

#endif
