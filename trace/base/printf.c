/* printf.c: takes printf's arguments at the call and formats them later.
 *
 * The conversions are those of C11 7.21.6.1 and glibc's %m. Some are formatted
 * at the call: wide characters, positions (%1$d), thousands (%'d), and a locale
 * with another decimal point.
 */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#include "text.h"
#include "values.h"

/* One argument of a conversion. */
enum arg {
    ARG_END,
    ARG_INT,
    ARG_UNSIGNED,
    ARG_LONG,
    ARG_UNSIGNED_LONG,
    ARG_LONG_LONG,
    ARG_UNSIGNED_LONG_LONG,
    ARG_POINTER,
    ARG_LAST_WORD = ARG_POINTER,
    ARG_STRING,
    ARG_CUT, /* a string with a precision */
    ARG_DOUBLE,
    ARG_LONG_DOUBLE,
    ARG_ERRNO,
    ARG_STAR,      /* a width or precision: an int */
    ARG_PRECISION, /* "%.5s": no argument; the number follows the code */
    ARG_BAD,       /* cannot be deferred */
    ARG_REFUSED,   /* %n */
};

/* A parsed conversion. */
struct conversion {
    char flags[8];
    int width;     /* negative: left-justified */
    int precision; /* negative: none */
    bool star_width, star_precision;
    bool deferrable;
    char length; /* 'H' hh, 'h', 'l', 'q' ll, 'j', 'z', 't', 'L', or 0 */
    char verb;   /* 0: the format ended early */
};

/* Wider than this is formatted at the call. */
enum { NUMBER_MAX = 65535 };

static int number(const char **at)
{
    int n = 0;

    while (**at >= '0' && **at <= '9') {
        if (n <= NUMBER_MAX)
            n = n * 10 + (**at - '0');
        ++*at;
    }
    return n > NUMBER_MAX ? NUMBER_MAX + 1 : n;
}

static char length_of(const char **at)
{
    char c = **at;

    if (!c || !strchr("hljztLq", c))
        return 0;
    ++*at;
    if ((c == 'h' || c == 'l') && **at == c) {
        ++*at;
        return c == 'h' ? 'H' : 'q';
    }
    return c;
}

/* Parses the number of a width or precision; returns true for a '*', which may
 * have a position. */
static bool star_or_number(const char **at, struct conversion *c, int *n)
{
    const char *position = *at + 1;
    bool star = **at == '*';

    if (!star) {
        *n = number(at);
        c->deferrable &= *n <= NUMBER_MAX;
        return false;
    }
    number(&position);
    c->deferrable &= *position != '$';
    *at = *position == '$' ? position + 1 : *at + 1;
    return true;
}

static void flags_and_width(const char **at, struct conversion *c)
{
    size_t flags = strlen(c->flags);

    for (; **at && strchr("-+ #0'I", **at); ++*at) {
        c->deferrable &= **at != '\'' && **at != 'I';
        if (flags < sizeof(c->flags) - 1 && !strchr(c->flags, **at))
            c->flags[flags++] = **at;
    }
    c->star_width = star_or_number(at, c, &c->width);
}

/* Parses the conversion after a '%' and steps over it. */
static struct conversion conversion_at(const char **at)
{
    struct conversion c = {.precision = -1, .deferrable = true};

    flags_and_width(at, &c);
    if (**at == '$') { /* it was the argument's position */
        ++*at;
        flags_and_width(at, &c);
        c.deferrable = false;
    }
    if (**at == '.') {
        ++*at;
        c.star_precision = star_or_number(at, &c, &c.precision);
    }
    c.length = length_of(at);
    c.verb = **at;
    if (c.verb)
        ++*at;
    return c;
}

static enum arg integer_arg(char length, bool is_signed)
{
    switch (length) {
    case 'l':
        return is_signed ? ARG_LONG : ARG_UNSIGNED_LONG;
    case 'q':
    case 'L':
        return is_signed ? ARG_LONG_LONG : ARG_UNSIGNED_LONG_LONG;
    case 'j':
    case 'z':
    case 't':
        return is_signed ? ARG_LONG : ARG_UNSIGNED_LONG;
    default:
        return is_signed ? ARG_INT : ARG_UNSIGNED;
    }
}

_Static_assert(sizeof(intmax_t) == sizeof(long) &&
                   sizeof(size_t) == sizeof(long) &&
                   sizeof(ptrdiff_t) == sizeof(long),
               "%jd, %zu and %td take a long");

