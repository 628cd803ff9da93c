/* export.h: the formats of testlog export. Private. */
#ifndef TESTLOG_EXPORT_H
#define TESTLOG_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

struct test_log_run;

/* X(format, flag, argument, what it is): write_<format> in export.c writes it,
 * from entries that trace_reader_next reads, and in constant memory. A new
 * format also needs an item in testlog-export.1 and a line in fuzz_reader.c. */
#define RUNNERS_EXPORT_SOURCES "[spans|samples|"
#define RUNNERS_EXPORT_FORMATS(X)                                              \
    X(chrome, "chrome", NULL, "Chrome's trace event format (default)")         \
    X(perfetto, "perfetto", NULL, "Perfetto's own format, with nested tracks") \
    X(folded, "folded", RUNNERS_EXPORT_SOURCES,                                \
      "folded stacks, for a flame graph")                                      \
    X(speedscope, "speedscope", RUNNERS_EXPORT_SOURCES,                        \
      "speedscope's own format")                                               \
    X(ops_csv, "ops-csv", NULL, "a table of operations on GPUs and signposts")

/* runners_export_is_format tells whether there is a format with that flag.
 * runners_export_put writes the recording in the folder of a test, which may be
 * no link; -1 with errno. */
bool runners_export_is_format(const char *flag);
int runners_export_put(const char *flag, const struct test_log_run *,
                       const char *folder, FILE *);

#endif
