/* value.c: formats values as Rust's Debug does.
 *
 * Differences: bytes that are not UTF-8 are printed as \xNN, and fewer
 * characters than Unicode's unprintable ones are escaped: those in
 * `unprintable`.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "log/replay/entry_text.h"
#include "trace/base/text.h"

/* ---- Text ---- */

static bool unprintable(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f},        {0x7f, 0xa0},     {0xad, 0xad},
        {0x300, 0x36f},      {0x483, 0x489},   {0x600, 0x605},
        {0x61c, 0x61c},      {0x1680, 0x1680}, {0x180e, 0x180e},
        {0x2000, 0x200f},    {0x2028, 0x202f}, {0x205f, 0x206f},
        {0x20d0, 0x20f0},    {0x3000, 0x3000}, {0xe000, 0xf8ff},
        {0xfe00, 0xfe0f},    {0xfeff, 0xfeff}, {0xfff0, 0xfffb},
        {0xe0000, 0x10ffff},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static void quoted_character(struct trace_text *out, uint32_t c,
                             const char *text, size_t size)
{
    static const char letters[] = "\"\"\\\\\nn\rr\tt";
    const char *letter = c && c < 0x80 ? strchr(letters, (int)c) : NULL;

    if (!c)
        trace_text_string(out, "\\0");
    else if (letter && c != 'n' && c != 'r' && c != 't')
        trace_text_printf(out, "\\%c", letter[1]);
    else if (unprintable(c))
        trace_text_printf(out, "\\u{%" PRIx32 "}", c);
    else
        trace_text_add(out, text, size);
}

static void quoted(struct trace_text *out, const char *text, size_t size)
{
    trace_text_literal(out, "\"");
    for (size_t i = 0; i < size;) {
        size_t plain = trace_plain(text + i, size - i);
        uint32_t c;
        size_t n;

        trace_text_put(out, text + i, plain);
        i += plain;
        if (i == size)
            break;
        n = trace_utf8_decode(text + i, size - i, &c);
        if (n)
            quoted_character(out, c, text + i, n);
        else
            trace_text_printf(out, "\\x%02x", (unsigned char)text[i]);
        i += n ? n : 1;
    }
    trace_text_literal(out, "\"");
}

static void plain_character(struct trace_text *out, uint32_t c,
                            const char *text, size_t size)
{
    if (c == '\n' || c == '\r' || c == 0)
        trace_text_printf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : '0');
    else if ((c < 0x20 && c != '\t') || c == 0x7f)
        trace_text_printf(out, "\\x%02" PRIx32, c);
    else if (trace_deceives(c))
        trace_text_printf(out, "\\u{%" PRIx32 "}", c);
    else
        trace_text_add(out, text, size);
}

/* Adds text from `i` on with its escapes, and the plain text around them. */
static __attribute__((noinline)) void escaped(struct trace_text *out,
                                              const char *text, size_t size,
                                              size_t i)
{
    size_t from = 0;

    while (i < size) {
        unsigned char byte = (unsigned char)text[i];
        uint32_t c;
        size_t n;

        if (byte >= 0x20 && byte < 0x7f) { /* most text is plain */
            i++;
            continue;
        }
        trace_text_add(out, text + from, i - from);
        n = trace_utf8_decode(text + i, size - i, &c);
        if (n)
            plain_character(out, c, text + i, n);
        else
            trace_text_printf(out, "\\x%02x", byte);
        from = i += n ? n : 1;
    }
    trace_text_add(out, text + from, size - from);
}

void log_plain(struct trace_text *out, const char *text, size_t size)
{
    size_t plain = trace_plain(text, size);

    if (plain == size)
        trace_text_put(out, text, size);
    else
        escaped(out, text, size, plain);
}

/* ---- Numbers ---- */

/* Sets the digits of an integer without trailing zeros; `size` counts them with
 * those zeros. */
