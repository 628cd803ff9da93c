/* process_tree.h: the processes that a test has started. Private. */
#ifndef TESTLOG_PROCESS_TREE_H
#define TESTLOG_PROCESS_TREE_H

#include <sys/types.h>

#include "harness/run/model/model.h"

/* A process; the time tells it from another one that reuses the id. */
struct test_log_process {
    pid_t pid;
    uint64_t started; /* clock ticks since the boot */
    char name[16];
};

/* test_log_process_started returns when a process has started, in clock ticks
 * since the boot; 0 if there is none, or it has ended. */
uint64_t test_log_process_started(pid_t);

/* test_log_process_parent returns the parent of a process, 0 if it is unknown.
 * test_log_process_file reads a file of a process in /proc into `text` of
 * `size` bytes, with a 0 behind it; returns how many bytes were read, -1 if
 * there is no such file. */
pid_t test_log_process_parent(pid_t);
ssize_t test_log_process_file(pid_t, const char *name, char *text, size_t size);

/* test_log_tracer_of returns the process that traces another one, such as a
 * debugger; 0: none. */
pid_t test_log_tracer_of(pid_t);

struct test_log_tree {
    struct test_log_process worker;
    pid_t debugger;    /* that traces the worker; 0: none */
    char boxfort[128]; /* a variable that forks have; "": unknown */
    char mark[128];    /* a variable that programs which they start have */
    struct test_log_process *all; /* that live, without the worker */
    size_t count, capacity;
};

/* test_log_tree_begin notes a worker. If it is dead, orphans that have left its
 * process group cannot be found. Returns false if nothing can be found.
 * test_log_tree_find finds what it and its children have started and is still
 * alive. test_log_tree_names adds their ids and names, three at most. */
bool test_log_tree_begin(struct test_log_tree *, const struct test_log_run *,
                         pid_t worker);
void test_log_tree_find(struct test_log_tree *);
void test_log_tree_names(struct trace_text *, const struct test_log_tree *);
void test_log_tree_free(struct test_log_tree *);

/* test_log_tree_end takes over a tree, to end it once its worker has died:
 * SIGTERM, and a second later SIGKILL. test_log_trees_check does what is due;
 * test_log_trees_finish waits until all have ended. */
void test_log_tree_end(struct test_log_tree *, const char *test);
void test_log_trees_check(uint64_t now);
void test_log_trees_finish(void);

#endif
