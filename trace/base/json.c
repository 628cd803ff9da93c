/* json.c: writes JSON's strings and numbers (RFC 8259). */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strings.h"
#include "text.h"

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

#define EIGHT(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns whether all bytes of a word are plain: any other byte carries into
 * its own top bit. */
static inline bool eight_plain(uint64_t word)
{
    uint64_t below = word - EIGHT(0x20), beyond = word | (word + EIGHT(1));
    uint64_t quote = (word ^ EIGHT('"')) - EIGHT(1);
    uint64_t backslash = (word ^ EIGHT('\\')) - EIGHT(1);

    return !((below | beyond | quote | backslash) & EIGHT(0x80));
}

/* Packs a text of less than eight bytes into a word, repeating some. */
static inline uint64_t short_word(const char *text, size_t size)
{
    uint32_t first, last;

    if (size < 4)
        return EIGHT(' ') << 24 | (uint64_t)(unsigned char)text[0] << 16 |
               (uint64_t)(unsigned char)text[size / 2] << 8 |
               (unsigned char)text[size - 1];
    memcpy(&first, text, sizeof(first));
    memcpy(&last, text + size - sizeof(last), sizeof(last));
    return (uint64_t)first << 32 | last;
}

/* Returns whether a whole text is plain, as most are. */
static inline bool all_plain(const char *text, size_t size)
{
    uint64_t word;

    if (size < sizeof(word))
        return !size || eight_plain(short_word(text, size));
    for (size_t i = 0; i < size - sizeof(word); i += sizeof(word)) {
        memcpy(&word, text + i, sizeof(word));
        if (!eight_plain(word))
            return false;
    }
    memcpy(&word, text + size - sizeof(word), sizeof(word));
    return eight_plain(word);
}

size_t trace_plain(const char *text, size_t size)
{
    size_t i = 0;

    if (all_plain(text, size))
        return size;
    while (is_plain((unsigned char)text[i]))
        i++;
    return i;
}

/* Adds the text from `from` on, with escapes. */
static void put_escaped(struct trace_text *out, const unsigned char *s,
                        size_t from, size_t size)
{
    size_t i = from;

    while (i < size) {
        size_t bytes;
        uint32_t c;

        if (is_plain(s[i])) {
            i++;
            continue;
        }
        bytes = trace_utf8_decode((const char *)s + i, size - i, &c);
        /* Rust's JSON has U+0085 as it is. */
        if (bytes > 1 && (!trace_deceives(c) || c == 0x85)) {
            i += bytes;
            continue;
        }
        trace_text_add(out, s + from, i - from);
        if (bytes > 1)
            trace_text_printf(out, "\\u%04" PRIx32, c);
        else if (bytes)
            escape(out, s[i]);
        else
            trace_text_string(out, "\xef\xbf\xbd");
        from = i += bytes ? bytes : 1;
    }
    trace_text_add(out, s + from, size - from);
}

void trace_json_string(struct trace_text *out, const char *string, size_t size)
{
    size_t plain = trace_plain(string, size);

    trace_text_literal(out, "\"");
    trace_text_put(out, string, plain);
    if (plain < size) /* most text is plain */
        put_escaped(out, (const unsigned char *)string, plain, size);
    trace_text_literal(out, "\"");
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
    static const char digits[] = "0123456789abcdef";

    trace_text_char(out, '"');
    for (size_t i = 0; i < size; i++) {
        char two[] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};

        trace_text_put(out, two, sizeof(two));
    }
    trace_text_char(out, '"');
}

bool trace_decimal(double f, bool is_float, uint64_t *digits, unsigned *places)
{
    static const double powers[] = {1,   1e1, 1e2, 1e3, 1e4,
                                    1e5, 1e6, 1e7, 1e8, 1e9};
    double most = is_float ? 1e6 : 1e15;

    /* Both operands of the division are exact, so it gives strtod's result;
     * with so few digits no other decimal gives the same number. */
    for (unsigned i = 0;
         FLT_EVAL_METHOD == 0 && i < sizeof(powers) / sizeof(*powers) &&
         f * powers[i] < most;
         i++) {
        uint64_t n = (uint64_t)(f * powers[i] + 0.5);

        if (is_float ? (float)n / (float)powers[i] == (float)f
                     : (double)n / powers[i] == f) {
            *digits = n;
            *places = i;
            return true;
        }
    }
    return false;
}

/* Adds digits / 10^places as a decimal. */
static void fixed(struct trace_text *out, uint64_t digits, unsigned places)
{
    uint64_t one = 1, rest;

    for (unsigned i = 0; i < places; i++)
        one *= 10;
    trace_json_number(out, digits / one);
    if (!places)
        return;
    trace_text_literal(out, ".");
    rest = digits % one;
    for (one /= 10; one > 1 && rest < one; one /= 10)
        trace_text_literal(out, "0");
    trace_json_number(out, rest);
}

/* The range in which "%.15g" needs no exponent. */
static bool is_handy(double f)
{
    return f == 0 || f >= 1e-4;
}

static void number(struct trace_text *out, double f, bool is_float)
{
    char text[40];
    int digits = is_float ? 6 : 15;
    uint64_t whole;
    unsigned places;

    if (!isfinite(f)) {
        trace_text_string(out, "null");
        return;
    }
    if (is_handy(fabs(f)) &&
        trace_decimal(fabs(f), is_float, &whole, &places)) {
        if (signbit(f))
            trace_text_literal(out, "-");
        fixed(out, whole, places);
        return;
    }

    locale_t before = trace_locale_enter();

    do
        snprintf(text, sizeof(text), "%.*g", digits, f);
    while (digits++ < 17 && (is_float ? strtof(text, NULL) != (float)f
                                      : strtod(text, NULL) != f));
    trace_locale_leave(before);
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

void trace_json_member(struct trace_text *out, const char *name,
                       const char *value)
{
    trace_text_printf(out, ",\"%s\":", name);
    if (value)
        trace_json_string(out, value, strlen(value));
    else
        trace_text_string(out, "null");
}
