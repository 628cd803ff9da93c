/* check_expectations.c: checks what a test expects of its own records.
 *
 * Only the expectation macros may refer to this file: if it is linked, the
 * program has expectations.
 */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/event.h>
#include <testlog/test_log.h>

#include "harness/worker/worker.h"

/* Warns in the log, once per process, that an expectation was not judged. */
static void warn(const char *file, unsigned line,
                 const struct log_expectation *expectation, const char *why)
{
    static bool warned;
    static struct trace_site site = {.name = "",
                                     .function = "",
                                     .level = TRACE_LEVEL_WARN,
                                     .kind = TRACE_SITE_EVENT};
    struct trace_text text = {.ceiling = 1 << 14};

    if (__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        return;
    site.file = file;
    site.line = line;
    log_expectation_text(expectation, &text);
    trace_text_printf(&text, " is not judged: %s (others may not be, either)",
                      why);
    trace_message(&site, text.data ? text.data : "not judged");
    trace_text_free(&text);
}

/* Reports to the runner through Criterion, because that works even if nothing
 * can be recorded. */
static void report(const char *file, unsigned line, bool passed,
                   const char *message)
{
    struct criterion_assert_stats stats = {
        .message = message, .passed = passed, .line = line, .file = file};

    criterion_send_assert(&stats);
}

static void report_unjudged(const char *file, unsigned line,
                            const struct log_expectation *expectation,
                            const char *why)
{
    struct trace_text text = {.ceiling = 1 << 14};

    trace_text_string(&text, TEST_LOG_UNJUDGED);
    log_expectation_text(expectation, &text);
    trace_text_printf(&text, ": %s", why);
    report(file, line, true, text.data ? text.data : TEST_LOG_UNJUDGED);
    trace_text_free(&text);
}

void test_log_expect_(const char *file, unsigned line,
                      enum log_expectation_kind kind, double number,
                      const char *const *texts)
{
    struct log_expectation expectation = {kind, number, texts};
    struct trace_text text = {.ceiling = 1 << 14};
    int error = errno;
    enum log_judgement judgement = log_judge(&expectation, &text);
    const char *why = text.data ? text.data : "";

    if (judgement == LOG_NOT_JUDGED) {
        warn(file, line, &expectation, why);
        report_unjudged(file, line, &expectation, why);
    } else if (judgement == LOG_NOT_MET) {
        report(file, line, false, why);
    } else {
        cri_asserts_passed_incr();
    }
    trace_text_free(&text);
    errno = error;
}
