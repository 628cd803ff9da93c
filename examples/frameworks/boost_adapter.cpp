/* boost_adapter.cpp: a log and a trace for each test case of Boost.Test. Add
 * this file to a test program; no test changes:
 *
 *  g++ -DTRACING -DBOOST_TEST_DYN_LINK tests.cpp boost_adapter.cpp \
 *      -lboost_unit_test_framework $(pkg-config --cflags --libs testlog-core)
 */
#include <string>

#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>
#include <testlog/core.h>

namespace ut = boost::unit_test;

namespace
{

std::string suite_of(const ut::test_unit &test)
{
    return ut::framework::get<ut::test_suite>(test.p_parent_id).p_name.get();
}

struct Observer : ut::test_observer {
    void test_unit_start(const ut::test_unit &test) override
    {
        if (test.p_type == ut::TUT_CASE)
            test_log_begin(suite_of(test).c_str(), test.p_name->c_str());
    }

    void test_unit_finish(const ut::test_unit &test, unsigned long) override
    {
        if (test.p_type == ut::TUT_CASE)
            test_log_end(!ut::results_collector.results(test.p_id).passed()
                             ? TEST_LOG_FAILED
                             : TEST_LOG_PASSED,
                         nullptr); // the output says why
    }

    // A precondition left the test out.
    void test_unit_skipped(const ut::test_unit &test,
                           ut::const_string why) override
    {
        if (test.p_type != ut::TUT_CASE || why == "disabled")
            return;
        test_log_begin(suite_of(test).c_str(), test.p_name->c_str());
        test_log_end(TEST_LOG_SKIPPED,
                     std::string(why.begin(), why.end()).c_str());
    }
} observer;

struct Registration {
    Registration()
    {
        ut::framework::register_observer(observer);
    }
};

BOOST_TEST_GLOBAL_CONFIGURATION(Registration);

} // namespace
