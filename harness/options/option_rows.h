/* option_rows.h: the table of options, shared by the files that read them.
 * Private. */
#ifndef TESTLOG_OPTION_ROWS_H
#define TESTLOG_OPTION_ROWS_H

#include "harness/options/options.h"

struct option_row;

/* A value that was read. */
struct given {
    const struct option_row *row;
    const char *name, *value;
};

/* The flag, variable or setting that is being read. */
struct reader {
    struct test_log_options *options;
    const struct option_row *row;
    const char *name;  /* "--log", "LOG", "testlog.conf:3: log" */
    const char *value; /* NULL: none was given */
    const char *color;
    const char *profile;
    bool show_config;
    bool of_file;        /* testlog.conf is being read */
    struct given *given; /* in order */
    size_t given_count, given_capacity;
    int code; /* the exit code, if reading ends early */
};

/* A reader returns false if the options are wrong, which it has printed, or if
 * it has printed what was asked for. */
typedef bool read_option(struct reader *);

struct option_row {
    const char *name;     /* "--log"; NULL: there is only a variable */
    const char *variable; /* NULL: there is only a flag */
    const char *argument; /* as in test_log_print_option; NULL: none */
    const char *help;
    read_option *read;
    size_t at;        /* where the value goes, in struct test_log_options */
    const char *what; /* a number is */
    char letter;
    bool pass;      /* the flag to Criterion, too */
    bool outer;     /* programs that tests start ignore the variable */
    bool several;   /* each value counts */
    bool flag_only; /* it is not a setting of testlog.conf */
    bool per_test;  /* it is a setting of single tests, too */
    bool acts; /* it writes a file, names a folder or starts a program: as a
                * setting, only commands that run tests take it */
};

/* ---- options.c ---- */

const struct option_row *test_log_option_rows(size_t *count);

/* test_log_option_read reads a value of a row, and passes it to Criterion if
 * the row says so and it is `on`. */
bool test_log_option_read(struct reader *, const struct option_row *,
                          const char *name, const char *value, bool on);

/* test_log_option_each calls `take` with each flag in arguments; wrong ones are
 * left out. A flag without an argument has the value NULL. */
void test_log_option_each(int argc, char **argv,
                          void (*take)(void *context, const struct option_row *,
                                       const char *value),
                          void *context);

/* test_log_option_find_profile finds --profile in arguments that have not been
 * checked. */
void test_log_option_find_profile(struct reader *, int argc, char **argv);

/* test_log_option_read_variables and test_log_option_read_flags read variables
 * and flags, which beat testlog.conf; false if they have printed why no test
 * runs. */
bool test_log_option_read_variables(struct reader *);
bool test_log_option_read_flags(struct reader *, int argc, char **argv);

/* ---- option_rules.c ---- */

/* test_log_option_refuse prints what is wrong and returns false;
 * test_log_option_judge returns false if `failed`: the reason is printed. */
bool test_log_option_refuse(struct reader *, const char *format, ...)
    TRACE_PRINTF(2, 3);
bool test_log_option_judge(struct reader *, int failed);

/* test_log_option_pass adds a flag to Criterion's; `value` may be NULL. */
bool test_log_option_pass(struct reader *, const char *flag, const char *value);

/* test_log_option_check refuses options that contradict each other;
 * test_log_option_finish passes to Criterion the arguments that follow from all
 * options. */
bool test_log_option_check(struct reader *);
bool test_log_option_finish(struct reader *);

/* ---- project.c ---- */

/* test_log_project_read reads testlog.conf and applies it, with the profile of
 * the arguments; false if it has printed what is wrong. */
bool test_log_project_read(struct reader *, int argc, char **argv);

/* test_log_project_print prints the settings that differ from the defaults, in
 * the syntax of testlog.conf, and returns false. */
bool test_log_project_print(const struct reader *);

#endif
