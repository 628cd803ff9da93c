/* valgrind_requests.c: asks valgrind, and hides the recorder from its race
 * detectors.
 */
#include "valgrind_requests.h"

enum {
    HELGRIND_MAKE_UNTRACKED = TRACE_HELGRIND + 256 + 39,
    DRD_START_SUPPRESSION = TRACE_DRD + 2,
};

uintptr_t trace_valgrind_ask(unsigned request, uintptr_t one, uintptr_t two,
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

void trace_untrack(const void *address, size_t size)
{
    trace_valgrind_ask(HELGRIND_MAKE_UNTRACKED, (uintptr_t)address, size, 0, 0);
    trace_valgrind_ask(DRD_START_SUPPRESSION, (uintptr_t)address, size, 0, 0);
}

/* Of the linker. */
extern char __start_trace_untracked[] __attribute__((visibility("hidden")));
extern char __stop_trace_untracked[] __attribute__((visibility("hidden")));

void trace_untrack_statics(void)
{
    trace_untrack(__start_trace_untracked,
                  (uintptr_t)__stop_trace_untracked -
                      (uintptr_t)__start_trace_untracked);
}
