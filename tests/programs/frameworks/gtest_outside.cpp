/* gtest_outside.cpp: failures of GoogleTest that are not of one test. */
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

static bool fails(const char *what)
{
    const char *given = std::getenv("FAIL");

    return given && std::string(given).find(what) != std::string::npos;
}

class Up : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        if (fails("up"))
            FAIL() << "up is bad";
    }
};

TEST_F(Up, Passes)
{
}

class Down : public testing::Test
{
  protected:
    static void TearDownTestSuite()
    {
        EXPECT_FALSE(fails("down")) << "down is bad";
    }
};

TEST_F(Down, Passes)
{
}

// Fails in the first process only.
TEST(Flaky, Flips)
{
    bool again = std::ifstream("flipped").good();

    std::ofstream("flipped") << 1;
    EXPECT_TRUE(again || !fails("flip"));
}

TEST(Leaky, Leaks)
{
    static int *volatile lost; // some may be in a register or on the stack

    for (int i = 0; i < 64 && fails("leak"); i++)
        lost = new int;
    lost = nullptr;
}

class Environment : public testing::Environment
{
    void TearDown() override
    {
        EXPECT_FALSE(fails("end")) << "the end is bad";
    }
};

static const auto *added = testing::AddGlobalTestEnvironment(new Environment);
