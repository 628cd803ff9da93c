/* log.h: log lines, and the filter that decides which of them are printed.
 *
 * To log, you need the part "Logging". The rest renders lines: a test process
 * when live, the runner from a recording.
 */
#ifndef TESTLOG_LOG_H
#define TESTLOG_LOG_H

#include <testlog/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Filters ----
 *
 * A filter is a list of directives, separated by commas:
 *
 *  LEVEL                    all targets: off error warn info debug trace, 0-5
 *  TARGET[=LEVEL]           targets with this prefix; the longest applies
 *  [TARGET][SPAN{F=V}][=L]  everything within such spans
 *  ~GLOB[=L]                targets that match; "~net::" is a module's
 *  /REGEX/[=L]              events whose message matches
 *  {F>V}[=L]                events whose field compares so
 *  ^...=L                   at most level L
 *  !...                     never
 *
 * Every filter that tracing-subscriber's EnvFilter accepts has the same meaning
 * here. testlog-filter(7) has the details.
 */
struct log_filter;

/* log_filter_parse reads a filter. A directive that cannot be read is left out,
 * and `complaints`, if not NULL, gets a message that begins with `origin` and
 * shows the place. If none is left that shows anything, `fallback` (which may
 * be NULL: all off) applies. NULL if memory ran out. */
TRACE_API struct log_filter *log_filter_parse(const char *text,
                                              const char *fallback,
                                              const char *origin,
                                              struct trace_text *complaints);
TRACE_API void log_filter_free(struct log_filter *);

/* log_filter_is_empty tells whether no directive is left. */
TRACE_API bool log_filter_is_empty(const struct log_filter *);

/* log_filter_adds tells whether a directive shows anything; those that only
 * take away apply to a default. */
TRACE_API bool log_filter_adds(const struct log_filter *);

/* log_filter_most returns the most verbose level that a filter can show;
 * log_filter_hint how verbose EnvFilter lets call sites be: for a directive of
 * values always trace, and what another directive replaces still counts. */
TRACE_API unsigned log_filter_most(const struct log_filter *);
TRACE_API unsigned log_filter_hint(const struct log_filter *);

/* log_filter_seen notes which directives are about a call site;
 * log_filter_unseen returns the directives, from number `from` on, that were
 * about none: NULL at the end. The text belongs to the filter. */
TRACE_API void log_filter_seen(struct log_filter *, const struct trace_site *);
TRACE_API const char *log_filter_unseen(const struct log_filter *,
                                        size_t *from);

/* log_filter_of_device tells whether a directive is about targets of GPUs. */
TRACE_API bool log_filter_of_device(const struct log_filter *);

/* log_filter_advise adds a line, beginning with `origin`, for each field value
 * that EnvFilter probably reads in another way than the user meant. Returns
 * whether there is one. */
TRACE_API bool log_filter_advise(const struct log_filter *, const char *origin,
                                 struct trace_text *out);

/* log_filter_brief adds a filter or a directive as it was written, on one line
 * for a terminal: escaped, and cut off when it is very long. */
TRACE_API void log_filter_brief(struct trace_text *out, const char *text);

/* log_filter_explain adds what each directive means, in words. */
TRACE_API void log_filter_explain(const struct log_filter *,
                                  struct trace_text *out);

enum log_state {
    LOG_STATE_OFF,
    LOG_STATE_ON,
    LOG_STATE_SOMETIMES, /* spans or values decide */
};

/* log_filter_judge tells what a filter makes of a call site, and adds to `why`
 * the directives that it is due to. */
TRACE_API enum log_state log_filter_judge(const struct log_filter *,
                                          const struct trace_site *,
                                          struct trace_text *why);

/* What a directive that matched no call site was probably meant to be. */
struct log_suggestion {
    const char *directive;
    size_t distance;        /* edits to a similar name; 0: an exact match */
    struct trace_text text; /* empty: none; the caller frees it */
};

/* log_suggest_site considers one more call site: a span that has the name of
 * the directive's target, or a span or a target with a similar name. */
TRACE_API void log_suggest_site(struct log_suggestion *,
                                const struct trace_site *);

/* log_suggest_end prefers what the directive's form suggests to similar names.
 * Returns whether there is a suggestion. */
TRACE_API bool log_suggest_end(struct log_suggestion *);

/* A filter at work on a recording: it knows what each thread is in. */
struct log_replay;

/* log_replay_new begins with nothing entered; the filter must stay. NULL if
 * memory ran out. */
TRACE_API struct log_replay *log_replay_new(const struct log_filter *);
TRACE_API void log_replay_free(struct log_replay *);

