/* findings.c: errors for sanitizers, valgrind, a debugger and gcov. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

static volatile int one = 1;

TEST_LOG(findings, none)
{
    char *text = strdup("freed");

    log_info("all is well");
    free(text);
}

/* ---- Memory ---- */

TEST_LOG(memory, used_after_free)
{
    char *volatile text = strdup("freed");

    free(text);
    log_info("before it is used");
    putchar(text[one]);
}

TEST_LOG(memory, freed_twice)
{
    char *volatile text = strdup("freed");

    free(text);
    free(text); /* cppcheck-suppress doubleFree */
}

TEST_LOG(memory, used_in_a_child)
{
    pid_t child = fork();

    if (!child) {
        char *volatile text = strdup("freed");

        free(text);
        _exit(text[one]); /* cppcheck-suppress deallocuse */
    }
    cr_expect_eq(waitpid(child, NULL, 0), child); /* with any status */
}

/* ---- Leaks ---- */

static void *volatile held;

/* Overwrites copies of the pointer on the stack, which would hide the leak. */
static __attribute__((noinline)) void clear_stack(void)
{
    volatile char stack[8192];

    for (size_t i = 0; i < sizeof(stack); i++)
        stack[i] = 0;
}

static void leak(size_t size)
{
    held = malloc(size);
    memset(held, 1, size);
    held = NULL;
    clear_stack();
}

static void free_held(void)
{
    free(held);
    held = NULL;
}

TEST_LOG(leaks, in_the_test)
{
    leak(1234);
}

TEST_LOG(leaks, and_fails)
{
    leak(1234);
    cr_expect(0, "its own reason");
}

TEST_LOG(logged, leaks)
{
    char *volatile leaked = malloc(99);

    log_info("%p", (void *)leaked);
    trace_event(INFO, "leaks", ("where", (void *)leaked));
    leaked = NULL;
}

static void leak_some(void)
{
    leak(77);
}

TEST_LOG(leaks, in_the_tear_down, .fini = leak_some)
{
}

TEST_LOG(leaks, not_after_the_tear_down, .fini = free_held)
{
    held = malloc(10);
}

TestSuite(leaks_of_suite, .fini = free_held);

TEST_LOG(leaks_of_suite, are_none)
{
    held = malloc(10);
}

TheoryDataPoints(leaks, of_a_theory) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 3, 4),
};

THEORY_LOG((int a, int b), leaks, of_a_theory)
{
    log_info("%d %d", a, b);
}

ParameterizedTestParameters(leaks, of_an_instance)
{
    static int numbers[] = {0, 1};

    return cr_make_param_array(int, numbers, 2);
}

PARAMETERIZED_TEST_LOG(int *number, leaks, of_an_instance)
{
    log_info("%d", *number);
}

/* ---- Undefined behavior ---- */

static int overflow(void)
{
    return INT_MAX - 1 + 2 * one; /* found here */
}

TEST_LOG(undefined, in_the_test)
{
    log_info("%d", overflow());
    log_info("goes on");
}

static void *overflow_too(void *unused)
{
    (void)unused;
    log_info("%d", overflow());
    return NULL;
}

TEST_LOG(undefined, in_a_thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, overflow_too, NULL);
    pthread_join(thread, NULL);
}

static void overflow_last(void)
{
    log_info("%d", overflow());
}

TEST_LOG(undefined, in_the_tear_down, .fini = overflow_last)
{
}

TEST_LOG(undefined, in_a_child)
{
    pid_t child = fork();

    if (!child) {
        log_info("%d", overflow());
        _exit(0);
    }
    cr_expect_eq(waitpid(child, NULL, 0), child);
}

/* ---- Coverage ---- */

static void hang(void)
{
    for (;;)
        pause();
}

TEST_LOG(covered, passes)
{
    log_info("a line that passes");
}

TEST_LOG(covered, exits)
{
    log_info("a line that exits");
    exit(3);
}

TEST_LOG(covered, aborts)
{
    log_info("a line that aborts");
    abort();
}

TEST_LOG(covered, segfaults)
{
    log_info("a line that segfaults");
    raise(SIGSEGV);
}

TEST_LOG(covered, hangs, .timeout = 0.5)
{
    log_info("a line that hangs");
    hang();
}

TEST_LOG(covered, raises_as_expected, .signal = SIGTERM)
{
    log_info("a line that raises");
    raise(SIGTERM);
}
