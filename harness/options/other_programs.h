/* other_programs.h: the other programs of `testlog run`. Private. */
#ifndef TESTLOG_OTHER_PROGRAMS_H
#define TESTLOG_OTHER_PROGRAMS_H

#include <stddef.h>

/* Tests done, tests left with their
 * durations of last time, and this program's number. */
struct test_log_others {
    unsigned long long done, failed, to_come, time;
    unsigned number, count;
};

/* test_log_others_text writes them for the session of a program. */
void test_log_others_text(const struct test_log_others *, char *text,
                          size_t size);

/* test_log_others_given reads them in that program; zero if it runs alone. */
struct test_log_others test_log_others_given(void);

#endif
