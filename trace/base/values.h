/* values.h: values in a record, and printf's arguments as such. Private. */
#ifndef TRACE_VALUES_H
#define TRACE_VALUES_H

#include <stdarg.h>
#include <testlog/trace.h>

/* ---- values.c: values in a record ---- */

/* A value is a word with its type and size, and its data in whole words. One of
 * type TRACE_TYPE_NAME has no data: it is the name of the record's call site.
 */
enum { TRACE_WORD = 8, TRACE_TYPE_NAME = 256 };

/* A callback's size is unknown until it has been formatted. */
#define TRACE_UNPRINTED ((size_t)1 << 40)

/* trace_site_name returns a value of that type. */
static inline struct trace_value trace_site_name(void)
{
    struct trace_value value = trace_empty();

    value.type = TRACE_TYPE_NAME;
    return value;
}

/* trace_text_room returns the size of a text in a record, with its NUL and
 * padding. */
static inline size_t trace_text_room(size_t size)
{
    return (size + TRACE_WORD) / TRACE_WORD * TRACE_WORD;
}

/* trace_values_size returns the size of `count` values in a record,
 * TRACE_UNPRINTED or more if there are callbacks: they must be formatted before
 * the values can be stored. */
size_t trace_values_size(size_t count, const struct trace_value *);
void trace_values_store(void *to, size_t count, const struct trace_value *);

/* trace_values_print formats the callbacks among `values` into `text`. Returns
 * `values`, or `copy` if it had to replace some. */
const struct trace_value *trace_values_print(size_t count,
                                             const struct trace_value *values,
                                             struct trace_value *copy,
                                             struct trace_text *text);

/* trace_values_next decodes the next value; false at the end or at
 * damage. */
struct trace_values {
    const unsigned char *next, *end;
    const char *name; /* of the record's call site; NULL: unknown */
};
bool trace_values_next(struct trace_values *, struct trace_value *);

/* trace_number_of stores a value that is a finite number, or a bool; returns
 * false for others. */
bool trace_number_of(const struct trace_value *, double *number);

/* ---- printf.c ---- */

enum { TRACE_ARGS_MAX = 32 };

/* trace_args_take converts printf's arguments to values of `bytes` bytes and
 * returns their number. Returns -1 if the message must be formatted at the
 * call, -2 if the format has a %n, which is refused. */
int trace_args_take(struct trace_site *, const char *format, va_list *args,
                    struct trace_value *, size_t *bytes);

/* trace_format_writes returns whether a format has a %n. */
bool trace_format_writes(const char *format);

/* trace_format formats a recorded printf message: `format` from the recording,
 * its arguments from `values`. The format is never passed to printf. */
void trace_format(struct trace_text *, const char *format,
                  struct trace_values *values);

#endif
