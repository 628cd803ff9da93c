// wrapped_cxx.cpp: every annotation in the assertions of a framework: GTEST,
// CATCH, DOCTEST, or Criterion.
#include "wrapped.h"

#define AND(expression) (expression, 1)

#if defined(GTEST)
#    include <gtest/gtest.h>
#    define TEST_NAMED(name)   TEST(wrapped, name)
#    define IS_TRUE(condition) EXPECT_TRUE(condition) << "message"
#    define IS_ONE(value)      ASSERT_EQ(value, 1)
#    define RUNS(statement)                                                    \
        EXPECT_NO_THROW(statement);                                            \
        EXPECT_DEATH(statement, "")
#elif defined(CATCH)
#    include <catch2/catch.hpp>
#    define TEST_NAMED(name)   TEST_CASE(#    name, "[wrapped]")
#    define IS_TRUE(condition) CHECK(condition)
#    define IS_ONE(value)      REQUIRE(value == 1)
#    define RUNS(statement)    REQUIRE_NOTHROW([&] { statement; }())
#elif defined(DOCTEST)
#    include <doctest/doctest.h>
#    define TEST_NAMED(name)   TEST_CASE(#    name)
#    define IS_TRUE(condition) CHECK(condition)
#    define IS_ONE(value)      REQUIRE_EQ(value, 1)
#    define RUNS(statement)    REQUIRE_NOTHROW(statement)
#else
#    include <testlog/test_log.h>
#    define TEST_NAMED(name)   TEST_LOG(wrapped, name)
#    define IS_TRUE(condition) cr_expect(condition, "%d", 2)
#    define IS_ONE(value)      cr_assert_eq(value, 1)
#    define RUNS(statement)    cr_expect_no_throw(statement, int)
#endif

#define EXPECT(expression) IS_ONE(AND(expression));
// GoogleTest names labels by their line, so that each needs a function.
#define RUN(statement) [&] { RUNS(statement); }();

TEST_NAMED(holds)
{
    EXPRESSIONS(EXPECT)
    EXPRESSIONS(RUN)
    BLOCKS(RUN)
    IS_TRUE(log_enabled(INFO));
}
