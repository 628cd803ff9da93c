/* locked_logger.c: calls each function of a Criterion logger under the
 * supervisor's lock. */
#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "harness/criterion/watch/supervisor.h"
#include "logger.h"

/* X(name, parameters, arguments) */
#define FUNCTIONS(X)                                                           \
    X(log_pre_all, (struct criterion_test_set * a), (a))                       \
    X(log_pre_suite, (struct criterion_suite_set * a), (a))                    \
    X(log_pre_init, (struct criterion_suite * a, struct criterion_test * b),   \
      (a, b))                                                                  \
    X(log_pre_test, (struct criterion_suite * a, struct criterion_test * b),   \
      (a, b))                                                                  \
    X(log_assert, (struct criterion_assert_stats * a), (a))                    \
    X(log_theory_fail, (struct criterion_theory_stats * a), (a))               \
    X(log_test_timeout, (struct criterion_test_stats * a), (a))                \
    X(log_test_crash, (struct criterion_test_stats * a), (a))                  \
    X(log_test_abort, (struct criterion_test_stats * a, const char *b),        \
      (a, b))                                                                  \
    X(log_other_crash, (struct criterion_test_stats * a), (a))                 \
    X(log_abnormal_exit, (struct criterion_test_stats * a), (a))               \
    X(log_post_test, (struct criterion_test_stats * a), (a))                   \
    X(log_post_fini, (struct criterion_test_stats * a), (a))                   \
    X(log_post_suite, (struct criterion_suite_stats * a), (a))                 \
    X(log_post_all, (struct criterion_global_stats * a), (a))                  \
    X(log_message, (enum criterion_severity a, const char *b), (a, b))         \
    TEST_LOG_ASSERTION_PARTS(X)

static struct criterion_logger inner;
static struct criterion_logger guarded[2]; /* one is spare: it may grow */

#define X(name, parameters, arguments)                                         \
    static void guard_##name parameters                                        \
    {                                                                          \
        test_log_supervisor_enter();                                           \
        inner.name arguments;                                                  \
        test_log_supervisor_leave();                                           \
    }
FUNCTIONS(X)
#undef X

struct criterion_logger *test_log_locked_logger(
    const struct criterion_logger *logger)
{
    inner = *logger;
    guarded[0] = inner;
#define X(name, parameters, arguments)                                         \
    if (inner.name)                                                            \
        guarded[0].name = guard_##name;
    FUNCTIONS(X)
#undef X
    return guarded;
}