static enum arg arg_of(const struct conversion *c)
{
    if (c->verb == 'n')
        return ARG_REFUSED;
    if (!c->deferrable || !c->verb)
        return ARG_BAD;
    switch (c->verb) {
    case 'd':
    case 'i':
        return integer_arg(c->length, true);
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        return integer_arg(c->length, false);
    case 'c':
        return c->length ? ARG_BAD : ARG_INT;
    case 's':
        return c->length ? ARG_BAD : ARG_STRING;
    case 'p':
        return ARG_POINTER;
    case 'm':
        return ARG_ERRNO;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        return c->length == 'L' ? ARG_LONG_DOUBLE : ARG_DOUBLE;
    default:
        return ARG_BAD;
    }
}

static bool decimal_point_is_dot(void)
{
    return !strcmp(localeconv()->decimal_point, ".");
}

/* Adds a code; returns false if there is no room. */
static bool put(uint8_t *args, size_t room, size_t *count, unsigned code)
{
    if (*count + 1 >= room)
        return false;
    args[(*count)++] = (uint8_t)code;
    args[*count] = ARG_END;
    return true;
}

static bool put_conversion(uint8_t *args, size_t room, size_t *count,
                           const struct conversion *c)
{
    enum arg arg = arg_of(c);

    if (arg == ARG_STRING && c->precision >= UINT8_MAX)
        arg = ARG_BAD;
    if (c->star_width && !put(args, room, count, ARG_STAR))
        return false;
    if (c->star_precision && !put(args, room, count, ARG_STAR))
        return false;
    if (arg == ARG_STRING && c->precision >= 0 &&
        !(put(args, room, count, ARG_PRECISION) &&
          put(args, room, count, (unsigned)c->precision + 1)))
        return false;
    if (arg == ARG_STRING && (c->precision >= 0 || c->star_precision))
        arg = ARG_CUT;
    return put(args, room, count, arg);
}

/* Parses a format into the codes of its arguments; returns false if there are
 * too many. */
static bool args_parse(const char *format, uint8_t *args, size_t room)
{
    size_t count = 0;

    args[0] = ARG_END;
    while ((format = strchr(format, '%'))) {
        format++;
        if (*format == '%') {
            format++;
            continue;
        }

        struct conversion c = conversion_at(&format);

        if (!put_conversion(args, room, &count, &c))
            return false;
    }
    return true;
}

/* A whole string, unless it has a precision. */
static struct trace_value string_value(const char *string, int precision)
{
    if (!string) /* glibc does not cut "(null)" */
        string = precision < 0 || precision >= 6 ? "(null)" : "";
    return trace_string(string, precision < 0
                                    ? strlen(string)
                                    : strnlen(string, (size_t)precision));
}

/* Takes an argument that is recorded as one word. */
static inline struct trace_value take_word(enum arg arg, va_list *args)
{
    switch (arg) {
    case ARG_INT:
        return trace_i64_(va_arg(*args, int));
    case ARG_UNSIGNED:
        return trace_u64_(va_arg(*args, unsigned));
    case ARG_LONG:
        return trace_i64_(va_arg(*args, long));
    case ARG_UNSIGNED_LONG:
        return trace_u64_(va_arg(*args, unsigned long));
    case ARG_LONG_LONG:
        return trace_i64_(va_arg(*args, long long));
    case ARG_UNSIGNED_LONG_LONG:
        return trace_u64_(va_arg(*args, unsigned long long));
    default:
        return trace_pointer_(va_arg(*args, void *));
    }
}

/* Long doubles stay here until they are stored; a message with more is
 * formatted at the call. */
enum { LONG_DOUBLES = 4 };
static _Thread_local long double long_doubles[LONG_DOUBLES];

static int args_take(const uint8_t *codes, va_list *args,
                     struct trace_value *values, size_t *size)
{
    struct trace_value *value = values;
    int precision = -1; /* of the next string */
    int wide = 0;       /* long doubles so far */
    size_t bytes = 0;

