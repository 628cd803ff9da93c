/* catch2_adapter.cpp: a log and a trace for each test case of Catch2,
 * version 2. Add this file to a test program; no test changes:
 *
 *  g++ -DTRACING tests.cpp catch2_adapter.cpp \
 *      $(pkg-config --cflags --libs testlog-core)
 *
 * Catch2 2 cannot skip: a test case may do it with test_log_end. */
#include <string>

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <testlog/core.h>

namespace
{

struct Listener : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;
    std::string why; // of the first failure

    void testCaseStarting(const Catch::TestCaseInfo &test) override
    {
        TestEventListenerBase::testCaseStarting(test);
        why.clear();
        test_log_begin(test.className.empty() ? nullptr
                                              : test.className.c_str(),
                       test.name.c_str());
    }

    bool assertionEnded(const Catch::AssertionStats &stats) override
    {
        const Catch::AssertionResult &result = stats.assertionResult;

        if (!result.isOk() && why.empty())
            why =
                std::string(result.getSourceInfo().file) + ":" +
                std::to_string(result.getSourceInfo().line) + ": " +
                (result.hasExpression() ? result.getExpandedExpression() : "") +
                (result.hasMessage() ? result.getMessage() : "");
        return true;
    }

    void testCaseEnded(const Catch::TestCaseStats &stats) override
    {
        TestEventListenerBase::testCaseEnded(stats);
        test_log_end(stats.totals.testCases.failed ? TEST_LOG_FAILED
                                                   : TEST_LOG_PASSED,
                     why.c_str());
    }
};

CATCH_REGISTER_LISTENER(Listener)

} // namespace
