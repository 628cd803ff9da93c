/* hostile.c: tests that crash where a look at their stacks could go wrong. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <testlog/test_log.h>

enum { THREADS = 100, STACK = 1 << 18 };

static void crash(void)
{
    *(volatile int *)16 = 1;
}

static void leave(int number)
{
    (void)number;
    _exit(0);
}

TEST_LOG(hostile, handles_sigcont)
{
    signal(SIGCONT, leave);
    crash();
}

/* ---- Threads ---- */

static void *crash_there(void *barrier)
{
    pthread_barrier_wait(barrier);
    crash();
    return NULL;
}

static void *wait_there(void *none)
{
    for (;;)
        pause();
    return none;
}

TEST_LOG(hostile, two_threads_crash)
{
    pthread_barrier_t both;
    pthread_t thread;

    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, crash_there, &both);
    crash_there(&both);
}

TEST_LOG(hostile, last_of_many_threads_crashes)
{
    pthread_barrier_t one;
    pthread_t thread;

    pthread_barrier_init(&one, NULL, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, wait_there, NULL);
    pthread_create(&thread, NULL, crash_there, &one);
    pthread_join(thread, NULL);
}

static volatile bool writes;

static void *write_to(void *page)
{
    writes = true;
    *(volatile char *)page = 1;
    return NULL;
}

TEST_LOG(hostile, page_is_mapped_after_the_crash)
{
    char *stack = mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *page = stack + STACK; /* above the stack: this is no overflow */
    pthread_attr_t attributes;
    pthread_t thread;

    mprotect(page, 4096, PROT_NONE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    pthread_create(&thread, &attributes, write_to, page);
    while (!writes)
        usleep(1000);
    usleep(20000);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    pthread_join(thread, NULL);
}

TEST_LOG(hostile, main_thread_has_ended)
{
    pthread_barrier_t *one = malloc(sizeof(*one));
    pthread_t thread;

    pthread_barrier_init(one, NULL, 1);
    pthread_create(&thread, NULL, crash_there, one);
    pthread_exit(NULL);
}

/* ---- Other places ---- */

TEST_LOG(hostile, crashes_in_init, .init = crash)
{
    log_info("not printed");
}

TEST_LOG(hostile, crashes_in_fini, .fini = crash)
{
    log_info("printed");
}

/* The frame of the assertion is not that of the crash. */
__attribute__((noinline)) static void expect_failure(void)
{
    cr_expect(false, "not the reason");
    __asm__ volatile(""); /* so that this is no tail call */
}

TEST_LOG(hostile, crashes_in_fini_after_a_failure, .fini = crash)
{
    expect_failure();
}

TEST_LOG(hostile, crashes_after_a_failure)
{
    expect_failure();
    crash();
}

TEST_LOG(hostile, crashes_in_atexit)
{
    atexit(crash);
}

TEST_LOG(hostile, may_write_no_file)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    crash();
}

TEST_LOG(hostile, ignores_sigsegv)
{
    signal(SIGSEGV, SIG_IGN);
    raise(SIGSEGV); /* only a fault kills */
}

TEST_LOG(hostile, blocks_all_signals)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    crash();
}
