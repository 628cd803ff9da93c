/* filter.h: what the files of the filter language share. Private. */
#ifndef LOG_FILTER_H
#define LOG_FILTER_H

#include <testlog/log.h>

#include "trace/base/text.h"
#include "trace/read/reader.h"

/* ---- level.c ---- */

/* log_level_of parses a level as LevelFilter::from_str does: a number or a word
 * in any case. Returns false if it is neither. */
bool log_level_of(const char *text, unsigned *level);

/* log_space returns the size of the character of white space (as Unicode
 * defines it) at `text`, 0 if it is another. log_trim removes white space from
 * both ends. */
size_t log_space(const char *text);
char *log_trim(char *text);

/* ---- Parsing results ---- */

enum log_reading { LOG_READ, LOG_MISTAKEN, LOG_NO_MEMORY };

/* X(NAME, tracing-subscriber's message) */
#define LOG_MISTAKES(X)                                                        \
    X(DIRECTIVE, "invalid filter directive")                                   \
    X(LEVEL,                                                                   \
      "error parsing level filter: expected one of \"off\", \"error\", "       \
      "\"warn\", \"info\", \"debug\", \"trace\", or a number 0-5")             \
    X(FIELD, "invalid field filter")

enum log_mistake_kind {
    LOG_MISTAKE_NONE,
#define LOG_X(name, text) LOG_MISTAKE_##name,
    LOG_MISTAKES(LOG_X)
#undef LOG_X
};

/* A mistake in a directive. */
struct log_mistake {
    enum log_mistake_kind kind;
    char what[160];
    const char *at;   /* in the directive's own copy of the text */
    const char *word; /* the bad word; NULL: the directive */
    char instead[80]; /* the suggestion, or "" */
};

/* ---- pattern.c ---- */

/* X(NAME, sign, words) */
#define LOG_OPERATIONS(X)                                                      \
    X(DECLARED, "", "has")                                                     \
    X(IS, "=", "is")                                                           \
    X(EQUALS, "=", "equals")                                                   \
    X(DIFFERS, "!=", "differs from")                                           \
    X(LESS, "<", "is less than")                                               \
    X(AT_MOST, "<=", "is at most")                                             \
    X(GREATER, ">", "is greater than")                                         \
    X(AT_LEAST, ">=", "is at least")                                           \
    X(MATCHES, "~=", "matches")

enum log_operation {
#define LOG_X(name, sign, words) LOG_##name,
    LOG_OPERATIONS(LOG_X)
#undef LOG_X
};

enum log_value_type {
    LOG_VALUE_TEXT,
    LOG_VALUE_BOOL,
    LOG_VALUE_U64,
    LOG_VALUE_I64,
    LOG_VALUE_F64,
};

/* A field in a directive, and the condition on its value. */
struct log_pattern {
    const char *name;
    enum log_operation operation;
    char *text;          /* the value as the user wrote it */
    const char *dropped; /* the text after a second "=", or NULL */
    enum log_value_type type;
    union {
        uint64_t u;
        int64_t i;
        double f;
    } as;
    struct pcre2_real_code_8 *regex;
};

/* log_pattern_read prepares a pattern that has its name, operation and text; it
 * may change the text. */
enum log_reading log_pattern_read(struct log_pattern *, struct log_mistake *);
void log_pattern_free(struct log_pattern *);
bool log_pattern_matches(const struct log_pattern *,
                         const struct trace_value *);

/* ---- directive.c ---- */

enum log_effect {
    LOG_ADDS,     /* "": shows its level */
    LOG_CAPS,     /* "^": limits to its level */
    LOG_EXCLUDES, /* "!": hides */
};

struct log_directive {
    const char *target; /* a prefix, or a glob; "" = all */
    size_t target_size;
    char target_end; /* its last character */
    bool glob;
    bool of_spans;  /* [...]: `fields` are those of a span */
    bool of_events; /* {...}, /.../: `fields` are those of an event */
    bool values;    /* a pattern has a condition on a value */
    bool seen;
    enum log_effect effect;
    unsigned level;
    const char *span; /* its name; NULL = any */
    struct log_pattern *fields;
    size_t field_count;
    size_t number; /* its number in the filter, from 0 */
    char *text;    /* as the user wrote it */
    char *parts;   /* a copy, split into what the others point to */
};

/* log_directive_extent returns the size of the directive at `text`: up to a
 * comma or the end of the filter. Start with `unclosed` false; it becomes true
 * at a brace that is never closed. From then on commas in braces end
 * directives, so that the rest of the filter is not searched again at each
 * brace. */
size_t log_directive_extent(const char *text, bool *unclosed);

/* log_brace_end returns the "}" that closes the brace at `open`, NULL if none
 * does. */
const char *log_brace_end(const char *open);

/* log_directive_read parses `size` bytes at `text` into a zeroed directive. The
 * caller frees it whatever the result. */
