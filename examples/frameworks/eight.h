/* eight.h: the work of the eight tests of every framework here: they pass,
 * fail, skip, throw or exit, crash, hang, fork, and log from a thread. */
#ifndef EIGHT_H
#define EIGHT_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/core.h>

static inline int eight_add(int a, int b)
{
    trace_span(DEBUG, "add", ("a", a), ("b", b));
    log_info("adding %d to %d", a, b);
    return a + b;
}

static inline void eight_crash(void)
{
    log_warn("about to crash");
    raise(SIGSEGV);
}

static inline void eight_hang(void)
{
    log_warn("about to hang");
    printf("waiting");
    pause();
}

/* Returns the exit code of a child that logs. */
static inline int eight_fork(void)
{
    int status = -1;
    pid_t child = fork();

    if (!child) {
        log_info("in the child");
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static inline void *eight_log(void *unused)
{
    log_info("in the thread");
    return unused;
}

static inline int eight_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, eight_log, NULL) ||
           pthread_join(thread, NULL);
}

#endif
