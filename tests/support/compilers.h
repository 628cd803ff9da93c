/* compilers.h: builds and runs programs that call NVRTC and nvJitLink, and
 * reads their recordings. */
#ifndef TESTS_COMPILERS_H
#define TESTS_COMPILERS_H

#include "e2e.h"
#include "support.h"

/* compilers_fake builds fakes of the libraries in the folder "fake";
 * compilers_toolkit returns the folder of the real ones, or skips the test. */
const char *compilers_fake(void);
const char *compilers_toolkit(void);

/* Where the program's user code is, and how it is linked. */
enum compilers_user {
    USER_LINKED,  /* in the program, linked with the libraries */
    USER_NOW,     /* the same, bound at start */
    USER_CXX,     /* the same, in C++ */
    USER_SHARED,  /* in a library that the program is linked with */
    USER_LATE,    /* in the program, which loads the libraries */
    USER_PLUGIN,  /* in a library that is loaded late, see PLUGIN */
    USER_MISSING, /* in the program, linked without any library */
};

/* compilers_run builds and runs such a program, with `before` before the
 * command and `arguments` after it; the program writes the file "recording". */
const struct e2e *compilers_run(enum compilers_user, const char *libraries,
                                const char *before, const char *arguments);

/* compilers_many builds the program "many", the plugins 1.so and 2.so, and a
 * fake for each. */
void compilers_many(void);

/* compilers_audit returns the variable that loads our audit library into a
 * program. */
const char *compilers_audit(void);

/* compilers_count counts the events with a stage and a name; NULL means any. */
size_t compilers_count(const char *stage, const char *name);

/* compilers_value returns a field of the first event of a stage as text, "" if
 * it has none. */
const char *compilers_value(const char *stage, const char *field);

/* compilers_level returns the level of that event. */
unsigned compilers_level(const char *stage);

/* compilers_inside reports whether that event is in the span "build". */
bool compilers_inside(const char *stage);

#endif
