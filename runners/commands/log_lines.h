/* log_lines.h: what the files of testlog log share. Private. */
#ifndef TESTLOG_LOG_LINES_H
#define TESTLOG_LOG_LINES_H

#include "log/log.h"
#include "runners/runs/find.h"

struct log_settings {
    const char *text;          /* NULL: the filter of each recording */
    struct log_filter *filter; /* from `text` */
    struct log_style style;
    const char *color;
    bool follow, last_values;
    struct losses *losses;
};

/* ---- log_lines.c: the lines of a recording ---- */

struct log_lines {
    const struct log_settings *settings;
    struct trace_reader *reader;
    struct log_filter *own; /* of the recording */
    struct log_replay *replay;
};

/* runners_lines_begin prepares to print what `reader` returns, which it owns
 * from now on; -1 without memory. Call runners_lines_end in any case: it tells
 * the settings which call sites there were and what was lost. */
int runners_lines_begin(struct log_lines *, const struct log_settings *,
                        struct trace_reader *reader);
void runners_lines_end(struct log_lines *, const struct recording *);

/* runners_lines_print prints the next lines and counts them. `several` tests
 * get headings or, if their lines mix, a prefix on each line. */
void runners_lines_print(struct log_lines *, struct recording *, bool several);

/* ---- log_follow.c ---- */

/* runners_log_has returns whether a folder has a file. */
bool runners_log_has(const char *where, const char *name);

/* runners_log_follow prints lines until the run in `where` has ended.
 * `patterns` are those of the tests. */
void runners_log_follow(struct recordings *, const char *where, char **patterns,
                        const struct log_settings *);

#endif
