/* catch2_plain.cpp: tests of Catch2 without an adapter. */
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

TEST_CASE("passes, with a comma")
{
    REQUIRE(1 + 1 == 2);
}

TEST_CASE("fails")
{
    int sum = 1 + 1;

    CHECK(sum == 3);
}

TEST_CASE("throws")
{
    throw std::runtime_error("thrown on purpose");
}

TEST_CASE("is hidden", "[.]")
{
}

TEST_CASE("crashes")
{
    raise(SIGSEGV);
}

TEST_CASE("is killed")
{
    raise(SIGKILL);
}

TEST_CASE("hangs")
{
    pause();
}

TEST_CASE("#has a sign")
{
}

TEST_CASE("is last")
{
}
