/* sample_table.h: sums up samples by function or by line. Private. */
#ifndef TESTLOG_SAMPLE_TABLE_H
#define TESTLOG_SAMPLE_TABLE_H

#include "stat.h"

struct sample_sum;

/* The zero value is empty. */
struct sample_sums {
    bool by_line;
    struct sample_sum *all;
    size_t count, capacity;
    struct trace_table by_key;
    uint64_t time;   /* ns of processor time of all samples */
    uint64_t stacks; /* that were added */
};

/* runners_samples_add adds the samples of a recording in a window of its time;
 * -1 without memory. */
int runners_samples_add(struct sample_sums *, const struct trace_reader *,
                        struct stat_window);

/* runners_samples_put prints the sums of the run at `where`, those with the
 * most time of their own first. */
void runners_samples_put(struct sample_sums *, enum runners_form,
                         const char *where);
void runners_samples_free(struct sample_sums *);

#endif
