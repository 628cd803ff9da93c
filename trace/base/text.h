/* text.h: writes texts, numbers and JSON. Private to the project. The
 * conventions are those of trace.h. */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include <locale.h>
#include <string.h>
#include <testlog/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* trace_text_put is trace_text_add, inline if there is room. trace_text_literal
 * adds a constant. */
static inline void trace_text_put(struct trace_text *text, const void *bytes,
                                  size_t size)
{
    if (text->failed || text->capacity - text->size <= size) {
        trace_text_add(text, bytes, size);
        return;
    }
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

#define trace_text_literal(text, string)                                       \
    trace_text_put(text, string, sizeof(string) - 1)

/* trace_text_moment adds ns since 1970 as "2026-11-21T02:08:30.123456Z". */
void trace_text_moment(struct trace_text *, uint64_t wall);

/* trace_locale_enter sets the thread's decimal point to "." until
 * trace_locale_leave, which takes its result. */
locale_t trace_locale_enter(void);
void trace_locale_leave(locale_t before);

/* trace_text_again adds a copy of the text's own range from `from` to `to`. */
void trace_text_again(struct trace_text *, size_t from, size_t to);

/* trace_plain returns the number of bytes before the first control character,
 * quote, backslash or byte beyond ASCII: they need no escape. */
size_t trace_plain(const char *, size_t);

/* trace_decimal finds the shortest decimal that parses as a given number, which
 * must not be negative: digits / 10^places. Returns false if it has too many
 * digits to be exact. */
bool trace_decimal(double, bool is_float, uint64_t *digits, unsigned *places);

/* trace_deceives returns whether a character beyond ASCII commands a terminal,
 * or reorders what it shows. */
bool trace_deceives(uint32_t character);

/* trace_json_number adds an unsigned integer. */
void trace_json_number(struct trace_text *, uint64_t);

/* trace_json_string adds a JSON string with its quotes; bytes that are not
 * UTF-8 become U+FFFD, and characters that deceive are escaped. */
void trace_json_string(struct trace_text *, const char *, size_t);
void trace_json_value(struct trace_text *, const struct trace_value *);

/* trace_json_member adds `,"name":"value"` to an object that has a member; null
 * in place of NULL. */
void trace_json_member(struct trace_text *, const char *name,
                       const char *value);

/* trace_same_bytes compares `size` bytes without regard to ASCII case; a word
 * may end before. trace_distance returns how many letters must be changed,
 * added, removed or swapped with the next one to make a word of m bytes one of
 * n bytes, ignoring case; SIZE_MAX if n is over 63. */
bool trace_same_bytes(const char *a, const char *b, size_t size);
size_t trace_distance(const char *a, size_t m, const char *b, size_t n);

#ifdef __cplusplus
}
#endif

#endif
