/* gtest_dies.cpp: tests of GoogleTest that crash, with and without an adapter.
 */
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

static int *volatile nothing;

static __attribute__((noinline)) void crash()
{
    *nothing = 1;
}

TEST(Death, IsExpected)
{
    EXPECT_DEATH(crash(), "");
}

TEST(Death, Comes)
{
    crash();
}

class Fixture : public testing::Test
{
    void SetUp() override
    {
        crash();
    }
};

TEST_F(Fixture, Dies)
{
}

TEST(Later, Passes)
{
    if (!std::getenv("INTERRUPT"))
        return;
    kill(getppid(), SIGINT);
    pause();
}

TEST(Later, DISABLED_Runs)
{
}

class Environment : public testing::Environment
{
    void TearDown() override
    {
        if (std::getenv("DIE_AT_THE_END"))
            crash();
    }
};

static const auto *added = testing::AddGlobalTestEnvironment(new Environment);
