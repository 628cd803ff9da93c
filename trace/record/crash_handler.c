/* crash_handler.c: handles the signals that kill a process, and copies what it
 * leaves.
 *
 * The handler only makes system calls and writes to memory that is mapped
 * already.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "crash_handler.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static struct sigaction before[SIGNALS];
static struct trace_crash_hooks hooks;

/* ---- What the thread was doing ---- */

static void note_registers(struct trace_crash *crash, const ucontext_t *context)
{
#if defined(__x86_64__)
    static const uint8_t order[] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
        REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
        REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
    };

    crash->register_count = sizeof(order);
    for (size_t i = 0; i < sizeof(order); i++)
        crash->registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    crash->stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    crash->instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    memcpy(crash->registers, context->uc_mcontext.regs, 31 * sizeof(uint64_t));
    crash->registers[31] = context->uc_mcontext.sp;
    crash->register_count = 32;
    crash->stack = context->uc_mcontext.sp;
    crash->instruction = context->uc_mcontext.pc;
#else
    (void)crash;
    (void)context;
#endif
}

static struct trace_crash crash_of(const siginfo_t *info, const void *context)
{
    struct trace_crash crash = {
        .process = (uint32_t)getpid(),
        .thread = (uint32_t)syscall(SYS_gettid),
        .signal = info->si_signo,
        .code = info->si_code,
        .address = (uint64_t)(uintptr_t)info->si_addr,
    };

    note_registers(&crash, context);
    prctl(PR_GET_NAME, crash.name);
    return crash;
}

/* ---- What it leaves ---- */

enum { PAGE = 4096, PAGES = TRACE_CRASH_STACK / PAGE + 1, GUARD_PAGES = 16 };

static struct trace_crash_left left;

/* Above the beginning of the main thread's stack are the texts of the
 * environment, which may hold secrets. */
extern void *__libc_stack_end __attribute__((weak));

static size_t size_of_stack(uint64_t from)
{
    uint64_t end =
        &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end : 0;

    return from < end && end - from < TRACE_CRASH_STACK ? end - from
                                                        : TRACE_CRASH_STACK;
}

/* Copies memory up to the first page that is not mapped; the kernel does it,
 * because a bad stack pointer must not be a second crash. */
static size_t copy_memory(void *to, uint64_t from, size_t size)
{
    struct iovec local = {to, size}, pages[PAGES];
    size_t count = 0;
    ssize_t got;

    for (uint64_t end = from + size; from < end && count < PAGES; count++) {
        uint64_t next = from / PAGE * PAGE + PAGE;

        next = next < end ? next : end;
        pages[count] = (struct iovec){(void *)(uintptr_t)from, next - from};
        from = next;
    }
    got = process_vm_readv(getpid(), &local, 1, pages, count, 0);
    return got > 0 ? (size_t)got : 0;
}

/* After an overflow, the stack pointer is in the guard pages. */
static void copy_stack(void)
{
    uint64_t from = left.crash.stack;
    size_t size = 0;

    for (int i = 0; from && !size && i <= GUARD_PAGES; i++) {
        left.crash.begin = from;
        size = copy_memory(left.bytes, from, size_of_stack(from));
        from = from / PAGE * PAGE + PAGE;
    }
    left.crash.stack_size = (uint32_t)size;
}

static void copy_mappings(void)
{
    char *text = (char *)left.bytes + left.crash.stack_size;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    ssize_t got = 1;

    while (fd >= 0 && got > 0 && size < TRACE_CRASH_MAPPINGS) {
        got = read(fd, text + size, TRACE_CRASH_MAPPINGS - size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    while (size && text[size - 1] != '\n') /* the end of a line is missing */
        size--;
    left.crash.mappings_size = (uint32_t)size;
}

struct trace_crash_left *trace_crash_copy(const struct trace_crash *crash,
                                          bool memory)
{
    left.crash = *crash;
    left.crash.stack_size = left.crash.mappings_size = 0;
    if (memory) {
        copy_stack();
        copy_mappings();
    }
    return &left;
}

size_t trace_crash_left_size(const struct trace_crash_left *of)
{
    return sizeof(of->crash) + of->crash.stack_size + of->crash.mappings_size;
}

/* ---- The handler ---- */

/* A child of vfork() shares our memory. */
bool trace_crash_is_first(void)
{
    static pid_t first;
    pid_t own = getpid(), seen = __atomic_load_n(&first, __ATOMIC_ACQUIRE);

    while (seen != own)
        if (__atomic_compare_exchange_n(&first, &seen, own, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return false;
}

/* Sends the signal again, with what the kernel or its sender said, which
 * valgrind would take for a fault of its own; it arrives when the handler
 * returns. A fault might not happen again: another thread may have mapped the
 * page meanwhile. False if a sandbox forbids it. */
static bool act_as_before(int number, siginfo_t *info)
{
    bool reset = false;

    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            reset = !sigaction(number, &before[i], NULL);
    return reset && ((!hooks.on_valgrind &&
                      !syscall(SYS_rt_tgsigqueueinfo, getpid(),
                               (pid_t)syscall(SYS_gettid), number, info)) ||
                     !raise(number));
}

/* The thread that the handler's stack was made for. */
static _Thread_local uint32_t own_thread;

static void on_crash(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct trace_crash crash;

    if (hooks.begins)
        hooks.begins(number, own_thread);
    crash = crash_of(info, context);
    hooks.crashed(&crash, context);
    /* A fault with its signal blocked ends the process. */
    if (!act_as_before(number, info))
        sigaddset(&((ucontext_t *)context)->uc_sigmask, number);
    errno = error;
}

static size_t stack_size(void)
{
    return (size_t)getauxval(AT_MINSIGSTKSZ) + (1 << 15);
}

/* The thread's stack for signal handlers; NULL: it is not ours. */
static _Thread_local void *handler_stack;

void trace_crash_stack(void)
{
    stack_t stack = {.ss_size = stack_size()}, old;

    own_thread = (uint32_t)syscall(SYS_gettid);
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
void trace_crash_stack_end(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, now;

    if (!handler_stack)
        return;
    if (!sigaltstack(NULL, &now) && now.ss_sp == handler_stack)
        sigaltstack(&none, NULL);
    munmap(handler_stack, stack_size());
    handler_stack = NULL;
}

/* Handlers of the program stay. */
static bool is_wanted(const struct sigaction *action, int number)
{
    return hooks.wants ? hooks.wants(action, number)
                       : action->sa_handler == SIG_DFL;
}

/* Valgrind does not follow a stack to another one. */
static void watch(size_t at)
{
    const struct sigaction ours = {
        .sa_sigaction = on_crash,
        .sa_flags = SA_SIGINFO | (hooks.on_valgrind ? 0 : SA_ONSTACK)};
    struct sigaction action;

    if (sigaction(signals[at], NULL, &action) ||
        action.sa_sigaction == on_crash || !is_wanted(&action, signals[at]))
        return;
    before[at] = action;
    sigaction(signals[at], &ours, NULL);
}

void trace_crash_handle(const struct trace_crash_hooks *with)
{
    hooks = *with;
    trace_crash_stack();
    for (size_t i = 0; i < SIGNALS; i++)
        watch(i);
}
