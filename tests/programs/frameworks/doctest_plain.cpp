/* doctest_plain.cpp: tests of doctest without an adapter. */
#include <signal.h>
#include <stdlib.h>

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

TEST_CASE("should fail" * doctest::should_fail())
{
    CHECK(false);
}

TEST_CASE("fails too seldom" * doctest::expected_failures(2))
{
    CHECK(false);
}

TEST_CASE("warns")
{
    WARN(false);
}

TEST_CASE("may be killed")
{
    if (getenv("KILLED"))
        raise(SIGKILL);
}

TEST_CASE("has no suite")
{
}
