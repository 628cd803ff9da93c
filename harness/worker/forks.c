/* forks.c: keeps a test's forked children from reporting to Criterion's runner,
 * which would wait for them forever. For assertions, see assertions.c.
 *
 * As there, these functions have the names of Criterion's own.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <testlog/test_log.h>

#include "harness/worker/worker.h"

/* Formats the arguments of a function like printf as `text`; NULL without
 * memory. */
#define FORMAT(text, format)                                                   \
    va_list args;                                                              \
    char *text = NULL;                                                         \
                                                                               \
    va_start(args, format);                                                    \
    if (vasprintf(&text, format, args) < 0)                                    \
        text = NULL;                                                           \
    va_end(args)

TRACE_API void criterion_abort_test(void)
{
    static void (*next)(void);

    if (test_log_forked())
        _exit(1);
    if (!next)
        test_log_next_function("criterion_abort_test", &next);
    next();
    __builtin_unreachable();
}

TRACE_API void criterion_skip_test(const char *format, ...)
{
    static void (*next)(const char *, ...);

    if (test_log_forked())
        _exit(0);
    if (!next)
        test_log_next_function("criterion_skip_test", &next);
    FORMAT(text, format);
    next(text && text[0] ? "%s" : "", text); /* Criterion tests the format */
    __builtin_unreachable();
}

/* Returns the text of an exception that ended a test, with its type, instead of
 * Criterion's `text`, which is freed then. `format` says where it was. */
static char *exception_text(const char *format, char *text)
{
    char *exception =
        strncmp(format, "Caught ", 7) ? NULL : test_log_exception_text();
    const char *where = strstr(format, " initialization") ? "in its setup: "
                        : strstr(format, " finalization") ? "in its teardown: "
                                                          : "";
    char *whole;

    if (!exception || asprintf(&whole, "%s%s", where, exception) < 0)
        whole = NULL;
    free(exception);
    if (!whole)
        return text;
    free(text);
    return whole;
}

/* Records an exception at the test that it ended, because its origin is
 * unknown. */
static void record(const char *text)
{
    const struct criterion_test *test = criterion_current_test;
    const struct test_log_entry *entry =
        test ? test_log_annotated_find(test->category, test->name) : NULL;

    test_log_record_error(entry ? entry->test->data->file_ : "criterion",
                          entry ? entry->test->data->line_ : 0, text);
}

TRACE_API void criterion_test_die(const char *format, ...)
{
    static void (*next)(const char *, ...);

    FORMAT(text, format);
    text = exception_text(format, text);
    record(text ? text : "");
    if (test_log_forked()) {
        test_log_status_fail("in a forked child: %s", text ? text : "");
        _exit(1);
    }
    if (!next)
        test_log_next_function("criterion_test_die", &next);
    next("%s", text ? text : "");
    free(text);
}

TRACE_API void cr_log(enum criterion_severity severity, const char *format, ...)
{
    static void (*next)(enum criterion_severity, const char *, ...);

    FORMAT(text, format);
    if (test_log_forked()) {
        fprintf(stderr, "%s\n", text ? text : "");
    } else {
        if (!next)
            test_log_next_function("cr_log", &next);
        next(severity, "%s", text ? text : "");
    }
    free(text);
}
