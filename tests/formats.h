/* formats.h: the recorded lines of tests/cases/formats, and how ours are made.
 */
#ifndef TESTS_FORMATS_H
#define TESTS_FORMATS_H

#include "support.h"

/* Where ours differs on purpose: row 0 ends a table of these. What is a NUL in
 * their answers is FORMAT_NUL here. */
enum { FORMAT_NUL = 2 };

struct format_deviation {
    size_t row;
    const char *theirs, *ours;
};

/* Those of `full` and `compact`, without colours and with them. */
extern const struct format_deviation format_text[], format_colors[];

/* Their `*-ansi-spanevents` have all that there is. */
#define FORMAT_ALL                                                             \
    .time = LOG_TIME_NONE, .span_events = LOG_SPAN_FULL, .color = true,        \
    .file = true, .line = true, .thread_name = true, .thread_id = true

/* format_lines records a row's event in its spans and returns the lines, to be
 * freed. */
char *format_lines(struct test_cases *row, const struct log_style *);

/* format_normalise takes the thread's number and, if asked for, all colours out
 * of lines. */
void format_normalise(char *lines, bool colors);

/* format_check compares the lines of each row of `cases` with the answers, and
 * returns how many rows there were. Each deviation must be one. */
size_t format_check(const char *cases, const char *answers,
                    const struct log_style *, const struct format_deviation *);

/* format_check_plain compares lines without colours with those that have some,
 * once these are taken out. */
size_t format_check_plain(const char *cases, const struct log_style *);

#endif
