/* hanging.c: tests that do not end, each in its own way. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

TestSuite(hanging, .timeout = 1);

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *lock_one_and_two(void *none)
{
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&two);
    return none;
}

static void *lock_two_and_one(void *none)
{
    pthread_mutex_lock(&two);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&one);
    return none;
}

TEST_LOG(hanging, deadlock)
{
    pthread_t threads[2];

    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&threads[0], NULL, lock_one_and_two, NULL);
    pthread_create(&threads[1], NULL, lock_two_and_one, NULL);
    pthread_join(threads[0], NULL);
}

TEST_LOG(hanging, locks_twice)
{
    pthread_mutex_lock(&one);
    cr_assert_eq(pthread_mutex_lock(&one), 0); /* no tail call */
}

TEST_LOG(hanging, condition)
{
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;

    pthread_setname_np(pthread_self(), "a\ttab");
    pthread_mutex_lock(&one);
    pthread_cond_wait(&never, &one);
}

/* Its end is mapped behind the program's file. */
static struct {
    char before[1 << 16];
    sem_t filled;
} queue;

TEST_LOG(hanging, semaphore)
{
    sem_init(&queue.filled, 0, 0);
    cr_assert_eq(sem_wait(&queue.filled), 0); /* no tail call */
}

__attribute__((noinline)) static void spin(void)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
}

TEST_LOG(hanging, livelock)
{
    spin();
}

TEST_LOG(hanging, reads_an_empty_pipe)
{
    int ends[2];
    char byte;

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(read(ends[0], &byte, 1), 1);
}

__attribute__((noinline)) static void wait_forever(void)
{
    for (;;)
        pause();
}

TEST_LOG(hanging, child)
{
    pid_t child = fork();

    if (!child) {
        alarm(30); /* it outlives the test */
        wait_forever();
    }
    waitpid(child, NULL, 0);
}

TEST_LOG(hanging, stopped)
{
    raise(SIGSTOP);
    sleep(60);
}

TEST_LOG(hanging, parent_of_vfork)
{
    if (!vfork()) {
        sleep(60);
        _exit(0);
    }
}

__attribute__((noinline)) static int recurse(volatile int *depth)
{
    if (++*depth < 1000)
        return recurse(depth) + *depth;
    spin();
    return 0;
}

TEST_LOG(hanging, deep_in_a_recursion)
{
    volatile int depth = 0;

    cr_assert(recurse(&depth));
}
