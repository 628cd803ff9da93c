/* bisect.h: what the files of `testlog bisect` share. Private. */
#ifndef TESTLOG_BISECT_H
#define TESTLOG_BISECT_H

#include <stdbool.h>
#include <stddef.h>

#include "runners/diff/judge.h"

/* X(NAME, word of --when): which commits are bad. */
#define RUNNERS_BISECT_WHEN(X)                                                 \
    X(FAILS, "fails")                                                          \
    X(SLOWER, "slower")                                                        \
    X(LOGS, "logs")

enum bisect_when {
#define RUNNERS_X(name, word) BISECT_##name,
    RUNNERS_BISECT_WHEN(RUNNERS_X)
#undef RUNNERS_X
        BISECT_WHEN_COUNT
};

/* A bisection, as each of its steps gets it. */
struct bisect {
    const char *folder; /* has a folder of runs for each commit */
    const char *good;   /* the commit that runs are compared with */
    const char *place;  /* the folder that the commands run in */
    enum bisect_when when;
    const char *text;   /* SLOWER: a span, NULL: any; LOGS: part of a line */
    const char *before; /* commands before the last one; "": none */
    const char *last;   /* the command that is judged */
};

/* ---- split_command.c ---- */

/* runners_last_command returns where the last command of a shell's text begins:
 * after the last &&, ; or newline that is not quoted or in parentheses. */
size_t runners_last_command(const char *text);

/* runners_commands_before returns the size of what is before the last command,
 * without the separator between them. */
size_t runners_commands_before(const char *text, size_t last);

/* ---- judge_commit.c ---- */

/* The exit codes that `git bisect run` expects. */
enum bisect_verdict {
    BISECT_GOOD = 0,
    BISECT_BAD = 1,
    BISECT_SKIPPED = 125,
    BISECT_STOPPED = 130, /* by a signal */
};

/* runners_bisect_judge runs the commands at the commit that is checked out, and
 * judges it. */
enum bisect_verdict runners_bisect_judge(const struct bisect *,
                                         const char *commit);

/* runners_bisect_word returns a verdict as a text. runners_bisect_measure
 * returns how a commit is compared: by instructions, if its last run has
 * counted them. */
const char *runners_bisect_word(enum bisect_verdict);
enum measure runners_bisect_measure(const struct bisect *, const char *commit);

/* runners_bisect_run_of writes the path of a commit's last run into PATH_MAX
 * bytes; false if it has none. */
bool runners_bisect_run_of(const struct bisect *, const char *commit,
                           char *path);

/* ---- tool.c ---- */

/* runners_tool_wait runs a program with its arguments and waits for it; SIGINT,
 * SIGTERM and SIGHUP meanwhile are passed on. Its output, up to `size` - 1
 * bytes, goes into `out` without the last newline, or where ours does if `out`
 * is NULL; with `quiet` nowhere. Returns its exit code, 128 and its signal, or
 * -1 with errno. */
int runners_tool_wait(const char *const *words, char *out, size_t size,
                      bool quiet);

/* runners_tool_signal returns the signal that arrived; 0: none has. */
int runners_tool_signal(void);

/* runners_tool_catch makes this process survive these signals; a step, which
 * git runs, also ends with git. runners_tool_shield makes it ignore them, with
 * what it runs from then on. */
void runners_tool_catch(bool is_step);
void runners_tool_shield(void);

#endif