static size_t digits_of(uint64_t number, char *digits, int *size)
{
    char text[20];
    size_t count = 0, at = sizeof(text);

    do
        text[--at] = (char)('0' + number % 10);
    while (number /= 10);
    count = sizeof(text) - at;
    *size = (int)count;
    memcpy(digits, text + at, count);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

/* Sets the shortest digits that parse as the same number, and the position of
 * their decimal point: 1.5 is "15" and 1. Returns their number. */
static size_t shortest(double f, bool is_float, char *digits, int *point)
{
    char text[40];
    bool exact = f >= (is_float ? FLT_MIN : DBL_MIN);
    int precision = !exact ? 0 : is_float ? 5 : 14, size;
    size_t count = 0;
    uint64_t whole;
    unsigned places;

    if (trace_decimal(f, is_float, &whole, &places)) {
        count = digits_of(whole, digits, &size);
        *point = size - (int)places;
        return count;
    }
    /* A shorter representation is this one without trailing zeros; the decimal
     * point may be anywhere. */
    do
        snprintf(text, sizeof(text), "%.*e", precision, f);
    while (
        precision++ < (is_float ? 8 : 16) &&
        (is_float ? strtof(text, NULL) != (float)f : strtod(text, NULL) != f));

    const char *at = text;

    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    *point = atoi(at + 1) + 1;
    return count;
}

static void zeros(struct trace_text *out, int count)
{
    while (count-- > 0)
        trace_text_char(out, '0');
}

void log_real(struct trace_text *out, double f, bool is_float,
              struct log_decimals decimals)
{
    char digits[40];
    int point;

    if (signbit(f))
        trace_text_char(out, '-');
    f = fabs(f);

    size_t count = shortest(f, is_float, digits, &point);
    int size = (int)count;

    if (f != 0 && (point <= decimals.least || point > decimals.most)) {
        trace_text_char(out, digits[0]);
        if (count > 1)
            trace_text_literal(out, ".");
        trace_text_put(out, digits + 1, count - 1);
        trace_text_printf(out, "e%d", point - 1);
    } else if (point <= 0) {
        trace_text_literal(out, "0.");
        zeros(out, -point);
        trace_text_put(out, digits, count);
    } else {
        trace_text_put(out, digits, (size_t)(point < size ? point : size));
        zeros(out, point - size);
        trace_text_literal(out, ".");
        if (point < size)
            trace_text_put(out, digits + point, (size_t)(size - point));
        else
            trace_text_literal(out, "0");
    }
}

static void real(struct trace_text *out, double f, bool is_float)
{
    static const struct log_decimals debug = {-4, 16};

    if (isnan(f) || isinf(f))
        trace_text_string(out, isnan(f) ? "NaN" : f < 0 ? "-inf" : "inf");
    else
        log_real(out, f, is_float, debug);
}

static void whole(struct trace_text *out, uint64_t number, bool negative)
{
    if (negative)
        trace_text_literal(out, "-");
    trace_json_number(out, number);
}

static void wide(struct trace_text *out, uint64_t high, uint64_t low,
                 bool is_signed)
{
#ifdef __SIZEOF_INT128__
    trace_u128_t n = (trace_u128_t)high << 64 | low;
    char digits[40];
    size_t at = sizeof(digits);

    if (is_signed && high >> 63) {
        trace_text_char(out, '-');
        n = -n;
    }
    do
        digits[--at] = (char)('0' + (int)(n % 10));
    while (n /= 10);
    trace_text_add(out, digits + at, sizeof(digits) - at);
#else
    (void)is_signed;
    trace_text_printf(out, "0x%016" PRIx64 "%016" PRIx64, high, low);
#endif
}

static void bytes(struct trace_text *out, const unsigned char *data,
                  size_t size)
{
    trace_text_char(out, '[');
    for (size_t i = 0; i < size; i++)
        trace_text_printf(out, "%s%02x", i ? " " : "", data[i]);
    trace_text_char(out, ']');
}

static void error_number(struct trace_text *out, int64_t error)
{
    const char *name = strerrorname_np((int)error);

    trace_text_printf(out, "%s (%s)", strerror((int)error), name ? name : "?");
}

void log_value(struct trace_text *out, const struct trace_value *value)
{
    switch (value->type) {
    case TRACE_TYPE_BOOL:
        trace_text_string(out, value->as.u ? "true" : "false");
        break;
    case TRACE_TYPE_I64:
        whole(out, value->as.i < 0 ? -value->as.u : value->as.u,
              value->as.i < 0);
        break;
    case TRACE_TYPE_U64:
        whole(out, value->as.u, false);
        break;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        real(out, value->as.f, value->type == TRACE_TYPE_F32);
        break;
    case TRACE_TYPE_I128:
    case TRACE_TYPE_U128:
        wide(out, value->more.u, value->as.u, value->type == TRACE_TYPE_I128);
        break;
    case TRACE_TYPE_STRING:
        quoted(out, value->as.text, value->size);
        break;
    case TRACE_TYPE_DISPLAY:
        log_plain(out, value->as.text, value->size);
        break;
    case TRACE_TYPE_BYTES:
        bytes(out, value->as.bytes, value->size);
        break;
    case TRACE_TYPE_POINTER:
        trace_text_printf(out, "0x%" PRIx64, value->as.u);
        break;
    case TRACE_TYPE_ERRNO:
        error_number(out, value->as.i);
        break;
    default:
        break;
    }
}
