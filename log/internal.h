/* internal.h: what the files of log/ share. Private. */
#ifndef LOG_INTERNAL_H
#define LOG_INTERNAL_H

#include <string.h>

#include <testlog/log.h>

#include "trace/reader.h"

/* ---- words.c ---- */

/* log_level_of reads a level as LevelFilter::from_str does: a number, or a word
 * in any case; false if it is none. */
bool log_level_of(const char *text, unsigned *level);

/* log_same_word compares words in any case, of ASCII alone in every locale. */
bool log_same_word(const char *a, const char *b);

/* log_space returns how many bytes of white space, as Unicode has it, stand at
 * `text`: one character or none. log_trim cuts it off at both ends. */
size_t log_space(const char *text);
char *log_trim(char *text);

/* ---- What is read of a filter ---- */

enum log_reading { LOG_READ, LOG_MISTAKEN, LOG_NO_MEMORY };

/* X(NAME, what tracing-subscriber says of it) */
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

/* What is wrong with a directive. */
struct log_mistake {
    enum log_mistake_kind kind;
    char what[160];
    const char *at;   /* in the directive's own copy of the text */
    const char *word; /* what was found there; NULL: the directive */
    char instead[80]; /* to be written, or "" */
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

/* A field that a directive names, and what it asks of its value. */
struct log_pattern {
    const char *name;
    enum log_operation operation;
    char *text;          /* the value as it was written */
    const char *dropped; /* what a second "=" cut off of it, or NULL */
    enum log_value_type type;
    union {
        uint64_t u;
        int64_t i;
        double f;
    } as;
    struct pcre2_real_code_8 *regex;
};

/* log_pattern_read makes ready a pattern whose name, operation and text are
 * there; the text may be changed. */
enum log_reading log_pattern_read(struct log_pattern *, struct log_mistake *);
void log_pattern_free(struct log_pattern *);
bool log_pattern_matches(const struct log_pattern *,
                         const struct trace_value *);

/* ---- directive.c ---- */

enum log_effect {
    LOG_ADDS,     /* "": its level is shown */
    LOG_CAPS,     /* "^": at most its level */
    LOG_EXCLUDES, /* "!": nothing */
};

struct log_directive {
    const char *target; /* a prefix, or a glob; "" = all */
    size_t target_size;
    char target_end; /* its last character */
    bool glob;
    bool of_spans;  /* [...]: `fields` are those of a span */
    bool of_events; /* {...}, /.../: `fields` are those of an event */
    bool values;    /* a pattern asks more than that its field is there */
    bool seen;
    enum log_effect effect;
    unsigned level;
    const char *span; /* its name; NULL = any */
    struct log_pattern *fields;
    size_t field_count;
    size_t number; /* in the filter, from 0 */
    char *text;    /* as it was written */
    char *parts;   /* the same, cut up into what the others point to */
};

/* log_directive_extent returns where the directive at `text` ends: at a comma
 * or at the end of the filter. `unclosed`, false at the filter's beginning,
 * becomes true at a brace that nothing closes; commas in later braces end
 * directives, so that no brace makes us look at the whole rest again. */
size_t log_directive_extent(const char *text, bool *unclosed);

/* log_directive_read reads the `size` bytes at `text` into a zeroed directive,
 * to be freed whatever the result. */
enum log_reading log_directive_read(struct log_directive *, const char *text,
                                    size_t size, struct log_mistake *);
void log_directive_free(struct log_directive *);

/* log_glob_targets tells whether a directive's glob matches a target;
 * log_directive_targets whether it is about one, `size` bytes. */
bool log_glob_targets(const struct log_directive *, const char *target,
                      size_t size);

/* Targets of one program begin alike: their ends differ. */
static inline bool log_directive_targets(const struct log_directive *directive,
                                         const char *target, size_t size)
{
    size_t own = directive->target_size;

    if (directive->glob)
        return log_glob_targets(directive, target, size);
    return !own || (own <= size && directive->target_end == target[own - 1] &&
                    !memcmp(directive->target, target, own));
}

/* log_directive_about tells whether a directive has to do with a call site. */
bool log_directive_about(const struct log_directive *,
                         const struct trace_site *);

/* log_directive_decides tells whether it decides for a call site as such,
 * whatever its values and the spans that it is in. */
bool log_directive_decides(const struct log_directive *,
                           const struct trace_site *);

/* log_directive_is_static tells whether EnvFilter decides by it for each call
 * site; log_directive_order puts the most specific first, and tells by 0 which
 * replace each other. */
bool log_directive_is_static(const struct log_directive *);
int log_directive_order(const struct log_directive *,
                        const struct log_directive *);

/* ---- filter.c ---- */

struct log_filter {
    struct log_directive *directives; /* in order */
    size_t count;
    unsigned hint;     /* above which EnvFilter does not look */
    unsigned dynamics; /* the most verbose level of those of spans */
    unsigned most;     /* that can be shown */
    bool scoped;       /* one is of spans */
    bool judges;       /* one is of the values of events */
    bool takes;        /* one takes from what is within spans */
};

/* log_filter_read is log_filter_parse, but for `first`, if not NULL: it becomes
 * the first mistake. */
struct log_filter *log_filter_read(const char *text, const char *fallback,
                                   const char *origin,
                                   struct trace_text *complaints,
                                   struct log_mistake *first);

/* ---- explain.c ---- */

/* log_filter_text adds a filter as EnvFilter shows it. */
void log_filter_text(const struct log_filter *, struct trace_text *out);

/* ---- verdict.c: what a filter makes of a call site ---- */

struct log_verdict {
    const struct trace_site *site;
    bool never;  /* whatever spans and values say */
    bool shown;  /* unless they take it away */
    bool inside; /* where a span adds its level */
    size_t count, patterns;
    const struct log_directive **directives; /* that look at its values, or
                                              * hold within the span */
};

/* log_verdict_make judges a call site; false without memory. */
bool log_verdict_make(struct log_verdict *, const struct log_filter *,
                      const struct trace_site *);
void log_verdict_free(struct log_verdict *);

/* log_verdict_reaches tells whether the site must be recorded for the filter to
 * be judged exactly. */
bool log_verdict_reaches(const struct log_verdict *);

/* The fields of a span or event, by the names of `site`. */
struct log_fields {
    const struct trace_site *site;
    size_t count;
    const struct trace_value *values;
    const char *message; /* of an event, or NULL */
};

/* log_verdict_event tells whether an event is shown. */
bool log_verdict_event(const struct log_verdict *, struct trace_scope inside,
                       const struct log_fields *);

/* A span that a filter has something to say of. `matched` says which patterns
 * a value has matched so far: once is enough. */
struct log_span {
    struct log_span *next;
    const struct log_verdict *verdict;
    uint32_t place;
    bool shown;
    bool matched[];
};

/* log_span_begin tells whether a new span is shown, log_span_fields follows
 * later values, log_span_holds returns what holds within it when it is entered
 * now. */
bool log_span_begin(struct log_span *, struct trace_scope inside,
                    const struct log_fields *);
void log_span_fields(struct log_span *, const struct log_fields *);
struct trace_scope log_span_holds(const struct log_span *);

/* log_span_waits tells whether a later value may make a span take more. */
bool log_span_waits(const struct log_span *);

/* ---- tracked.c: spans by their place ---- */

struct log_tracked {
    struct log_span **buckets;
    size_t size, count; /* size: a power of two, or 0 */
};

/* log_tracked_add makes a span known, in place of an earlier one; NULL without
 * memory. It belongs to the table. */
struct log_span *log_tracked_add(struct log_tracked *, uint32_t place,
                                 const struct log_verdict *);
struct log_span *log_tracked_find(const struct log_tracked *, uint32_t place);
void log_tracked_remove(struct log_tracked *, uint32_t place);
void log_tracked_free(struct log_tracked *);

/* ---- value.c ---- */

/* log_value adds a value as Rust's Debug writes it, on one line. */
void log_value(struct trace_text *out, const struct trace_value *value);

/* ---- full.c ---- */

/* A line that is to be laid out. */
struct log_parts {
    struct log_replay *replay; /* NULL: all spans are shown */
    const struct log_style *style;
    const struct trace_reader *reader;
    const struct trace_entry *entry;
};

void log_full(const struct log_parts *, struct trace_text *out);

/* ---- spans.c ---- */

/* The spans of a chain from the root on, those that are shown. */
struct log_chain {
    uint32_t *places;
    size_t count;
    uint32_t few[16];
};

void log_chain_of(struct log_chain *, struct log_replay *,
                  const struct trace_reader *, uint32_t place);
void log_chain_free(struct log_chain *);

/* A field with the value that counts. */
struct log_field {
    const char *name;
    struct trace_value value;
};

enum { LOG_FIELDS_MAX = 64 };

/* log_fields_of gathers the fields of a span as they were at `time`. */
size_t log_fields_of(const struct trace_reader *,
                     const struct trace_entry *span, uint64_t time,
                     struct log_field *fields);

/* log_message_of adds an event's message. log_values_of returns its
 * fields, of which there are none when the message has values of its own. */
void log_message_of(const struct trace_entry *, struct trace_text *message);
struct trace_values log_values_of(const struct trace_entry *);

#endif
