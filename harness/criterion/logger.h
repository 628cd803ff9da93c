/* logger.h: what replaces parts of Criterion and its libraries. Private. */
#ifndef TESTLOG_LOGGER_H
#define TESTLOG_LOGGER_H

#include <stddef.h>

#include <testlog/trace.h>

struct criterion_logger;

/* ---- criterion_logger.c ---- */

/* test_log_logger_install wraps Criterion's logger. */
void test_log_logger_install(void);

/* test_log_logger_render writes the files of all tests that have ended;
 * test_log_logger_end does so and fails the tests without an outcome. */
void test_log_logger_render(void);
void test_log_logger_end(void);

/* ---- failed_assertions.c ---- */

/* test_log_assertions_capture makes a logger keep the text that it would print
 * about assertions. test_log_assertions_take returns a test's failed assertions
 * with this text, each after its "file:line: message", to be freed; NULL if
 * there is none. */
struct criterion_test_stats;
void test_log_assertions_capture(struct criterion_logger *);
char *test_log_assertions_take(const struct criterion_test_stats *);

/* ---- Criterion's logger ---- */

/* X(name, parameters, arguments): its functions for the parts of an
 * assertion. */
#define TEST_LOG_ASSERTION_PARTS(X)                                            \
    X(log_assert_sub,                                                          \
      (struct criterion_assert_stats * a, const char *b, const char *c),       \
      (a, b, c))                                                               \
    X(log_assert_formatted,                                                    \
      (struct criterion_assert_stats * a, const char *b), (a, b))              \
    X(log_assert_param,                                                        \
      (struct criterion_assert_stats * a, struct cr_log_assert_param * b),     \
      (a, b))                                                                  \
    X(log_assert_param_eq,                                                     \
      (struct criterion_assert_stats * a, struct cr_log_assert_param * b,      \
       struct cr_log_assert_param * c),                                        \
      (a, b, c))

/* ---- locked_logger.c ---- */

/* test_log_locked_logger returns a logger that calls each function of `logger`
 * between test_log_supervisor_enter and _leave. */
struct criterion_logger *test_log_locked_logger(
    const struct criterion_logger *logger);

/* ---- message_size.c ---- */

/* nn_bind replaces nanomsg's nn_bind. */
TRACE_API int nn_bind(int socket, const char *address);

/* ---- lazy_libgit2.c ---- */

/* git_libgit2_init starts libgit2. If Criterion calls it, libgit2 starts with
 * the first diff. Returns how often it was started. */
TRACE_API int git_libgit2_init(void);

#endif
