/* harness_locked_logger_test.c: a logger under the supervisor's lock. */
#include "harness/criterion/logger.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "tests/support/support.h"

enum { THREADS = 4, CALLS = 500 };

static size_t inside, overlaps, calls;

/* Gives other threads a chance to be here, too. */
static void enter_alone(struct criterion_global_stats *stats)
{
    (void)stats;
    overlaps += __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) != 0;
    sched_yield();
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
    calls++;
}

static void *call(void *logger)
{
    for (size_t i = 0; i < CALLS; i++)
        ((struct criterion_logger *)logger)->log_post_all(NULL);
    return NULL;
}

Test(harness_locked_logger, calls_from_two_threads_do_not_overlap)
{
    struct criterion_logger inner = {.log_post_all = enter_alone};
    struct criterion_logger *logger = test_log_locked_logger(&inner);
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, call, logger), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(overlaps, 0);
    cr_expect_eq(calls, THREADS * CALLS);
}

static enum criterion_severity severity;
static const char *message;

static void note_message(enum criterion_severity given, const char *text)
{
    severity = given;
    message = text;
}

Test(harness_locked_logger, passes_arguments_on)
{
    struct criterion_logger inner = {.log_message = note_message};

    test_log_locked_logger(&inner)->log_message(CR_LOG_WARNING, "text");
    cr_expect_eq(severity, CR_LOG_WARNING);
    cr_expect_str_eq(message, "text");
}

/* Criterion calls what is not NULL. */
Test(harness_locked_logger, has_no_function_that_the_logger_lacks)
{
    struct criterion_logger inner = {.log_message = note_message};
    struct criterion_logger *logger = test_log_locked_logger(&inner);

    cr_expect_not_null(logger->log_message);
    cr_expect_null(logger->log_post_all);
    cr_expect_null(logger->log_pre_test);
}

Test(harness_locked_logger, does_not_need_the_logger_afterwards)
{
    struct criterion_logger inner = {.log_message = note_message};
    struct criterion_logger *logger = test_log_locked_logger(&inner);

    memset(&inner, 0, sizeof(inner));
    logger->log_message(CR_LOG_INFO, "text");
    cr_expect_str_eq(message, "text");
}
