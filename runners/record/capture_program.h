/* capture_program.h: testlog capture, the client of programs that listen.
 * Private. */
#ifndef TESTLOG_CAPTURE_H
#define TESTLOG_CAPTURE_H

#include <sys/types.h>

#include "harness/options/filters.h"
#include "harness/options/options.h"
#include "trace/base/text.h"
#include "trace/capture/server.h"

/* A program that is being captured. */
struct captured {
    int socket;
    pid_t pid;
    char *name; /* of the program's file, once it has sent its call sites */
    struct trace_site_list sites;
    struct trace_message message; /* which `sites` points into */
    char why[256];                /* it refused; "": it did not */
};

/* ---- capture_target.c: which program ---- */

/* capture_connect connects to the program that listens at a path, or, if that
 * is NULL, to the one with a pid. Prints why it cannot; returns false then. */
bool capture_connect(struct captured *, const char *path, pid_t pid);

struct listening_program {
    pid_t pid;
    char name[32];
};

/* capture_find_programs finds the user's programs that seem to listen where
 * TRACE_SERVER=1 does. Returns how many; the caller frees the list. */
size_t capture_find_programs(struct listening_program **);

/* ---- capture_client.c: talking to it ---- */

enum capture_answer {
    CAPTURE_TIMEOUT, /* none in time, or we were interrupted */
    CAPTURE_ANSWERED,
    CAPTURE_REFUSED, /* `why` says why */
    CAPTURE_ENDED,   /* the program has ended */
};

/* capture_await waits for a message of a kind until a time of CLOCK_MONOTONIC
 * in ns, or until a signal is pending at the signalfd `signals`. SITES is kept
 * in `sites`. */
enum capture_answer capture_await(struct captured *, uint32_t kind,
                                  uint64_t until, int signals);

/* capture_hello begins; capture_start hands over a file, which stays the
 * caller's, and judges the call sites with a filter; `strings` are options and
 * metadata, NULL at the end. capture_stop ends. -1 with errno. */
int capture_hello(const struct captured *);
int capture_start(struct captured *, int file, struct log_filter *,
                  unsigned level, const char *const *strings);
int capture_stop(const struct captured *);

void capture_free(struct captured *);

#endif
