/* pattern.c: matches the value of a field.
 *
 * A value after "=" in a span's directive has EnvFilter's meaning: its type
 * selects the comparison, and text is a regular expression that must match up
 * to the value's end. Everywhere else values are compared.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "filter.h"
#include "log/replay/entry_text.h"
#include "trace/base/text.h"

/* ---- Regular expressions ---- */

enum {
    STEPS = 2000000,     /* steps that a search may take... */
    STEPS_PER_BYTE = 16, /* ...and as many more for each byte of the text */
    HEAP_MAX = 32768,    /* KiB that a search may use */
    REGEX_MAX = 65536,   /* bytes of an expression */
};

/* As in Rust: UTF-8, Unicode's classes, and "." stops at a newline only. The
 * callouts count steps. */
static pcre2_code *compile(const char *text, int *error, size_t *offset)
{
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                       PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
                       PCRE2_AUTO_CALLOUT;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code = NULL;

    *error = PCRE2_ERROR_NOMEMORY;
    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        pcre2_set_max_pattern_length(context, REGEX_MAX);
        code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options,
                             error, offset, context);
    }
    pcre2_compile_context_free(context);
    return code;
}

static enum log_reading make_regex(struct log_pattern *pattern,
                                   struct log_mistake *mistake)
{
    PCRE2_UCHAR reason[128] = "";
    int error = 0;
    size_t offset = 0;

    pattern->regex = compile(pattern->text, &error, &offset);
    if (pattern->regex)
        return LOG_READ;
    /* 121 is the compiler's own error for memory. */
    if (error == PCRE2_ERROR_NOMEMORY || error == 121)
        return LOG_NO_MEMORY;
    mistake->kind = LOG_MISTAKE_FIELD;
    mistake->at = pattern->text + offset;
    mistake->word = pattern->text;
    pcre2_get_error_message(error, reason, sizeof(reason));
    snprintf(mistake->what, sizeof(mistake->what),
             "bad regular expression: %s in", (const char *)reason);
    return LOG_MISTAKEN;
}

/* PCRE2's limit applies to each place where a match may begin, which allows
 * quadratic time; we limit the steps of the whole search. */
struct effort {
    size_t spent, limit;
    size_t at; /* position in the text at the last step */
};

