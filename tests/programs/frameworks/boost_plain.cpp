/* boost_plain.cpp: tests of Boost.Test without an adapter. */
#define BOOST_TEST_MODULE plain
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(store);

BOOST_AUTO_TEST_CASE(passes)
{
    BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(fails)
{
    BOOST_TEST(1 + 1 == 3);
}

BOOST_AUTO_TEST_SUITE_END();
