/* races.c: threads with and without data races. Each records in all of its
 * threads, which must neither be a race nor hide one. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

enum { THREADS = 3, STEPS = 100 };

static void run_in_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- None ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int guarded, finished;

static void *work_guarded(void *unused)
{
    trace_span(INFO, "guarded");
    for (int i = 0; i < STEPS; i++) {
        trace_span(DEBUG, "step", ("i", i));
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
        log_info("step %d", i);
        trace_event(INFO, "stepped", ("text", "a value"));
    }
    pthread_mutex_lock(&lock);
    finished++;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return unused;
}

TEST_LOG(races, none_with_a_mutex)
{
    run_in_threads(work_guarded);
    cr_expect_eq(guarded, THREADS * STEPS);
}

TEST_LOG(races, none_with_a_condition)
{
    pthread_t thread;

    finished = 0;
    pthread_create(&thread, NULL, work_guarded, NULL);
    pthread_mutex_lock(&lock);
    while (!finished)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    log_info("%d steps", guarded);
    pthread_join(thread, NULL);
}

static int added;

static void *add(void *unused)
{
    log_info("adds to %d", __atomic_fetch_add(&added, 1, __ATOMIC_SEQ_CST));
    return unused;
}

TEST_LOG(races, none_with_an_atomic_sum)
{
    run_in_threads(add);
    cr_expect_eq(added, THREADS);
}

/* ---- Planted ---- */

static int planted, turn[2];

static void *write_first(void *unused)
{
    planted = 1; /* the first place */
    log_info("wrote first");
    cr_expect_eq(write(turn[1], "", 1), 1);
    return unused;
}

/* The pipe keeps the order, and neither tool knows of it. */
static void *write_last(void *unused)
{
    char byte;

    cr_expect_eq(read(turn[0], &byte, 1), 1);
    log_info("writes last");
    planted = 2; /* the last place */
    return unused;
}

TEST_LOG(races, planted)
{
    pthread_t first, last;

    cr_assert_eq(pipe(turn), 0);
    pthread_create(&first, NULL, write_first, NULL);
    pthread_create(&last, NULL, write_last, NULL);
    pthread_join(first, NULL);
    pthread_join(last, NULL);
}

/* ---- Where a test does not end as usual ---- */

static int raced;

static void *write_raced(void *unused)
{
    raced++;
    return unused;
}

static void race(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, write_raced, NULL);
    raced++;
    pthread_join(thread, NULL);
}

TEST_LOG(ending, in_a_child)
{
    pid_t child = fork();

    if (!child) {
        race();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

TEST_LOG(ending, by_exit, .exit_code = 3)
{
    race();
    exit(3);
}

TEST_LOG(ending, by_a_signal, .signal = SIGUSR1)
{
    race();
    raise(SIGUSR1);
}

TEST_LOG(ending, by_a_skip)
{
    race();
    cr_skip_test("nothing to do");
}

TEST_LOG(ending, by_a_crash)
{
    race();
    abort();
}

TEST_LOG(ending, by_exit_without_a_race, .exit_code = 3)
{
    exit(3);
}
