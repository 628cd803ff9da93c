/* gpu_setup.h: finds our helpers, and makes drivers load the one for devices.
 * Private. */
#ifndef TESTLOG_GPU_SETUP_H
#define TESTLOG_GPU_SETUP_H

#include "harness/options/options.h"

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

#endif