    for (; *codes; codes++) {
        if (value == values + TRACE_ARGS_MAX)
            return -1;
        if (*codes <= ARG_LAST_WORD) {
            *value++ = take_word(*codes, args);
            bytes += 2 * TRACE_WORD;
            continue;
        }
        switch (*codes) {
        case ARG_STRING:
            *value = string_value(va_arg(*args, const char *), -1);
            bytes += TRACE_WORD + trace_text_room(value++->size);
            continue;
        case ARG_PRECISION:
            precision = *++codes - 1;
            continue;
        case ARG_CUT:
            *value = string_value(va_arg(*args, const char *), precision);
            break;
        case ARG_STAR:
            precision = va_arg(*args, int);
            if (precision > NUMBER_MAX || precision < -NUMBER_MAX)
                return -1;
            *value = trace_i64_(precision);
            break;
        case ARG_DOUBLE:
            if (!decimal_point_is_dot())
                return -1;
            *value = trace_f64_(va_arg(*args, double));
            break;
        case ARG_LONG_DOUBLE:
            if (!decimal_point_is_dot() || wide == LONG_DOUBLES)
                return -1;
            long_doubles[wide] = va_arg(*args, long double);
            *value = trace_bytes(&long_doubles[wide++], sizeof(long double));
            value->type = TRACE_TYPE_LONG_DOUBLE;
            break;
        case ARG_ERRNO:
            *value = trace_errno(errno);
            break;
        default:
            return *codes == ARG_REFUSED ? -2 : -1;
        }
        bytes += trace_values_size(1, value++);
    }
    *size = bytes;
    return (int)(value - values);
}

/* Returns whether `is` holds for a conversion of `format`. */
static bool any_conversion(const char *format,
                           bool (*is)(const struct conversion *))
{
    while ((format = strchr(format, '%'))) {
        format++;
        if (*format == '%') {
            format++;
            continue;
        }

        struct conversion c = conversion_at(&format);

        if (is(&c))
            return true;
    }
    return false;
}

static bool writes(const struct conversion *c)
{
    return c->verb == 'n';
}

bool trace_format_writes(const char *format)
{
    return any_conversion(format, writes);
}

/* "%*s": the star before a string is its width, not its precision, which only
 * determines how much is copied. A text without a NUL always has a precision.
 */
static bool star_is_width(const struct conversion *c)
{
    return c->star_width && c->verb == 's' && !c->star_precision;
}

enum { UNPARSED = 0, PARSED = 1, SLOW = 0xff }; /* states of a format */

