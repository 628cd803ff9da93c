/* capture.c: tests that print and log, to check what is shown. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include <criterion/redirect.h>

/* ---- Captured ---- */

TEST_LOG(capture, prints_and_passes)
{
    printf("printed by a passing test\n");
    fprintf(stderr, "complained by a passing test\n");
    log_info("logged by a passing test");
}

TEST_LOG(capture, prints_and_fails)
{
    trace_span(INFO, "outer", ("number", 7), ("text", "red fox"));
    printf("to stdout, ");
    fprintf(stderr, "to stderr, ");
    if (write(STDOUT_FILENO, "by write\n", 9) < 0)
        abort();
    log_debug("below the default");
    log_info("an answer of %d", 41);
    {
        trace_span(DEBUG, "inner");

        trace_event(WARN, "evicted", ("key", "fox"), ("age", 3));
    }
    cr_assert_eq(41, 42, "nearly");
}

TEST_LOG(capture, crashes_in_a_line)
{
    trace_span(INFO, "outer");
    trace_span(INFO, "inner", ("depth", 2));
    printf("a whole line\nand a part of one");
    log_warn("about to crash");
    abort();
}

TEST_LOG(capture, prints_a_line_in_parts)
{
    printf("one ");
    printf("line");
    printf("\n");
}

TEST_LOG(capture, hangs, .timeout = 1)
{
    trace_span(INFO, "waiting");

    printf("before it hangs");
    for (;;)
        pause();
}

TEST_LOG(capture, prints_in_a_child)
{
    cr_assert_eq(system("echo out of a child; echo err of a child >&2"), 0);
    cr_assert(false, "so that it is shown");
}

TEST_LOG(capture, redirects_stderr)
{
    cr_redirect_stderr();
    fprintf(stderr, "for the test alone");
    log_error("not for the test");
    fflush(stderr);
    cr_assert_stderr_eq_str("for the test alone");
}

TEST_LOG(capture, redirects_stdout)
{
    cr_redirect_stdout();
    printf("for the test alone");
    log_error("not for the test");
    fflush(stdout);
    cr_assert_stdout_eq_str("for the test alone");
}

TEST_LOG_DEFAULT("warn,programs=trace", capture, has_a_default)
{
    log_trace("shown by the test's own default");
    cr_assert(false);
}

/* ---- Tests side by side ---- */

static void say(const char *name)
{
    for (int i = 0; i < 200; i++) {
        printf("%s prints %d\n", name, i);
        log_info("%s logs %d", name, i);
    }
    cr_assert(false, "%s is done", name);
}

TEST_LOG(many, a)
{
    say("a");
}

TEST_LOG(many, b)
{
    say("b");
}

TEST_LOG(many, c)
{
    say("c");
}

TEST_LOG(many, d)
{
    say("d");
}

/* ---- Live ---- */

TEST_LOG(live, first)
{
    trace_span(INFO, "span", ("text", "two\nlines"));

    puts("printed first");
    log_info("logged %s", "second");
    log_warn("two\nlines");
    puts("printed last");
}

TEST_LOG(live, second)
{
    log_info("of the second test");
}

TEST_LOG(live, leaves_a_line_open)
{
    printf("no newline");
}

TEST_LOG(live, logs_a_long_line)
{
    char text[20001];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    log_info("%s", text);
}
