/* json.c: JSON's strings and numbers (RFC 8259). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Bytes of the UTF-8 character at `s` (Unicode 15, table 3-7); 0 if it is
 * none. */
static size_t character(const unsigned char *s, size_t left)
{
    size_t size = s[0] < 0x80                    ? 1
                  : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                  : (s[0] & 0xf0) == 0xe0        ? 3
                  : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                 : 0;

    if (!size || size > left)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return size;
}

static void escape(struct trace_text *out, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    const char *at = c ? strchr(letters, c) : NULL;

    if (at)
        trace_text_printf(out, "\\%c", at[1]);
    else
        trace_text_printf(out, "\\u%04x", c);
}

static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void trace_json_string(struct trace_text *out, const char *string, size_t size)
{
    const unsigned char *s = (const unsigned char *)string;
    size_t from = 0, i = 0;

    trace_text_char(out, '"');
    while (i < size) {
        size_t bytes;

        if (is_plain(s[i])) { /* most text is */
            i++;
            continue;
        }
        bytes = character(s + i, size - i);
        if (bytes > 1) {
            i += bytes;
            continue;
        }
        trace_text_add(out, s + from, i - from);
        if (bytes)
            escape(out, s[i]);
        else
            trace_text_string(out, "\xef\xbf\xbd");
        from = ++i;
    }
    trace_text_add(out, s + from, size - from);
    trace_text_char(out, '"');
}

void trace_json_number(struct trace_text *out, uint64_t number)
{
    char digits[20];
    size_t i = sizeof(digits);

    do
        digits[--i] = (char)('0' + number % 10);
    while (number /= 10);
    trace_text_put(out, digits + i, sizeof(digits) - i);
}

static void hex(struct trace_text *out, const unsigned char *bytes, size_t size)
{
    trace_text_char(out, '"');
    for (size_t i = 0; i < size; i++)
        trace_text_printf(out, "%02x", bytes[i]);
    trace_text_char(out, '"');
}

static void number(struct trace_text *out, double f, bool is_float)
{
    char text[40];
    int digits = is_float ? 6 : 15;

    if (!isfinite(f)) {
        trace_text_string(out, "null");
        return;
    }
    do
        snprintf(text, sizeof(text), "%.*g", digits, f);
    while (digits++ < 17 && (is_float ? strtof(text, NULL) != (float)f
                                      : strtod(text, NULL) != f));
    trace_text_string(out, text);
}

void trace_json_value(struct trace_text *out, const struct trace_value *value)
{
    switch (value->type) {
    case TRACE_TYPE_BOOL:
        trace_text_string(out, value->as.u ? "true" : "false");
        break;
    case TRACE_TYPE_I64:
        if (value->as.i < 0)
            trace_text_char(out, '-');
        trace_json_number(out, value->as.i < 0 ? -value->as.u : value->as.u);
        break;
    case TRACE_TYPE_U64:
        trace_json_number(out, value->as.u);
        break;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        number(out, value->as.f, value->type == TRACE_TYPE_F32);
        break;
    case TRACE_TYPE_I128:
    case TRACE_TYPE_U128:
        trace_text_printf(out, "\"0x%016" PRIx64 "%016" PRIx64 "\"",
                          value->more.u, value->as.u);
        break;
    case TRACE_TYPE_STRING:
    case TRACE_TYPE_DISPLAY:
        trace_json_string(out, value->as.text, value->size);
        break;
    case TRACE_TYPE_BYTES:
        hex(out, value->as.bytes, value->size);
        break;
    case TRACE_TYPE_POINTER:
        trace_text_printf(out, "\"0x%" PRIx64 "\"", value->as.u);
        break;
    case TRACE_TYPE_ERRNO: {
        const char *text = strerror((int)value->as.i);

        trace_json_string(out, text, strlen(text));
        break;
    }
    default:
        trace_text_string(out, "null");
    }
}
