/* lifecycle.c: follows a test through the functions that Criterion's worker
 * calls.
 *
 * The functions here have the names of Criterion's own, so that the test
 * program's calls come here first; each calls the real one.
 */
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/worker/worker.h"

static void (*test_body)(void *parameter);

/* A forked child that reaches the end of the test must not continue as the
 * test: Criterion's runner would wait forever. */
static void run_body(void *parameter)
{
    test_body(parameter);
    if (test_log_forked())
        _exit(0);
}

/* A failing assertion jumps out of the test; spans that it left open end before
 * the teardown begins. */
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

/* Reports to the runner which process this is before the test begins. The
 * recording of a test that is not annotated starts here and includes fixtures.
 */
TRACE_API void criterion_internal_test_setup(void)
{
    static void (*next)(void);

    if (!next) {
        test_log_next_function("criterion_internal_test_setup", &next);
        unsetenv("BXFI_MAP"); /* otherwise programs that a test starts abort */
        test_log_status_begin();
        test_log_gpu_hide();
    }
    test_log_worker_begin();
    test_log_sanitizers_begin();
    test_log_crash_begin();
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