/* log_replay_step follows the next entry, of whatever kind, and returns whether
 * it is shown. */
TRACE_API bool log_replay_step(struct log_replay *, const struct trace_reader *,
                               const struct trace_entry *);

/* log_replay_shows tells whether a span that was stepped over is shown. With no
 * replay, all are. */
TRACE_API bool log_replay_shows(struct log_replay *,
                                const struct trace_entry *span);

/* log_same_word compares words without regard to ASCII case. */
TRACE_API bool log_same_word(const char *a, const char *b);

/* log_nearest returns the word in the NULL-terminated list that is most similar
 * to `word`, NULL if none is similar. */
TRACE_API const char *log_nearest(const char *word, const char *const *words);

/* log_nearest_level returns the level that differs in two letters at most, is
 * abbreviated, or has another name in other programs. NULL if there is none. */
TRACE_API const char *log_nearest_level(const char *word);

/* ---- Lines ---- */

/* log_plain adds text as it is, but for what would break the line or command
 * the terminal. */
TRACE_API void log_plain(struct trace_text *out, const char *text, size_t size);

/* X(NAME, word) */
#define LOG_FORMATS(X)                                                         \
    X(FULL, "full")                                                            \
    X(COMPACT, "compact")                                                      \
    X(PRETTY, "pretty")                                                        \
    X(JSON, "json")

#define LOG_TIMES(X)                                                           \
    X(UTC, "utc")                                                              \
    X(UPTIME, "uptime")                                                        \
    X(NONE, "none")

/* X(NAME, word, bits): lines about spans. */
#define LOG_SPAN_EVENTS(X)                                                     \
    X(NEW, "new", 1)                                                           \
    X(ENTER, "enter", 2)                                                       \
    X(EXIT, "exit", 4)                                                         \
    X(CLOSE, "close", 8)                                                       \
    X(ACTIVE, "active", 2 | 4)                                                 \
    X(FULL, "full", 1 | 2 | 4 | 8)                                             \
    X(NONE, "none", 0)

enum log_format {
#define LOG_X(name, word) LOG_FORMAT_##name,
    LOG_FORMATS(LOG_X)
#undef LOG_X
};

enum log_time {
#define LOG_X(name, word) LOG_TIME_##name,
    LOG_TIMES(LOG_X)
#undef LOG_X
};

enum log_span_event {
#define LOG_X(name, word, bits) LOG_SPAN_##name = bits,
    LOG_SPAN_EVENTS(LOG_X)
#undef LOG_X
};

/* How lines look. The zero value is `full`, UTC, without colours or lines about
 * spans. `pretty` has file and line always. */
struct log_style {
    enum log_format format;
    enum log_time time;
    unsigned span_events; /* of enum log_span_event */
    bool color;
    bool file, line, thread_name, thread_id;
    const char *test; /* "suite/test", in every line, or NULL */
};

/* log_line steps over an entry and adds to `out` the lines, newline included,
 * that it has: that of an event that is shown, and those that the style has
 * about a span that is shown. Returns how many. */
TRACE_API size_t log_line(struct log_replay *, const struct log_style *,
                          const struct trace_reader *,
                          const struct trace_entry *, struct trace_text *out);

/* log_span_text adds "outer{a=1}:inner", the spans that `place` is in, of those
 * that are shown; of very many the middle is left out. Nothing if there is
 * none.
 */
TRACE_API void log_span_text(struct log_replay *, const struct trace_reader *,
                             uint32_t place, uint64_t time,
                             struct trace_text *out);

/* log_write_all renders a recording's lines to `stream`; returns how many. */
TRACE_API size_t log_write_all(const struct log_filter *,
                               const struct log_style *, struct trace_reader *,
                               FILE *stream);

/* ---- The subscriber of a test ---- */

struct log_options {
    const char *show;   /* LOG: what is shown */
    const char *record; /* TRACE_FILTER: what is recorded besides */
    bool live;          /* print lines at once, to `fd` */
    int fd;
    struct log_style style;
};

/* log_subscribe makes `options` (copied) what the process's next recordings and
 * live lines follow. EBUSY: a recording runs. */
TRACE_API int log_subscribe(const struct log_options *options);

/* ---- Expectations: what a process finds in its own recording ---- */

/* X(NAME, word, what is looked at, what is wanted of it, what is wrong with a
 * span that is not as wanted): test_log.h says what they mean. */
