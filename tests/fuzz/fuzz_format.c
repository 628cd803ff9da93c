/* fuzz_format.c: feeds any format: with any bytes as its values, and with
 * arguments that are taken and then formatted.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/trace.h>

#include "trace/base/values.h"
#include "trace/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the arguments, stores them as in a record, and formats them. */
static void walk_args(const char *format, ...)
{
    struct trace_site site = {.name = format};
    struct trace_value taken[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    va_list args;

    /* The second round uses the parsed format that the site keeps. */
    for (int round = 0; round < 2; round++) {
        va_start(args, format);

        size_t bytes, size;
        int count = trace_args_take(&site, format, &args, taken, &bytes);

        va_end(args);
        if (count > TRACE_ARGS_MAX ||
            (count == -2) > trace_format_writes(format))
            abort();
        if (count < 0)
            continue;

        size = trace_values_size((size_t)count, taken);
        if (size != bytes)
            abort();

        unsigned char *stored = malloc(size + 1);
        if (!stored)
            break;
        struct trace_values values = {stored, stored + size, NULL};

        trace_values_store(stored, (size_t)count, taken);
        trace_format(&text, format, &values);
        free(stored);
    }
    trace_text_free(&text);
}

/* Every argument suits any conversion: a number, or the address of a text. */
static void walk_format(const char *format)
{
    static const wchar_t text[] = L"wide and narrow";
    const void *p = text;

#define EIGHT p, p, p, p, p, p, p, p
    walk_args(format, EIGHT, EIGHT, 0.5, 1e308, -0.0, 1.0, EIGHT, EIGHT, EIGHT,
              EIGHT, EIGHT, EIGHT);
#undef EIGHT
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_text text = {.ceiling = 1 << 20};
    size_t length = size ? strnlen((const char *)data, size) : 0;
    size_t from = length < size ? length + 1 : size;
    char *format = calloc(1, length + 1);
    unsigned char *bytes = malloc(size - from + 1);

    if (format && bytes) {
        struct trace_values values = {bytes, bytes + (size - from), NULL};

        if (length)
            memcpy(format, data, length);
        if (from < size)
            memcpy(bytes, data + from, size - from);
        trace_format(&text, format, &values);
        walk_format(format);
    }
    trace_text_free(&text);
    free(bytes);
    free(format);
    return 0;
}
