/* programs.h: what a filter makes of a program, three times over: what is shown
 * of a recording of everything, what is printed live, and what is recorded if
 * the filter decides that. */
#ifndef TESTS_PROGRAMS_H
#define TESTS_PROGRAMS_H

#include "support.h"

extern const struct log_style program_style;

/* program_subscribe makes filters the process's; it prints live if there is a
 * descriptor. */
void program_subscribe(const char *show, const char *record, int fd);

/* program_messages returns the messages of the events that are shown of a
 * recording, to be freed, as all that follows. */
char *program_messages(struct trace_reader *, const char *filter);

/* program_shown runs a program that is recorded whole and returns what is shown
 * of that; what it prints live must be the same. */
char *program_shown(const char *filter, void (*program)(void));

/* program_recorded runs a program that the filter records and returns what is
 * in the recording, of which the filter must show all. */
char *program_recorded(const char *filter, void (*program)(void));

/* program_expect does both. */
void program_expect(const char *filter, void (*program)(void),
                    const char *expected);

#endif
