/* cases.h: turns a recorded case of tests/cases/filter into calls of the
 * library.
 */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "support.h"

enum { CASE_SPANS = 4, CASE_FIELDS = 8 };

/* Fields with their values and call site. */
struct case_fields {
    struct trace_site site;
    const char *names[CASE_FIELDS];
    struct trace_value values[CASE_FIELDS];
    bool quoted[CASE_FIELDS]; /* the value's text must be freed */
};

struct case_span {
    struct case_fields own, before,
        after; /* recorded before and after entering */
    struct trace_span_ref made, entered;
};

/* A row. The recording refers to its texts until case_free. */
struct case_row {
    char *text[TEST_COLUMNS];
    const char *filter;
    struct case_span spans[CASE_SPANS];
    size_t span_count;
    struct case_fields event;
};

/* case_read prepares the calls of a row; case_run does those whose call sites
 * are on, each span inside the previous one. */
void case_read(struct case_row *, const struct test_cases *);
void case_run(struct case_row *);
void case_free(struct case_row *);

/* case_deviation returns our answer if it differs from EnvFilter's on purpose,
 * otherwise NULL; case_expect compares an answer with the recorded one. */
const char *case_deviation(const char *filter);
void case_expect(const struct case_row *, const struct test_cases *answer,
                 bool shown, const char *bits, const char *hint);

#endif
