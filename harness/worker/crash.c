/* crash.c: stops the process of a test that crashes, so that the runner can
 * look at its stacks.
 *
 * The process must not go on meanwhile: if only this thread waited, main could
 * return and the crash would become a pass. Afterwards the signal acts as if
 * there had been no handler.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/worker/worker.h"
#include "trace/internal.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static struct sigaction before[SIGNALS];
static pid_t watched; /* the process that the runner looks at */

/* Notes where the thread was. */
static void note_registers(struct test_log_crash *crash,
                           const ucontext_t *context)
{
    crash->context = (uint64_t)(uintptr_t)context;
#if defined(__x86_64__)
    crash->stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    crash->instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    crash->stack = context->uc_mcontext.sp;
    crash->instruction = context->uc_mcontext.pc;
#endif
}

/* Sends the signal again, with what the kernel or its sender said; it arrives
 * when the handler returns. A fault might not happen again: another thread may
 * have mapped the page meanwhile. */
static void act_as_before(int number, siginfo_t *info)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before[i], NULL);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid),
                number, info))
        raise(number);
}

/* Live lines are formatted at once, for which a handler must not allocate
 * memory. */
static struct trace_site site = {
    .name = "",
    .target = "crash",
    .file = "",
    .function = "",
    .level = TRACE_LEVEL_ERROR,
    .interest = TRACE_UNREGISTERED,
};
static bool recorded;

void test_log_crash_record(void)
{
    recorded = true;
    trace_site_register(&site);
}

static void record(const struct test_log_crash *crash)
{
    char text[64];

    if (!recorded)
        return;
    snprintf(text, sizeof(text), crash->code > 0 ? "SIG%s at %#llx" : "SIG%s",
             sigabbrev_np(crash->signal), (unsigned long long)crash->address);
    trace_message(&site, text);
}

static bool is_watched(void)
{
    return watched && getpid() == watched;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct test_log_crash crash = {
        .signal = number,
        .code = info->si_code,
        .thread = (uint32_t)syscall(SYS_gettid),
        .address = (uint64_t)(uintptr_t)info->si_addr,
    };

    note_registers(&crash, context);
    if (number == SIGABRT)
        test_log_exception_report(&crash);
    if (is_watched()) {
        record(&crash);
        test_log_status_crash(&crash);
    }
    act_as_before(number, info);
    errno = error;
}

static size_t stack_size(void)
{
    return (size_t)getauxval(AT_MINSIGSTKSZ) + (1 << 15);
}

/* The thread's stack for signal handlers; NULL: it is not ours. */
static _Thread_local void *handler_stack;

void test_log_crash_stack(void)
{
    stack_t stack = {.ss_size = stack_size()}, old;

    if (sigaltstack(NULL, &old) || !(old.ss_flags & SS_DISABLE))
        return;
    stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED)
        return;
    handler_stack = stack.ss_sp;
    sigaltstack(&stack, NULL);
}

/* The tested code may have replaced it. */
static void free_stack(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, now;

    if (!handler_stack)
        return;
    if (!sigaltstack(NULL, &now) && now.ss_sp == handler_stack)
        sigaltstack(&none, NULL);
    munmap(handler_stack, stack_size());
    handler_stack = NULL;
}

/* The signal that the test is meant to die of. The struct is the worker's copy,
 * which Criterion does not align. */
static int expected_signal(void)
{
    const size_t at = offsetof(struct criterion_test_extra_data, signal);
    int number = 0;

    if (criterion_current_test)
        memcpy(&number, (const char *)criterion_current_test->data + at,
               sizeof(number));
    return number;
}

/* In C, it ends in SIGABRT. */
bool test_log_crash_stops_for_exceptions(void)
{
    return is_watched() && expected_signal() != SIGABRT;
}

/* Handlers of the tested code and of sanitizers stay; a signal that the test
 * is meant to die of is no crash. */
static bool is_ours(const struct sigaction *action, int number)
{
    return (action->sa_handler == SIG_DFL || test_log_sanitizers_own(action)) &&
           expected_signal() != number;
}

void test_log_crash_begin(void)
{
    const char *stacks = test_log_session()->stacks;
    struct sigaction ours = {.sa_sigaction = on_crash,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};

    /* Valgrind's stacks are not the test's. */
    if (!stacks || stacks[0] != '1' || test_log_valgrind_runs())
        return;
    prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
    watched = getpid();
    test_log_crash_stack();
    test_log_exceptions_begin();
    trace_thread_hooks =
        (struct trace_thread_hooks){test_log_crash_stack, free_stack};
    for (size_t i = 0; i < SIGNALS; i++)
        if (!sigaction(signals[i], NULL, &before[i]) &&
            is_ours(&before[i], signals[i]))
            sigaction(signals[i], &ours, NULL);
}
