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
struct trace_reader;
struct trace_entry;

/* log_filter_parse parses a filter. A directive that cannot be parsed is
 * ignored, and `complaints`, if not NULL, gets a message that begins with
 * `origin` and points to the mistake. If no remaining directive shows anything,
 * `fallback` applies, which may be NULL (all off). Returns NULL without memory.
 */
TRACE_API struct log_filter *log_filter_parse(const char *text,
                                              const char *fallback,
                                              const char *origin,
                                              struct trace_text *complaints);
TRACE_API void log_filter_free(struct log_filter *);

/* log_filter_is_empty returns whether there are no directives. */
TRACE_API bool log_filter_is_empty(const struct log_filter *);

/* log_filter_adds returns whether a directive shows anything. A filter of
 * limits and exclusions alone applies to a default. */
TRACE_API bool log_filter_adds(const struct log_filter *);

/* log_filter_most returns the most verbose level that a filter can show.
 * log_filter_hint returns EnvFilter's max_level_hint: `trace` for a directive
 * with values, and replaced directives count. */
TRACE_API unsigned log_filter_most(const struct log_filter *);
TRACE_API unsigned log_filter_hint(const struct log_filter *);

/* log_filter_seen marks the directives that match a call site.
 * log_filter_unmatched returns the next unmarked directive from number `from`
 * on, NULL at the end; the text belongs to the filter. */
TRACE_API void log_filter_seen(struct log_filter *, const struct trace_site *);
TRACE_API const char *log_filter_unmatched(const struct log_filter *,
                                           size_t *from);

/* log_filter_of_device returns whether a directive selects targets of GPUs. */
TRACE_API bool log_filter_of_device(const struct log_filter *);

/* log_filter_advise adds a line, beginning with `origin`, for each field value
 * that EnvFilter probably reads in another way than the user meant. Returns
 * whether there is one. */
TRACE_API bool log_filter_advise(const struct log_filter *, const char *origin,
                                 struct trace_text *out);

/* log_filter_brief adds a filter or directive on one line for a terminal:
 * escaped, and cut if it is very long. */
TRACE_API void log_filter_brief(struct trace_text *out, const char *text);

/* log_filter_explain adds each directive's meaning in words. */
TRACE_API void log_filter_explain(const struct log_filter *,
                                  struct trace_text *out);

enum log_state {
    LOG_STATE_OFF,
    LOG_STATE_ON,
    LOG_STATE_SOMETIMES, /* depends on spans or values */
};

/* log_filter_judge returns a call site's state and adds the directives that
 * determine it to `why`. */
TRACE_API enum log_state log_filter_judge(const struct log_filter *,
                                          const struct trace_site *,
                                          struct trace_text *why);

/* A directive that matched no call site, and what was probably meant. */
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

/* Applies a filter to a recording: it follows each thread's spans. */
struct log_replay;

/* log_replay_new starts outside of all spans; the filter must outlive it.
 * Returns NULL without memory. */
TRACE_API struct log_replay *log_replay_new(const struct log_filter *);
TRACE_API void log_replay_free(struct log_replay *);

/* log_replay_step applies the next entry, of any kind, and returns whether it
 * is shown. */
TRACE_API bool log_replay_step(struct log_replay *, const struct trace_reader *,
                               const struct trace_entry *);

/* log_replay_shows returns whether a span from an earlier step is shown.
 * Without a replay, every span is. */
TRACE_API bool log_replay_shows(struct log_replay *,
                                const struct trace_entry *span);

/* log_replay_use_last_values judges each span by the last values of its fields,
 * which EnvFilter cannot know yet. Call it before the first step, for a
 * recording that has ended. */
TRACE_API void log_replay_use_last_values(struct log_replay *);

/* log_same_word compares words without regard to ASCII case. */
TRACE_API bool log_same_word(const char *a, const char *b);

/* log_nearest returns the word in the NULL-terminated list that is most similar
 * to `word`, NULL if none is similar. */
TRACE_API const char *log_nearest(const char *word, const char *const *words);

/* log_nearest_level returns the level that differs in two letters at most, is
 * abbreviated, or has another name in other programs. NULL if there is none. */
TRACE_API const char *log_nearest_level(const char *word);

/* ---- Lines ---- */

/* log_plain adds text, and escapes what would break the line or control the
 * terminal. */
TRACE_API void log_plain(struct trace_text *out, const char *text, size_t size);

/* X(NAME, word, function that adds a line) */
#define LOG_FORMATS(X)                                                         \
    X(FULL, "full", log_full)                                                  \
    X(COMPACT, "compact", log_compact)                                         \
    X(PRETTY, "pretty", log_pretty)                                            \
    X(JSON, "json", log_json)

