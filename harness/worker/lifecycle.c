/* lifecycle.c: follows a test through the functions that Criterion's worker
 * calls.
 *
 * The functions here have the names of Criterion's own, so that the test
 * program's calls come here first; each calls the real one.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/worker/worker.h"

static void (*test_body)(void *parameter);

static void call(void *function)
{
    (*(void (**)(void))function)();
}

/* A forked child that reaches the end of the test must not continue as the
 * test: Criterion's runner would wait forever. */
static void call_body(void *parameter)
{
    test_body(parameter);
    if (test_log_forked())
        _exit(0);
}

/* A forked child may go through the phases, too. */
static void begin_phase(enum trace_phase phase)
{
    if (!test_log_forked())
        trace_phase_begin(phase);
}

static void run_body(void *parameter)
{
    begin_phase(TRACE_PHASE_BODY);
    test_log_watch_exceptions(call_body, parameter);
    begin_phase(TRACE_PHASE_TEARDOWN);
}

/* The last line of a test may have no end. A thread that hangs may have locked
 * stdout. */
static void flush_last_line(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush_unlocked(stdout);
    funlockfile(stdout);
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
    test_log_status_usage_begin();
    next((void (*)(void))run_body);
    test_log_status_usage_end();
    flush_last_line();
    begin_phase(TRACE_PHASE_TEARDOWN);
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
        test_log_preload_hide();
    }
    test_log_worker_begin();
    test_log_sanitizers_begin();
    test_log_crash_begin();
    begin_phase(TRACE_PHASE_SETUP);
    test_log_watch_exceptions(call, &next);
}

/* ---- After the last fixture ---- */

static void (*last_fini)(void);

static void run_last_fini(void)
{
    if (last_fini)
        last_fini();
    flush_last_line();
    begin_phase(TRACE_PHASE_END);
    test_log_sanitizers_check();
    test_log_worker_end_devices();
}

/* Replaces a teardown by our function. The structs are the worker's copies;
 * Criterion does not align them. */
static void take_fini(struct criterion_test_extra_data *data)
{
    char *at = (char *)data + offsetof(struct criterion_test_extra_data, fini);
    void (*const ours)(void) = run_last_fini;

    memcpy(&last_fini, at, sizeof(last_fini));
    memcpy(at, &ours, sizeof(ours));
}

/* Criterion considers the test ended only after its last fixture. */
static void take_last_fini(void)
{
    if (!test_log_sanitizers_find_leaks() && !trace_device_attached())
        return;
    if (criterion_current_suite->data)
        take_fini(criterion_current_suite->data);
    else
        take_fini(criterion_current_test->data);
}

TRACE_API void criterion_internal_test_teardown(void)
{
    static void (*next)(void);

    if (!next)
        test_log_next_function("criterion_internal_test_teardown", &next);
    take_last_fini();
    test_log_watch_exceptions(call, &next);
    begin_phase(TRACE_PHASE_END);
    test_log_sanitizers_end();
    test_log_worker_end();
}
