/* tsv.h: lines whose columns are separated by tabs. Private. */
#ifndef TESTLOG_TSV_H
#define TESTLOG_TSV_H

#include <stddef.h>

/* test_log_tsv_cut cuts a line in place into at most `most` columns, the last
 * of which has the rest; returns how many there are. Those that are missing are
 * "". A newline ends the line. */
size_t test_log_tsv_cut(char *line, char **columns, size_t most);

#endif
