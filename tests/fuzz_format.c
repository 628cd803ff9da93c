/* fuzz_format.c: any format, up to its NUL, with any bytes as its values. */
#include <stdlib.h>
#include <string.h>

#include <testlog/trace.h>

#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_text text = {.ceiling = 1 << 20};
    size_t length = size ? strnlen((const char *)data, size) : 0;
    size_t from = length < size ? length + 1 : size;
    char *format = calloc(1, length + 1);
    unsigned char *bytes = malloc(size - from + 1);

    if (format && bytes) {
        struct trace_values values = {bytes, bytes + (size - from)};

        if (length)
            memcpy(format, data, length);
        if (from < size)
            memcpy(bytes, data + from, size - from);
        trace_format(&text, format, &values);
    }
    trace_text_free(&text);
    free(bytes);
    free(format);
    return 0;
}
