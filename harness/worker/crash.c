/* crash.c: stops the process of a test that crashes, so that the runner can
 * look at its stacks; with --stacks=off, only its output is completed.
 *
 * All threads must wait: if only this one did, main could return, and the crash
 * would become a pass. Afterwards, the signal acts as if it had no handler. A
 * forked child does not stop: it leaves its stack in the recording.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/pending_output.h"
#include "harness/worker/worker.h"
#include "trace/record/fatal_signal.h"

enum { CHILD_STACKS = 4 }; /* of a test; further ones are often similar */

static pid_t watched; /* the process of the test */

static bool is_watched(void)
{
    return watched && getpid() == watched;
}

static bool on_crash(const struct trace_crash *crash, const void *context)
{
    struct test_log_crash report = {
        .signal = crash->signal,
        .code = crash->code,
        .thread = crash->thread,
        .address = crash->address,
        .stack = crash->stack,
        .instruction = crash->instruction,
        .context = (uint64_t)(uintptr_t)context,
    };

    if (!is_watched())
        return false;
    if (report.signal == SIGABRT)
        test_log_exception_report(&report);
    test_log_write_pending();
    test_log_races_print();
    trace_crash_event(crash);
    test_log_status_crash(&report);
    return true;
}

static bool only_write(const struct trace_crash *crash, const void *context)
{
    (void)crash;
    (void)context;
    if (is_watched()) {
        test_log_write_pending();
        test_log_races_print();
    }
    return true;
}

/* The signal that should kill the test. The struct is the worker's copy, which
 * Criterion does not align. */
static int expected_signal(void)
{
    const size_t at = offsetof(struct criterion_test_extra_data, signal);
    int number = 0;

    if (criterion_current_test)
        memcpy(&number, (const char *)criterion_current_test->data + at,
               sizeof(number));
    return number;
}

/* Tells whether the runner looks at an uncaught exception. In C, it ends in
 * SIGABRT. */
static bool looks_at_exceptions(void)
{
    return is_watched() && expected_signal() != SIGABRT;
}

/* Handlers of the tested code and of sanitizers stay in place. A signal that
 * should kill the test is not a crash. */
static bool is_ours(const struct sigaction *action, int number)
{
    return (action->sa_handler == SIG_DFL || test_log_sanitizers_own(action)) &&
           expected_signal() != number;
}

/* A user's own valgrind has no files that the runner knows. */
static bool takes_stacks(void)
{
    const struct test_log_session *session = test_log_session();
    bool known = (session->races && session->races[0]) ||
                 (session->counts && session->counts[0]);

    return session->stacks && session->stacks[0] == '1' &&
           (known || !test_log_valgrind_runs());
}

void test_log_crash_begin(void)
{
    static const struct trace_crash_watch stop = {
        is_ours, test_log_status_crashing, on_crash};
    static const struct trace_crash_watch go_on = {is_ours, NULL, only_write};

    watched = getpid();
    if (!takes_stacks()) {
        trace_crash_watch(&go_on);
        return;
    }
    prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
    test_log_exceptions_begin(looks_at_exceptions);
    trace_crash_watch(&stop);
}

void test_log_crash_record(bool live)
{
    if (!live)
        trace_crash_prepare();
    if (takes_stacks())
        trace_crash_keep(CHILD_STACKS);
}