enum log_reading log_directive_read(struct log_directive *, const char *text,
                                    size_t size, struct log_mistake *);
void log_directive_free(struct log_directive *);

/* log_glob_targets returns whether a directive's glob matches a target,
 * log_directive_targets whether the directive matches one of `size` bytes. */
bool log_glob_targets(const struct log_directive *, const char *target,
                      size_t size);

/* Compares the ends first: the targets of one program begin alike. */
static inline bool log_directive_targets(const struct log_directive *directive,
                                         const char *target, size_t size)
{
    size_t own = directive->target_size;

    if (directive->glob)
        return log_glob_targets(directive, target, size);
    return !own || (own <= size && directive->target_end == target[own - 1] &&
                    !memcmp(directive->target, target, own));
}

/* log_directive_about returns whether a directive can affect a call site. */
bool log_directive_about(const struct log_directive *,
                         const struct trace_site *);

/* log_directive_decides returns whether it decides for a whole call site,
 * whatever its values and its enclosing spans are. */
bool log_directive_decides(const struct log_directive *,
                           const struct trace_site *);

/* log_directive_is_static returns whether EnvFilter applies it to call sites as
 * a whole. log_directive_order sorts the most specific first; it returns 0 for
 * directives that replace each other. */
bool log_directive_is_static(const struct log_directive *);
int log_directive_order(const struct log_directive *,
                        const struct log_directive *);

/* ---- parse.c ---- */

struct log_filter {
    struct log_directive *directives; /* in order */
    size_t count;
    unsigned hint;     /* EnvFilter's max_level_hint */
    unsigned dynamics; /* the most verbose level of span directives */
    unsigned most;     /* the most verbose level that can be shown */
    bool scoped;       /* has a directive for spans */
    bool judges;       /* has a condition on an event's values */
    bool takes;        /* limits or hides within spans */
};

/* log_filter_read works as log_filter_parse, and sets `first`, if not NULL, to
 * the first mistake. */
struct log_filter *log_filter_read(const char *text, const char *fallback,
                                   const char *origin,
                                   struct trace_text *complaints,
                                   struct log_mistake *first);

/* ---- explain.c ---- */

/* log_filter_text adds a filter in EnvFilter's form. */
void log_filter_text(const struct log_filter *, struct trace_text *out);

/* ---- verdict.c: what a filter makes of a call site ---- */

struct log_verdict {
    const struct trace_site *site;
    bool never;  /* hidden, whatever its spans and values are */
    bool shown;  /* shown, unless a span limits it */
    bool inside; /* shown if a span raises the level */
    size_t count, capacity, patterns;
    /* Those that test its values, or apply within the span. */
    const struct log_directive **directives;
};

/* log_verdict_make judges a call site; false without memory. */
bool log_verdict_make(struct log_verdict *, const struct log_filter *,
                      const struct trace_site *);
void log_verdict_free(struct log_verdict *);

/* log_filter_excludes returns whether a "!" hides a whole call site. */
bool log_filter_excludes(const struct log_filter *, const struct trace_site *);

/* log_verdict_reaches returns whether the site must be recorded so that the
 * filter can be applied later. */
bool log_verdict_reaches(const struct log_verdict *);

/* The fields of a span or event, by the names of `site`. */
struct log_fields {
    const struct trace_site *site;
    size_t count;
    const struct trace_value *values;
    const char *message; /* of an event, or NULL */
};

/* log_verdict_event returns whether an event is shown. */
bool log_verdict_event(const struct log_verdict *, struct trace_scope inside,
                       const struct log_fields *);

/* A span that a filter judges by its values. `matched` notes for each pattern
 * whether a value has matched it yet. */
struct log_span {
    const struct log_verdict *verdict;
    bool shown;
    bool matched[];
};

/* log_span_begin returns whether a new span is shown, log_span_fields adds
 * later values, log_span_scope returns the scope within the span if it is
 * entered now. */
bool log_span_begin(struct log_span *, struct trace_scope inside,
                    const struct log_fields *);
void log_span_fields(struct log_span *, const struct log_fields *);
struct trace_scope log_span_scope(const struct log_span *);

/* log_span_may_extend returns whether a later value may extend its scope. */
bool log_span_may_extend(const struct log_span *);

/* ---- value.c ---- */

/* The range of numbers without an exponent: 0.DIGITS times ten to a power above
 * `least` and up to `most`. */
struct log_decimals {
    int least, most;
};

/* log_real adds the shortest digits that parse as the same finite number. */
void log_real(struct trace_text *out, double, bool is_float,
              struct log_decimals);

/* ---- device_events.c: activities of devices ---- */

/* The call site of the pseudo-span "launch{...}" in an activity's line. */
extern const struct trace_site log_launch_site;

/* log_launch_of makes a span of an activity's launch, if it has one; its id is
 * 0. */
bool log_launch_of(const struct trace_entry *, struct trace_entry *launch);

#endif