/* Parses the format of a call site, for the next calls, too. */
static __attribute__((noinline)) int parse_and_take(struct trace_site *site,
                                                    const char *format,
                                                    va_list *args,
                                                    struct trace_value *values,
                                                    size_t *bytes)
{
    uint8_t codes[4 * TRACE_ARGS_MAX], state = UNPARSED;

    if (any_conversion(format, star_is_width) ||
        !args_parse(format, codes, sizeof(codes)))
        return -1;
    if (__atomic_compare_exchange_n(&site->args[0], &state, SLOW, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        size_t size = strlen((char *)codes) + 1;

        if (size <= sizeof(site->args) - 1) {
            memcpy(site->args + 1, codes, size);
            __atomic_store_n(&site->args[0], PARSED, __ATOMIC_RELEASE);
        }
    }
    return args_take(codes, args, values, bytes);
}

int trace_args_take(struct trace_site *site, const char *format, va_list *args,
                    struct trace_value *values, size_t *bytes)
{
    /* args[0] is the state: PARSED if the codes follow it, SLOW if there are
     * too many codes or another thread is storing them. */
    if (__atomic_load_n(&site->args[0], __ATOMIC_ACQUIRE) == PARSED)
        return args_take(site->args + 1, args, values, bytes);
    return parse_and_take(site, format, args, values, bytes);
}

/* ---- Formatting recorded arguments ---- */

/* Rebuilds a conversion from its parts, with '*' for its numbers. */
static void spec_text(char *spec, const struct conversion *c,
                      const char *length)
{
    size_t flags = strlen(c->flags), size = strlen(length);

    *spec++ = '%';
    memcpy(spec, c->flags, flags);
    spec += flags;
    memcpy(spec, "*.*", 3);
    spec += 3;
    memcpy(spec, length, size);
    spec += size;
    spec[0] = c->verb;
    spec[1] = '\0';
}

static int clamp(int64_t n)
{
    return n > NUMBER_MAX ? NUMBER_MAX : n < -NUMBER_MAX ? -NUMBER_MAX : (int)n;
}

/* Formats text by hand: a recorded text may have no NUL. */
static void format_text(struct trace_text *out, const struct conversion *c,
                        const char *text, size_t size)
{
    bool left = strchr(c->flags, '-') || c->width < 0;

    if (c->precision >= 0 && size > (size_t)c->precision)
        size = (size_t)c->precision;

    size_t whole = (size_t)(c->width < 0 ? -c->width : c->width);
    size_t pad = whole > size ? whole - size : 0;

    for (size_t i = 0; i < pad && !left; i++)
        trace_text_char(out, ' ');
    trace_text_add(out, text, size);
    for (size_t i = 0; i < pad && left; i++)
        trace_text_char(out, ' ');
}

/* Most conversions are like "%d" or "%zu" and need no libc. */
static bool format_whole(struct trace_text *out, const struct conversion *c,
                         const struct trace_value *value)
{
    bool is_signed = c->verb == 'd' || c->verb == 'i';
    bool minus = is_signed && value->as.i < 0;

    if (c->flags[0] || c->width || c->precision >= 0 ||
        !(is_signed || c->verb == 'u') || c->length == 'h' || c->length == 'H')
        return false;
    if (minus)
        trace_text_literal(out, "-");
    trace_json_number(out, minus ? -value->as.u : value->as.u);
    return true;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void format_number(struct trace_text *out, const struct conversion *c,
                          const struct trace_value *value)
{
    char spec[sizeof(c->flags) + 8];
    int width = c->width, precision = c->precision;
    long double wide;

    switch (arg_of(c)) {
    case ARG_DOUBLE:
        spec_text(spec, c, "");
        trace_text_printf(out, spec, width, precision, value->as.f);
        break;
    case ARG_LONG_DOUBLE:
        if (value->size != sizeof(wide))
            break;
        memcpy(&wide, value->as.bytes, sizeof(wide));
        spec_text(spec, c, "L");
        trace_text_printf(out, spec, width, precision, wide);
        break;
    case ARG_POINTER:
        spec_text(spec, c, "");
        trace_text_printf(out, spec, width, precision,
                          (void *)(uintptr_t)value->as.u);
        break;
    default:
        if (c->verb == 'c' || c->length == 'h' || c->length == 'H') {
            spec_text(spec, c,
                      c->length == 'H'   ? "hh"
                      : c->length == 'h' ? "h"
                                         : "");
            trace_text_printf(out, spec, width, precision, (int)value->as.i);
        } else {
            spec_text(spec, c, "l");
            trace_text_printf(out, spec, width, precision, (long)value->as.i);
        }
    }
}
#pragma GCC diagnostic pop

/* Returns the type that a conversion's argument was recorded with. */
static uint32_t type_of(enum arg arg)
{
    switch (arg) {
    case ARG_INT:
    case ARG_STAR:
    case ARG_LONG:
    case ARG_LONG_LONG:
        return TRACE_TYPE_I64;
    case ARG_DOUBLE:
        return TRACE_TYPE_F64;
    case ARG_LONG_DOUBLE:
        return TRACE_TYPE_LONG_DOUBLE;
    case ARG_STRING:
        return TRACE_TYPE_STRING;
    case ARG_POINTER:
        return TRACE_TYPE_POINTER;
    case ARG_ERRNO:
        return TRACE_TYPE_ERRNO;
    default:
        return TRACE_TYPE_U64;
    }
}

static bool next_of(struct trace_values *values, enum arg arg,
                    struct trace_value *value)
{
    return trace_values_next(values, value) && value->type == type_of(arg);
}

static bool format_one(struct trace_text *out, struct conversion *c,
                       struct trace_values *values)
{
    struct trace_value value;
    enum arg arg = arg_of(c);

    if (arg == ARG_BAD || arg == ARG_REFUSED)
        return false;
    if (c->star_width) {
        if (!next_of(values, ARG_STAR, &value))
            return false;
        c->width = clamp(value.as.i);
    }
    if (c->star_precision) {
        if (!next_of(values, ARG_STAR, &value))
            return false;
        c->precision = clamp(value.as.i);
    }
    if (!next_of(values, arg, &value))
        return false;
    if (arg == ARG_STRING) {
        format_text(out, c, value.as.text, value.size);
    } else if (arg == ARG_ERRNO) {
        const char *text = strerror((int)value.as.i);

        format_text(out, c, text, strlen(text));
    } else if (!format_whole(out, c, &value)) {
        /* The locale at recording had a "." as its decimal point. */
        locale_t before = trace_locale_enter();

        format_number(out, c, &value);
        trace_locale_leave(before);
    }
    return true;
}

void trace_format(struct trace_text *out, const char *format,
                  struct trace_values *values)
{
    while (*format) {
        const char *percent = strchrnul(format, '%');

        trace_text_add(out, format, (size_t)(percent - format));
        if (!*percent)
            return;
        format = percent + 1;
        if (*format == '%') {
            trace_text_char(out, '%');
            format++;
            continue;
        }

        struct conversion c = conversion_at(&format);

        if (!format_one(out, &c, values))
            trace_text_add(out, percent, (size_t)(format - percent));
    }
}
