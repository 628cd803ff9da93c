// jumping.cpp: signal handlers and callbacks that jump out of records.
#include <csetjmp>
#include <csignal>
#include <stdexcept>
#include <sys/time.h>
#include <thread>

#include <testlog/test_log.h>

static sigjmp_buf back;

static void jump(int)
{
    log_info("a handler, at a call site of its own");
    siglongjmp(back, 1);
}

static void repeat_alarms()
{
    struct itimerval every = {{0, 300}, {0, 300}};

    signal(SIGALRM, jump);
    setitimer(ITIMER_REAL, &every, nullptr);
}

static void stop_alarms()
{
    struct itimerval never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &never, nullptr);
    signal(SIGALRM, SIG_IGN);
}

static void log_for_ever()
{
    for (int i = 0;; i++) {
        trace_span(DEBUG, "turn", (i));
        log_debug("%d turns", i);
    }
}

TEST_LOG(jumping, out_of_records, .timeout = 30)
{
    volatile int jumps = 0;

    sigsetjmp(back, 1);
    if (jumps++ == 0)
        repeat_alarms();
    if (jumps < 100)
        log_for_ever();
    stop_alarms();
    std::thread([] { log_info("from a thread"); }).join();
    log_info("after it");
    log_expect_contains("from a thread");
    log_expect_contains("after it");
}

static void throws(struct trace_text *text, const void *)
{
    trace_text_string(text, "never shown");
    throw std::runtime_error("out of the printer");
}

TEST_LOG(jumping, out_of_printers)
{
    for (int i = 0; i < 10; i++) {
        try {
            trace_event(INFO, "never", ("x", trace_display(throws, &i)));
        } catch (const std::runtime_error &error) {
            log_warn("caught %s", error.what());
        }
    }
    log_expect_count(10, "caught out of the printer");
    log_expect_lacks("never");
}

static void asserts(struct trace_text *, const void *)
{
    cr_assert(false, "within a printer");
}

TEST_LOG(jumping, asserts_in_a_printer)
{
    trace_event(INFO, "never", ("x", trace_display(asserts, "")));
}
