/* sampled.c: tests that burn processor time: 70 % and 30 % of SAMPLED_MS in two
 * functions, also on other threads and in other processes.
 */
#include <testlog/test_log.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static __attribute__((noinline)) void burn(int percent)
{
    const char *ms = getenv("SAMPLED_MS");
    double end = now() + (ms ? atof(ms) : 200) * percent / 100;

    while (now() < end)
        for (unsigned i = 0; i < 10000; i++)
            sink += i * 7;
}

/* A tail call would replace the function. */
static __attribute__((noinline)) void seventy(void)
{
    burn(70);
    sink++;
}

static __attribute__((noinline)) void thirty(void)
{
    burn(30);
    sink++;
}

static void *help(void *unused)
{
    pthread_setname_np(pthread_self(), "helper");
    thirty();
    return unused;
}

TEST_LOG(sampled, calls)
{
    log_info("begin");
    {
        trace_span(INFO, "work");
        seventy();
        thirty();
    }
}

TEST_LOG(sampled, starts_a_thread)
{
    pthread_t helper;

    cr_assert_not(pthread_create(&helper, NULL, help, NULL));
    seventy();
    pthread_join(helper, NULL);
}

TEST_LOG(sampled, forks)
{
    pid_t child = fork();

    if (!child) {
        thirty();
        _exit(0);
    }
    seventy();
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

TEST_LOG(sampled, executes)
{
    cr_assert_not(
        system("i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"));
}

TEST_LOG(sampled, crashes_later)
{
    seventy();
    abort();
}

/* Sampling must not interrupt system calls. */
TEST_LOG(sampled, waits)
{
    struct timespec time = {0, 1000000};

    for (int i = 0; i < 50; i++) {
        burn(1);
        cr_assert_eq(poll(NULL, 0, 1), 0);
        cr_assert_eq(nanosleep(&time, NULL), 0);
    }
}
