/* traced.c: tests whose recordings and traces are checked. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(traced, nests)
{
    trace_span(INFO, "outer", ("number", 7), ("text", "a \"b\"\n"));
    {
        trace_span(DEBUG, "inner", ("ratio", 0.5));

        log_info("%d of %s", 1, "many");
        trace_event(WARN, "happened", ("age", 3));
    }
    {
        trace_span(TRACE, "second");
    }
    cr_assert(true);
}

TEST_LOG(traced, dies_in_spans)
{
    trace_span(INFO, "outer");
    trace_span(INFO, "last words", ("n", 1));
    log_warn("nobody handles SIGKILL");
    raise(SIGKILL);
}

TEST_LOG(traced, fails_in_a_span)
{
    trace_span(INFO, "outer");
    trace_span(INFO, "judged");

    cr_assert(1 + 1 == 3, "sums are wrong");
}

static void log_all_levels(void)
{
    trace_span(TRACE, "span of trace");

    log_error("an error");
    log_warn("a warning");
    log_info("an info");
    log_debug("a debug");
    log_trace("a trace");
}

TEST_LOG(traced, logs_all_levels)
{
    log_all_levels();
}

/* ---- Children ---- */

static void wait_for(pid_t child)
{
    int status = -1;

    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void in_child(const char *how)
{
    trace_span(INFO, "child", (how));

    log_info("the child says %s", how);
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", (char *)NULL);
    _exit(0);
}

static void forks(const char *how)
{
    trace_span(INFO, "parent");
    pid_t child;

    log_info("before the fork");
    child = fork();
    if (!child)
        in_child(how);
    wait_for(child);
    log_info("after the fork");
}

TEST_LOG(traced, forks_and_exits)
{
    forks("exit");
}

TEST_LOG(traced, forks_and_executes)
{
    forks("exec");
}

/* ---- Threads ---- */

static int words; /* of both threads */

static void *chatter(void *unused)
{
    trace_span(INFO, "chatter");

    for (int i = 0;; i++) {
        trace_span(DEBUG, "word", (i));

        log_debug("still here %d", i);
        __atomic_add_fetch(&words, 1, __ATOMIC_RELAXED);
        usleep(100);
    }
    return unused;
}

TEST_LOG(traced, ends_while_a_thread_logs)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, chatter, NULL), 0);
    while (__atomic_load_n(&words, __ATOMIC_RELAXED) < 100)
        usleep(1000);
    log_info("the test ends");
}

/* ---- Limits ---- */

static void flood(void)
{
    trace_span(INFO, "flood");

    for (int i = 0; i < 50000; i++)
        log_info("line %d of very many", i);
    log_error("the error is kept");
}

TEST_LOG(limit, passes)
{
    flood();
}

TEST_LOG(limit, fails)
{
    flood();
    cr_assert(false, "whatever was logged");
}
