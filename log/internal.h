/* internal.h: what the files of log/ share. Private. */
#ifndef LOG_INTERNAL_H
#define LOG_INTERNAL_H

#include <string.h>

#include <testlog/log.h>

#include "trace/reader.h"

/* ---- suggest.c ---- */

/* log_distance returns the Levenshtein distance of words of m and n bytes,
 * ignoring case; SIZE_MAX if n is over 63. */
size_t log_distance(const char *a, size_t m, const char *b, size_t n);

/* ---- level.c ---- */

/* log_level_of parses a level as LevelFilter::from_str does: a number or a word
 * in any case. Returns false if it is neither. */
bool log_level_of(const char *text, unsigned *level);

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

/* log_brace_end returns the "}" that closes the brace at `open`; NULL if none
 * does. */
const char *log_brace_end(const char *open);

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
    size_t count, capacity, patterns;
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
    const struct log_verdict *verdict;
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

/* ---- tracked.c: what is known about spans, by the place of their record ----
 */

/* log_tracked_put allocates `size` zeroed bytes for a span, replacing what it
 * had; NULL without memory. The table owns them. */
void *log_tracked_put(struct trace_table *, uint32_t place, size_t size);

/* log_tracked_add tracks a span that a filter judges by its values. */
struct log_span *log_tracked_add(struct trace_table *, uint32_t place,
                                 const struct log_verdict *);
void *log_tracked_find(const struct trace_table *, uint32_t place);
void log_tracked_remove(struct trace_table *, uint32_t place);
void log_tracked_free(struct trace_table *);

/* ---- value.c ---- */

/* log_value adds a value as Rust's Debug writes it, on one line. */
void log_value(struct trace_text *out, const struct trace_value *value);

/* Which numbers need no exponent: 0.DIGITS times ten to a power above `least`
 * and up to `most`. */
struct log_decimals {
    int least, most;
};

/* log_real adds a finite number by the fewest digits that read back as it. */
void log_real(struct trace_text *out, double, bool is_float,
              struct log_decimals);

/* ---- message.c ---- */

/* log_message_of adds an event's message. log_values_of returns its fields;
 * there are none if the message consumes the values. */
void log_message_of(const struct trace_entry *, struct trace_text *message);
struct trace_values log_values_of(const struct trace_entry *);

/* ---- spans.c: the spans that something happened in ---- */

/* Spans that are shown, the innermost first. */
struct log_chain {
    struct trace_entry *spans; /* `few`, or `many` */
    size_t count;
    struct trace_entry *many;
    size_t capacity;
    struct trace_entry few[16];
};

/* log_chain_of finds the spans from `place` on, log_chain_around those of an
 * event, its launch included. Without memory, the innermost ones are kept. */
void log_chain_of(struct log_chain *, struct log_replay *,
                  const struct trace_reader *, uint32_t place);
void log_chain_around(struct log_chain *, struct log_replay *,
                      const struct trace_reader *, const struct trace_entry *);
void log_chain_free(struct log_chain *);

/* ---- device.c: what devices did ---- */

/* The call site of what its lines stand in: "launch{...}", a span that nobody
 * recorded. */
extern const struct trace_site log_launch_site;

/* log_device_message returns the message of an activity's line; "": it has no
 * line. log_is_event tells whether an entry may have a line of its own, unlike
 * those about spans. */
const char *log_device_message(const struct trace_entry *);
bool log_is_event(const struct trace_entry *);

/* log_launch_of makes the span of an activity's launch, if it has one: its id
 * is 0. */
bool log_launch_of(const struct trace_entry *, struct trace_entry *launch);

/* ---- span_times.c: how long spans are open ---- */

/* A span that has not closed. */
struct log_span_times {
    uint64_t made, since, busy; /* ns; since: it is entered */
    uint32_t inside;            /* enterings that have not ended */
    size_t to_come;             /* enterings and closes, in the recording */
    bool over; /* the block that it is of has ended, or trace_span_end was
                * called */
};

