/* valgrind.c: asks valgrind what it found in a test.
 *
 * These are the requests of <valgrind/valgrind.h> and <valgrind/memcheck.h>:
 * instructions that do nothing unless valgrind executes them.
 */
#include <stdio.h>
#include <string.h>

#include "harness/worker/worker.h"

enum request {
    RUNNING_ON_VALGRIND = 0x1001,
    COUNT_ERRORS = 0x1201,
    MEMCHECK = 'M' << 24 | 'C' << 16,
    MAKE_MEM_NOACCESS = MEMCHECK,
    MAKE_MEM_DEFINED = MEMCHECK + 2,
    DO_LEAK_CHECK = MEMCHECK + 6,
    COUNT_LEAKS = MEMCHECK + 7,
};

static uintptr_t ask(enum request request, uintptr_t one, uintptr_t two,
                     uintptr_t three, uintptr_t four)
{
    volatile uintptr_t args[] = {request, one, two, three, four, 0};
    uintptr_t answer = 0;

#if defined(__x86_64__)
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; "
                     "rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "=d"(answer)
                     : "a"(&args[0]), "0"(answer)
                     : "cc", "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mov x3, %1; mov x4, %2; ror x12, x12, #3; "
                     "ror x12, x12, #13; ror x12, x12, #51; "
                     "ror x12, x12, #61; orr x10, x10, x10; mov %0, x3"
                     : "=r"(answer)
                     : "r"(answer), "r"(&args[0])
                     : "cc", "memory", "x3", "x4");
#else
    (void)args;
#endif
    return answer;
}

static uintptr_t errors_before;

void test_log_valgrind_begin(void)
{
    errors_before = ask(COUNT_ERRORS, 0, 0, 0, 0);
}

bool test_log_valgrind_runs(void)
{
    return ask(RUNNING_ON_VALGRIND, 0, 0, 0, 0);
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
            ask(access, from, to - from, 0, 0);
    if (maps)
        fclose(maps);
}

enum { FULL = 0, SUMMARY = 1 };

/* Returns 0 without memcheck. */
static uintptr_t count_leaked(void)
{
    uintptr_t bytes[4] = {0}; /* leaked, perhaps, reachable, suppressed */

    ask(DO_LEAK_CHECK, SUMMARY, 0, 0, 0);
    ask(COUNT_LEAKS, (uintptr_t)&bytes[0], (uintptr_t)&bytes[1],
        (uintptr_t)&bytes[2], (uintptr_t)&bytes[3]);
    return bytes[0];
}

static uintptr_t find_leaks(void)
{
    uintptr_t leaked;

    mark_recording(MAKE_MEM_NOACCESS);
    leaked = count_leaked();
    if (leaked)
        ask(DO_LEAK_CHECK, FULL, 0, 0, 0);
    mark_recording(MAKE_MEM_DEFINED);
    return leaked;
}

bool test_log_valgrind_found(char *reason, size_t size)
{
    uintptr_t errors = ask(COUNT_ERRORS, 0, 0, 0, 0) - errors_before;
    uintptr_t leaked = find_leaks();

    if (errors)
        snprintf(reason, size, "valgrind found %zu %s", (size_t)errors,
                 errors == 1 ? "error" : "errors");
    else if (leaked)
        snprintf(reason, size, "leaked %zu bytes", (size_t)leaked);
    return errors || leaked;
}
