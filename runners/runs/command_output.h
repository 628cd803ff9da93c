/* command_output.h: what another program prints. Private. */
#ifndef TESTLOG_COMMAND_OUTPUT_H
#define TESTLOG_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct trace_text;

/* runners_command_output runs a program, without its errors if `quiet`, and
 * returns what it has printed, in a file to be closed. In the new process,
 * `enter` (NULL: nothing) prepares it; nonzero: it cannot be run. *status is
 * how it ended, as waitpid has it. NULL if it takes longer than a minute, or we
 * got a signal to end. */
FILE *runners_command_output(char **argv, bool quiet,
                             int (*enter)(const void *context),
                             const void *context, int *status);
/* runners_command_text does so with a command of the shell and adds what it has
 * printed to a text. Returns how it ended, -1 in place of NULL. */
int runners_command_text(const char *command, struct trace_text *);

#endif