static int count_step(pcre2_callout_block *step, void *context)
{
    struct effort *effort = context;
    size_t at = step->current_position;

    effort->spent += 1 + (at > effort->at ? at - effort->at : 0);
    effort->at = at;
    return effort->spent > effort->limit ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/* Searches for an expression and sets `end` to the end of the match. A search
 * that takes too many steps does not match. */
static bool find(const struct log_pattern *pattern, const char *text,
                 size_t size, size_t *end)
{
    struct effort effort = {.limit = STEPS + STEPS_PER_BYTE * size};
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    int found = PCRE2_ERROR_NOMEMORY;

    if (match && context) {
        pcre2_set_heap_limit(context, HEAP_MAX);
        pcre2_set_callout(context, count_step, &effort);
        found = pcre2_match(pattern->regex, (PCRE2_SPTR)text, size, 0, 0, match,
                            context);
    }
    if (found >= 0)
        *end = pcre2_get_ovector_pointer(match)[1];
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    return found >= 0;
}

/* ---- Parsing ---- */

/* Returns whether a text is a number in Rust's syntax: not hexadecimal, no
 * blanks. */
static bool real_of(const char *text, double *real)
{
    const char *digits = text + (*text == '+' || *text == '-');
    locale_t before;
    char *end;

    if (!log_same_word(digits, "inf") && !log_same_word(digits, "infinity") &&
        !log_same_word(digits, "nan") &&
        (strspn(digits, "0123456789.eE+-") != strlen(digits) ||
         !strpbrk(digits, "0123456789") || strchr("eE+-", *digits)))
        return false;
    before = trace_locale_enter();
    *real = strtod(text, &end);
    trace_locale_leave(before);
    return !*end;
}

static bool digits_only(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool hexadecimal(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2] &&
           strspn(text + 2, "0123456789abcdefABCDEF") == strlen(text + 2);
}

/* Parses an integer of 64 bits in Rust's syntax, without hexadecimal. */
static bool whole_of(struct log_pattern *pattern)
{
    const char *text = pattern->text;
    bool hex = pattern->operation != LOG_IS && hexadecimal(text);

    errno = 0;
    if (hex || digits_only(text + (*text == '+'))) {
        pattern->type = LOG_VALUE_U64;
        pattern->as.u = strtoull(text, NULL, hex ? 16 : 10);
    } else if (*text == '-' && digits_only(text + 1)) {
        pattern->type = LOG_VALUE_I64;
        pattern->as.i = strtoll(text, NULL, 10);
    } else {
        return false;
    }
    return !errno;
}

/* Sets the type of a value: the first of bool, u64, i64, f64 that it parses as.
 */
static void classify(struct log_pattern *pattern)
{
    const char *text = pattern->text;
    int error = errno;

    if (!strcmp(text, "true") || !strcmp(text, "false")) {
        pattern->type = LOG_VALUE_BOOL;
        pattern->as.u = *text == 't';
    } else if (!whole_of(pattern)) {
        pattern->type =
            real_of(text, &pattern->as.f) ? LOG_VALUE_F64 : LOG_VALUE_TEXT;
    }
    errno = error;
}

/* Removes a value's quotes. */
static bool unquote(struct log_pattern *pattern, bool escapes)
{
    char *from = pattern->text + 1, *to = from;
    size_t size = strlen(pattern->text);

    if (size < 2 || pattern->text[0] != '"' || pattern->text[size - 1] != '"')
        return false;
    pattern->text[size - 1] = '\0';
    while (*from) {
        if (*from == '\\' && (from[1] == '"' || (escapes && from[1] == '\\')))
            from++;
        *to++ = *from++;
    }
    *to = '\0';
    pattern->text++;
    return true;
}

enum log_reading log_pattern_read(struct log_pattern *pattern,
                                  struct log_mistake *mistake)
{
    bool regex = pattern->operation == LOG_MATCHES;

    if (pattern->operation == LOG_DECLARED)
        return LOG_READ;
    if (pattern->operation != LOG_IS && unquote(pattern, !regex))
        pattern->type = LOG_VALUE_TEXT;
    else
        classify(pattern);
    if (regex ||
        (pattern->operation == LOG_IS && pattern->type == LOG_VALUE_TEXT))
        return make_regex(pattern, mistake);
    return LOG_READ;
}

void log_pattern_free(struct log_pattern *pattern)
{
    pcre2_code_free(pattern->regex);
}

/* ---- Matching ---- */

static bool is_text(const struct trace_value *value)
{
    return value->type == TRACE_TYPE_STRING ||
           value->type == TRACE_TYPE_DISPLAY;
}

/* Matches an expression against a value's text; strings have no quotes. */
static bool matches_text(const struct log_pattern *pattern,
                         const struct trace_value *value, bool to_the_end)
{
    struct trace_text shown = {.ceiling = 1 << 20};
    const char *text = value->as.text;
    size_t size = value->size, end = 0;
    bool found;

    if (!is_text(value)) {
        log_value(&shown, value);
        text = shown.data ? shown.data : "";
        size = shown.size;
    }
    found = find(pattern, text, size, &end) && (!to_the_end || end == size);
    trace_text_free(&shown);
    return found;
}

static const char *name_of_error(const struct trace_value *value)
{
    return value->type == TRACE_TYPE_ERRNO ? strerrorname_np((int)value->as.i)
                                           : NULL;
}

static bool matches_to_the_end(const struct log_pattern *pattern,
                               const struct trace_value *value)
{
    const char *name = name_of_error(value);
    size_t end = 0;

    if (name && find(pattern, name, strlen(name), &end) && !name[end])
        return true;
    return matches_text(pattern, value, true);
}

/* EnvFilter's match. It never treats numbers and bools as text, except those
 * that Rust's Visit has no method for. */
static bool is(const struct log_pattern *pattern,
               const struct trace_value *value)
{
    bool whole =
        value->type == TRACE_TYPE_I64 || value->type == TRACE_TYPE_ERRNO;
    bool real = value->type == TRACE_TYPE_F32 || value->type == TRACE_TYPE_F64;

    switch (pattern->type) {
    case LOG_VALUE_BOOL:
        return value->type == TRACE_TYPE_BOOL && value->as.u == pattern->as.u;
    case LOG_VALUE_U64:
        return (value->type == TRACE_TYPE_U64 || (whole && value->as.i >= 0)) &&
               value->as.u == pattern->as.u;
    case LOG_VALUE_I64:
        return whole && value->as.i == pattern->as.i;
    case LOG_VALUE_F64:
        return real && (isnan(pattern->as.f)
                            ? isnan(value->as.f)
                            : fabs(value->as.f - pattern->as.f) < 0x1p-52);
    default:
        return value->type != TRACE_TYPE_BOOL &&
               value->type != TRACE_TYPE_I64 && value->type != TRACE_TYPE_U64 &&
               !real && matches_to_the_end(pattern, value);
    }
}

/* ---- Comparing ---- */

enum { UNORDERED = 2 };

static int order(bool less, bool equal, bool greater)
{
    return less ? -1 : equal ? 0 : greater ? 1 : UNORDERED;
}

static bool number_of(const struct trace_value *value, long double *number)
{
    switch (value->type) {
    case TRACE_TYPE_I64:
    case TRACE_TYPE_ERRNO:
        *number = value->as.i;
        return true;
    case TRACE_TYPE_BOOL:
    case TRACE_TYPE_U64:
    case TRACE_TYPE_POINTER:
        *number = value->as.u;
        return true;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        *number = value->as.f;
        return true;
    case TRACE_TYPE_U128:
        *number = value->more.u * 0x1p64L + value->as.u;
        return true;
    case TRACE_TYPE_I128:
        *number = (int64_t)value->more.u * 0x1p64L + value->as.u;
        return true;
    default:
        return false;
    }
}

/* The pattern's number, rounded to a float if the value is one. */
static long double own_number(const struct log_pattern *pattern,
                              const struct trace_value *value)
{
    long double own;

    if (pattern->type == LOG_VALUE_U64)
        own = pattern->as.u;
    else if (pattern->type == LOG_VALUE_I64)
        own = pattern->as.i;
    else
        own = pattern->as.f;
    return value->type == TRACE_TYPE_F32 ? (float)own : own;
}

/* The significant digits of a decimal integer. */
static const char *significant(const char *text, bool *negative)
{
    *negative = *text == '-';
    text += *text == '-' || *text == '+';
    return text + strspn(text, "0");
}

static int order_decimals(const char *a, const char *b)
{
    bool below_a, below_b;
    size_t size_a, size_b;
    int result;

    a = significant(a, &below_a);
    b = significant(b, &below_b);
    size_a = strlen(a);
    size_b = strlen(b);
    if (below_a != below_b)
        return below_a ? -1 : 1;
    result = size_a != size_b ? (size_a < size_b ? -1 : 1) : strcmp(a, b);
    return order(below_a ? result > 0 : result < 0, !result, true);
}

/* Whether both are integers and the pattern's needs more than 64 bits, too many
 * for an exact double. */
static bool is_wide(const struct log_pattern *pattern,
                    const struct trace_value *value)
{
    const char *digits = pattern->text + strspn(pattern->text, "+-");

    return pattern->type == LOG_VALUE_F64 && digits_only(digits) &&
           value->type != TRACE_TYPE_F32 && value->type != TRACE_TYPE_F64 &&
           value->type != TRACE_TYPE_ERRNO &&
           value->type != TRACE_TYPE_POINTER && value->type != TRACE_TYPE_BOOL;
}

static int compare_numbers(const struct log_pattern *pattern,
                           const struct trace_value *value, long double number)
{
    long double own = own_number(pattern, value);
    struct trace_text shown = {0};
    int result;

    if (!is_wide(pattern, value))
        return order(number < own,
                     number == own || (isnan(number) && isnan(own)),
                     number > own);
    log_value(&shown, value);
    result = shown.data ? order_decimals(shown.data, pattern->text) : UNORDERED;
    trace_text_free(&shown);
    return result;
}

/* Compares texts; an error also has a name. */
static int compare_text(const struct log_pattern *pattern,
                        const struct trace_value *value)
{
    struct trace_text shown = {.ceiling = 1 << 20};
    const char *name = name_of_error(value), *text = value->as.text;
    size_t size = value->size, own = strlen(pattern->text);
    bool ordered = is_text(value) && pattern->type == LOG_VALUE_TEXT;
    int result;

    if (name && !strcmp(name, pattern->text))
        return 0;
    if (!is_text(value)) {
        log_value(&shown, value);
        text = shown.data ? shown.data : "";
        size = shown.size;
    }
    result = memcmp(text, pattern->text, size < own ? size : own);
    trace_text_free(&shown);
    return order(ordered && (result < 0 || (!result && size < own)),
                 !result && size == own, ordered);
}

/* Compares a value with the pattern's: less, equal, greater or unordered. In C
 * a truth value is an int as often as a bool. */
static int compare(const struct log_pattern *pattern,
                   const struct trace_value *value)
{
    bool truth = value->type == TRACE_TYPE_BOOL ||
                 value->type == TRACE_TYPE_I64 || value->type == TRACE_TYPE_U64;
    long double number;

    if (pattern->type == LOG_VALUE_BOOL && truth)
        return (value->as.u != 0) == pattern->as.u ? 0 : UNORDERED;
    if (pattern->type != LOG_VALUE_TEXT && pattern->type != LOG_VALUE_BOOL &&
        number_of(value, &number))
        return compare_numbers(pattern, value, number);
    return compare_text(pattern, value);
}

static bool holds(enum log_operation operation, int stands)
{
    switch (operation) {
    case LOG_EQUALS:
        return stands == 0;
    case LOG_DIFFERS:
        return stands != 0;
    case LOG_LESS:
        return stands < 0;
    case LOG_AT_MOST:
        return stands <= 0;
    case LOG_GREATER:
        return stands == 1;
    default:
        return stands == 0 || stands == 1;
    }
}

bool log_pattern_matches(const struct log_pattern *pattern,
                         const struct trace_value *value)
{
    if (value->type == TRACE_TYPE_EMPTY)
        return false;
    switch (pattern->operation) {
    case LOG_DECLARED:
        return true;
    case LOG_IS:
        return is(pattern, value);
    case LOG_MATCHES:
        return matches_text(pattern, value, false);
    default:
        return holds(pattern->operation, compare(pattern, value));
    }
}
