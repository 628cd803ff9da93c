/* tsv.h: lines whose columns are separated by tabs. Private. */
#ifndef TESTLOG_TSV_H
#define TESTLOG_TSV_H

#include <stdbool.h>
#include <stddef.h>

/* test_log_tsv_cut cuts a line in place into at most `most` columns, the last
 * of which has the rest; returns how many there are. Those that are missing are
 * "". A newline ends the line. */
size_t test_log_tsv_cut(char *line, char **columns, size_t most);

enum { TEST_LOG_TSV_COLUMNS = 8 };

/* Takes the columns of a line, and how many there are. Those that are missing
 * are "". */
typedef void test_log_tsv_take(void *context, char **columns, size_t count);

/* test_log_tsv_each cuts each line of a file into at most `most` columns, up to
 * TEST_LOG_TSV_COLUMNS, and calls `take` with them. It closes the file. False
 * if `fd` is negative or the file cannot be read. */
bool test_log_tsv_each(int fd, size_t most, test_log_tsv_take *take,
                       void *context);

#endif
