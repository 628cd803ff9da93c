/* finding_table.h: what made the host wait for devices, as a table. Private. */
#ifndef TESTLOG_FINDING_TABLE_H
#define TESTLOG_FINDING_TABLE_H

#include "stat.h"

/* Begins with the zero value and a form. */
struct finding_table {
    enum runners_form form;
    struct runners_table table;
    struct noted_times noted;
    bool some; /* it has rows */
};

/* runners_findings_add adds the findings of a recording; -1 without memory.
 * runners_findings_end prints what is left and frees the table. */
int runners_findings_add(struct finding_table *, const struct recording *,
                         struct trace_reader *);
void runners_findings_end(struct finding_table *, const char *where);

#endif
