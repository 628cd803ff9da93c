/* xml_text.c: writes text as a part of XML or HTML. */
#include <stdio.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "trace/base/text.h"

/* Puts clean text. In an attribute, white space is kept as references. */
static void put_clean(FILE *out, const struct trace_text *text, bool attribute)
{
    for (size_t i = 0; i < text->size; i++) {
        char c = text->data[i];

        switch (c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
        case '\t':
            fprintf(out, attribute ? "&#%d;" : "%c", c);
            break;
        default:
            fputc(c, out);
        }
    }
}

void test_log_put_xml_text(FILE *out, const char *text, size_t size,
                           bool attribute)
{
    struct trace_text clean = {0};

    test_log_sanitize(&clean, text, size);
    put_clean(out, &clean, attribute);
    trace_text_free(&clean);
}

void test_log_put_xml(FILE *out, const char *text)
{
    test_log_put_xml_text(out, text, strlen(text), true);
}
