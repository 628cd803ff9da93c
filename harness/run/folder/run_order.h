/* run_order.h: the order of the runs in a folder. Private. */
#ifndef TESTLOG_RUN_ORDER_H
#define TESTLOG_RUN_ORDER_H

#include <stdint.h>

struct test_log_run;

/* ---- run_order.c ---- */

/* test_log_run_order_take gives a new run the number after those of all other
 * runs in `dir`. If it cannot, it prints why. */
void test_log_run_order_take(const struct test_log_run *, int dir);

/* ---- order_file.c ---- */

/* The file in a run's folder that has its number. */
#define TEST_LOG_ORDER "order"

/* test_log_order_read returns the number in a file, 0 if it has none;
 * test_log_order_write replaces it, -1 with errno. */
uint64_t test_log_order_read(int fd);
int test_log_order_write(int fd, uint64_t number);

/* test_log_run_order_of returns the number of the run in a folder; 0 if it has
 * none, because it is older than the numbers, was unpacked or is damaged. */
uint64_t test_log_run_order_of(int folder);

#endif
