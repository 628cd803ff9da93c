/* children.c: tests whose child processes crash. Most of them fail, because
 * they expect that their child ends well. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

#define FAR __attribute__((noinline, noclone))

FAR static void store(volatile int *at)
{
    *at = (int)getpid(); /* cppcheck-suppress nullPointer */
}

FAR static void crash_here(void)
{
    trace_function(INFO);
    store(NULL);
}

static int status_of(pid_t child)
{
    int status = -1;

    /* It would see that a child stops. */
    while (waitpid(child, &status, WUNTRACED | WCONTINUED) != child)
        ;
    return status;
}

/* The test fails here, but its child died as it would without testlog. */
static void expect_end(pid_t child, int number)
{
    int status = status_of(child);

    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == number,
              "wrong status %#x", status);
    cr_assert_eq(status, 0, "the child crashed");
}

TEST_LOG(children, null_pointer)
{
    pid_t child = fork();

    if (!child)
        crash_here();
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, assertion)
{
    pid_t child = fork();

    if (!child)
        assert(getpid() == 0);
    expect_end(child, SIGABRT);
}

static volatile int depth;

FAR static int descend(void)
{
    volatile char room[512];

    room[0] = (char)++depth;
    return descend() + room[0];
}

TEST_LOG(children, stack_overflow)
{
    pid_t child = fork();

    if (!child)
        _exit(descend());
    expect_end(child, SIGSEGV);
}

static void *crash_in_thread(void *none)
{
    log_info("a thread of the child");
    crash_here();
    return none;
}

TEST_LOG(children, thread)
{
    pid_t child = fork();
    pthread_t thread;

    if (!child) {
        pthread_create(&thread, NULL, crash_in_thread, NULL);
        pthread_join(thread, NULL);
    }
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, grandchild)
{
    pid_t child = fork();
    int status;

    if (!child) {
        child = fork();
        if (!child)
            crash_here();
        _exit(WTERMSIG(status_of(child)));
    }
    status = status_of(child);
    cr_assert_eq(WEXITSTATUS(status), SIGSEGV, "wrong status %#x", status);
    cr_assert_eq(status, 0, "the grandchild crashed");
}

TEST_LOG(children, vfork)
{
    pid_t child = vfork();

    if (!child)
        abort();
    log_info("the parent goes on");
    expect_end(child, SIGABRT);
}

TEST_LOG(children, raw_clone)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (!child)
        crash_here();
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, undumpable)
{
    pid_t child = fork();

    if (!child) {
        prctl(PR_SET_DUMPABLE, 0);
        crash_here();
    }
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, of_another_user)
{
    pid_t child;

    if (getuid())
        cr_skip_test("only root can become another user");
    child = fork();
    if (!child) {
        if (setgid(65534) || setuid(65534))
            _exit(1);
        crash_here();
    }
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, in_another_root)
{
    pid_t child;

    if (getuid())
        cr_skip_test("only root can change the root");
    child = fork();
    if (!child) {
        if (chdir("/proc/self/fdinfo") || chroot("."))
            _exit(1);
        crash_here();
    }
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, without_descriptors)
{
    pid_t child = fork();

    if (!child) {
        close_range(0, ~0U, 0);
        crash_here();
    }
    expect_end(child, SIGSEGV);
}

static void (*volatile nowhere)(void);

TEST_LOG(children, null_function)
{
    pid_t child = fork();

    if (!child)
        nowhere();
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, hostile_name)
{
    pid_t child = fork();

    if (!child) {
        prctl(PR_SET_NAME, "a\tb\nchild\t1");
        crash_here();
    }
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, in_a_log_line)
{
    pid_t child = fork();

    if (!child)
        log_info("text: %s", (const char *)16);
    expect_end(child, SIGSEGV);
}

/* The signals arrive at any place of the recorder. */
TEST_LOG(children, while_recording)
{
    enum { COUNT = 40 };
    int status = 0;

    for (int i = 0; i < COUNT; i++) {
        int begun[2];
        char byte;
        pid_t child;

        cr_assert_eq(pipe(begun), 0);
        child = fork();
        if (!child) {
            for (int line = 0;; line++) {
                log_trace("line %d of a busy child", line);
                if (line == 100)
                    close(begun[1]);
            }
        }
        close(begun[1]);
        cr_assert_eq(read(begun[0], &byte, 1), 0);
        close(begun[0]);
        kill(child, SIGABRT);
        status = status_of(child);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                  "wrong status %#x", status);
    }
    cr_assert_eq(status, 0, "the child crashed");
}

