/* test_stacks.h: the stacks of a test that crashed or hung. Private. */
#ifndef TESTLOG_STACKS_H
#define TESTLOG_STACKS_H

#include "harness/run/model/model.h"

/* The output of testlog-stacks, in the test's folder. */
#define TEST_LOG_STACKS_FILE "stacks"

/* X(NAME, word): which threads are shown. */
#define TEST_LOG_STACKS(X)                                                     \
    X(ALL, "all")                                                              \
    X(CRASHING, "crashing")                                                    \
    X(OFF, "off")

enum test_log_stacks_of {
#define TEST_LOG_X(name, word) TEST_LOG_STACKS_##name,
    TEST_LOG_STACKS(TEST_LOG_X)
#undef TEST_LOG_X
};

/* ---- test_stacks.c: reading the file ---- */

/* All texts are borrowed from test_log_stacks.text; "" is unknown. */
struct test_log_frame {
    const char *address, *function, *file, *line, *module, *offset;
    bool inlined; /* into the next one */
    bool signal;  /* the kernel called a signal handler here */
    bool system;  /* of libc, Criterion or testlog */
};

struct test_log_stack {
    const char *process, *thread, *name, *waits;
    const char *assertion; /* "file:line" of the one that failed here; "" */
    size_t first, count;   /* frames */
    bool more;             /* frames than are listed */
    bool started;          /* its last frame called the test */
    bool crashed; /* or threw; frames of a signal's handler are left out */
    size_t child; /* in which it is the thread that crashed, from 1; 0: none */
};

/* A child of the test that crashed. */
struct test_log_child {
    const char *process, *name, *address, *fault;
    const char *note; /* how sure its stack is; "" */
    int signal;
};

struct test_log_stacks {
    int signal; /* 0: the test did not crash */
    const char *address, *fault;
    const char *exception, *what; /* type and text of the uncaught one */
    bool thrown_again;
    struct test_log_stack *stacks;
    struct test_log_frame *frames;
    const char *alive; /* ids of the processes that did not end before the
                          test, each between spaces; NULL: unknown */
    struct test_log_child *children;
    size_t crashes;      /* of children, also of those that are not listed */
    const char *limited; /* how many failed assertions have a stack, if not
                            all; "" */
    const char **notes;  /* why something is missing, or a deadlock */
    size_t stack_count, frame_count, child_count, note_count;
    size_t stack_capacity, frame_capacity, child_capacity, note_capacity;
    struct trace_text text;
};

/* test_log_stacks_read reads the stacks of a test, to be freed; false if there
 * are none. The test may have damaged the file. */
bool test_log_stacks_read(struct test_log_stacks *, const struct test_log_run *,
                          const struct test_log_result *);
void test_log_stacks_free(struct test_log_stacks *);

/* test_log_stacks_alive returns test_log_stacks.alive of a test, to be freed;
 * NULL if it is unknown. */
char *test_log_stacks_alive(const struct test_log_run *,
                            const struct test_log_result *);

/* ---- stacks_text.c: for people ---- */

/* test_log_stacks_text adds the stacks of a test, each line with a newline;
 * nothing if there are none. */
void test_log_stacks_text(struct trace_text *, const struct test_log_run *,
                          const struct test_log_result *);

/* test_log_stacks_where adds a line for each thread of a test that hung, such
 * as "main thread in hang (a.c:89), waits for a signal"; nothing for other
 * tests. */
void test_log_stacks_where(struct trace_text *, const struct test_log_run *,
                           const struct test_log_result *);

/* test_log_stacks_reason returns why a test crashed, such as "SIGSEGV: null
 * pointer + 0x8, in sum (list.c:9)", or its uncaught exception, to be freed;
 * NULL if that is unknown. It ends with `otherwise` if no function is known.
 * test_log_stacks_thrown returns only where that exception was thrown, such as
 * ", in sum (list.c:9)", to be freed. */
char *test_log_stacks_reason(const struct test_log_run *,
                             const struct test_log_result *,
                             const char *otherwise);
char *test_log_stacks_thrown(const struct test_log_run *,
                             const struct test_log_result *);

/* ---- stacks_json.c: for programs ---- */

/* test_log_stacks_members adds ",\"crash\":{...},\"stacks\":[...]" to an
 * object, nothing if there are none. */
void test_log_stacks_members(struct trace_text *, const struct test_log_run *,
                             const struct test_log_result *);

#endif
