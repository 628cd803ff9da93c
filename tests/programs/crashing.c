/* crashing.c: tests that crash, each in its own way. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <testlog/test_log.h>

/* Calls that the compiler cannot see through. */
#define FAR __attribute__((noinline, noclone))

struct node {
    int value;
    struct node *next;
};

FAR static int value_of(const volatile struct node *node)
{
    return node->value + (int)getpid();
}

FAR static int second(const struct node *node)
{
    return value_of(node->next) + 1;
}

TEST_LOG(crashing, null_pointer)
{
    struct node node = {1, NULL};

    log_info("before the crash");
    cr_assert(second(&node));
}

static volatile int depth;

FAR static int descend(void)
{
    volatile char room[512];

    room[0] = (char)++depth;
    return descend() + room[0];
}

TEST_LOG(crashing, stack_overflow)
{
    cr_assert(descend());
}

TEST_LOG(crashing, assertion)
{
    assert(getpid() == 0);
}

TEST_LOG(crashing, aborts)
{
    abort();
}

TEST_LOG(crashing, read_only)
{
    char *page =
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(page, 1, 1);
}

TEST_LOG(crashing, unmapped)
{
    volatile char *page =
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap((void *)page, 4096);
    cr_assert_eq(page[7], 0);
}

static volatile int none;

TEST_LOG(crashing, division)
{
    cr_assert(7 / none);
}

TEST_LOG(crashing, illegal_instruction)
{
    __builtin_trap();
}

TEST_LOG(crashing, end_of_file)
{
    FILE *file = tmpfile();
    volatile char *page =
        mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);

    cr_assert_eq(page[0], 0);
}

TEST_LOG(crashing, double_free)
{
    char *volatile block = malloc(100);
    char *volatile same = block;

    free(block);
    free(same);
    __asm__ volatile(""); /* so that this is no tail call */
}

/* The main thread waits for this one by then. */
static void *crash(void *address)
{
    usleep(200000);
    *(volatile int *)address = 1;
    return NULL;
}

TEST_LOG(crashing, thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, crash, (void *)16);
    pthread_join(thread, NULL);
}

static int raced;

static void *write_raced(void *none)
{
    raced = 1;
    return none;
}

TEST_LOG(crashing, after_a_race)
{
    pthread_t thread;

    pthread_create(&thread, NULL, write_raced, NULL);
    raced = 2;
    pthread_join(thread, NULL);
    crash((void *)16);
}

static void *overflow(void *none)
{
    log_info("a thread that records");
    return descend() ? none : NULL;
}

TEST_LOG(crashing, stack_overflow_of_a_thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, overflow, NULL);
    pthread_join(thread, NULL);
}

TEST_LOG(crashing, sent_by_kill)
{
    kill(getpid(), SIGSEGV);
    pause();
}

/* ---- Calls of what is no code ---- */

typedef int function(int);

static function *volatile no_function;
static function *volatile no_functions[4];

FAR static int apply(function *called, int value)
{
    return called(value) + 1;
}

TEST_LOG(calling, null_function)
{
    cr_assert(apply(no_function, 1));
}

FAR static int apply_member(int number, int value)
{
    return no_functions[number](value) + 1;
}

TEST_LOG(calling, null_member)
{
    cr_assert(apply_member((int)getpid() & 3, 1));
}

/* With optimization, this is a tail call. */
FAR static int pass_on(int value)
{
    return no_function(value);
}

TEST_LOG(calling, null_function_last)
{
    cr_assert(pass_on(1));
}

TEST_LOG(calling, null_function_in_the_test)
{
    no_function(1);
}

TEST_LOG(calling, unmapped)
{
    void *page =
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap(page, 4096);
    cr_assert(apply((function *)page, 1));
}

TEST_LOG(calling, data)
{
    static char data[64] = {1}; /* mapped from the file */

    cr_assert(apply((function *)(void *)data, 1));
}

/* No library has it. */
__attribute__((weak)) int absent(int);

FAR static int call_absent(void)
{
    return absent(1) + 1;
}

TEST_LOG(calling, absent_function)
{
    cr_assert(call_absent());
}

FAR static int return_to_nowhere(int value)
{
    void *volatile *frame = __builtin_frame_address(0);

    frame[1] = frame[2] = (void *)0x414141414000;
    return value + (int)getpid();
}

TEST_LOG(calling, overwritten_return_address)
{
    cr_assert(return_to_nowhere(1));
}

static void *call_there(void *none)
{
    return apply(no_function, 1) ? none : NULL;
}

TEST_LOG(calling, null_function_in_a_thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, call_there, NULL);
    pthread_join(thread, NULL);
}

/* ---- Failed assertions ---- */

FAR static void check(int value)
{
    cr_assert_eq(value, 1);
}

TEST_LOG(asserting, in_a_helper)
{
    check((int)getpid());
}

TEST_LOG(asserting, in_the_test)
{
    cr_assert_eq(getpid(), 1);
}

TEST_LOG(asserting, ten_times)
{
    for (int i = 0; i < 10; i++)
        cr_expect_eq(i, -1);
}

FAR static void check_again(int value)
{
    cr_expect_eq(value, -1);
}

TEST_LOG(asserting, many_in_a_helper)
{
    for (int i = 0; i < 10; i++)
        check_again(i);
}

/* ---- These are no crashes for the runner ---- */

TEST_LOG(expected, dies_as_it_should, .signal = SIGSEGV)
{
    raise(SIGSEGV);
}

static void leave(int number)
{
    (void)number;
    _exit(7);
}

TEST_LOG(expected, has_a_handler, .exit_code = 7)
{
    signal(SIGSEGV, leave);
    raise(SIGSEGV);
}

TEST_LOG(expected, child_crashes)
{
    pid_t child = fork();

    if (!child)
        abort();
    cr_assert_gt(child, 0);
}
