/* program.h: what the runner finds out about this program and its machine, and
 * prepares before the tests. Private. */
#ifndef TESTLOG_PROGRAM_H
#define TESTLOG_PROGRAM_H

#include "harness/options/gpu_setup.h"
#include "harness/options/options.h"

/* ---- start_valgrind.c ---- */

enum { TEST_LOG_VALGRIND_SLOWER = 50 }; /* by which timeouts are longer */

/* test_log_start_valgrind executes the program under valgrind if --races or
 * --callgrind asks for it. It returns 0 if the program runs under valgrind
 * already or need not, and -1 if it has printed why it cannot. */
int test_log_start_valgrind(const struct test_log_options *, int argc,
                            char **argv);

/* test_log_valgrind_folder returns where valgrind writes its files; "":
 * nowhere. test_log_valgrind_end removes it. */
const char *test_log_valgrind_folder(void);
void test_log_valgrind_end(void);

/* The prefix of vgdb's pipes in that folder, through which valgrind answers
 * also while a test hangs. */
#define TEST_LOG_VALGRIND_VGDB "vgdb"

/* The text of valgrind.supp. */
extern const char test_log_suppressions[];

/* ---- stdio_fds.c ---- */

/* test_log_stdio_hold occupies stdin, stdout and stderr if a program was
 * started without them, so that no file gets their numbers. Reading and writing
 * there still fails. */
void test_log_stdio_hold(void);

/* test_log_stdio_outlive lets a run continue when nobody reads its output any
 * more (`| head`), or when a file reaches its size limit (ulimit -f). These
 * signals still kill the processes that it starts. */
void test_log_stdio_outlive(void);

/* ---- criterion_inside.c ---- */

/* test_log_criterion_suits tells whether the Criterion that is loaded has the
 * structs of the one that we were built with; if not, it prints so. It also
 * prints what is off because Criterion lacks a function. */
bool test_log_criterion_suits(void);

/* ---- list_sites.c ---- */

/* test_log_list_sites writes the program's call sites, one JSON object a line;
 * -1 if not all were written. */
int test_log_list_sites(FILE *);

#endif
