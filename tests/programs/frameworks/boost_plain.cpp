/* boost_plain.cpp: tests of Boost.Test without an adapter. */
#define BOOST_TEST_MODULE plain
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

BOOST_AUTO_TEST_SUITE(store);

BOOST_AUTO_TEST_CASE(passes)
{
    BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(fails)
{
    BOOST_TEST(1 + 1 == 3);
}

BOOST_AUTO_TEST_SUITE(inner);

BOOST_AUTO_TEST_CASE(should_fail, *boost::unit_test::expected_failures(1))
{
    BOOST_TEST(false);
}

BOOST_AUTO_TEST_CASE(fails_too_often, *boost::unit_test::expected_failures(1))
{
    BOOST_TEST(1 == 2);
    BOOST_TEST(1 == 3);
}

BOOST_AUTO_TEST_SUITE_END();

BOOST_AUTO_TEST_CASE(hangs, *boost::unit_test::timeout(1))
{
    for (;;)
        ;
}

/* It is killed, or exits with 0. */
BOOST_AUTO_TEST_CASE(may_die)
{
    const char *way = getenv("DIES");

    if (way && atoi(way))
        raise(atoi(way));
    else if (way)
        _exit(0);
    BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE_END();

BOOST_AUTO_TEST_CASE(should_fail, *boost::unit_test::expected_failures(1))
{
    BOOST_TEST(false);
}
