/* storm.c: signal handlers that log at any moment, and some that jump.
 *
 * STORM_LINES is the number of lines that each thread logs, STORM_EVERY the
 * number of microseconds between two signals.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include <testlog/test_log.h>

enum { THREADS = 3, FRESH = 64 };

static unsigned setting(const char *name)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : 100;
}

static void repeat_signals(void (*handler)(int), unsigned every)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, (int)every}, {0, (int)every}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_signals(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
}

/* ---- Handlers that log ---- */

static unsigned handled; /* atomic */

/* Uses a new call site for each of the first FRESH signals. */
static void log_fresh(unsigned which)
{
#define SITE(n)                                                                \
    case n:                                                                    \
        log_info("of a handler, fresh %u", which);                             \
        break;
#define SITES(n) SITE(n) SITE(n + 1) SITE(n + 2) SITE(n + 3)
#define MORE(n)  SITES(n) SITES(n + 4) SITES(n + 8) SITES(n + 12)

    switch (which) {
        MORE(0)
        MORE(16)
        MORE(32)
        MORE(48)
    default:
        log_info("of a handler, known %u", which);
    }
}

static void log_in_handler(int number)
{
    (void)number;
    log_fresh(__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED));
}

static void log_lines(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        trace_span(DEBUG, "step", (i));
        log_info("own line %u", i);
    }
}

static void *run_thread(void *count)
{
    log_lines(*(unsigned *)count);
    return NULL;
}

TEST_LOG(storm, handlers_log, .timeout = 100)
{
    unsigned count = setting("STORM_LINES");
    pthread_t threads[THREADS];

    repeat_signals(log_in_handler, setting("STORM_EVERY"));
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run_thread, &count), 0);
    log_lines(count);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    stop_signals();
    log_info("handled %u", handled);
}

/* ---- Handlers that jump ---- */

static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static __attribute__((noinline)) void log_after(int jumps)
{
    log_info("after jump %d", jumps);
}

TEST_LOG(storm, handlers_jump, .timeout = 100)
{
    int most = (int)setting("STORM_LINES") / 10;
    volatile int jumps = 0;
    sigset_t alarms;

    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    repeat_signals(jump, setting("STORM_EVERY"));
    sigsetjmp(back, 1); /* a handler must not jump before this */
    log_after(jumps++);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    while (jumps < most) {
        trace_span(DEBUG, "step");
        log_info("own line %d", jumps);
    }
    stop_signals();
    log_info("jumped %d", jumps);
}
