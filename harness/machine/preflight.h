/* preflight.h: what is asked of a machine before and after tests. Private. */
#ifndef TESTLOG_PREFLIGHT_H
#define TESTLOG_PREFLIGHT_H

#include <limits.h>
#include <stdbool.h>

/* ---- preflight.c ---- */

/* test_log_preflight_memory tells whether tests can share memory with the
 * runner, test_log_preflight_descriptors whether there are enough for it; if
 * not, they print why. */
bool test_log_preflight_memory(void);
bool test_log_preflight_descriptors(void);
/* test_log_preflight_program tells whether a program is in PATH;
 * test_log_preflight_find also stores where. */
bool test_log_preflight_program(const char *name);
bool test_log_preflight_find(const char *name, char path[PATH_MAX]);

/* ---- commit.c ---- */

/* test_log_commit returns the commit that is tested, to be freed: GITHUB_SHA,
 * CI_COMMIT_SHA or that of git, with a + if files differ from it; "" if there
 * is none. test_log_named_commit returns that of the variables; NULL if they
 * name none. */
char *test_log_commit(void);
char *test_log_named_commit(void);

#endif
