/* option_rows.h: the table of options, shared by the files that read them.
 * Private. */
#ifndef TESTLOG_OPTION_ROWS_H
#define TESTLOG_OPTION_ROWS_H

#include "harness/options/options.h"

/* test_log_option_read reads a value of a row, and passes it to Criterion if
 * the row says so and it is `on`. */
bool test_log_option_read(struct test_log_reader *,
                          const struct test_log_flag *, const char *name,
                          const char *value, bool on);

/* test_log_option_read_variables and test_log_option_read_flags read variables
 * and flags, which beat testlog.conf; false if they have printed why no test
 * runs. */
bool test_log_option_read_variables(struct test_log_reader *);
bool test_log_option_read_flags(struct test_log_reader *, char **argv);

/* ---- option_rules.c ---- */

/* test_log_option_pass adds a flag to Criterion's; `value` may be NULL. */
bool test_log_option_pass(struct test_log_reader *, const char *flag,
                          const char *value);

/* test_log_option_check refuses options that contradict each other;
 * test_log_option_finish passes to Criterion the arguments that follow from all
 * options. */
bool test_log_option_check(struct test_log_reader *);
bool test_log_option_finish(struct test_log_reader *);

/* ---- project.c ---- */

/* test_log_project_read reads testlog.conf and applies it, with the profile of
 * the arguments; false if it has printed what is wrong. */
bool test_log_project_read(struct test_log_reader *, char **argv);

/* test_log_project_print prints the settings that differ from the defaults, in
 * the syntax of testlog.conf, and returns false. */
bool test_log_project_print(const struct test_log_reader *);

#endif
