/* now.h: the time in a process that runs tests. Private. */
#ifndef TESTLOG_NOW_H
#define TESTLOG_NOW_H

#include <stdint.h>

/* test_log_now returns the time on CLOCK_MONOTONIC, in ns. It never goes back,
 * as the clock of a virtual machine may. */
uint64_t test_log_now(void);

#endif
