/* names.cpp: tests of Catch2 with names that are hard to quote. */
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

TEST_CASE("ends with a bracket [fast]")
{
}

TEST_CASE("eq ]=] end]=")
{
}

TEST_CASE("paren (a) # b")
{
}

TEST_CASE("dollar ${HOME} $ENV{HOME} @x@")
{
}

TEST_CASE("back\\slash")
{
}

TEST_CASE("semi;colon \"quoted\" * ? !")
{
}

TEST_CASE("one [")
{
}

TEST_CASE("fails [x]")
{
    CHECK(false);
}
