/* formats.h: compares our lines with the recorded ones of tests/cases/formats.
 */
#ifndef TESTS_FORMATS_H
#define TESTS_FORMATS_H

#include "support.h"

/* A deviation on purpose; row 0 ends a table. FORMAT_NUL replaces each NUL in
 * upstream's answers. */
enum { FORMAT_NUL = 2 };

struct format_deviation {
    size_t row;
    const char *theirs, *ours;
};

/* The deviations of `full` and `compact`, without and with colours. */
extern const struct format_deviation format_text[], format_colors[];

/* The style of upstream's `*-ansi-spanevents`: everything is shown. */
#define FORMAT_ALL                                                             \
    .time = LOG_TIME_NONE, .span_events = LOG_SPAN_FULL, .color = true,        \
    .details = LOG_DETAIL_FILE | LOG_DETAIL_LINE | LOG_DETAIL_THREAD_NAME |    \
               LOG_DETAIL_THREAD_ID

/* format_lines records a row's event in its spans and returns the lines, which
 * are kept. */
char *format_lines(struct test_cases *row, const struct log_style *);

/* format_normalise removes thread numbers and, on request, colours from
 * lines. */
void format_normalise(char *lines, bool colors);

/* format_check compares the lines of each row of `cases` with the answers and
 * returns the number of rows. Each deviation must really differ. */
size_t format_check(const char *cases, const char *answers,
                    const struct log_style *, const struct format_deviation *);

/* format_check_plain compares lines without colours with coloured lines whose
 * colours were removed. */
size_t format_check_plain(const char *cases, const struct log_style *);

#endif
