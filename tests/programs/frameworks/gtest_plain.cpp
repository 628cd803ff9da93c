/* gtest_plain.cpp: tests of GoogleTest without an adapter. */
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

TEST(Store, Passes)
{
}

TEST(Store, Fails)
{
    EXPECT_EQ(1 + 1, 3) << "told & \"quoted\"";
}

TEST(Store, Skips)
{
    GTEST_SKIP() << "no device";
}

TEST(Store, DISABLED_Later)
{
}

TEST(Store, Crashes)
{
    raise(SIGSEGV);
}

/* It passes from the second time on. */
TEST(Store, IsFlaky)
{
    FILE *before = fopen("flaky", "r"), *now = fopen("flaky", "w");

    ASSERT_NE(before, nullptr);
    fclose(before);
    fclose(now);
}

TEST(Store, Hangs)
{
    pause();
}

class Sizes : public testing::TestWithParam<int>
{
};

TEST_P(Sizes, AreSmall)
{
    EXPECT_LT(GetParam(), 3);
}

INSTANTIATE_TEST_SUITE_P(Some, Sizes, testing::Values(1, 2));
