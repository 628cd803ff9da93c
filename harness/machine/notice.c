/* notice.c: prints testlog's own lines, which begin with "testlog: ". */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"

FILE *test_log_out;

FILE *test_log_stream(void)
{
    return test_log_out ? test_log_out : stderr;
}

void test_log_notice(const char *format, ...)
{
    struct trace_text plain = {0};
    char *text = NULL, brief[512];
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    va_start(args, format);
    vsnprintf(brief, sizeof(brief), format, args); /* without memory */
    va_end(args);
    if (text)
        log_plain(&plain, text, strlen(text));
    fprintf(test_log_stream(), "testlog: %s\n",
            plain.data ? plain.data : brief);
    fflush(test_log_stream());
    trace_text_free(&plain);
    free(text);
}

void test_log_complain(const struct trace_text *complaints)
{
    const char *line = complaints->data ? complaints->data : "";

    while (*line) {
        const char *end = line + strcspn(line, "\n");

        /* The filter and a caret are printed below the complaint. */
        fprintf(test_log_stream(), "%s%.*s\n",
                *line == ' ' ? "" : "testlog: ", (int)(end - line), line);
        line = end + (*end == '\n');
    }
    fflush(test_log_stream());
}
