/* expect.h: what the files that judge expectations share. Private.
 *
 * The recording is read as it is, whatever LOG says. One pass counts; where it
 * came to something else than was expected, another finds the nearest records.
 */
#ifndef LOG_EXPECT_H
#define LOG_EXPECT_H

#include "internal.h"

enum looked_at { LINES, EVENTS, SPANS };
enum wanted { SOME, NONE, NUMBER, ALL };

/* What can be expected. */
struct kind {
    const char *word;
    enum looked_at looked_at;
    enum wanted wanted;
    const char *wrong;
};

/* What is asked of an event: a filter that shows it, or its very level. */
struct condition {
    unsigned level; /* "=warn"; 0: the filter */
    struct log_filter *filter;
    struct log_replay *replay;
};

/* A span that matches, and what became of it. */
struct found {
    uint32_t place;
    uint32_t inside; /* enterings that have not ended */
    uint64_t begin, last;
    bool entered, closed, needs_close;
};

/* A record that is shown because it is what was looked for, or near. */
struct near {
    int nearness;
    char *line;
};

enum {
    NEAR_MAX = 5,
    NEAR_BYTES = 400,
    COMPARED_MAX =
        4 << 20, /* bytes of lines; each is compared letter by letter */
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
    struct part *path;            /* of SPANS: from outside to inside */
    size_t condition_count, path_count;
    struct trace_text line; /* of the record that is looked at */
    struct log_memory memory;
    size_t all, matched;
    struct found *found;
    size_t found_count, found_capacity;
    struct near near[NEAR_MAX];
    size_t near_count, compared;
};

/* ---- expect_read.c: what is asked for ---- */

/* log_search_read reads the conditions or the path of an expectation; where it
 * cannot, `why` says so, or memory ran out. */
bool log_search_read(struct search *, struct trace_text *why);

/* ---- expect_near.c: what came near ---- */

/* log_search_offer keeps the record whose text stands in `line` if it is nearer
 * than one that is kept: INT_MAX is what was found. */
void log_search_offer(struct search *, int nearness);

/* log_search_distance tells how far the line is from what is looked for; false
 * once there was enough of that. */
bool log_search_distance(struct search *, int *nearness);

/* log_search_put_near adds the records that are near. */
void log_search_put_near(const struct search *, struct trace_text *why);

#endif
