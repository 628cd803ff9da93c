/* critical_table.h: prints critical paths. Private. */
#ifndef TESTLOG_CRITICAL_TABLE_H
#define TESTLOG_CRITICAL_TABLE_H

#include "runners/runs/find.h"
#include "runners/table/table_printer.h"
#include "trace/read/critical.h"

/* The paths of a run's tests: all pieces of a single one, otherwise a row for
 * each test. */
struct critical_table {
    enum runners_form form;
    bool several; /* tests */
    struct runners_table tests;
};

/* runners_critical_put prints the path of a test, or adds its row.
 * runners_critical_end prints the rest about the run at `where`, and frees the
 * table. */
void runners_critical_put(struct critical_table *, const struct recording *,
                          const struct trace_causes *,
                          const struct trace_critical *);
void runners_critical_end(struct critical_table *, const char *where);

#endif
