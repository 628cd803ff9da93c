/* pending_output.h: what a process has printed to stdout, but not written yet,
 * because the line is not complete. Private to the project. */
#ifndef TESTLOG_PENDING_OUTPUT_H
#define TESTLOG_PENDING_OUTPUT_H

#include <stdint.h>
#include <sys/types.h>

/* test_log_write_pending writes it with write(2). Only a signal handler of a
 * process that dies may call it: the text is still pending then. */
void test_log_write_pending(void);

/* test_log_pending_at returns an address by which test_log_take_pending, in
 * another process that may trace this one, finds the text; 0 if it cannot be
 * found. test_log_take_pending writes the text to `fd`; nothing if the address
 * is 0 or the text cannot be read. */
uint64_t test_log_pending_at(void);
void test_log_take_pending(pid_t process, uint64_t at, int fd);

#endif
