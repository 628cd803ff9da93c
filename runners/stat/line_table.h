/* line_table.h: how often lines ran, and in which order. Private. */
#ifndef TESTLOG_LINE_TABLE_H
#define TESTLOG_LINE_TABLE_H

#include "stat.h"

struct line_module;

/* The blocks of lines that ran. The zero value has none. */
struct line_sums {
    struct line_module *modules; /* files with code */
    size_t count, capacity;
    struct trace_table by_key; /* of modules */
    char **lists;              /* of lines that tests recorded */
    size_t list_count, list_capacity;
};

/* runners_lines_add adds what ran in a window of a recording's time; -1 without
 * memory. */
int runners_lines_add(struct line_sums *, struct trace_reader *,
                      struct stat_window);

/* runners_lines_put prints the lines of the run at `where` beside their source;
 * false, having printed nothing, if there are none. */
bool runners_lines_put(struct line_sums *, enum runners_form,
                       const char *where);
void runners_lines_free(struct line_sums *);

/* ---- line_order.c ---- */

/* runners_line_order_put prints each block that ran in a window, in order;
 * `zero` is the test's beginning. false, having printed nothing, if none did.
 */
bool runners_line_order_put(struct trace_reader *, struct stat_window,
                            uint64_t zero, enum runners_form,
                            const char *where);

#endif
