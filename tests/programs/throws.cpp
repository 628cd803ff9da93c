// throws.cpp: tests that end with a C++ exception.
#include <stdexcept>

#include <testlog/test_log.h>

TEST_LOG(throws, an_exception)
{
    trace_span(INFO, "left by an exception");

    throw std::runtime_error("out of luck");
}

TEST_LOG(throws, a_number)
{
    throw 42;
}

TEST_LOG(throws, a_caught_number)
{
    try {
        trace_span(INFO, "left by an exception");

        throw 42;
    } catch (int number) {
        cr_assert_eq(number, 42);
    }
}
