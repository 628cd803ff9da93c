/* expecting.c: every expectation, in all kinds of code. Lines marked "gone"
 * leave no code without TRACING. */
#include <stdio.h>

#include <testlog/test_log.h>

static inline const char *numbered(int n)  /* gone */
{                                          /* gone */
    static char text[32];                  /* gone */
                                           /* gone */
    snprintf(text, sizeof(text), "%d", n); /* gone */
    return text;                           /* gone */
} /* gone */

static int count;

static void work(int n)
{
    trace_function(INFO, (n));        /* gone */
    log_info("number %d", n);         /* gone */
    log_expect_contains(numbered(n)); /* gone */
}

TEST_LOG(expecting, lines)
{
    for (int i = 0; i < 3; i++) /* 0, 1 and 2 */
        work(i);
    log_expect_lacks("number 3");          /* gone */
    log_expect_count(3, "number");         /* gone */
    log_expect_count(++count, "number 2"); /* gone */
    if (count > 1) {
        log_expect_contains("number"); /* gone */
        count--;
    }
    cr_expect(count < 2);
}

TEST_LOG(expecting, events)
{
    work(5);
    log_expect_event("programs", "=info", "/^number/");   /* gone */
    log_expect_event("info");                             /* gone */
    log_expect_no_event("warn");                          /* gone */
    log_expect_event_count(2 - 1, "[work{n=5}]", "info"); /* gone */
}

TEST_LOG(expecting, spans)
{
    work(6);
    work(7);
    log_expect_span("work{n=6}");        /* gone */
    log_expect_no_span("work{n=8}");     /* gone */
    log_expect_span_count(2, "work");    /* gone */
    log_expect_span_entered("work");     /* gone */
    log_expect_span_closed("work");      /* gone */
    log_expect_span_shorter(30, "work"); /* gone */
    log_expect_span_longer(0., "work");  /* gone */
}