/* X(NAME, word) */
#define LOG_TIMES(X)                                                           \
    X(UTC, "utc")                                                              \
    X(UPTIME, "uptime")                                                        \
    X(RELATIVE, "relative")                                                    \
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

/* Parts of a line beside its message and its spans. */
enum log_detail {
    LOG_DETAIL_FILE = 1,
    LOG_DETAIL_LINE = 2,
    LOG_DETAIL_THREAD_NAME = 4,
    LOG_DETAIL_THREAD_ID = 8,
    LOG_DETAIL_PID = 16,
};

/* X(word, bits): details, as users choose them. */
#define LOG_DETAILS(X)                                                         \
    X("thread", LOG_DETAIL_THREAD_NAME | LOG_DETAIL_THREAD_ID)                 \
    X("location", LOG_DETAIL_FILE | LOG_DETAIL_LINE)                           \
    X("pid", LOG_DETAIL_PID)                                                   \
    X("none", 0)

enum log_format {
#define LOG_X(name, word, layout) LOG_FORMAT_##name,
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

/* The style of lines. The zero value is `full` with UTC times, without colours
 * or lines about spans. `pretty` always prints file and line. */
struct log_style {
    enum log_format format;
    enum log_time time;
    unsigned span_events; /* of enum log_span_event */
    unsigned details;     /* of enum log_detail */
    bool color;
    bool all_spans;   /* lines name spans that the filter hides, too; no "!" */
    const char *test; /* "suite/test", printed in every line, or NULL */
};

/* log_line applies an entry and adds its lines with their newlines: one for a
 * shown event, and the style's lines about a shown span. Returns their number.
 */
TRACE_API size_t log_line(struct log_replay *, const struct log_style *,
                          const struct trace_reader *,
                          const struct trace_entry *, struct trace_text *out);

/* log_span_text adds the shown spans around `place`, such as
 * "outer{a=1}:inner", or nothing. A very long chain loses its middle. */
TRACE_API void log_span_text(struct log_replay *, const struct trace_reader *,
                             uint32_t place, uint64_t time,
                             struct trace_text *out);

/* log_write_all prints a recording's lines to `stream` and returns their
 * number. */
TRACE_API size_t log_write_all(const struct log_filter *,
                               const struct log_style *, struct trace_reader *,
                               FILE *stream);

/* log_add_hidden adds the last `most` lines of a recording's events that the
 * filter does not show. Events in a row that differ only in their time share a
 * line with the first one's time, except in JSON. Returns how many events that
 * the filter does not show are in no line. */
TRACE_API size_t log_add_hidden(const struct log_filter *,
                                const struct log_style *, struct trace_reader *,
                                size_t most, struct trace_text *out);

/* log_add_with_hidden adds the lines that the filter shows and, among them, the
 * last `most` of the others, in order of time, with the date only where it
 * changes. If there are any of these, a line that the filter does not show
 * begins with "~ ", and is dim in place of its colours; another one begins with
 * "  ". In JSON it has `"hidden":true`. If all are much longer than `room`
 * bytes, *left_out bytes at the beginning are missing. Returns how many events
 * that the filter does not show are in no line. */
TRACE_API size_t log_add_with_hidden(const struct log_filter *,
                                     const struct log_style *,
                                     struct trace_reader *, size_t most,
                                     size_t room, size_t *left_out,
                                     struct trace_text *out);

/* ---- The subscriber of a test ---- */

struct log_options {
    const char *show;   /* LOG: what is shown */
    const char *record; /* TRACE_FILTER: what is recorded as well */
    bool live;          /* print lines immediately, to `fd` */
    int fd;
    struct log_style style;
};

/* log_subscribe makes the process's next recordings and live lines follow
 * `options`, which it copies. Fails with EBUSY while a recording runs. */
TRACE_API int log_subscribe(const struct log_options *options);

/* ---- Expectations: what a process finds in its own recording ---- */

/* X(NAME, word, what it examines, how many it wants, message about a span that
 * fails it): test_log.h documents them. */
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
    X(SPAN_LONGER, "span_longer", SPANS, ALL, "open or not longer")            \
    X(INSTRUCTIONS_AT_MOST, "instructions_at_most", SPANS, ALL,                \
      "open or executed more")

enum log_expectation_kind {
#define LOG_X(name, word, looked_at, wanted, wrong) LOG_EXPECTATION_##name,
    LOG_EXPECTATIONS(LOG_X)
#undef LOG_X
};

struct log_expectation {
    enum log_expectation_kind kind;
    double number;            /* COUNT, AT_MOST: how many; SHORTER, LONGER: s */
    const char *const *texts; /* NULL-terminated; all but EVENTS have one */
};

enum log_judgement { LOG_MET, LOG_NOT_MET, LOG_NOT_JUDGED };

/* log_expectation_text adds an expectation as it is in the source. */
TRACE_API void log_expectation_text(const struct log_expectation *,
                                    struct trace_text *out);

/* log_judge compares an expectation with what the process and its forked
 * children have recorded so far. On failure, `why` has a line with the reason
 * and one for each of the nearest records, followed by the filters, if there
 * are several, that refused it. If it cannot be judged, because records are
 * missing or memory ran out, `why` says so. */
TRACE_API enum log_judgement log_judge(const struct log_expectation *,
                                       struct trace_text *why);

/* ---- Logging ----
 *
 *  log_error(format, ...);  log_warn  log_info  log_debug  log_trace
 *  log_at(LEVEL, format, ...);
 *  log_bridge(level, target, file, line, format, va_list);
 *                           records a line of another logger
 *  log_bridge_text(level, target, file, line, text);
 *                           the same, of one that has made the text already
 *  log_enabled(LEVEL)       returns whether a line of this level is on here
 *
 * The formats are printf's, checked by the compiler. Arguments are not
 * evaluated where the call site is off, and errno is preserved. Define
 * LOG_NO_LEVELS before the include to keep the names log_error ... log_trace
 * for the program.
 *
 * These two take a level and a call site that are known only at run time. A
 * number that is no enum trace_level counts as the nearest one. The strings are
 * copied; `target` may be NULL, and is then derived from `file`. The first 1024
 * call sites or so have their own place and level; lines of further ones have
 * the target "bridge".
 *
 * Levels above LOG_STATIC_MAX are compiled out; see trace.h.
 */
#define log_at(level, ...)                                                     \
    TRACE_USE_(LOG_AT_, TRACE_KEEPS_##level)                                   \
    (__COUNTER__, TRACE_LEVEL_##level, __VA_ARGS__)
#define log_enabled(level)                                                     \
    TRACE_USE_(LOG_ENABLED_, TRACE_KEEPS_##level)                              \
    (__COUNTER__, TRACE_LEVEL_##level)

#ifndef LOG_NO_LEVELS
#    define log_error(...) log_at(ERROR, __VA_ARGS__)
#    define log_warn(...)  log_at(WARN, __VA_ARGS__)
#    define log_info(...)  log_at(INFO, __VA_ARGS__)
#    define log_debug(...) log_at(DEBUG, __VA_ARGS__)
#    define log_trace(...) log_at(TRACE, __VA_ARGS__)
#endif

/* In C++, statics may be initialised at first use, so the format is only known
 * then. */
#ifdef __cplusplus
#    define LOG_FORMAT_(...) 0
#else
#    define LOG_FORMAT_(format, ...) __builtin_constant_p(format) ? (format) : 0
#endif
#define LOG_AT_1(id, level, ...)                                               \
    (__extension__({                                                           \
        TRACE_FORMAT_OK_(__VA_ARGS__, );                                       \
        TRACE_SITE_(id, TRACE_SITE_EVENT, level, LOG_FORMAT_(__VA_ARGS__, ));  \
        if (trace_site_on_(TRACE_THIS_(id)))                                   \
            trace_log_(TRACE_THIS_(id), __VA_ARGS__);                          \
    }))
#define LOG_ENABLED_1(id, level)                                               \
    (__extension__({                                                           \
        TRACE_SITE_(id, TRACE_SITE_EVENT, level, 0);                           \
        trace_site_on_(TRACE_THIS_(id));                                       \
    }))

#if TRACE_KEEPS_ERROR
#    define log_bridge(...) trace_bridge_(TRACE_ABOVE_MAX_, __VA_ARGS__)
#    define log_bridge_text(...)                                               \
        trace_bridge_text_(TRACE_ABOVE_MAX_, __VA_ARGS__)
#else
#    define log_bridge(...) ((void)(0 && (trace_bridge_(0, __VA_ARGS__), 0)))
#    define log_bridge_text(...)                                               \
        ((void)(0 && (trace_bridge_text_(0, __VA_ARGS__), 0)))
#endif

#define LOG_AT_0(id, level, ...)                                               \
    ((void)(0 && TRACE_CHECKED_(TRACE_FORMAT_OK_(__VA_ARGS__, ),               \
                                trace_check_log_(__VA_ARGS__))))
#define LOG_ENABLED_0(id, level) ((bool)0)

#define LOG_AT_no(...)      TRACE_NO_LEVEL_((void)0)
#define LOG_ENABLED_no(...) TRACE_NO_LEVEL_((bool)0)

#ifdef __cplusplus
}
#endif

#endif
