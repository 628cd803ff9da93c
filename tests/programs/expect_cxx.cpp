// expect_cxx.cpp: expectations in C++ code of all kinds.
#include <string>

#include <testlog/test_log.h>

template <typename T> static void put(T value)
{
    trace_function(INFO, (value));
    trace_event(DEBUG, "put", (value));
    log_expect_event("=debug", "{value}");
}

inline void expect_spans(int n)
{
    log_expect_span_count(n, "put");
}

TEST_LOG(expect_cxx, is_met)
{
    const std::string text = "va" + std::string("lue=5");
    auto closed = [](const char *name) {
        log_expect_span_closed(name);
        log_expect_span_shorter(60.5f, name);
    };

    put(5);
    put("five");
    expect_spans(2);
    closed("put");
    log_expect_contains(text.c_str());
    log_expect_event("programs", "{value=five}");
    if (text.empty())
        log_expect_lacks("value");
    else
        log_expect_no_span(R"(put{value="six"})");
}

TEST_LOG(expect_cxx, is_not_met)
{
    put(std::string("six"));
    log_expect_event("=debug", "{value=5}");
    log_expect_count(2, "six");
    log_expect_no_span("put");
}
