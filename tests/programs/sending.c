/* sending.c: tests whose spans and events go to a tool. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(sending, nests)
{
    trace_span(INFO, "outer", ("size", 12));
    {
        trace_span(DEBUG, "inner", ("name", "x"), ("rate", 2.5));
        log_warn("formatted %d", 7);
        trace_event(ERROR, "structured", ("key", "k"), ("code", -3));
    }
    trace_signpost("phase", "number %d", 2);
    trace_counter("queue", 4);
}

TEST_LOG(sending, ends_out_of_order)
{
    struct trace_span_ref first = trace_span_begin(INFO, "first");
    struct trace_span_ref second = trace_span_begin(INFO, "second");

    trace_span_end(first);
    log_info("between");
    trace_span_end(second);
}

static struct trace_span_ref shared;

static void *enter(void *unused)
{
    trace_span_enter(shared);
    log_info("elsewhere");
    return unused;
}

TEST_LOG(sending, crosses_threads)
{
    pthread_t thread;

    shared = trace_span_new(INFO, "shared", ("id", 5));
    pthread_create(&thread, NULL, enter, NULL);
    pthread_join(thread, NULL);
    trace_span_end(shared);
}

TEST_LOG(sending, forks)
{
    trace_span(INFO, "parent");
    pid_t child = fork();

    if (!child) {
        log_info("in the child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

TEST_LOG(sending, fails_in_a_span)
{
    trace_span(INFO, "left");
    cr_assert(getenv("PATH") == NULL);
}

TEST_LOG(sending, starts_the_tool)
{
    void *tool = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW);
    void (*start)(void);

    cr_assert(tool);
    *(void **)&start = dlsym(tool, "nvtx_tool_start");
    trace_span(INFO, "before");
    {
        trace_span(INFO, "also before");
        start();
        trace_span(INFO, "after");
        log_info("event");
    }
}
