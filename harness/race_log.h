/* race_log.h: the data races in valgrind's log of a worker, "FOLDER/ID", and in
 * those of its forked children, "FOLDER/ID.CHILD". Private.
 */
#ifndef TESTLOG_RACE_LOG_H
#define TESTLOG_RACE_LOG_H

#include <stdio.h>
#include <sys/types.h>

/* The contents of such logs. */
struct test_log_races {
    FILE *echo;    /* where the log is printed to; NULL: nowhere */
    size_t count;  /* of races */
    size_t own;    /* of these in the process `own` */
    size_t others; /* other errors, and races without a place, elsewhere */
    char text[256], file[256]; /* for `found` */
    unsigned line;
};

typedef void test_log_race_found(struct test_log_races *, const char *text,
                                 const char *file, unsigned line);

/* test_log_race_log_read reads what is new in a log, and calls `found` with
 * each race that is at a place; valgrind itself counts the errors of the
 * process `own`, if it is not 0. test_log_race_log_children reads the logs of
 * the children of the worker whose log is `path`, and removes them;
 * test_log_race_log_all does so with that of the worker, too. */
void test_log_race_log_read(struct test_log_races *, FILE *, pid_t own,
                            test_log_race_found *found);
void test_log_race_log_children(struct test_log_races *, const char *path,
                                pid_t own, test_log_race_found *found);
void test_log_race_log_all(struct test_log_races *, const char *path,
                           test_log_race_found *found);

#endif
