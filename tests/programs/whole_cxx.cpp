// whole_cxx.cpp: tests in C++ as Criterion's users write them.
#include <iostream>
#include <stdexcept>
#include <string>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/theories.h>

#include <testlog/log.h>

static void start()
{
    std::cout << "init" << std::endl;
}

static void stop()
{
    std::cout << "fini" << std::endl;
}

TestSuite(whole, .init = start, .fini = stop);

Test(whole, passes)
{
    trace_span(INFO, "body");

    log_info("said");
    std::cout << "body"; // no newline, no flush
    cr_expect(true);
}

Test(whole, fails)
{
    cr_assert(false, "no luck");
}

Test(whole, throws)
{
    trace_span(INFO, "left by an exception");

    throw std::runtime_error("out of luck");
}

static void refuse()
{
    throw std::runtime_error("not today");
}

Test(thrown, in_init, .init = refuse)
{
}

Test(thrown, in_fini, .fini = refuse)
{
}

ParameterizedTestParameters(whole, parameters)
{
    static int numbers[] = {1, 2, 3};

    return criterion_test_params(numbers);
}

ParameterizedTest(int *number, whole, parameters)
{
    cr_assert_neq(*number, 2, "instance %d", *number);
}

TheoryDataPoints(whole, points) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 3, 4),
};

Theory((int a, int b), whole, points)
{
    cr_assert_neq(a, b);
}
