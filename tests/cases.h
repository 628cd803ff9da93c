/* cases.h: a recorded case of tests/cases/filter as calls of the library. */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "support.h"

enum { CASE_SPANS = 4, CASE_FIELDS = 8 };

/* Fields with their values, and the call site that they are of. */
struct case_fields {
    struct trace_site site;
    const char *names[CASE_FIELDS];
    struct trace_value values[CASE_FIELDS];
    bool quoted[CASE_FIELDS]; /* the value's text is to be freed */
};

struct case_span {
    struct case_fields own, before, after; /* of its being entered */
    struct trace_span_ref made, entered;
};

/* A row, which lasts until case_free: what is recorded refers to it. */
struct case_row {
    char *text[TEST_COLUMNS];
    const char *filter;
    struct case_span spans[CASE_SPANS];
    size_t span_count;
    struct case_fields event;
};

/* case_read makes the calls of a row ready; case_run does them, one span in the
 * other, where the call sites are on. */
void case_read(struct case_row *, const struct test_cases *);
void case_run(struct case_row *);
void case_free(struct case_row *);

/* case_deviation returns our answer where it differs from EnvFilter's on
 * purpose, NULL elsewhere; case_expect compares one with the recorded one. */
const char *case_deviation(const char *filter);
void case_expect(const struct case_row *, const struct test_cases *answer,
                 bool shown, const char *bits, const char *hint);

#endif
