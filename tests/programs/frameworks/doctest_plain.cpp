/* doctest_plain.cpp: tests of doctest without an adapter. */
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

TEST_SUITE("store")
{
    TEST_CASE("passes")
    {
    }

    TEST_CASE("fails")
    {
        CHECK(1 + 1 == 3);
    }
}

TEST_CASE("has no suite")
{
}
