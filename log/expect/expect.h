/* expect.h: what the files that judge expectations share. Private.
 *
 * The recording is read as it is, whatever LOG is. One pass counts matches; if
 * the count is wrong, another pass finds the nearest records.
 */
#ifndef LOG_EXPECT_H
#define LOG_EXPECT_H

#include "log/filter/filter.h"
#include "log/replay/replay.h"

enum looked_at { LINES, EVENTS, SPANS };
enum wanted { SOME, NONE, NUMBER, ALL };

/* What an expectation looks at, and wants of it. */
struct kind {
    const char *word;
    enum looked_at looked_at;
    enum wanted wanted;
    const char *wrong;
};

/* A condition on an event: a filter that selects it, or its exact level. */
struct condition {
    unsigned level; /* "=warn"; 0: the filter */
    struct log_filter *filter;
    struct log_replay *replay;
};

/* A matching span and its times. */
struct found {
    uint32_t place;
    uint32_t inside; /* enters without an exit */
    uint64_t begin, last;
    uint64_t instructions; /* within it; 0: they were not counted */
    bool entered, closed, needs_close;
};

/* A record to print, because it matched or is near. */
struct near {
    int nearness;
    uint32_t refused; /* by which conditions, a bit for each of the first 32 */
    char *line;
};

enum {
    NEAR_MAX = 5,
    NEAR_BYTES = 400,
    COMPARED_MAX = 4 << 20, /* bytes of lines whose letters are compared */
};

/* A part of a path of spans. */
struct part {
    char *name;
    struct log_directive fields;
};

struct search {
    const struct log_expectation *expectation;
    const struct kind *kind;
    struct trace_reader *reader;
    struct condition *conditions; /* of EVENTS */
    struct part *path;            /* of SPANS: the outermost first */
    size_t condition_count, path_count;
    struct trace_text line; /* of the current record */
    uint32_t refused;       /* by which conditions it is */
    struct log_memory memory;
    size_t all, matched;
    struct found *found;
    size_t found_count, found_capacity;
    struct near near[NEAR_MAX];
    size_t near_count, compared;
};

/* ---- expect_text.c ---- */

/* log_expectation_kinds has a row for each enum log_expectation_kind. */
extern const struct kind log_expectation_kinds[];

/* log_expectation_quote adds a text as it is in source code. */
void log_expectation_quote(struct trace_text *out, const char *text);

/* ---- expect_read.c ---- */

/* log_search_read parses the conditions or the path of an expectation. On
 * failure, `why` has the reason; it is empty if memory ran out. */
bool log_search_read(struct search *, struct trace_text *why);

/* ---- expect_near.c ---- */

/* log_search_offer keeps the record whose text is in `line` if it is nearer
 * than a kept one; INT_MAX is a match. */
void log_search_offer(struct search *, int nearness);

/* log_search_distance computes the distance of the line from the expected text.
 * Returns false once COMPARED_MAX bytes were compared. */
bool log_search_distance(struct search *, int *nearness);

/* log_search_put_near adds the nearest records. */
void log_search_put_near(const struct search *, struct trace_text *why);

#endif
