/* valgrind.c: asks valgrind what it found in a test. */
#include <stdio.h>
#include <string.h>

#include "harness/worker/worker.h"
#include "trace/base/valgrind_requests.h"

enum request {
    MAKE_MEM_NOACCESS = TRACE_MEMCHECK,
    MAKE_MEM_DEFINED = TRACE_MEMCHECK + 2,
    DO_LEAK_CHECK = TRACE_MEMCHECK + 6,
    COUNT_LEAKS = TRACE_MEMCHECK + 7,
};

static uintptr_t errors_before;

bool test_log_valgrind_runs(void)
{
    return trace_valgrind_ask(TRACE_RUNNING_ON_VALGRIND, 0, 0, 0, 0);
}

void test_log_valgrind_begin(void)
{
    errors_before = trace_valgrind_ask(TRACE_COUNT_ERRORS, 0, 0, 0, 0);
    if (test_log_valgrind_runs())
        test_log_races_watch();
}

/* Hides recordings from the leak check: a recorded pointer would make its block
 * reachable. */
static void mark_recording(enum request access)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from, to;
    char line[4096];

    while (maps && fgets(line, sizeof(line), maps))
        if (strstr(line, "/recording\n") &&
            sscanf(line, "%lx-%lx", &from, &to) == 2)
            trace_valgrind_ask(access, from, to - from, 0, 0);
    if (maps)
        fclose(maps);
}

enum { FULL = 0, SUMMARY = 1 };

/* Returns 0 without memcheck. */
static uintptr_t count_leaked(void)
{
    uintptr_t bytes[4] = {0}; /* leaked, perhaps, reachable, suppressed */

    trace_valgrind_ask(DO_LEAK_CHECK, SUMMARY, 0, 0, 0);
    trace_valgrind_ask(COUNT_LEAKS, (uintptr_t)&bytes[0], (uintptr_t)&bytes[1],
                       (uintptr_t)&bytes[2], (uintptr_t)&bytes[3]);
    return bytes[0];
}

static uintptr_t find_leaks(void)
{
    uintptr_t leaked;

    mark_recording(MAKE_MEM_NOACCESS);
    leaked = count_leaked();
    if (leaked)
        trace_valgrind_ask(DO_LEAK_CHECK, FULL, 0, 0, 0);
    mark_recording(MAKE_MEM_DEFINED);
    return leaked;
}

bool test_log_valgrind_found(const struct test_log_races *races, char *reason,
                             size_t size)
{
    uintptr_t errors = trace_valgrind_ask(TRACE_COUNT_ERRORS, 0, 0, 0, 0) -
                       errors_before - races->own + races->others;
    uintptr_t leaked = find_leaks();

    if (errors)
        snprintf(reason, size, "valgrind found %zu %s", (size_t)errors,
                 errors == 1 ? "error" : "errors");
    else if (leaked)
        snprintf(reason, size, "leaked %zu bytes", (size_t)leaked);
    return errors || leaked;
}
