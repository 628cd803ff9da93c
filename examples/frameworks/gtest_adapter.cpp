/* gtest_adapter.cpp: a log and a trace for each test of GoogleTest. Add this
 * file to a test program; no test changes:
 *
 *  g++ -DTRACING tests.cpp gtest_adapter.cpp \
 *      $(pkg-config --cflags --libs gtest_main testlog-core) */
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <testlog/core.h>

namespace
{

// FAIL() begins so; the line after it says why.
const char *WithoutTitle(const char *message)
{
    static const char title[] = "Failed\n";
    const std::size_t size = sizeof(title) - 1;

    return std::strncmp(message, title, size) ? message : message + size;
}

class Listener : public testing::EmptyTestEventListener
{
    std::string why;     // of the first failure of a test
    std::string outside; // and between tests
    bool running = false;

    // An environment may use a GPU when it sets up all tests.
    void OnTestProgramStart(const testing::UnitTest &all) override
    {
        if (all.test_to_run_count())
            test_log_prepare();
    }

    void OnTestStart(const testing::TestInfo &test) override
    {
        why.clear();
        running = true;
        test_log_begin(test.test_suite_name(), test.name());
    }

    // Only GoogleTest 1.12 and later call it.
    virtual void OnTestDisabled(const testing::TestInfo &test)
    {
        test_log_begin(test.test_suite_name(), test.name());
        test_log_end(TEST_LOG_SKIPPED, "disabled");
    }

    // GoogleTest holds a lock that its own functions take.
    void OnTestPartResult(const testing::TestPartResult &part) override
    {
        std::string &reason = running ? why : outside;

        if (!reason.empty() || !(part.failed() || part.skipped()))
            return;
        if (part.file_name())
            reason = std::string(part.file_name()) + ":" +
                     std::to_string(part.line_number()) + ": ";
        reason += WithoutTitle(part.message());
    }

    void OnTestEnd(const testing::TestInfo &test) override
    {
        test_log_end(test.result()->Failed()    ? TEST_LOG_FAILED
                     : test.result()->Skipped() ? TEST_LOG_SKIPPED
                                                : TEST_LOG_PASSED,
                     why.c_str());
        running = false;
    }

    // Suites and environments may fail, too.
    void EndOutside(const testing::TestResult &result, const char *suite,
                    const char *name)
    {
        if (result.Failed()) {
            test_log_begin(suite, name);
            test_log_end(TEST_LOG_FAILED, outside.c_str());
        }
        outside.clear();
    }

    void OnTestSuiteEnd(const testing::TestSuite &suite) override
    {
        EndOutside(suite.ad_hoc_test_result(), suite.name(),
                   "SetUpTestSuite or TearDownTestSuite");
    }

    void OnTestProgramEnd(const testing::UnitTest &all) override
    {
        EndOutside(all.ad_hoc_test_result(), "",
                   "SetUp or TearDown of an environment");
    }
};

const bool added = [] {
    test_log_separator(".");
    testing::UnitTest::GetInstance()->listeners().Append(new Listener);
    return true;
}();

} // namespace
