// gtest_eight.cpp: eight tests of GoogleTest.
#include <stdexcept>

#include <gtest/gtest.h>

#include "eight.h"

TEST(eight, passes)
{
    EXPECT_EQ(eight_add(1, 2), 3);
}

TEST(eight, fails)
{
    EXPECT_EQ(eight_add(1, 2), 4);
}

TEST(eight, skips)
{
    GTEST_SKIP() << "no device";
}

TEST(eight, throws)
{
    eight_add(1, 2);
    throw std::runtime_error("thrown on purpose");
}

TEST(eight, crashes)
{
    eight_crash();
}

TEST(eight, hangs)
{
    eight_hang();
}

TEST(eight, forks)
{
    EXPECT_EQ(eight_fork(), 0);
}

TEST(eight, logs_from_a_thread)
{
    EXPECT_EQ(eight_thread(), 0);
}
