/* expect.c: tests that assert on their own records. The suite `wrong` fails,
 * the others pass. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_TARGET "kv::store"
#include <testlog/test_log.h>

static void fill(int n)
{
    trace_span(DEBUG, "fill", (n), ("key", "ant"));
    trace_event(WARN, "evicted", ("key", "ant"), ("age", n));
    log_debug("%d of %d slots used", n, 2 * n);
}

static void outer(void)
{
    trace_span(INFO, "outer", ("id", 5));

    fill(3);
    fill(4);
    log_trace("done");
}

/* ---- Expectations that are met ---- */

TEST_LOG(expect, lines)
{
    outer();
    log_expect_contains("3 of 6 slots used");
    log_expect_contains("outer{id=5}:fill{n=3 key=\"ant\"}: kv::store: 3 of");
    log_expect_contains(" WARN ");
    log_expect_lacks("5 of");
    log_expect_lacks("ERROR");
    log_expect_count(2, "slots");
    log_expect_count(0, "nothing");
    log_info("two\nlines");
    log_expect_contains("two\nlines");
    log_expect_contains("two\\nlines");
    log_expect_contains("");
}

TEST_LOG(expect, events)
{
    log_expect_no_event("trace");
    outer();
    log_expect_event("kv::store=warn");
    log_expect_event("kv", "=warn", "/^evicted$/", "{key=ant}", "[outer]",
                     "[fill{n=3}]");
    log_expect_no_event("kv", "=warn", "/^evicted$/", "{key=bee}");
    log_expect_no_event("net");
    log_expect_no_event("error");
    log_expect_event("=debug");
    log_expect_no_event("=info");
    log_expect_event("info");
    log_expect_event_count(2, "{age>2}");
    log_expect_event_count(1, "{age>3}");
    log_expect_event_count(4, "[fill]");
    log_expect_event_count(1, "![fill]");
    log_expect_event_count(3, "warn,/done/");
}

TEST_LOG(expect, spans)
{
    struct trace_span_ref request =
        trace_span_new(INFO, "request", ("id", 1), ("status", trace_empty()));

    outer();
    log_expect_span("outer");
    log_expect_span("fill{n=3}");
    log_expect_span("outer{id=5}:fill{key=ant}");
    log_expect_span("fill{n>3, key=\"ant\"}");
    log_expect_no_span("fill:outer");
    log_expect_no_span("fil");
    log_expect_no_span("fill{n=5}");
    log_expect_span_count(2, "outer:fill");
    log_expect_span_entered("fill");
    log_expect_span_closed("fill");
    log_expect_span_shorter(50, "outer");
    log_expect_span_longer(0, "outer:fill");
    log_expect_span("request{status}");
    log_expect_no_span("request{status=200}");
    trace_record(request, ("status", 200));
    log_expect_span("request{status=200}");
    trace_span_end(request);
    log_expect_span_closed("request");
}

static void *work(void *unused)
{
    fill(7);
    return unused;
}

TEST_LOG(expect, threads_and_children)
{
    pthread_t thread;

    trace_span(INFO, "here");
    cr_assert_eq(pthread_create(&thread, NULL, work, NULL), 0);
    pthread_join(thread, NULL);
    log_expect_contains("7 of 14 slots");

    pid_t child = fork();

    if (!child) {
        fill(8);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    log_expect_contains("8 of 16 slots");
    log_expect_span("here:fill{n=8}");
    log_expect_no_span("here:fill{n=7}");
    log_expect_event("[here]", "/^8 of/");
}

TEST_LOG(expect, a_hundred_thousand)
{
    for (int i = 0; i < 100000; i++)
        log_trace("number %d", i);
    log_expect_count(1, "number 77777");
    log_expect_event_count(100000, "/^number/");
}

/* ---- Expectations that are not met ---- */

TEST_LOG(wrong, line)
{
    outer();
    log_expect_contains("evictd");
    log_expect_contains("evictd"); /* not found in the failure above */
    log_expect_contains("evicted");
    if (log_enabled(INFO))
        log_expect_lacks("log_expect");
    else
        log_expect_lacks("");
    log_info("the end");
}

TEST_LOG(wrong, lacking)
{
    outer();
    log_expect_lacks("slots");
}

TEST_LOG(wrong, event)
{
    outer();
    log_expect_event("kv", "=error", "{key=ant}");
}

TEST_LOG(wrong, count)
{
    outer();
    log_expect_event_count(3, "{key=ant}");
    log_expect_span_count(1, "fill");
}

TEST_LOG(wrong, filter)
{
    log_expect_event("kv=loud");
    log_expect_span("fill}");
}

TEST_LOG(wrong, open)
{
    trace_span(INFO, "fill", ("n", 1));
    outer();
    log_expect_span_closed("fill");
    log_expect_span_shorter(0, "outer");
    log_expect_span_longer(100, "fill");
    log_expect_span_entered("filled");
}

/* ---- Expectations that are not judged ---- */

TEST_LOG(missing, disabled)
{
    trace_disable();
    outer();
    log_expect_contains("slots");
    log_expect_lacks("slots");
    trace_enable();
    log_expect_contains("slots");
}

TEST_LOG(missing, limited)
{
    for (int i = 0; i < 10000; i++)
        fill(i);
    log_expect_contains("no such thing");
    log_expect_lacks("no such thing");
}

Test(missing, unannotated)
{
    log_expect_contains("anything");
}
