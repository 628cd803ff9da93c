/* program.h: what the runner finds out about this program and its machine, and
 * prepares before the tests. Private. */
#ifndef TESTLOG_PROGRAM_H
#define TESTLOG_PROGRAM_H

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

/* The text of valgrind.supp. */
extern const char test_log_suppressions[];

/* ---- gpu_setup.c ---- */

/* The beginning of a notice; the reason follows. */
#define TEST_LOG_GPU_WITHOUT "GPU trace off: "

/* test_log_gpu_library finds libtestlog-gpu.so; `path` has PATH_MAX bytes. A
 * file that another user could replace is not used. test_log_gpu_own finds the
 * one beside this program, which is testlog. */
bool test_log_gpu_library(char *path);
bool test_log_gpu_own(char *path);

/* test_log_own_library finds, for the program testlog, the shared library that
 * belongs to it, in the same way. */
bool test_log_own_library(char *path);

/* test_log_stacks_program finds the program testlog-stacks beside that library,
 * test_log_sample_library finds libtestlog-sample.so, and
 * test_log_crash_library libtestlog-crash.so. */
bool test_log_stacks_program(char *path);
bool test_log_sample_library(char *path);
bool test_log_crash_library(char *path);

/* test_log_list_append appends a path to a variable that is a list with colons,
 * unless the list has it. */
void test_log_list_append(const char *variable, const char *path);

/* test_log_gpu_driver tells whether files below `root` ("") show an NVIDIA
 * driver, test_log_gpu_linked whether this program uses CUDA. */
bool test_log_gpu_driver(const char *root);
bool test_log_gpu_linked(void);

/* test_log_gpu_prepare sets the variables of workers; test_log_gpu_record those
 * of any program that testlog record runs. They note the facts that are known
 * before any part of CUDA runs. */
void test_log_gpu_prepare(struct test_log_gpu *,
                          const struct test_log_options *);
void test_log_gpu_record(struct test_log_gpu *,
                         const struct test_log_options *);

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
