/* export.h: the formats of testlog export. Private. */
#ifndef TESTLOG_EXPORT_H
#define TESTLOG_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

/* X(format, flag, what it is): write_<format> in export.c writes it. */
#define RUNNERS_EXPORT_FORMATS(X)                                              \
    X(chrome, "chrome", "Chrome's trace event format (default)")               \
    X(perfetto, "perfetto", "Perfetto's own format, with nested tracks")       \
    X(folded, "folded", "folded stacks, for a flame graph of spans")           \
    X(speedscope, "speedscope", "speedscope's own format")                     \
    X(ops_csv, "ops-csv", "a table of operations on GPUs and signposts")

/* runners_export_is_format tells whether there is a format with that flag.
 * runners_export_put writes the recording in the folder of a test, below that
 * of its run; -1 with errno. */
bool runners_export_is_format(const char *flag);
int runners_export_put(const char *flag, const char *run, const char *folder,
                       FILE *);

#endif
