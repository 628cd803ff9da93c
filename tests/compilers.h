/* compilers.h: programs that compile, built and run, and what they recorded. */
#ifndef TESTS_COMPILERS_H
#define TESTS_COMPILERS_H

#include "e2e.h"
#include "support.h"

/* compilers_fake builds stand-ins of the libraries into the folder "fake";
 * compilers_toolkit returns the folder of the real ones, or skips the test. */
const char *compilers_fake(void);
const char *compilers_toolkit(void);

/* compilers_program builds a program whose user's code is...: */
enum compilers_user {
    USER_LINKED,  /* in it, linked with the libraries */
    USER_NOW,     /* the same, bound when it starts */
    USER_CXX,     /* the same, in C++ */
    USER_SHARED,  /* in a library that it is linked with */
    USER_LATE,    /* in it, and looks the libraries up */
    USER_PLUGIN,  /* in a library that it loads late, see PLUGIN */
    USER_MISSING, /* in it, linked without any library */
};

/* compilers_run runs one, with `before` in front and arguments behind; it makes
 * the file "recording". */
const struct e2e *compilers_run(enum compilers_user, const char *libraries,
                                const char *before, const char *arguments);

/* compilers_many builds the program "many", the plugins 1.so and 2.so, and a
 * stand-in of its own for each. */
void compilers_many(void);

/* compilers_audit returns what stands before a program that is audited. */
const char *compilers_audit(void);

/* compilers_count counts the events of a stage and name (NULL: any). */
size_t compilers_count(const char *stage, const char *name);

/* compilers_value returns a field of the first event of a stage, as text; ""
 * if it has none. */
const char *compilers_value(const char *stage, const char *field);

/* compilers_level returns the level of that event. */
unsigned compilers_level(const char *stage);

/* compilers_inside tells whether that event is in the span "build". */
bool compilers_inside(const char *stage);

#endif
