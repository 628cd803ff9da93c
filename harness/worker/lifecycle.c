/* lifecycle.c: follows a test through the functions that Criterion's worker
 * calls.
 *
 * These have the names of Criterion's own functions, so that the test program's
 * calls come here first; each goes on to the real one.
 */
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/worker/worker.h"

static void (*test_body)(void *parameter);

/* A forked child that comes to the end of the test must not go on as the test;
 * Criterion's runner would wait for ever. */
static void run_body(void *parameter)
{
    test_body(parameter);
    if (test_log_forked())
        _exit(0);
}

/* A failing assertion jumps out of the test; what it left open ends before the
 * tear-down begins. */
TRACE_API void criterion_internal_test_main(void (*body)(void))
{
    static void (*next)(void (*)(void));
    size_t depth = trace_depth();

    test_body = (void (*)(void *))body;

    if (!next)
        test_log_next_function("criterion_internal_test_main", &next);
    next((void (*)(void))run_body);
    trace_device_flush(false);
    trace_unwind(depth);
    test_log_status_returned();
}

/* Before anything of a test runs, the runner learns which process it is. Tests
 * that are not annotated begin and end here, fixtures included. */
TRACE_API void criterion_internal_test_setup(void)
{
    static void (*next)(void);

    if (!next) {
        test_log_next_function("criterion_internal_test_setup", &next);
        unsetenv("BXFI_MAP"); /* else programs that a test starts abort */
        test_log_status_begin();
        test_log_gpu_hide();
    }
    test_log_worker_begin();
    test_log_sanitizers_begin();
    next();
}

TRACE_API void criterion_internal_test_teardown(void)
{
    static void (*next)(void);

    if (!next)
        test_log_next_function("criterion_internal_test_teardown", &next);
    test_log_sanitizers_last();
    next();
    test_log_sanitizers_end();
    test_log_worker_end();
}
