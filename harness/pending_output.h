/* pending_output.h: what a process has printed to stdout, but not written yet,
 * because the line is not complete. Private to the project. */
#ifndef TESTLOG_PENDING_OUTPUT_H
#define TESTLOG_PENDING_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* test_log_write_pending writes it with write(2). Only a signal handler of a
 * process that dies may call it: the text is still pending then. */
void test_log_write_pending(void);

/* test_log_pending_at returns an address that test_log_read_pending, in another
 * process that may trace this one, finds the text by. It stores up to `size`
 * bytes and returns how many there are; 0 if none can be read. */
uint64_t test_log_pending_at(void);
size_t test_log_read_pending(pid_t process, uint64_t at, char *bytes,
                             size_t size);

#endif
