/* expect_text.c: the table of expectations, and an expectation as it is in the
 * source. */
#include <string.h>

#include "expect.h"

const struct kind log_expectation_kinds[] = {
#define LOG_X(name, word, looked_at, wanted, wrong)                            \
    {word, looked_at, wanted, wrong},
    LOG_EXPECTATIONS(LOG_X)
#undef LOG_X
};

static bool takes_number(enum log_expectation_kind kind)
{
    return log_expectation_kinds[kind].wanted == NUMBER ||
           kind == LOG_EXPECTATION_SPAN_SHORTER ||
           kind == LOG_EXPECTATION_SPAN_LONGER ||
           kind == LOG_EXPECTATION_INSTRUCTIONS_AT_MOST;
}

void log_expectation_quote(struct trace_text *out, const char *text)
{
    trace_text_char(out, '"');
    for (;;) {
        size_t size = strcspn(text, "\"\\");

        log_plain(out, text, size);
        text += size;
        if (!*text)
            break;
        trace_text_char(out, '\\');
        trace_text_char(out, *text++);
    }
    trace_text_char(out, '"');
}

void log_expectation_text(const struct log_expectation *expectation,
                          struct trace_text *out)
{
    const char *const *text = expectation->texts;
    locale_t before = trace_locale_enter();

    trace_text_printf(out, "log_expect_%s(",
                      log_expectation_kinds[expectation->kind].word);
    if (takes_number(expectation->kind))
        trace_text_printf(out, "%.15g, ", expectation->number);
    trace_locale_leave(before);
    for (; *text; text++) {
        if (text > expectation->texts)
            trace_text_string(out, ", ");
        log_expectation_quote(out, *text);
    }
    trace_text_char(out, ')');
}