#define LOG_EXPECTATIONS(X)                                                    \
    X(CONTAINS, "contains", LINES, SOME, "")                                   \
    X(LACKS, "lacks", LINES, NONE, "")                                         \
    X(COUNT, "count", LINES, NUMBER, "")                                       \
    X(EVENT, "event", EVENTS, SOME, "")                                        \
    X(NO_EVENT, "no_event", EVENTS, NONE, "")                                  \
    X(EVENT_COUNT, "event_count", EVENTS, NUMBER, "")                          \
    X(SPAN, "span", SPANS, SOME, "")                                           \
    X(NO_SPAN, "no_span", SPANS, NONE, "")                                     \
    X(SPAN_COUNT, "span_count", SPANS, NUMBER, "")                             \
    X(SPAN_ENTERED, "span_entered", SPANS, ALL, "never entered")               \
    X(SPAN_CLOSED, "span_closed", SPANS, ALL, "still open")                    \
    X(SPAN_SHORTER, "span_shorter", SPANS, ALL, "open or not shorter")         \
    X(SPAN_LONGER, "span_longer", SPANS, ALL, "open or not longer")

enum log_expectation_kind {
#define LOG_X(name, word, looked_at, wanted, wrong) LOG_EXPECTATION_##name,
    LOG_EXPECTATIONS(LOG_X)
#undef LOG_X
};

struct log_expectation {
    enum log_expectation_kind kind;
    double number;            /* COUNT: how many; SHORTER, LONGER: seconds */
    const char *const *texts; /* up to NULL; all but EVENTS have one */
};

enum log_judgement { LOG_MET, LOG_NOT_MET, LOG_NOT_JUDGED };

/* log_expectation_text adds an expectation as it was written. */
TRACE_API void log_expectation_text(const struct log_expectation *,
                                    struct trace_text *out);

/* log_judge compares an expectation with what the process, its forked children
 * included, has recorded so far. `why` gets what is wrong: a line, and one for
 * each of the nearest records; or why it cannot be judged: records are missing,
 * or memory ran out. */
TRACE_API enum log_judgement log_judge(const struct log_expectation *,
                                       struct trace_text *why);

/* ---- Logging ----
 *
 *  log_error(format, ...);  log_warn  log_info  log_debug  log_trace
 *  log_at(LEVEL, format, ...);
 *  log_enabled(LEVEL)       whether a line of that level would be wanted here
 *
 * printf's formats, checked by the compiler; arguments are not evaluated where
 * the call site is off, and errno is left alone. LOG_NO_LEVELS, defined before
 * the include, leaves the names log_error ... log_trace to the program; what is
 * above LOG_STATIC_MAX is compiled out, as trace.h says.
 */
#define log_at(level, ...)                                                     \
    TRACE_CAT_(LOG_AT_, TRACE_KEEPS_##level)                                   \
    (__COUNTER__, TRACE_LEVEL_##level, __VA_ARGS__)
#define log_enabled(level)                                                     \
    TRACE_CAT_(LOG_ENABLED_, TRACE_KEEPS_##level)                              \
    (__COUNTER__, TRACE_LEVEL_##level)

#ifndef LOG_NO_LEVELS
#    define log_error(...) log_at(ERROR, __VA_ARGS__)
#    define log_warn(...)  log_at(WARN, __VA_ARGS__)
#    define log_info(...)  log_at(INFO, __VA_ARGS__)
#    define log_debug(...) log_at(DEBUG, __VA_ARGS__)
#    define log_trace(...) log_at(TRACE, __VA_ARGS__)
#endif

/* A literal format is known before the call site is used; in C++, whose statics
 * may be set as they are come to, only then. */
#ifdef __cplusplus
#    define LOG_FORMAT_(format) 0
#else
#    define LOG_FORMAT_(format) __builtin_constant_p(format) ? (format) : 0
#endif
#define LOG_AT_1(id, level, ...)                                               \
    do {                                                                       \
        TRACE_SITE_(id, TRACE_SITE_EVENT, level,                               \
                    LOG_FORMAT_(TRACE_FIRST_(__VA_ARGS__, )));                 \
        if (trace_site_on_(TRACE_THIS_(id)))                                   \
            trace_log_(TRACE_THIS_(id),                                        \
                       __builtin_constant_p(TRACE_FIRST_(__VA_ARGS__, )),      \
                       __VA_ARGS__);                                           \
    } while (0)
#define LOG_ENABLED_1(id, level)                                               \
    (__extension__({                                                           \
        TRACE_SITE_(id, TRACE_SITE_EVENT, level, 0);                           \
        trace_site_on_(TRACE_THIS_(id));                                       \
    }))

#define LOG_AT_0(id, level, ...) ((void)(0 && trace_check_log_(__VA_ARGS__)))
#define LOG_ENABLED_0(id, level) ((bool)0)

#ifdef __cplusplus
}
#endif

#endif
