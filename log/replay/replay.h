/* replay.h: applies a filter to a recording's entries. Private. */
#ifndef LOG_REPLAY_H
#define LOG_REPLAY_H

#include "log/filter/filter.h"

/* ---- tracked.c: facts about spans, by the place of their record ---- */

/* log_tracked_put allocates `size` zeroed bytes for a span and frees what it
 * had; NULL without memory. The table owns them. */
void *log_tracked_put(struct trace_table *, uint32_t place, size_t size);

/* log_tracked_add tracks a span that a filter judges by its values. */
struct log_span *log_tracked_add(struct trace_table *, uint32_t place,
                                 const struct log_verdict *);
void *log_tracked_find(const struct trace_table *, uint32_t place);
void log_tracked_remove(struct trace_table *, uint32_t place);
void log_tracked_free(struct trace_table *);

/* ---- spans.c: enclosing spans ---- */

/* Shown spans, the innermost first. */
struct log_chain {
    struct trace_entry *spans; /* `few`, or `many` */
    size_t count;
    struct trace_entry *many;
    size_t capacity;
    struct trace_entry few[16];
};

/* log_chain_of collects the spans from `place` outwards, log_chain_around those
 * of an event with its launch; with `all`, also hidden ones that no "!"
 * excludes. Without memory, the innermost ones are kept. */
void log_chain_of(struct log_chain *, struct log_replay *, bool all,
                  const struct trace_reader *, uint32_t place);
void log_chain_around(struct log_chain *, struct log_replay *, bool all,
                      const struct trace_reader *, const struct trace_entry *);
void log_chain_free(struct log_chain *);

/* ---- span_times.c: how long spans are open ---- */

/* The times of a span that has not closed. */
struct log_span_times {
    uint64_t made, since, busy; /* ns; since: the outermost enter */
    uint32_t inside;            /* enters without an exit */
    size_t to_come;             /* enters and closes later in the recording */
    bool over; /* its block has ended, or trace_span_end was called */
};

/* log_span_times_step applies an entry and returns whether it closes a span,
 * whose times are then in `closed`. */
bool log_span_times_step(struct trace_table *span_times,
                         const struct trace_reader *,
                         const struct trace_entry *,
                         struct log_span_times *closed);

/* log_duration adds nanoseconds as "80.4µs". */
void log_duration(struct trace_text *out, uint64_t ns);

/* ---- replay.c ---- */

/* Facts about earlier lines, which later ones need. */
struct log_memory {
    struct trace_text message; /* of the last line */
    struct trace_table span_times;
    size_t thread_width; /* the longest name so far */
    int64_t second;      /* the second of `date`; 0: none */
    char date[32];
};

struct log_memory *log_replay_memory(struct log_replay *);

/* log_replay_names returns whether lines name a span: one that is shown or,
 * with `all`, that no "!" excludes. */
bool log_replay_names(struct log_replay *, const struct trace_entry *span,
                      bool all);

/* log_replay_follows returns whether the filter depends on earlier entries, so
 * that no entry may be skipped. */
bool log_replay_follows(const struct log_replay *);

#endif
