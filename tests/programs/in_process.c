/* in_process.c: runs the tests that the arguments name, in this process,
 * without a test framework. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/core.h>

#include "gpu_init.h"

static int count; /* of tests that have begun */

static void work(void)
{
    trace_span(INFO, "work", ("n", count));
    log_info("hello %d", count);
    log_debug("hidden %d", count);
}

static void passes(void)
{
    work();
    printf("printed by %d\n", count);
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void fails(void)
{
    work();
    printf("printed by %d", count); /* no newline */
    fprintf(stderr, "and on stderr\n");
    test_log_end(TEST_LOG_FAILED, "in_process.c:33: one is not two\nmore");
}

static void skips(void)
{
    test_log_end(TEST_LOG_SKIPPED, "no\tdevice");
}

static void is_left(void)
{
    trace_span_begin(INFO, "left", ("a", 1));
    work();
}

static void crashes(void)
{
    trace_span(INFO, "fatal");

    printf("last words");
    fflush(stdout);
    raise(SIGSEGV);
}

static void is_killed(void)
{
    work();
    raise(SIGKILL);
}

static void leaves(void)
{
    work();
    _exit(5);
}

static void exits(void)
{
    work();
    exit(6);
}

/* The first test that needs the driver initializes it. */
static void launches(void)
{
    trace_span(INFO, "launching");

    gpu_init();
    gpu_launch(2);
    test_log_end(TEST_LOG_PASSED, NULL);
}

/* ---- Forked children ---- */

static void in_child(void (*run)(void))
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (!child) {
        run();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void forks(void)
{
    in_child(work);
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void own_passes(void)
{
    test_log_begin("child", "passes");
    passes();
}

static void own_fails(void)
{
    test_log_begin("child", "fails");
    fails();
}

static void own_crashes(void)
{
    test_log_begin("child", "crashes");
    crashes();
}

static void own_exits(void)
{
    test_log_begin("child", "exits");
    exits();
}

static void forks_tests(void)
{
    in_child(own_passes);
    in_child(own_fails);
    in_child(own_crashes);
    in_child(own_exits);
    work();
    test_log_end(TEST_LOG_PASSED, NULL);
}

/* ---- Threads ---- */

static int wanted, done;

static void *log_when_wanted(void *unused)
{
    for (int i = 0; i < 10; i++) {
        while (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) == i)
            usleep(100);
        log_info("from the thread %d", i);
        __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}

static void let_thread_log(void)
{
    int next = __atomic_add_fetch(&wanted, 1, __ATOMIC_SEQ_CST);

    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < next)
        usleep(100);
}

static void starts_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, log_when_wanted, NULL);
    let_thread_log();
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void starts_silent_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, log_when_wanted, NULL);
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void lets_thread_log(void)
{
    work();
    let_thread_log();
    test_log_end(TEST_LOG_PASSED, NULL);
}

/* ---- Odd programs ---- */

static jmp_buf out;

static void jumps(void)
{
    if (!setjmp(out)) {
        trace_span(INFO, "jumped out of");

        longjmp(out, 1);
    }
    work();
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void closes_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    work();
    test_log_end(TEST_LOG_FAILED, "closed");
}

/* Waits for the file "go", a minute at most. */
static void wait_for_go(const char *ready)
{
    FILE *file = fopen(ready, "w");

    if (file)
        fclose(file);
    for (int i = 0; i < 6000 && access("go", F_OK); i++)
        usleep(10000);
}

static void waits(void)
{
    wait_for_go("ready");
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void outlives(void)
{
    if (!fork()) {
        test_log_begin("child", "outlives");
        wait_for_go("ready");
        passes();
        test_log_begin("child", "next");
        passes();
        _exit(0);
    }
    while (access("ready", F_OK))
        usleep(1000);
    test_log_end(TEST_LOG_PASSED, NULL);
}

static void on_alarm(int number)
{
    exit(number);
}

/* Exits in a handler, most likely while a test begins or ends. */
static void exits_in_a_handler(void)
{
    signal(SIGALRM, on_alarm);
    ualarm(20000, 0);
    for (;;) {
        test_log_end(TEST_LOG_PASSED, NULL);
        test_log_begin("core", "again");
    }
}

static void changes_folder(void)
{
    if (chdir("/"))
        exit(9);
    work();
    test_log_end(TEST_LOG_FAILED, "moved");
}

static void misuses(void)
{
    if (test_log_begin("a", NULL) != -1 || test_log_begin("a", "") != -1 ||
        test_log_end((enum test_log_verdict)7, NULL) != -1 ||
        test_log_end(TEST_LOG_PASSED, "fine") ||
        test_log_end(TEST_LOG_PASSED, NULL) != -1)
        exit(9);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
#define TEST(name)                                                             \
    {                                                                          \
#        name, name                                                            \
    }
    TEST(passes),          TEST(fails),
    TEST(skips),           TEST(is_left),
    TEST(crashes),         TEST(is_killed),
    TEST(leaves),          TEST(exits),
    TEST(forks),           TEST(forks_tests),
    TEST(starts_thread),   TEST(starts_silent_thread),
    TEST(lets_thread_log), TEST(jumps),
    TEST(closes_all),      TEST(changes_folder),
    TEST(misuses),         TEST(waits),
    TEST(outlives),        TEST(exits_in_a_handler),
    TEST(launches),
};

/* "NAME*TIMES" runs a test several times. */
static void run(const char *word)
{
    size_t size = strcspn(word, "*");
    int times = word[size] ? atoi(word + size + 1) : 1;

    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
        for (int n = 0; n < times && strlen(tests[i].name) == size &&
                        !strncmp(tests[i].name, word, size);
             n++, count++) {
            test_log_begin("core", tests[i].name);
            tests[i].run();
        }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "named:", 6)) {
            test_log_begin(NULL, argv[i] + 6);
            fails();
        } else {
            run(argv[i]);
        }
    puts("main returns");
    return 7;
}
