/* export.h: the formats of testlog export. Private. */
#ifndef TESTLOG_EXPORT_H
#define TESTLOG_EXPORT_H

/* X(format, flag, what it is): write_<format> in export.c writes it. */
#define RUNNERS_EXPORT_FORMATS(X)                                              \
    X(chrome, "chrome", "Chrome's trace event format (default)")               \
    X(perfetto, "perfetto", "Perfetto's own format, with nested tracks")       \
    X(folded, "folded", "folded stacks, for a flame graph of spans")           \
    X(speedscope, "speedscope", "speedscope's own format")                     \
    X(ops_csv, "ops-csv", "a table of operations on GPUs and signposts")

#endif