/* log_span_times_step follows what happens to a span, and tells whether it
 * closes with that: then `closed` is its times. */
bool log_span_times_step(struct trace_table *span_times,
                         const struct trace_reader *,
                         const struct trace_entry *,
                         struct log_span_times *closed);

/* log_duration adds nanoseconds as "80.4µs". */
void log_duration(struct trace_text *out, uint64_t ns);

/* ---- parts.c: what layouts share ---- */

/* What a replay's lines know of those before. */
struct log_memory {
    struct trace_text message; /* the last one's */
    struct trace_table span_times;
    size_t thread_width; /* the longest name so far */
    int64_t second;      /* that `date` is of; 0: none */
    char date[32];
};

struct log_memory *log_replay_memory(struct log_replay *);

/* log_replay_follows tells whether what is shown depends on what came before,
 * so that no entry may be left out. */
bool log_replay_follows(const struct log_replay *);

/* A line that is to be laid out. */
struct log_parts {
    const struct log_style *style;
    const struct trace_reader *reader;
    struct log_memory *memory;
    uint64_t time; /* ns */
    const struct trace_thread *thread;
    const struct trace_site *site; /* whose level, target and place it has */
    const char *message;           /* NULL: none */
    size_t message_size;
    struct trace_field *fields;
    size_t field_count;
    struct log_chain *chain; /* what it happened in */
    bool outside; /* the innermost of it is not entered yet, or no more */
};

#define LOG_DIM    "2"
#define LOG_BOLD   "1"
#define LOG_ITALIC "3"

/* log_event adds the line of an event in all its spans, whatever a filter
 * says. The memory's message is to be freed. */
void log_event(struct log_memory *, const struct log_style *,
               const struct trace_reader *, const struct trace_entry *,
               struct trace_text *out);

/* log_styled adds text in a style of the terminal, if `color`. */
void log_styled(struct trace_text *out, bool color, const char *style,
                const char *text);

/* LOG_STYLED is log_styled for a constant that is plain. */
#define LOG_STYLED(out, color, style, text)                                    \
    ((color) ? log_styled(out, true, style, text)                              \
             : trace_text_literal(out, text))

/* log_put_time adds the time and a blank, unless there is to be none; log_time
 * adds it bare, and tells whether it is to be there. */
void log_put_time(const struct log_parts *, struct trace_text *out);
bool log_time(const struct log_parts *, struct trace_text *out);

/* log_level_color returns the terminal's colour of a line's level;
 * log_level_text its word, five letters wide. */
const char *log_level_color(const struct log_parts *);
const char *log_level_text(const struct log_parts *);
void log_put_level(const struct log_parts *, struct trace_text *out);

/* log_put_head adds time, level and thread, each with a blank. */
void log_put_head(const struct log_parts *, struct trace_text *out);

/* log_put_place adds "target: file:line: "; the line's colon has a style of its
 * own if it is to be set apart. */
void log_put_place(const struct log_parts *, struct trace_text *out,
                   bool apart);

/* log_put_field adds "name=value", log_put_fields several with blanks between
 * them. */
void log_put_field(struct trace_text *out, bool color,
                   const struct trace_field *);
void log_put_fields(struct trace_text *out, bool color,
                    const struct trace_field *, size_t count);

/* log_is_message tells whether a field is shown without its name. */
bool log_is_message(const struct trace_field *);

/* log_put_event adds the message and then the fields. */
void log_put_event(const struct log_parts *, struct trace_text *out);

/* ---- full.c, compact.c, pretty.c, json.c: the layouts ---- */

void log_full(const struct log_parts *, struct trace_text *out);
void log_compact(const struct log_parts *, struct trace_text *out);
void log_pretty(const struct log_parts *, struct trace_text *out);
void log_json(const struct log_parts *, struct trace_text *out);

#endif
