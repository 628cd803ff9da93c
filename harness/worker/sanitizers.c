/* sanitizers.c: fails a test for what sanitizers and valgrind find, and saves
 * coverage data of a test that dies.
 *
 * This costs nothing in a program without them: their functions are weak, and
 * only they call ours.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/event.h>

#include "harness/asan_report.h"
#include "harness/pending_output.h"
#include "harness/worker/worker.h"
#include "trace/device.h"
#include "trace/record/fatal_signal.h"

/* Functions of the sanitizers and of gcov; NULL without them. */
#pragma weak __ubsan_get_current_report_data
#pragma weak __lsan_do_recoverable_leak_check
#pragma weak __gcov_dump
#pragma weak __sanitizer_set_death_callback
#pragma weak __asan_set_error_report_callback
#pragma weak __gcov_exit
#pragma weak __llvm_profile_write_file
void __ubsan_get_current_report_data(const char **kind, const char **message,
                                     const char **file, unsigned *line,
                                     unsigned *column, char **address);
int __lsan_do_recoverable_leak_check(void);
void __gcov_dump(void);
void __sanitizer_set_death_callback(void (*)(void));
void __asan_set_error_report_callback(void (*)(const char *));
void __gcov_exit(void);
int __llvm_profile_write_file(void);

/* Functions that they call. */
TRACE_API void __ubsan_on_report(void);
TRACE_API void __sanitizer_report_error_summary(const char *summary);
TRACE_API int __lsan_is_turned_off(void);

static bool runs;    /* Criterion still takes reports of this process */
static bool checked; /* for leaks */

static char last_summary[1024];

/* ---- What they find ---- */

void __ubsan_on_report(void)
{
    const char *kind, *message, *file;
    unsigned line, column;
    char *address, text[1024];

    if (!runs || !__ubsan_get_current_report_data)
        return;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column,
                                    &address);
    snprintf(text, sizeof(text), "undefined behavior: %s", message);

    struct criterion_assert_stats stats = {
        .message = text, .passed = false, .line = line, .file = file};

    criterion_send_assert(&stats);
}

/* "SUMMARY: AddressSanitizer: 7 byte(s) leaked in 1 allocation(s)." */
static void note_summary(const char *text)
{
    static const char prefix[] = "SUMMARY: ";
    const char *leaked = strstr(text, " byte(s) leaked"), *digits = leaked;

    while (digits && digits > text && digits[-1] != ' ')
        digits--;
    if (leaked)
        test_log_status_fail("leaked %.*s bytes", (int)(leaked - digits),
                             digits);
    else if (!strncmp(text, prefix, sizeof(prefix) - 1))
        test_log_status_fail("%s", text + sizeof(prefix) - 1);
    else
        test_log_status_fail("%s", text);
}

/* A forked child may be expected to die of it. */
void __sanitizer_report_error_summary(const char *summary)
{
    fprintf(stderr, "%s\n", summary);
    if (!runs || test_log_forked())
        return;
    snprintf(last_summary, sizeof(last_summary), "%s", summary);
    if (__asan_set_error_report_callback && !strstr(summary, " leaked") &&
        strstr(summary, "AddressSanitizer: "))
        return; /* on_report() knows more */
    note_summary(summary);
    test_log_status_stop(TEST_LOG_STOP_SANITIZER);
}

/* AddressSanitizer calls it at the end of a report. Where its function comes
 * before ours, as in a program that is linked with libtestlog.so, the summary
 * is only there. */
static void on_report(const char *report)
{
    char reason[1024];

    if (!runs || test_log_forked() ||
        !test_log_asan_reason(report, last_summary, reason, sizeof(reason)))
        return;
    test_log_status_fail("%s", reason);
    test_log_status_stop(TEST_LOG_STOP_SANITIZER);
}

/* ---- Leaks ---- */

/* Checks only once per process. */
__attribute__((weak)) int __lsan_is_turned_off(void)
{
    return checked;
}

static void check_leaks(void)
{
    if (!__lsan_do_recoverable_leak_check || test_log_forked())
        return;
    test_log_status_checking(true);
    if (__lsan_do_recoverable_leak_check())
        test_log_status_fail("leaked memory"); /* if it reported no summary */
    test_log_status_checking(false);
    checked = true;
}

static void check_valgrind(void)
{
    struct test_log_races races;
    char reason[64];

    if (!test_log_valgrind_runs() || test_log_forked())
        return;
    races = test_log_races_report();
    if (test_log_valgrind_found(&races, reason, sizeof(reason)))
        test_log_status_fail("%s", reason);
}

void test_log_sanitizers_check(void)
{
    check_leaks();
    check_valgrind();
}

/* ---- Coverage ---- */

static const int deadly[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,
                             SIGABRT, SIGPROF, SIGTERM, SIGTRAP};

/* Not all of this is safe in a signal handler, but the process dies anyway. */
static void dump_coverage(int number)
{
    if (__gcov_dump)
        __gcov_dump();
    else if (__gcov_exit)
        __gcov_exit();
    if (__llvm_profile_write_file)
        __llvm_profile_write_file();
    raise(number); /* with the default action now */
}

bool test_log_sanitizers_own(const struct sigaction *action)
{
    return action->sa_handler == dump_coverage;
}

static void keep_coverage(void)
{
    struct sigaction ours = {.sa_handler = dump_coverage,
                             .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
    struct sigaction before;

    if (!__gcov_dump && !__gcov_exit && !__llvm_profile_write_file)
        return;
    trace_crash_stack();
    for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
        if (!sigaction(deadly[i], NULL, &before) &&
            before.sa_handler == SIG_DFL)
            sigaction(deadly[i], &ours, NULL);
}

/* ---- A test ---- */

/* A sanitizer calls this before it ends the process. */
static void on_death(void)
{
    if (test_log_forked())
        return;
    if (last_summary[0]) /* the program has a callback of its own */
        note_summary(last_summary);
    test_log_write_pending();
    trace_device_demand(TRACE_DEMAND_TIME);
}

void test_log_sanitizers_begin(void)
{
    runs = true;
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_death);
    if (__asan_set_error_report_callback)
        __asan_set_error_report_callback(on_report);
    test_log_valgrind_begin();
    keep_coverage();
}

bool test_log_sanitizers_find_leaks(void)
{
    return __lsan_do_recoverable_leak_check || test_log_valgrind_runs();
}

void test_log_sanitizers_end(void)
{
    runs = false;
}
