/* gtest_adapter.cpp: a log and a trace for each test of GoogleTest. Add this
 * file to a test program; no test changes:
 *
 *  g++ -DTRACING tests.cpp gtest_adapter.cpp \
 *      $(pkg-config --cflags --libs gtest_main testlog-core) */
#include <string>

#include <gtest/gtest.h>
#include <testlog/core.h>

namespace
{

class Listener : public testing::EmptyTestEventListener
{
    std::string why; // of the first failure

    // What sets up all tests may use a GPU.
    void OnTestProgramStart(const testing::UnitTest &all) override
    {
        if (all.test_to_run_count())
            test_log_prepare();
    }

    void OnTestStart(const testing::TestInfo &test) override
    {
        why.clear();
        test_log_begin(test.test_suite_name(), test.name());
    }

    // Only GoogleTest 1.12 and later call it.
    virtual void OnTestDisabled(const testing::TestInfo &test)
    {
        test_log_begin(test.test_suite_name(), test.name());
        test_log_end(TEST_LOG_SKIPPED, "disabled");
    }

    void OnTestPartResult(const testing::TestPartResult &part) override
    {
        if (!why.empty() || !(part.failed() || part.skipped()))
            return;
        if (part.file_name())
            why = std::string(part.file_name()) + ":" +
                  std::to_string(part.line_number()) + ": ";
        why += part.message();
    }

    void OnTestEnd(const testing::TestInfo &test) override
    {
        test_log_end(test.result()->Failed()    ? TEST_LOG_FAILED
                     : test.result()->Skipped() ? TEST_LOG_SKIPPED
                                                : TEST_LOG_PASSED,
                     why.c_str());
    }
};

const bool added = [] {
    test_log_separator(".");
    testing::UnitTest::GetInstance()->listeners().Append(new Listener);
    return true;
}();

} // namespace
