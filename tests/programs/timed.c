/* timed.c: what samples by timers must follow: threads of C11, many short
 * threads, code that is loaded later, blocked signals, a small stack, a handler
 * on a stack of its own, and a coroutine. Exits with 0 if nothing is disturbed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned sink;

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void burn(double ms)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + ms;

    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        for (unsigned i = 0; i < 10000; i++)
            sink += i * 7;
}

#define BURNS(name, ms)                                                        \
    static __attribute__((noinline)) void name(void)                           \
    {                                                                          \
        burn(ms);                                                              \
        sink++;                                                                \
    }

BURNS(in_c11, 100)
BURNS(in_handler, 100)
BURNS(in_coroutine, 100)
BURNS(while_blocked, 100)

static int start_c11(void *unused)
{
    (void)unused;
    in_c11();
    return 7;
}

static void *start_short(void *number)
{
    sink++;
    return number;
}

static void use_threads(void)
{
    thrd_t other;
    int result = 0;

    if (thrd_create(&other, start_c11, NULL) != thrd_success ||
        thrd_join(other, &result) != thrd_success || result != 7)
        exit(1);
    for (intptr_t i = 0; i < 2000; i++) {
        pthread_t thread;
        void *answer;

        if (pthread_create(&thread, NULL, start_short, (void *)i) ||
            pthread_join(thread, &answer) || answer != (void *)i)
            exit(2);
    }
}

static void handle(int number)
{
    (void)number;
    in_handler();
}

static void use_handler(void)
{
    stack_t stack = {.ss_size = 64 << 10};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    stack.ss_sp = malloc(stack.ss_size);
    if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
        exit(3);
    raise(SIGUSR1);
}

static ucontext_t outer, inner;

static void use_coroutine(void)
{
    getcontext(&inner);
    inner.uc_stack.ss_size = 64 << 10;
    inner.uc_stack.ss_sp = malloc(inner.uc_stack.ss_size);
    inner.uc_link = &outer;
    makecontext(&inner, in_coroutine, 0);
    swapcontext(&outer, &inner);
}

static void block_signals(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while_blocked();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The signal of the timers is not the program's. */
static void use_all_signals(void)
{
    const struct timespec at_once = {.tv_nsec = 0};
    sigset_t all, before, pending;

    for (int number = 1; number < 65; number++)
        signal(number, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    while_blocked();
    if (sigtimedwait(&all, NULL, &at_once) != -1 || sigpending(&pending) ||
        sigismember(&pending, SIGRTMAX))
        exit(6);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = 0;
}

/* The handler of the timers does not run on a small stack of the program's. */
static void use_small_stack(void)
{
    static char area[4096 + 2048];
    stack_t small = {.ss_sp = area + 4096, .ss_size = 2048};

    memset(area, 0x55, 4096);
    if (sigaltstack(&small, NULL)) /* too small for this processor */
        return;
    burn(50);
    for (int i = 0; i < 4096; i++)
        if (area[i] != 0x55)
            exit(7);
}

static void load(const char *library)
{
    void *loaded = dlopen(library, RTLD_NOW);
    void (*spin)(void) = NULL;

    if (loaded)
        *(void **)&spin = dlsym(loaded, "in_loaded");
    if (!spin)
        exit(4);
    spin();
}

/* Waiting takes no processor time, so that no signal interrupts it. */
static void wait_often(void)
{
    double end = now(CLOCK_MONOTONIC) + 500;

    while (now(CLOCK_MONOTONIC) < end)
        if (poll(NULL, 0, 20) || errno == EINTR)
            exit(5);
}

int main(int argc, char **argv)
{
    errno = 0;
    wait_often();
    use_threads();
    use_handler();
    use_coroutine();
    block_signals();
    use_all_signals();
    use_small_stack();
    if (argc > 1)
        load(argv[1]);
    puts("undisturbed");
    return 0;
}
