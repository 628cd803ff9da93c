/* programs.h: applies a filter to a program in three ways: to a recording of
 * everything, to live lines, and as the filter of the recording. */
#ifndef TESTS_PROGRAMS_H
#define TESTS_PROGRAMS_H

#include "support.h"

extern const struct log_style program_style;

/* program_subscribe sets the process's filters; prints live if `fd` is not
 * negative. */
void program_subscribe(const char *show, const char *record, int fd);

/* program_messages returns the messages of the events that the filter shows of
 * a recording. They are kept, also those of the next two. */
char *program_messages(struct trace_reader *, const char *filter);

/* program_shown runs a program, records everything, and returns the messages
 * that the filter shows. The live lines must be the same. */
char *program_shown(const char *filter, void (*program)(void));

/* program_recorded runs a program, records by the filter, and returns the
 * recorded messages. The filter must show all of them. */
char *program_recorded(const char *filter, void (*program)(void));

/* program_expect does both. */
void program_expect(const char *filter, void (*program)(void),
                    const char *expected);

#endif
