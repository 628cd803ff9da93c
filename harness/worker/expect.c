/* expect.c: what a test expects of its own records.
 *
 * Nothing else may need this file: that it is linked says that a program has
 * expectations.
 */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/event.h>
#include <testlog/test_log.h>

#include "harness/worker/worker.h"

/* Once a process, the log says where an expectation was not judged. */
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
    trace_text_printf(&text, " is not judged, nor may others be: %s", why);
    trace_message(&site, text.data ? text.data : "not judged");
    trace_text_free(&text);
}

/* Criterion tells the runner, even where nothing can be recorded. */
static void tell(const char *file, unsigned line, bool passed,
                 const char *message)
{
    struct criterion_assert_stats stats = {
        .message = message, .passed = passed, .line = line, .file = file};

    criterion_send_assert(&stats);
}

static void tell_unjudged(const char *file, unsigned line,
                          const struct log_expectation *expectation,
                          const char *why)
{
    struct trace_text text = {.ceiling = 1 << 14};

    trace_text_string(&text, TEST_LOG_UNJUDGED);
    log_expectation_text(expectation, &text);
    trace_text_printf(&text, ": %s", why);
    tell(file, line, true, text.data ? text.data : TEST_LOG_UNJUDGED);
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
        tell_unjudged(file, line, &expectation, why);
    } else if (judgement == LOG_NOT_MET) {
        tell(file, line, false, why);
    } else {
        cri_asserts_passed_incr();
    }
    trace_text_free(&text);
    errno = error;
}