TEST_LOG(children, five)
{
    pid_t child = -1;

    for (int i = 0; i < 5; i++) {
        child = fork();
        if (!child)
            crash_here();
        if (i < 4)
            status_of(child);
    }
    expect_end(child, SIGSEGV);
}

/* Its child has crashed before it times out. */
TEST_LOG(children, timeout, .timeout = 2)
{
    pid_t child = fork();

    if (!child)
        crash_here();
    status_of(child);
    for (;;)
        pause();
}

static void crash_later(void)
{
    store(NULL);
}

/* Its block is printed twice. */
TEST_LOG(children, crash_in_teardown, .fini = crash_later)
{
    pid_t child = fork();

    if (!child)
        crash_here();
    expect_end(child, SIGSEGV);
}

TEST_LOG(children, killed)
{
    pid_t child = fork();

    if (!child) {
        trace_span(INFO, "before_the_kill");
        raise(SIGKILL);
    }
    expect_end(child, SIGKILL);
}

TEST_LOG(children, hundred)
{
    enum { COUNT = 100 };
    pid_t all[COUNT];
    int go[2];
    char byte;

    cr_assert_eq(pipe(go), 0);
    for (int i = 0; i < COUNT; i++)
        if (!(all[i] = fork())) {
            close(go[1]);
            if (!read(go[0], &byte, 1))
                crash_here();
            _exit(1);
        }
    close(go[0]);
    close(go[1]);
    for (int i = 1; i < COUNT; i++)
        cr_assert_eq(WTERMSIG(status_of(all[i])), SIGSEGV);
    expect_end(all[0], SIGSEGV);
}

/* ---- Started programs ---- */

static pid_t start(const char *how)
{
    char *const args[] = {getenv("CRASHER"), (char *)(uintptr_t)how, NULL};
    pid_t child = -1;

    cr_assert_not_null(args[0]);
    cr_assert_eq(posix_spawn(&child, args[0], NULL, NULL, args, environ), 0);
    return child;
}

TEST_LOG(children, started_program)
{
    expect_end(start("crash"), SIGSEGV);
}

TEST_LOG(children, two_generations)
{
    pid_t child = fork();

    if (!child)
        crash_here();
    status_of(child);
    expect_end(start("crash"), SIGSEGV);
}

/* ---- Crashes that are no failures ---- */

TEST_LOG(harmless, expected_crash)
{
    pid_t child = fork();
    volatile char secret[32];

    if (!child) {
        for (int i = 0; i < 32; i++)
            secret[i] = (char)('A' + i % 16);
        log_trace("on the stack: %d", secret[7]);
        crash_here();
    }
    cr_assert_eq(WTERMSIG(status_of(child)), SIGSEGV);
}

TEST_LOG(harmless, nobody_waits)
{
    int end[2];
    char byte;

    cr_assert_eq(pipe(end), 0);
    if (!fork()) {
        close(end[0]);
        crash_here();
    }
    close(end[1]);
    cr_assert_eq(read(end[0], &byte, 1), 0);
}

TEST_LOG(harmless, own_handler)
{
    int status = status_of(start("handled"));

    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST_LOG(harmless, ignored_signal)
{
    pid_t child;
    int status;

    signal(SIGABRT, SIG_IGN);
    child = start("ignored");
    signal(SIGABRT, SIG_DFL);
    status = status_of(child);
    cr_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- Open spans ---- */

TEST_LOG(spans, child_that_exits)
{
    pid_t child = fork();

    if (!child) {
        trace_span(INFO, "in_the_child");
        _exit(0);
    }
    cr_assert_eq(status_of(child), 1, "it fails");
}

TEST_LOG(spans, child_that_hangs, .timeout = 2)
{
    pid_t done = fork(), hangs;

    if (!done) {
        trace_span(INFO, "has_exited");
        _exit(0);
    }
    status_of(done);
    hangs = fork();
    if (!hangs) {
        trace_span(INFO, "hangs");
        for (;;)
            pause();
    }
    status_of(hangs);
}

TEST_LOG(spans, crash_beside_children)
{
    pid_t child = fork();

    if (!child) {
        trace_span(INFO, "has_exited");
        _exit(0);
    }
    status_of(child);
    trace_span(INFO, "in_the_test");
    store(NULL);
}
