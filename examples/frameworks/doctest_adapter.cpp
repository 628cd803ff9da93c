/* doctest_adapter.cpp: a log and a trace for each test case of doctest. Add
 * this file to a test program; no test changes:
 *
 *  g++ -DTRACING tests.cpp doctest_adapter.cpp \
 *      $(pkg-config --cflags --libs testlog-core)
 *
 * A test case may skip itself with test_log_end. */
#include <string>

#include <doctest/doctest.h>
#include <testlog/core.h>

namespace
{

struct Listener : doctest::IReporter {
    std::string why; // of the first failure

    void test_case_start(const doctest::TestCaseData &test) override
    {
        why.clear();
        test_log_begin(test.m_test_suite, test.m_name);
    }

    void log_assert(const doctest::AssertData &assertion) override
    {
        if (assertion.m_failed && why.empty())
            why = assertion.m_file + (":" + std::to_string(assertion.m_line)) +
                  ": " + assertion.m_expr;
    }

    void test_case_exception(const doctest::TestCaseException &thrown) override
    {
        if (why.empty())
            why = thrown.error_string.c_str();
    }

    void test_case_end(const doctest::CurrentTestCaseStats &stats) override
    {
        test_log_end(stats.testCaseSuccess ? TEST_LOG_PASSED : TEST_LOG_FAILED,
                     why.c_str());
    }

    // clang-format off
    explicit Listener(const doctest::ContextOptions &) {}
    void report_query(const doctest::QueryData &) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats &) override {}
    void test_case_reenter(const doctest::TestCaseData &) override {}
    void subcase_start(const doctest::SubcaseSignature &) override {}
    void subcase_end() override {}
    void log_message(const doctest::MessageData &) override {}
    void test_case_skipped(const doctest::TestCaseData &) override {}
    // clang-format on
};

REGISTER_LISTENER("testlog", 1, Listener);

} // namespace
