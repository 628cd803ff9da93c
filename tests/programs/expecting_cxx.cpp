// expecting_cxx.cpp: expectations in all kinds of C++ code. Lines marked "gone"
// leave no code without TRACING.
#include <string>

#include <testlog/test_log.h>

template <typename T> static void work(T n)
{
    trace_function(INFO, (n));                       /* gone */
    log_info("number %d", static_cast<int>(n));      /* gone */
    log_expect_span_count(sizeof(T) / 4, "work{n}"); /* gone */
    log_expect_no_event("warn", "[work]");           /* gone */
}

static inline void start() /* gone */
{                          /* gone */
} /* gone */

TEST_LOG(expecting_cxx, works)
{
    const std::string text = "number 5";
    auto expecting = [&text](int n) {
        log_expect_count(n, text.c_str()); /* gone */
        return n;
    };

    work(5);
    trace_event(INFO, "at", ("function", start)); /* gone */
    log_expect_contains("function=0x");           /* gone */
    log_expect_contains(text.c_str());            /* gone */
    log_expect_lacks((text + "!").c_str());       /* gone */
    log_expect_event("=info", "[work]");          /* gone */
    log_expect_span_closed("work{n=5}");          /* gone */
    log_expect_span_shorter(30.5f, "work");       /* gone */
    cr_expect(expecting(1) == 1);
}
