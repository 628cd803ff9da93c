/* gtest_hostile.cpp: ends in ways that its report does not tell. HOSTILE says
 * how. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

static bool is(const char *way)
{
    const char *given = getenv("HOSTILE");

    return given && !strcmp(given, way);
}

TEST(A, Ok)
{
}

TEST(A, Prints)
{
    if (is("lies")) {
        puts("[       OK ] A.Prints (0 ms)");
        fflush(stdout);
        _exit(0);
    }
    if (is("skips late")) {
        EXPECT_EQ(1, 2);
        GTEST_SKIP() << "too late";
    }
    if (is("forbidden bytes")) {
        RecordProperty("city", "M\xfcnchen \x01 \xef\xbf\xbe");
        GTEST_SKIP() << "K\xf6ln ]]> <b> & \x02";
    }
    if (is("long line"))
        printf("%01020d", 0);
}

/* It fails, then dies, then passes. */
TEST(A, IsFlaky)
{
    int tries = 0;

    if (is("long line"))
        abort();
    if (!is("flaky"))
        return;
    if (FILE *file = fopen("tries", "r")) {
        ASSERT_EQ(fscanf(file, "%d", &tries), 1);
        fclose(file);
    }
    if (FILE *file = fopen("tries", "w")) {
        fprintf(file, "%d", tries + 1);
        fclose(file);
    }
    if (tries == 1)
        abort();
    ASSERT_EQ(tries, 2);
}

struct B : testing::Test {
    static void SetUpTestSuite()
    {
        if (is("exits"))
            exit(0);
        if (is("hangs"))
            pause();
        if (is("prints otherwise"))
            abort();
    }

    static void TearDownTestSuite()
    {
        if (is("aborts"))
            abort();
    }
};

TEST_F(B, Ok)
{
}

TEST(C, Ok)
{
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (is("chooses") && !GTEST_FLAG_GET(list_tests))
        GTEST_FLAG_SET(filter, "A.Ok");
    if (is("prints otherwise")) {
        auto &listeners = testing::UnitTest::GetInstance()->listeners();

        delete listeners.Release(listeners.default_result_printer());
    }
    if (is("hangs listing") && GTEST_FLAG_GET(list_tests))
        pause();

    const std::string report = GTEST_FLAG_GET(output);
    int code = RUN_ALL_TESTS();

    if (is("fifo") && report.size() > 4) {
        unlink(report.c_str() + 4);
        mkfifo(report.c_str() + 4, 0666);
    }
    return code;
}
