// boost_eight.cpp: eight test cases of Boost.Test.
#define BOOST_TEST_MODULE eight
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "eight.h"

namespace ut = boost::unit_test;

static boost::test_tools::assertion_result has_device(ut::test_unit_id)
{
    boost::test_tools::assertion_result result(false);

    result.message() << "no device";
    return result;
}

BOOST_AUTO_TEST_CASE(passes)
{
    BOOST_TEST(eight_add(1, 2) == 3);
}

BOOST_AUTO_TEST_CASE(fails)
{
    BOOST_TEST(eight_add(1, 2) == 4);
}

BOOST_AUTO_TEST_CASE(skips, *ut::precondition(has_device))
{
    eight_add(1, 2);
}

BOOST_AUTO_TEST_CASE(throws)
{
    eight_add(1, 2);
    throw std::runtime_error("thrown on purpose");
}

BOOST_AUTO_TEST_CASE(crashes)
{
    eight_crash();
}

BOOST_AUTO_TEST_CASE(hangs)
{
    eight_hang();
}

BOOST_AUTO_TEST_CASE(forks)
{
    BOOST_TEST(eight_fork() == 0);
}

BOOST_AUTO_TEST_CASE(logs_from_a_thread)
{
    BOOST_TEST(eight_thread() == 0);
}
